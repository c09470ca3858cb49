//! Clears secrets in ordinary memory before it is freed.

use ff::Field;
use rayon::prelude::*;

/// Number of values that one task clears, 256 KiB of 32 bytes each: a witness of 2^16 keeps eight cores busy for about
/// 10 µs.
const PIECE: usize = 1 << 13;

/// Overwrites `values` with zeros, on all cores.
pub(crate) fn clear<F: Field>(values: &mut [F]) {
    values.par_chunks_mut(PIECE).for_each(|piece| piece.fill(F::ZERO));
    // Keeps the compiler from dropping stores that no load follows.
    std::hint::black_box(&*values);
}

/// Holds values that are cleared on drop, such as r and s.
pub(crate) struct ZeroizingVec<F: Field>(pub Vec<F>);

impl<F: Field> Drop for ZeroizingVec<F> {
    fn drop(&mut self) {
        clear(&mut self.0);
    }
}
