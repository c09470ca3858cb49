//! Declares the kernels of multi-scalar multiplication.

use crate::kernels::field_sources::BYTES;
use crate::kernels::spec::{Declarations, Domain, KernelFamily, Module, Part, source};

/// Multi-scalar multiplication, and checks of its bases.
pub static FAMILY: KernelFamily = KernelFamily {
    domain: Domain::Curves,
    field_sources: &[Part::when(Module::decodes_points, BYTES.source)],
    sources: &[
        Part::always(source!("cl/curve.cl")),
        Part::always(source!("cl/batch_inverse.cl")),
        Part::always(source!("cl/prefix_sum.cl")),
        Part::always(source!("cl/curve_quad.cl")),
        Part::always(source!("cl/msm_glv.cl")),
        Part::always(source!("cl/msm_digits.cl")),
        Part::always(source!("cl/msm_sort.cl")),
        Part::always(source!("cl/msm_precompute.cl")),
        Part::always(source!("cl/msm_batch_affine.cl")),
        Part::always(source!("cl/msm_accumulate.cl")),
        Part::always(source!("cl/msm_reduce.cl")),
        Part::always(source!("cl/msm_check_points.cl")),
        Part::when(Module::decodes_points, source!("cl/msm_decode_points.cl")),
    ],
    ..KernelFamily::new("msm")
};

/// Lists what this file declares.
pub const DECLARATIONS: Declarations = Declarations { families: &[&FAMILY], ..Declarations::NONE };
