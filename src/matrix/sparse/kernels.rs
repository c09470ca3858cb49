//! Declares the kernels of sparse matrices.

use crate::kernels::spec::{Declarations, KernelFamily, Part, source};

/// Products of sparse matrices and vectors, and changes of matrices.
pub static FAMILY: KernelFamily = KernelFamily {
    sources: &[
        Part::always(source!("cl/csr.cl")),
        Part::always(source!("cl/prefix_sum.cl")),
        Part::always(source!("cl/csr_delta.cl")),
    ],
    ..KernelFamily::new("csr")
};

/// Lists what this file declares.
pub const DECLARATIONS: Declarations = Declarations { families: &[&FAMILY], ..Declarations::NONE };
