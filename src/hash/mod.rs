//! Permutes states by Poseidon2, hashes rows of matrices, and commits to matrices by Merkle trees (feature `plonky3`).
//!
//! Results equal those of Plonky3's crates: `p3-poseidon2` with the permutations of the field's crate, `p3-symmetric` and
//! `p3-merkle-tree`. The host's cores run these crates themselves.
//!
//! | field | widths | exponent of the S-box |
//! |---|---|---|
//! | [`Goldilocks`](crate::field::plonky3::Goldilocks) | 8, 12, 16 | 7 |
//! | [`BabyBear`](crate::field::plonky3::BabyBear) | 16, 24 | 7 |
//! | [`KoalaBear`](crate::field::plonky3::KoalaBear) | 16, 24 | 3 |
//!
//! ```
//! use proofwarp::field::plonky3::KoalaBear;
//! use proofwarp::hash::{MerkleTreeMmcs, PaddingFreeSponge, Poseidon2, RowMajorMatrix, TruncatedPermutation};
//! use proofwarp::Accelerator;
//!
//! let accelerator = Accelerator::from_env()?;
//! let permutation = Poseidon2::<KoalaBear, 16>::plonky3();
//! let sponge = PaddingFreeSponge::<_, 16, 8, 8>::new(permutation.clone());
//! let mmcs = MerkleTreeMmcs::new(sponge, TruncatedPermutation::new(permutation), 0);
//!
//! let values: Vec<KoalaBear> = (0..40).map(KoalaBear::from).collect();
//! let matrices = [RowMajorMatrix::host(&values, 5)?, RowMajorMatrix::host(&values[..8], 2)?]; // 8 and 4 rows
//! let (tree, report) = mmcs.commit(&accelerator, &matrices)?;
//! let opening = tree.open_batch(6)?;
//! assert_eq!(opening.opened_values, [&values[30..35], &values[6..8]]);
//! println!("root {:?}, {} siblings; {report}", tree.cap()[0], opening.opening_proof.len());
//! # Ok::<(), proofwarp::Error>(())
//! ```

mod cpu;
mod gpu;
mod matrix;
mod merkle_tree;
mod poseidon2;
mod sponge;
mod tree_shape;

pub use matrix::RowMajorMatrix;
pub use merkle_tree::{BatchOpening, MerkleTree, MerkleTreeMmcs};
pub use poseidon2::{HashField, Poseidon2, Poseidon2Field, RoundConstants};
pub use sponge::{PaddingFreeSponge, TruncatedPermutation};

use std::sync::Arc;

use crate::backend::Device;
use crate::exec::{ExecCtx, Operation, execute};
use crate::report::OpScope;
use crate::{Accelerator, Report, Result};

/// Permutes each of `states` in place on `accelerator`'s first device, or on the host's cores if there is none.
///
/// # Errors
/// - [`Error::Invalid`](crate::Error::Invalid): there are 2^32 states or more.
/// - [`Error::OutOfMemory`](crate::Error::OutOfMemory), [`Error::Device`](crate::Error::Device): a forced backend has
///   too little memory, or fails. The states are unchanged.
pub fn permute_many<F: Poseidon2Field<WIDTH>, const WIDTH: usize>(
    accelerator: &Accelerator,
    permutation: &Poseidon2<F, WIDTH>,
    states: &mut [[F; WIDTH]],
) -> Result<Report> {
    execute(accelerator, accelerator.devices(), &mut PermuteMany { permutation, states }, None)
        .map(|((), report)| report)
}

/// Permutes states in place.
struct PermuteMany<'a, F: Poseidon2Field<WIDTH>, const WIDTH: usize> {
    permutation: &'a Poseidon2<F, WIDTH>,
    states: &'a mut [[F; WIDTH]],
}

impl<F: Poseidon2Field<WIDTH>, const WIDTH: usize> Operation for PermuteMany<'_, F, WIDTH> {
    type Output = ();

    fn scope(&self) -> OpScope {
        OpScope { operation: format!("poseidon2 {} {WIDTH}", F::NAME), elements: self.states.len() }
    }

    fn on_devices(&mut self, devices: &[Arc<Device>], ctx: ExecCtx<'_>) -> Result<()> {
        gpu::permute_many(&devices[0], self.permutation, self.states, ctx)
    }

    fn on_cpu(&mut self, _: ExecCtx<'_>) -> Result<()> {
        cpu::permute_many(self.permutation, self.states);
        Ok(())
    }
}

/// Returns the digest of each row of `matrix`, which `accelerator`'s first device hashes by `sponge`, or the host's
/// cores if there is none.
///
/// # Errors
/// - [`Error::Invalid`](crate::Error::Invalid): there are 2^32 rows or more, or the matrix is on another device.
/// - [`Error::OutOfMemory`](crate::Error::OutOfMemory), [`Error::Device`](crate::Error::Device): a forced backend has
///   too little memory, or fails.
pub fn hash_rows<F: Poseidon2Field<WIDTH>, const WIDTH: usize, const RATE: usize, const OUT: usize>(
    accelerator: &Accelerator,
    sponge: &PaddingFreeSponge<F, WIDTH, RATE, OUT>,
    matrix: RowMajorMatrix<'_, F>,
) -> Result<(Vec<[F; OUT]>, Report)> {
    execute(accelerator, accelerator.devices(), &mut HashRows { sponge, matrix }, None)
}

/// Hashes the rows of a matrix.
struct HashRows<'a, F: Poseidon2Field<WIDTH>, const WIDTH: usize, const RATE: usize, const OUT: usize> {
    sponge: &'a PaddingFreeSponge<F, WIDTH, RATE, OUT>,
    matrix: RowMajorMatrix<'a, F>,
}

impl<F: Poseidon2Field<WIDTH>, const WIDTH: usize, const RATE: usize, const OUT: usize> Operation
    for HashRows<'_, F, WIDTH, RATE, OUT>
{
    type Output = Vec<[F; OUT]>;

    fn scope(&self) -> OpScope {
        let elements = self.matrix.width() * self.matrix.height();
        OpScope { operation: format!("hash rows {} {WIDTH}", F::NAME), elements }
    }

    fn on_devices(&mut self, devices: &[Arc<Device>], ctx: ExecCtx<'_>) -> Result<Self::Output> {
        gpu::hash_rows(&devices[0], self.sponge, self.matrix, ctx)
    }

    fn on_cpu(&mut self, _: ExecCtx<'_>) -> Result<Self::Output> {
        cpu::hash_rows(self.sponge, self.matrix)
    }
}

/// Runs the examples of `docs/hash.md`.
#[cfg(doctest)]
#[doc = include_str!("../../docs/hash.md")]
struct Page;
