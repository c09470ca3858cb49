//! Declares the kernels of PLONKish proofs.

use crate::kernels::field_sources::{BYTES, SHOUP, SHOUP_PTX};
use crate::kernels::spec::{Declarations, KernelFamily, Part, source};

/// Steps of a PLONKish proof between its NTTs and its MSMs.
pub static FAMILY: KernelFamily = KernelFamily {
    field_sources: &[SHOUP, SHOUP_PTX, BYTES],
    sources: &[
        Part::always(source!("cl/batch_inverse.cl")),
        Part::always(source!("cl/prefix_sum.cl")),
        Part::always(source!("cl/plonk_buffers.cl")),
        Part::always(source!("cl/plonk_rowwise.cl")),
        Part::always(source!("cl/plonk_lookup_permute.cl")),
        Part::always(source!("cl/plonk_grand_product.cl")),
        Part::always(source!("cl/plonk_evaluate.cl")),
        Part::always(source!("cl/plonk_divide.cl")),
        Part::always(source!("cl/plonk_h_pieces.cl")),
    ],
    ..KernelFamily::new("plonk")
};

/// Lists what this file declares.
pub const DECLARATIONS: Declarations = Declarations { families: &[&FAMILY], ..Declarations::NONE };
