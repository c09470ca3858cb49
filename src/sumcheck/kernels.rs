//! Declares the kernels of sumcheck.

use crate::kernels::field_sources::{ACCUMULATOR, SHOUP, SHOUP_PTX};
use crate::kernels::spec::{Declarations, KernelFamily, Module, Part, Target, Variant, source};

/// Ends the names of modules that use carry-less multiply-add.
pub const CLMAD: &str = "clmad";

/// Rounds of sumcheck.
pub static FAMILY: KernelFamily = KernelFamily {
    field_sources: &[ACCUMULATOR, SHOUP, SHOUP_PTX, Part::always(source!("cl/sumcheck_multi_limb.cl"))],
    sources: &[
        Part::when(Module::is_prime, source!("cl/sumcheck_prime.cl")),
        Part::when(Module::is_small, source!("cl/sumcheck_small_field.cl")),
        Part::always(source!("cl/sumcheck.cl")),
        Part::when(Module::is_binary, source!("cl/sumcheck_two_rounds.cl")),
        Part::when(Module::is_binary, source!("cl/sumcheck_basis.cl")),
        Part::when(Module::is_extension, source!("cl/sumcheck_base_field.cl")),
    ],
    variants: &[Variant { suffix: CLMAD, define: "HAS_CLMAD", target: Target::Clmad, condition: Module::is_binary }],
    ..KernelFamily::new("sumcheck")
};

/// Rounds of sumcheck over bit-sliced columns of the tower field GF(2^128).
pub static SLICED: KernelFamily = KernelFamily {
    sources: &[Part::always(source!("cl/tower_bitsliced.cl")), Part::always(source!("cl/sumcheck_bitsliced.cl"))],
    ..KernelFamily::new("sumcheck_sliced")
};

/// Lists what this file declares.
pub const DECLARATIONS: Declarations = Declarations { families: &[&FAMILY, &SLICED], ..Declarations::NONE };
