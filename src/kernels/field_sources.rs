//! Names the sources of field arithmetic, in the order in which they are compiled.

use super::spec::{Part, Source, source};

/// Arithmetic of prime fields of more than two 32-bit limbs.
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

/// Arithmetic of prime fields of one 32-bit limb.
pub const ONE_LIMB: &[Source] = &[source!("cl/small_field31.cl")];

/// Arithmetic of Goldilocks, the prime field of two 32-bit limbs.
pub const TWO_LIMBS: &[Source] = &[source!("cl/goldilocks.cl")];

/// Arithmetic of GF(2^128) in the basis of GHASH.
pub const GHASH: Source = source!("cl/ghash.cl");

/// Arithmetic of quadratic extensions of prime fields of more than two limbs.
pub const QUADRATIC: &[Source] = &[source!("cl/fp2.cl"), source!("cl/field_loose.cl")];

/// Arithmetic of extensions of prime fields of one or two limbs.
pub const BINOMIAL: Source = source!("cl/field_extension.cl");

/// Products by fixed factors, for transforms and for powers of their roots of unity.
pub const SHOUP: Part = Part::always(source!("cl/field_shoup.cl"));

/// Products by fixed factors, in PTX.
pub const SHOUP_PTX: Part = Part::always(source!("cuda/shoup_ptx.cuh"));

/// Sums of products that are reduced once.
pub const ACCUMULATOR: Part = Part::always(source!("cl/field_accumulator.cl"));

/// Field elements from encoded numbers.
pub const BYTES: Part = Part::always(source!("cl/field_bytes.cl"));
