//! Secrets in ordinary memory, which is cleared before it is freed.

use ff::Field;
use rayon::prelude::*;

/// Values that a core clears at a time, 256 KiB of 32 bytes each: a witness of 2^16 keeps eight cores busy, for some 10 µs.
const PIECE: usize = 1 << 13;

/// Clears `values`, on all cores.
pub fn clear<F: Field>(values: &mut [F]) {
    values.par_chunks_mut(PIECE).for_each(|piece| piece.fill(F::ZERO));
    // Keeps the compiler from dropping stores that no load follows.
    std::hint::black_box(&*values);
}

/// Values that are cleared when dropped, such as r and s.
pub struct Cleared<F: Field>(pub Vec<F>);

impl<F: Field> Drop for Cleared<F> {
    fn drop(&mut self) {
        clear(&mut self.0);
    }
}
