//! Commits to two matrices of KoalaBear elements by a Merkle tree, opens rows, and has Plonky3 verify them.
//!
//! `cargo run --release --features plonky3 --example merkle`

use bytemuck::TransparentWrapper;
use ff::Field;
use p3_commit::{BatchOpeningRef, Mmcs};
use p3_matrix::Dimensions;
use p3_merkle_tree::MerkleCap;
use proofwarp::Accelerator;
use proofwarp::field::plonky3::KoalaBear;
use proofwarp::hash::{MerkleTreeMmcs, PaddingFreeSponge, Poseidon2, RowMajorMatrix, TruncatedPermutation};

type Packing = <p3_koala_bear::KoalaBear as p3_field::Field>::Packing;
type Failure = Box<dyn std::error::Error>;

/// Columns and rows of the matrices. A height is the greatest one, halved and rounded up any number of times.
const SHAPES: [(usize, usize); 2] = [(1 << 12, 16), (1 << 9, 40)];

fn main() -> Result<(), Failure> {
    // Shows warnings, and what OpenCL compiles: that may take minutes in the first run.
    let _ = env_logger::Builder::new().parse_filters("proofwarp=warn,proofwarp::compile=info").try_init();
    let mut rng = rand::thread_rng();
    let mut random = |(rows, columns)| (0..rows * columns).map(|_| KoalaBear::random(&mut rng)).collect();
    let values: [Vec<KoalaBear>; 2] = SHAPES.map(&mut random);
    let matrices = [0, 1].map(|number| RowMajorMatrix::host(&values[number], SHAPES[number].1));
    let [first, second] = matrices;

    // Rows are hashed by a sponge of rate 8, and pairs of digests by the same permutation.
    let permutation = Poseidon2::<KoalaBear, 16>::plonky3();
    let sponge = PaddingFreeSponge::<_, 16, 8, 8>::new(permutation.clone());
    let mmcs = MerkleTreeMmcs::new(sponge, TruncatedPermutation::new(permutation.clone()), 0);
    let (tree, report) = mmcs.commit(&Accelerator::from_env()?, &[first?, second?])?;
    println!("{report}\nroot: {:?}", tree.cap()[0]);

    // A verifier needs Plonky3's crates alone.
    let verifier = p3_merkle_tree::MerkleTreeMmcs::<Packing, Packing, _, _, 2, 8>::new(
        p3_symmetric::PaddingFreeSponge::<_, 16, 8, 8>::new(permutation.host().clone()),
        p3_symmetric::TruncatedPermutation::<_, 2, 8, 16>::new(permutation.host().clone()),
        0,
    );
    let commitment = MerkleCap::new(tree.cap().iter().map(|digest| digest.map(KoalaBear::peel)).collect());
    let dimensions = SHAPES.map(|(height, width)| Dimensions { width, height });
    let indices = [0, 1234, SHAPES[0].0 - 1];
    for (index, opening) in indices.into_iter().zip(tree.open_batches(&indices)?) {
        let rows: Vec<_> = opening.opened_values.iter().map(|row| KoalaBear::to_plonky3(row).to_vec()).collect();
        let proof: Vec<_> = opening.opening_proof.iter().map(|digest| digest.map(KoalaBear::peel)).collect();
        verifier.verify_batch(&commitment, &dimensions, index, BatchOpeningRef::new(&rows, &proof))?;
        println!("row {index}: {} siblings, verified", proof.len());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #[test]
    fn rows_are_verified() {
        super::main().unwrap_or_else(|error| panic!("{error}"));
    }
}
