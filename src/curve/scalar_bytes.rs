//! Converts scalars between numbers and field elements, and reduces numbers.

use ff::PrimeField;
use rayon::prelude::*;

use crate::secret_vec::{SecretCow, SecretVec};

/// Minimum scalars or points per rayon task, 1024: enough work to outweigh the handover to another thread.
pub(super) const MIN_PIECE: usize = 1 << 10;

/// Returns the field element of `bytes`, a little-endian number below 2^256, reduced modulo the field's order.
pub(crate) fn scalar_from_bytes<F: PrimeField>(bytes: &[u8; 32]) -> F {
    let mut repr = F::Repr::default();
    repr.as_mut().copy_from_slice(bytes);
    // Takes one product if the number is below the order.
    Option::from(F::from_repr(repr)).unwrap_or_else(|| reduce_mod_order(bytes))
}

fn reduce_mod_order<F: PrimeField>(bytes: &[u8; 32]) -> F {
    let shift = F::from(1 << 32).square();
    bytes.rchunks_exact(8).fold(F::ZERO, |sum, limb| {
        let limb = limb.iter().rev().fold(0, |sum, byte| sum << 8 | u64::from(*byte));
        sum * shift + F::from(limb)
    })
}

/// Returns `scalar` as a little-endian number below the field's order.
pub(crate) fn scalar_to_bytes<F: PrimeField>(scalar: F) -> [u8; 32] {
    let mut bytes = [0; 32];
    bytes.copy_from_slice(scalar.to_repr().as_ref());
    bytes
}

/// Returns `scalars` with at most as many bits as the group's order has; longer ones are reduced modulo the order.
/// Copies them only if one is longer.
pub(super) fn reduce_scalars<F: PrimeField>(scalars: &[[u8; 32]]) -> SecretCow<'_, [u8; 32]> {
    let is_longer = |scalar: &[u8; 32]| scalar[31] >> (F::NUM_BITS - 248) != 0;
    if !scalars.par_iter().with_min_len(MIN_PIECE).any(is_longer) {
        return SecretCow::Borrowed(scalars);
    }
    let shorter = |scalar: &[u8; 32]| match is_longer(scalar) {
        true => scalar_to_bytes(scalar_from_bytes::<F>(scalar)),
        false => *scalar,
    };
    SecretCow::Owned(SecretVec(scalars.par_iter().map(shorter).collect()))
}
