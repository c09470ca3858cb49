//! Permutes, hashes and builds trees on the host's cores, by Plonky3's crates.

use std::borrow::Cow;

use p3_commit::Mmcs;
use p3_field::Field as HostField;
use p3_matrix::dense::RowMajorMatrixCow;
use p3_symmetric::CryptographicHasher;
use rayon::prelude::*;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::matrix::RowMajorMatrix;
use super::poseidon2::{HashField, Poseidon2, Poseidon2Field};
use super::sponge::{PaddingFreeSponge, TruncatedPermutation};
use crate::Result;

/// Permutes each of `states` in place.
pub(super) fn permute_many<F: Poseidon2Field<WIDTH>, const WIDTH: usize>(
    permutation: &Poseidon2<F, WIDTH>,
    states: &mut [[F; WIDTH]],
) {
    states.par_iter_mut().for_each(|state| permutation.permute(state));
}

/// Returns the digest of each row of `matrix`.
pub(super) fn hash_rows<F: Poseidon2Field<WIDTH>, const WIDTH: usize, const RATE: usize, const OUT: usize>(
    sponge: &PaddingFreeSponge<F, WIDTH, RATE, OUT>,
    matrix: RowMajorMatrix<'_, F>,
) -> Result<Vec<[F; OUT]>> {
    let (hash, values) = (sponge.host(), matrix.to_host()?);
    let digest = |row: &[F]| hash.hash_iter(row.iter().copied().map(F::peel)).map(F::wrap);
    Ok(values.par_chunks_exact(matrix.width()).map(digest).collect())
}

/// Opens rows of a tree in host memory.
pub(super) trait HostTree<F, const DIGEST: usize>: Send + Sync {
    /// Returns row `index` of the tallest matrices and the rows above it of the others. The second part has the
    /// siblings of its leaf and of its ancestors below the cap. There must be such a row.
    fn open(&self, index: usize) -> (Vec<Vec<F>>, Vec<[F; DIGEST]>);
}

/// Names Plonky3's commitment scheme for trees of two children per node.
type HostMmcs<F, H, C, const DIGEST: usize> = p3_merkle_tree::MerkleTreeMmcs<Packing<F>, Packing<F>, H, C, 2, DIGEST>;
type Packing<F> = <<F as HashField>::Plonky3 as HostField>::Packing;
type Host<F> = <F as HashField>::Plonky3;

/// Holds a tree of Plonky3's and what opens it.
struct Plonky3Tree<M, T> {
    mmcs: M,
    tree: T,
}

impl<'a, F, M, const DIGEST: usize> HostTree<F, DIGEST>
    for Plonky3Tree<M, M::ProverData<RowMajorMatrixCow<'a, Host<F>>>>
where
    F: HashField,
    M: Mmcs<Host<F>, Proof = Vec<[Host<F>; DIGEST]>> + Send + Sync,
    M::ProverData<RowMajorMatrixCow<'a, Host<F>>>: Send + Sync,
{
    fn open(&self, index: usize) -> (Vec<Vec<F>>, Vec<[F; DIGEST]>) {
        let (rows, proof) = self.mmcs.open_batch(index, &self.tree).unpack();
        let rows = rows.into_iter().map(|row| row.into_iter().map(F::wrap).collect());
        (rows.collect(), proof.into_iter().map(|digest| digest.map(F::wrap)).collect())
    }
}

/// Holds the cap of a tree, and the tree.
pub(super) type CapAndTree<'a, F, const DIGEST: usize> = (Vec<[F; DIGEST]>, Box<dyn HostTree<F, DIGEST> + 'a>);

/// Builds the tree over `matrices`, whose heights were checked, with the cap at `cap_height`.
pub(super) fn build_tree<'a, F, const WIDTH: usize, const RATE: usize, const NODE_WIDTH: usize, const DIGEST: usize>(
    sponge: &PaddingFreeSponge<F, WIDTH, RATE, DIGEST>,
    compression: &TruncatedPermutation<F, DIGEST, NODE_WIDTH>,
    cap_height: usize,
    matrices: &[RowMajorMatrix<'a, F>],
) -> Result<CapAndTree<'a, F, DIGEST>>
where
    F: Poseidon2Field<WIDTH> + Poseidon2Field<NODE_WIDTH>,
    [Host<F>; DIGEST]: Serialize + DeserializeOwned,
{
    let leaves = matrices.iter().map(|matrix| to_plonky3(*matrix)).collect::<Result<Vec<_>>>()?;
    let mmcs = HostMmcs::<F, _, _, DIGEST>::new(sponge.host(), compression.host(), cap_height);
    let (cap, tree) = mmcs.commit(leaves);
    let cap = cap.into_roots().into_iter().map(|digest| digest.map(F::wrap)).collect();
    Ok((cap, Box::new(Plonky3Tree { mmcs, tree })))
}

/// Returns `matrix` as Plonky3's type, which copies it only from a device.
fn to_plonky3<F: HashField>(matrix: RowMajorMatrix<'_, F>) -> Result<RowMajorMatrixCow<'_, Host<F>>> {
    let values = match matrix.to_host()? {
        Cow::Borrowed(values) => Cow::Borrowed(F::peel_slice(values)),
        Cow::Owned(values) => Cow::Owned(values.into_iter().map(F::peel).collect()),
    };
    Ok(RowMajorMatrixCow::new(values, matrix.width()))
}
