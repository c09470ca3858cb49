//! Hashes rows by a sponge and pairs of digests by a truncated permutation, with the constructions of `p3-symmetric`.

use super::poseidon2::{Poseidon2, Poseidon2Field};

/// Hashes elements to `OUT` ones by a sponge that overwrites `RATE` of `WIDTH` elements at a time and adds no padding.
///
/// It is collision-resistant for inputs of one length only, such as the rows of a matrix.
#[derive(Debug, Clone)]
pub struct PaddingFreeSponge<F: Poseidon2Field<WIDTH>, const WIDTH: usize, const RATE: usize, const OUT: usize> {
    permutation: Poseidon2<F, WIDTH>,
}

impl<F: Poseidon2Field<WIDTH>, const WIDTH: usize, const RATE: usize, const OUT: usize>
    PaddingFreeSponge<F, WIDTH, RATE, OUT>
{
    /// Creates the sponge of `permutation`.
    pub fn new(permutation: Poseidon2<F, WIDTH>) -> Self {
        const { assert!(0 < OUT && OUT <= RATE && RATE < WIDTH) }
        Self { permutation }
    }

    /// Returns the permutation.
    pub fn permutation(&self) -> &Poseidon2<F, WIDTH> {
        &self.permutation
    }

    /// Returns Plonky3's sponge of the permutation.
    pub(super) fn host(&self) -> p3_symmetric::PaddingFreeSponge<F::Permutation, WIDTH, RATE, OUT> {
        p3_symmetric::PaddingFreeSponge::new(self.permutation.host().clone())
    }
}

/// Compresses two digests of `CHUNK` elements to one: the first elements of the permutation of both and zeros.
///
/// It is collision-resistant in a tree only, whose nodes are outputs of it or of a hash function.
#[derive(Debug, Clone)]
pub struct TruncatedPermutation<F: Poseidon2Field<WIDTH>, const CHUNK: usize, const WIDTH: usize> {
    permutation: Poseidon2<F, WIDTH>,
}

impl<F: Poseidon2Field<WIDTH>, const CHUNK: usize, const WIDTH: usize> TruncatedPermutation<F, CHUNK, WIDTH> {
    /// Creates the compression by `permutation`.
    pub fn new(permutation: Poseidon2<F, WIDTH>) -> Self {
        const { assert!(0 < CHUNK && 2 * CHUNK <= WIDTH) }
        Self { permutation }
    }

    /// Returns the permutation.
    pub fn permutation(&self) -> &Poseidon2<F, WIDTH> {
        &self.permutation
    }

    /// Returns Plonky3's compression by the permutation.
    pub(super) fn host(&self) -> p3_symmetric::TruncatedPermutation<F::Permutation, 2, CHUNK, WIDTH> {
        p3_symmetric::TruncatedPermutation::new(self.permutation.host().clone())
    }
}
