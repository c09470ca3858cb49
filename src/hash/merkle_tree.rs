//! Commits to matrices by Merkle trees, and opens rows.

use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::cpu::{self, HostTree};
use super::gpu::{self, DeviceTree};
use super::matrix::RowMajorMatrix;
use super::poseidon2::{HashField, Poseidon2Field};
use super::sponge::{PaddingFreeSponge, TruncatedPermutation};
use super::tree_shape::TreeShape;
use crate::backend::Device;
use crate::exec::{ExecCtx, Operation, execute};
use crate::report::OpScope;
use crate::{Accelerator, Report, Result};

/// Commits to matrices by trees: a sponge for rows, a compression for nodes, and the height of the cap. It gives the
/// results of `p3_merkle_tree::MerkleTreeMmcs` with two children per node. The [module](super) has an example.
#[derive(Debug, Clone)]
pub struct MerkleTreeMmcs<F, const WIDTH: usize, const RATE: usize, const NODE_WIDTH: usize, const DIGEST: usize>
where
    F: Poseidon2Field<WIDTH> + Poseidon2Field<NODE_WIDTH>,
{
    sponge: PaddingFreeSponge<F, WIDTH, RATE, DIGEST>,
    compression: TruncatedPermutation<F, DIGEST, NODE_WIDTH>,
    cap_height: usize,
}

impl<F, const WIDTH: usize, const RATE: usize, const NODE_WIDTH: usize, const DIGEST: usize>
    MerkleTreeMmcs<F, WIDTH, RATE, NODE_WIDTH, DIGEST>
where
    F: Poseidon2Field<WIDTH> + Poseidon2Field<NODE_WIDTH>,
    [<F as HashField>::Plonky3; DIGEST]: Serialize + DeserializeOwned,
{
    /// Creates a scheme that hashes rows by `sponge` and nodes by `compression`. Commitments are caps of 2^`cap_height`
    /// digests, or roots if `cap_height` is 0.
    pub fn new(
        sponge: PaddingFreeSponge<F, WIDTH, RATE, DIGEST>,
        compression: TruncatedPermutation<F, DIGEST, NODE_WIDTH>,
        cap_height: usize,
    ) -> Self {
        Self { sponge, compression, cap_height }
    }

    /// Commits to `matrices` on `accelerator`'s first device, or on the host's cores if there is none. The tree stays
    /// there; matrices stay where they are.
    ///
    /// Rows of matrices of one height are hashed one after the other, in the order of `matrices`. The greatest height h
    /// gives the leaves. Any other height must be ⌈h/2^k⌉ for some k. Its rows are compressed with the nodes k layers
    /// up.
    ///
    /// # Errors
    /// - [`Error::Invalid`](crate::Error::Invalid): there is no matrix, a matrix without rows, or of another height.
    /// - [`Error::Invalid`](crate::Error::Invalid): the cap's number of digests is no power of two.
    /// - [`Error::Invalid`](crate::Error::Invalid): a matrix is on another device.
    /// - [`Error::OutOfMemory`](crate::Error::OutOfMemory), [`Error::Device`](crate::Error::Device): a forced backend
    ///   has too little memory, or fails.
    pub fn commit<'a>(
        &self,
        accelerator: &Accelerator,
        matrices: &[RowMajorMatrix<'a, F>],
    ) -> Result<(MerkleTree<'a, F, DIGEST>, Report)> {
        let heights: Vec<usize> = matrices.iter().map(RowMajorMatrix::height).collect();
        let shape = TreeShape::new(&heights)?;
        shape.cap(self.cap_height)?;
        let mut operation = BuildTree { mmcs: self, matrices, shape: &shape };
        let ((cap, digests), report) = execute(accelerator, accelerator.devices(), &mut operation, None)?;
        let tree = MerkleTree { matrices: matrices.to_vec(), shape, cap_height: self.cap_height, cap, digests };
        Ok((tree, report))
    }
}

/// Builds a tree over matrices.
struct BuildTree<'b, 'a, F, const WIDTH: usize, const RATE: usize, const NODE_WIDTH: usize, const DIGEST: usize>
where
    F: Poseidon2Field<WIDTH> + Poseidon2Field<NODE_WIDTH>,
{
    mmcs: &'b MerkleTreeMmcs<F, WIDTH, RATE, NODE_WIDTH, DIGEST>,
    matrices: &'b [RowMajorMatrix<'a, F>],
    shape: &'b TreeShape,
}

impl<'a, F, const WIDTH: usize, const RATE: usize, const NODE_WIDTH: usize, const DIGEST: usize> Operation
    for BuildTree<'_, 'a, F, WIDTH, RATE, NODE_WIDTH, DIGEST>
