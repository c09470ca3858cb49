//! Poseidon2.
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

use std::cell::RefCell;

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
    let call = OpScope { operation: format!("poseidon2 {} {WIDTH}", F::NAME), elements: states.len() };
    // Both closures need the states; only one runs at a time.
    let states = RefCell::new(states);
    let ((), report) = accelerator.dispatch(
        call,
        |devices| Ok(((), gpu::permute_many(&devices[0], permutation, &mut states.borrow_mut())?)),
        || Ok(cpu::permute_many(permutation, &mut states.borrow_mut())),
    )?;
    Ok(report)
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
    let elements = matrix.width() * matrix.height();
    let call = OpScope { operation: format!("hash rows {} {WIDTH}", F::NAME), elements };
    accelerator.dispatch(call, |devices| gpu::hash_rows(&devices[0], sponge, matrix), || cpu::hash_rows(sponge, matrix))
}
