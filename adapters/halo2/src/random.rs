//! Derives all randomness of a proof from a seed that the caller's source gives.

use std::hash::{BuildHasher, RandomState};
use std::hint::black_box;

use ff::Field;
use halo2_axiom::halo2curves::bn256::Fr;
use rand_chacha::ChaCha20Rng;
use rand_core::{RngCore, SeedableRng};
use rayon::prelude::*;

/// Number of elements that one parallel task draws, 4096.
const PIECE: usize = 1 << 12;

/// Returns `count` random elements. `rng` gives a 256-bit seed for every 4096 of them, so that cores share the work.
pub(crate) fn random_elements(count: usize, rng: &mut impl RngCore) -> Vec<Fr> {
    let seeds: Vec<_> = (0..count.div_ceil(PIECE)).map(|_| draw_seed(rng)).collect();
    let mut elements = vec![Fr::ZERO; count];
    elements.par_chunks_mut(PIECE).zip(seeds).for_each(|(elements, seed)| {
        let mut rng = ChaCha20Rng::from_seed(seed);
        elements.fill_with(|| Fr::random(&mut rng));
    });
    elements
}

fn draw_seed(rng: &mut impl RngCore) -> [u8; 32] {
    let mut seed = [0; 32];
    rng.fill_bytes(&mut seed);
    seed
}

/// Holds 256 random bits from a caller's generator, cleared when dropped. Everything random in a proof follows from
/// them, so the proof can be repeated to check a device's work.
pub(crate) struct Seed([u8; 32]);

impl Seed {
    /// Draws the seed of a proof from `rng`.
    pub(crate) fn new(rng: &mut impl RngCore) -> Self {
        Self(draw_seed(rng))
    }

    /// Returns the generator of the proof's random elements, in its initial state.
    pub(crate) fn create_rng(&self) -> ChaCha20Rng {
        ChaCha20Rng::from_seed(self.0)
    }
}

impl Drop for Seed {
    fn drop(&mut self) {
        self.0.fill(0);
        black_box(&self.0);
    }
}

/// Returns a random number generator that each call seeds differently. It serves checks against accidental errors, so
/// its seed is not treated as a secret.
pub(crate) fn unpredictable_rng() -> ChaCha20Rng {
    let words = RandomState::new();
    let mut seed = [0; 32];
    for (number, word) in seed.chunks_exact_mut(8).enumerate() {
        word.copy_from_slice(&words.hash_one(number).to_le_bytes());
    }
    ChaCha20Rng::from_seed(seed)
}
