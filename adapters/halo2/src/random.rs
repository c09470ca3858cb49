//! Many random elements from the caller's source.

use ff::Field;
use halo2_axiom::halo2curves::bn256::Fr;
use rand_chacha::ChaCha20Rng;
use rand_core::{RngCore, SeedableRng};
use rayon::prelude::*;

/// Elements of a parallel piece.
const PIECE: usize = 1 << 12;

/// So many random elements. The source gives a seed of 256 bits for each piece, so that cores share the work.
pub fn elements(count: usize, rng: &mut impl RngCore) -> Vec<Fr> {
    let seeds: Vec<_> = (0..count.div_ceil(PIECE)).map(|_| seed(rng)).collect();
    let mut elements = vec![Fr::ZERO; count];
    elements.par_chunks_mut(PIECE).zip(seeds).for_each(|(elements, seed)| {
        let mut rng = ChaCha20Rng::from_seed(seed);
        elements.fill_with(|| Fr::random(&mut rng));
    });
    elements
}

fn seed(rng: &mut impl RngCore) -> [u8; 32] {
    let mut seed = [0; 32];
    rng.fill_bytes(&mut seed);
    seed
}