where
    F: Poseidon2Field<WIDTH> + Poseidon2Field<NODE_WIDTH>,
    [<F as HashField>::Plonky3; DIGEST]: Serialize + DeserializeOwned,
{
    /// The cap, and all digests.
    type Output = (Vec<[F; DIGEST]>, Digests<'a, F, DIGEST>);

    fn scope(&self) -> OpScope {
        let elements = self.matrices.iter().map(|matrix| matrix.width() * matrix.height()).sum();
        OpScope { operation: format!("merkle tree {} {WIDTH}", F::NAME), elements }
    }

    fn on_devices(&mut self, devices: &[Arc<Device>], ctx: ExecCtx<'_>) -> Result<Self::Output> {
        let MerkleTreeMmcs { sponge, compression, cap_height } = self.mmcs;
        let shape = (self.shape, *cap_height);
        let (cap, tree) = gpu::build_tree(&devices[0], sponge, compression, shape, self.matrices, ctx)?;
        Ok((cap, Digests::Device(tree)))
    }

    fn on_cpu(&mut self, _: ExecCtx<'_>) -> Result<Self::Output> {
        let MerkleTreeMmcs { sponge, compression, cap_height } = self.mmcs;
        let (cap, tree) = cpu::build_tree(sponge, compression, *cap_height, self.matrices)?;
        Ok((cap, Digests::Host(tree)))
    }
}

/// Holds the digests of a tree where it was built.
enum Digests<'a, F, const DIGEST: usize> {
    Host(Box<dyn HostTree<F, DIGEST> + 'a>),
    Device(DeviceTree),
}

/// Holds a tree over matrices, whose rows it opens. A tree on a device has all its digests there.
pub struct MerkleTree<'a, F, const DIGEST: usize> {
    matrices: Vec<RowMajorMatrix<'a, F>>,
    shape: TreeShape,
    cap_height: usize,
    cap: Vec<[F; DIGEST]>,
    digests: Digests<'a, F, DIGEST>,
}

/// Holds opened rows and the digests that prove them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BatchOpening<F, const DIGEST: usize> {
    /// One row of each matrix, in the order of the matrices.
    pub opened_values: Vec<Vec<F>>,
    /// Siblings of the leaf and of its ancestors, up to the layer below the cap.
    pub opening_proof: Vec<[F; DIGEST]>,
}

impl<F: HashField, const DIGEST: usize> MerkleTree<'_, F, DIGEST> {
    /// Returns the commitment: the digests of the cap, or the root alone if the cap has height 0.
    pub fn cap(&self) -> &[[F; DIGEST]] {
        &self.cap
    }

    /// Opens row `index` of the matrices of the greatest height h. Of a matrix of ⌈h/2^k⌉ rows it opens row
    /// ⌊`index`/2^k⌋.
    ///
    /// # Errors
    /// - [`Error::Invalid`](crate::Error::Invalid): `index` is not below the greatest height.
    /// - [`Error::OutOfMemory`](crate::Error::OutOfMemory), [`Error::Device`](crate::Error::Device): the tree's device
    ///   has too little memory, or fails.
    pub fn open_batch(&self, index: usize) -> Result<BatchOpening<F, DIGEST>> {
        let mut openings = self.open_batches(&[index])?;
        Ok(openings.swap_remove(0))
    }

    /// Opens rows as [`Self::open_batch`] does, for each of `indices` in their order. A device gathers all of them at
    /// once.
    ///
    /// # Errors
    /// - [`Error::Invalid`](crate::Error::Invalid): an index is not below the greatest height.
    /// - [`Error::OutOfMemory`](crate::Error::OutOfMemory), [`Error::Device`](crate::Error::Device): the tree's device
    ///   has too little memory, or fails.
    pub fn open_batches(&self, indices: &[usize]) -> Result<Vec<BatchOpening<F, DIGEST>>> {
        indices.iter().try_for_each(|index| self.shape.check_index(*index))?;
        match &self.digests {
            _ if indices.is_empty() => Ok(Vec::new()),
            Digests::Host(tree) => Ok(indices.iter().map(|index| open_on_host(&**tree, *index)).collect()),
            Digests::Device(tree) => self.open_on_device(tree, indices),
        }
    }

    fn open_on_device(&self, tree: &DeviceTree, indices: &[usize]) -> Result<Vec<BatchOpening<F, DIGEST>>> {
        let siblings: Vec<usize> =
            indices.iter().flat_map(|index| self.shape.siblings(*index, self.cap_height)).collect();
        let proofs = if siblings.is_empty() { Vec::new() } else { tree.digests(&siblings)? };
        let length = self.shape.proof_length(self.cap_height);
        let mut openings: Vec<_> = (0..indices.len())
            .map(|number| BatchOpening {
                opened_values: Vec::with_capacity(self.matrices.len()),
                opening_proof: proofs[number * length..][..length].to_vec(),
            })
            .collect();
        for (number, matrix) in self.matrices.iter().enumerate() {
            let rows: Vec<usize> = indices.iter().map(|index| self.shape.row(number, *index)).collect();
            let values = tree.rows(matrix, &rows)?;
            let rows = values.chunks_exact(matrix.width()).map(<[F]>::to_vec);
            openings.iter_mut().zip(rows).for_each(|(opening, row)| opening.opened_values.push(row));
        }
        Ok(openings)
    }
}

fn open_on_host<F, const DIGEST: usize>(tree: &dyn HostTree<F, DIGEST>, index: usize) -> BatchOpening<F, DIGEST> {
    let (opened_values, opening_proof) = tree.open(index);
    BatchOpening { opened_values, opening_proof }
}
