//! Names the sources of field arithmetic, in the order in which they are compiled.

use super::spec::{Part, Source, shared_constants, source};

shared_constants! {
    pub CONSTANTS:
    /// Number of work-items that invert together: a warp, whose work-items wait for each other without a barrier.
    INVERSE_GROUP: u32 = 32;
    /// Number of work-groups that invert, and that a multiprocessor runs at once (CUDA), for elements of up to twelve
    /// words: 128 registers per work-item. Larger elements get half as many.
    INVERSE_GROUPS_PER_UNIT: u32 = 16;
    /// Number of work-items of a work-group that computes prefix sums.
    SCAN_GROUP: u32 = 256;
}

/// Implements prime fields of more than two 32-bit limbs.
pub const MULTI_LIMB: &[Source] = &[
    source!("cl/field.cl"),
    source!("cuda/field_add_ptx.cuh"),
    source!("cl/field_add.cl"),
    source!("cuda/field_ptx.cuh"),
    source!("cuda/field_wide_ptx.cuh"),
    source!("cl/field_generic.cl"),
    source!("cl/field_loose.cl"),
    source!("cl/field_inverse.cl"),
    source!("cl/field_inverse_warp.cl"),
];

/// Implements prime fields of one 32-bit limb.
pub const ONE_LIMB: &[Source] = &[source!("cl/small_field31.cl"), source!("cl/small_field31_shoup.cl")];

/// Implements Goldilocks, the prime field of two 32-bit limbs.
pub const TWO_LIMBS: &[Source] = &[source!("cl/goldilocks.cl")];

/// Implements GF(2^128) in the basis of GHASH.
pub const GHASH: Source = source!("cl/ghash.cl");

/// Implements quadratic extensions of prime fields of more than two limbs.
pub const QUADRATIC: &[Source] = &[source!("cl/fp2.cl"), source!("cl/field_loose.cl")];

/// Implements extensions of prime fields of one or two limbs.
pub const BINOMIAL: Source = source!("cl/field_extension.cl");

/// Multiplies by fixed factors, for transforms and for powers of their roots of unity.
pub const SHOUP: Part = Part::always(source!("cl/field_shoup.cl"));

/// Multiplies by fixed factors, in PTX.
pub const SHOUP_PTX: Part = Part::always(source!("cuda/shoup_ptx.cuh"));

/// Adds products, and reduces the sum once.
pub const ACCUMULATOR: Part = Part::always(source!("cl/field_accumulator.cl"));

/// Makes field elements from encoded numbers.
pub const BYTES: Part = Part::always(source!("cl/field_bytes.cl"));
