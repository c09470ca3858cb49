//! Declares the kernels of column operations.

use crate::kernels::field_sources::BYTES;
use crate::kernels::spec::{Declarations, KernelFamily, Part, source};

/// Elementwise operations on the columns of a PLONKish proof.
pub static FAMILY: KernelFamily = KernelFamily {
    field_sources: &[BYTES],
    sources: &[Part::always(source!("cl/halo2_gpu_columns.cl"))],
    ..KernelFamily::new("columns")
};

/// Lists what this file declares.
pub const DECLARATIONS: Declarations = Declarations { families: &[&FAMILY], ..Declarations::NONE };
