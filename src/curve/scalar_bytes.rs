//! Converts scalars between numbers and field elements.

use ff::PrimeField;

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
