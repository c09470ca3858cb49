//! Runs blst's sums on the caller's thread alone. blst has its own pool of threads, and panics if the system refuses
//! one.

use std::ptr::null;
use std::sync::OnceLock;

use blst::{blst_p1, blst_p1_affine, blst_p2, blst_p2_affine};

use crate::thread_pools;

/// Returns whether the system can start blst's pool, which has one thread per processor. The first call's answer is
/// cached.
pub(super) fn has_threads() -> bool {
    static HAS: OnceLock<bool> = OnceLock::new();
    *HAS.get_or_init(|| {
        let count = std::thread::available_parallelism().map_or(1, usize::from);
        // One more, since threads that have ended may still count for a moment.
        let has = thread_pools::can_start_threads(count + 1);
        if !has {
            log::warn!("the system does not start {count} threads for blst: sums on the CPU are made by one");
        }
        has
    })
}

/// Defines a single-threaded MSM over a curve, given the names of blst's functions for it.
macro_rules! alone {
    ($name:ident, $affine:ty, $sum:ty, $multiply:ident, $scratch_bytes:ident) => {
        /// Returns Σ scalarᵢ · pointᵢ over `points`, computed on the calling thread. `scalars` are little-endian, 32
        /// bytes each; only their low `bits` bits count.
        pub(crate) fn $name(points: &[$affine], scalars: &[[u8; 32]], bits: usize) -> $sum {
            let count = points.len().min(scalars.len());
            let mut sum = <$sum>::default();
            if count == 0 {
                return sum;
            }
            // SAFETY: the function has no conditions.
            let bytes = unsafe { blst::$scratch_bytes(count) };
            let mut scratch = vec![0u64; bytes.div_ceil(size_of::<u64>())];
            let points = [points.as_ptr(), null()];
            let scalars = [scalars.as_ptr().cast::<u8>(), null()];
            // SAFETY: the first pointers lead to `count` points and to `count` scalars of 32 bytes; the null pointers
            // declare both contiguous. Scratch memory has the requested length.
            unsafe {
                blst::$multiply(&raw mut sum, points.as_ptr(), count, scalars.as_ptr(), bits, scratch.as_mut_ptr());
            }
            sum
        }
    };
}

alone!(p1_sum, blst_p1_affine, blst_p1, blst_p1s_mult_pippenger, blst_p1s_mult_pippenger_scratch_sizeof);
alone!(p2_sum, blst_p2_affine, blst_p2, blst_p2s_mult_pippenger, blst_p2s_mult_pippenger_scratch_sizeof);

#[cfg(test)]
mod tests {
    use blst::MultiPoint;
    use blstrs::{G1Affine, G1Projective, G2Affine, G2Projective, Scalar};
    use ff::{Field, PrimeField};
    use group::{Curve, Group};
    use rand_chacha::ChaCha8Rng;
    use rand_core::SeedableRng;

    use super::*;

    #[test]
    fn sums_equal_those_of_threads() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        for count in [1, 2, 31, 200] {
            let scalars: Vec<[u8; 32]> = (0..count).map(|_| Scalar::random(&mut rng).to_repr()).collect();
            let p1: Vec<G1Affine> = (0..count).map(|_| G1Projective::random(&mut rng).to_affine()).collect();
            let p1: Vec<blst_p1_affine> = p1.iter().map(|point| *point.as_ref()).collect();
            assert!(p1_sum(&p1, &scalars, 255) == p1.mult(scalars.as_flattened(), 255), "{count} points");
            let p2: Vec<G2Affine> = (0..count).map(|_| G2Projective::random(&mut rng).to_affine()).collect();
            let p2: Vec<blst_p2_affine> = p2.iter().map(|point| *point.as_ref()).collect();
            assert!(p2_sum(&p2, &scalars, 255) == p2.mult(scalars.as_flattened(), 255), "{count} points");
        }
        assert!(p1_sum(&[], &[], 255) == blst_p1::default());
    }
}
