//! Merkle trees, on every backend: caps and openings equal those of `p3-merkle-tree`, which verifies them.

use p3_commit::{BatchOpeningRef, Mmcs};
use p3_field::Field as HostField;
use p3_matrix::dense::RowMajorMatrix as HostMatrix;
use p3_matrix::{Dimensions, Matrix};
use proofwarp::field::DeviceVector;
use proofwarp::field::plonky3::{BabyBear, Goldilocks, KoalaBear};
use proofwarp::hash::{
    BatchOpening, HashField, MerkleTree, MerkleTreeMmcs, PaddingFreeSponge, Poseidon2, Poseidon2Field, RowMajorMatrix,
    TruncatedPermutation,
};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::common::{accelerators_and_cpu, rng};

type Host<F> = <F as HashField>::Plonky3;
type Packing<F> = <Host<F> as HostField>::Packing;

/// A scheme of a field, and Plonky3's, by one pair of permutations.
macro_rules! schemes {
    ($type:ty, $cap:expr; $width:literal, $rate:literal, $node:literal, $digest:literal) => {{
        let (leaf, node) = (Poseidon2::<$type, $width>::plonky3(), Poseidon2::<$type, $node>::plonky3());
        let theirs = p3_merkle_tree::MerkleTreeMmcs::<Packing<$type>, Packing<$type>, _, _, 2, $digest>::new(
            p3_symmetric::PaddingFreeSponge::<_, $width, $rate, $digest>::new(leaf.host().clone()),
            p3_symmetric::TruncatedPermutation::<_, 2, $digest, $node>::new(node.host().clone()),
            $cap,
        );
        let ours = MerkleTreeMmcs::new(
            PaddingFreeSponge::<$type, $width, $rate, $digest>::new(leaf),
            TruncatedPermutation::<$type, $digest, $node>::new(node),
            $cap,
        );
        (ours, theirs)
    }};
}

/// Matrices of these heights and widths, with random elements.
fn matrices<F: HashField>(shapes: &[(usize, usize)]) -> Vec<(Vec<F>, usize)> {
    let mut rng = rng(shapes.len() as u64);
    let values = |elements: usize, rng: &mut _| (0..elements).map(|_| F::random(&mut *rng)).collect();
    shapes.iter().map(|(height, width)| (values(height * width, &mut rng), *width)).collect()
}

/// The cap of `tree` is `commitment`, and openings are those of `theirs`.
fn check_tree<F: HashField, M, const DIGEST: usize>(
    tree: &MerkleTree<'_, F, DIGEST>,
    theirs: &M,
    (commitment, data): &(M::Commitment, M::ProverData<HostMatrix<Host<F>>>),
) where
    M: Mmcs<Host<F>, Proof = Vec<[Host<F>; DIGEST]>>,
    M::Commitment: AsRef<[[Host<F>; DIGEST]]>,
{
    let cap: Vec<_> = tree.cap().iter().map(|digest| digest.map(F::peel)).collect();
    assert!(cap == commitment.as_ref(), "the cap");
    let dimensions: Vec<Dimensions> = theirs.get_matrices(data).iter().map(|matrix| matrix.dimensions()).collect();
    let height = theirs.get_max_height(data);
    let mut indices: Vec<usize> = (0..height).step_by(height.div_ceil(20)).chain([height - 1, 0]).collect();
    indices.push(height / 2);
    let openings = tree.open_batches(&indices).unwrap_or_else(|error| panic!("{error}"));
    for (index, BatchOpening { opened_values, opening_proof }) in indices.into_iter().zip(openings) {
        let values: Vec<Vec<_>> = opened_values.iter().map(|row| F::peel_slice(row).to_vec()).collect();
        let proof: Vec<_> = opening_proof.into_iter().map(|digest| digest.map(F::peel)).collect();
        let (expected_values, expected_proof) = theirs.open_batch(index, data).unpack();
        assert!(values == expected_values && proof == expected_proof, "the opening of {index}");
        let opening = BatchOpeningRef::new(&values, &proof);
        let verified = theirs.verify_batch(commitment, &dimensions, index, opening);
        assert!(verified.is_ok(), "row {index}: {verified:?}");
    }
}

/// Commits to matrices of these shapes on every backend: all of them in host memory, all in device memory, and every
/// other one.
fn check<F, M, const WIDTH: usize, const RATE: usize, const NODE: usize, const DIGEST: usize>(
    (ours, theirs): &(MerkleTreeMmcs<F, WIDTH, RATE, NODE, DIGEST>, M),
    shapes: &[(usize, usize)],
) where
    F: Poseidon2Field<WIDTH> + Poseidon2Field<NODE>,
    [Host<F>; DIGEST]: Serialize + DeserializeOwned,
    M: Mmcs<Host<F>, Proof = Vec<[Host<F>; DIGEST]>>,
    M::Commitment: AsRef<[[Host<F>; DIGEST]]>,
{
    let matrices = matrices::<F>(shapes);
    let of_host = |(values, width): &(Vec<F>, usize)| HostMatrix::new(F::peel_slice(values).to_vec(), *width);
    let committed = theirs.commit(matrices.iter().map(of_host).collect());
    for accelerator in accelerators_and_cpu() {
        let device = accelerator.devices().first();
        for resident in [|_| false, |_| true, |number| number % 2 == 1] as [fn(usize) -> bool; 3] {
            let upload = |(number, (values, _)): (usize, &(Vec<F>, usize))| {
                let device = device.filter(|_| resident(number))?;
                Some(DeviceVector::upload(&mut device.stream().expect("a stream"), values).expect("memory"))
            };
            let vectors: Vec<Option<DeviceVector<F>>> = matrices.iter().enumerate().map(upload).collect();
            let of_places = matrices.iter().zip(&vectors).map(|((values, width), vector)| match vector {
                None => RowMajorMatrix::host(values, *width),
                Some(vector) => RowMajorMatrix::device(vector, *width),
            });
            let places: Vec<RowMajorMatrix<'_, F>> = of_places.collect::<Result<_, _>>().expect("whole rows");
            let (tree, report) =
                ours.commit(&accelerator, &places).unwrap_or_else(|error| panic!("{shapes:?}: {error}"));
            assert_eq!(Some(report.backend), accelerator.forced());
            check_tree(&tree, theirs, &committed);
        }
    }
}

/// One matrix of each height from 1 to 20, and of some others around the size of a group.
#[test]
fn heights() {
    let schemes = schemes!(KoalaBear, 0; 16, 8, 16, 8);
    for height in (1..=20).chain([127, 128, 129, 255, 257, 300, 1000]) {
        check(&schemes, &[(height, 3)]);
    }
}

/// The heights that a tree of height h admits, ⌈h/2^k⌉, in several orders and numbers.
#[test]
fn mixed_heights() {
    let schemes = schemes!(KoalaBear, 0; 16, 8, 16, 8);
    check(&schemes, &[(8, 5), (8, 8), (4, 9), (1, 1), (8, 3), (2, 16)]);
    check(&schemes, &[(1, 7), (3, 2), (5, 4), (2, 1), (5, 1)]);
    check(&schemes, &[(1, 2), (1, 9)]);
    check(&schemes, &[(250, 1), (1000, 20), (500, 12), (500, 4), (8, 1), (1, 30), (1000, 3)]);
    check(&schemes, &[(513, 2), (257, 2), (129, 2), (65, 2), (33, 2), (17, 2), (9, 2), (5, 2), (3, 2), (2, 2), (1, 2)]);
}

/// Leaves and nodes of other fields, widths and rates.
#[test]
fn permutations() {
    let shapes = [(40, 19), (10, 3), (40, 8), (20, 17)];
    check(&schemes!(KoalaBear, 0; 24, 16, 16, 8), &shapes);
    check(&schemes!(KoalaBear, 0; 16, 8, 24, 8), &shapes);
    check(&schemes!(BabyBear, 0; 16, 8, 16, 8), &shapes);
    check(&schemes!(BabyBear, 0; 24, 16, 16, 8), &shapes);
    check(&schemes!(Goldilocks, 0; 8, 4, 8, 4), &shapes);
    check(&schemes!(Goldilocks, 0; 12, 8, 8, 4), &shapes);
    check(&schemes!(Goldilocks, 0; 16, 8, 12, 4), &shapes);
}

#[test]
fn caps() {
    for shapes in [&[(32, 3), (4, 5)][..], &[(21, 3)], &[(1, 4)]] {
        check(&schemes!(KoalaBear, 1; 16, 8, 16, 8), shapes);
        check(&schemes!(KoalaBear, 2; 16, 8, 16, 8), shapes);
    }
    check(&schemes!(BabyBear, 5; 16, 8, 16, 8), &[(32, 3)]);
    check(&schemes!(BabyBear, 9; 16, 8, 16, 8), &[(32, 3), (16, 1)]);
    // The layer below the root's children has six digests.
    let (scheme, _) = schemes!(KoalaBear, 3; 16, 8, 16, 8);
    let values = [KoalaBear::from(1); 5];
    let matrix = RowMajorMatrix::host(&values, 1).expect("whole rows");
    for accelerator in accelerators_and_cpu() {
        let error = scheme.commit(&accelerator, &[matrix]).err().expect("no power of two").to_string();
        assert!(error.contains("power of two, got 6"), "{error}");
    }
}

#[test]
fn no_tree() {
    let (scheme, _) = schemes!(KoalaBear, 0; 16, 8, 16, 8);
    let values = [KoalaBear::from(1); 16];
    let of_heights = |heights: &[usize]| -> Vec<_> {
        heights.iter().map(|height| RowMajorMatrix::host(&values[..*height], 1).expect("whole rows")).collect()
    };
    for accelerator in accelerators_and_cpu() {
        for (heights, reason) in [
            (&[][..], "matrices: expected at least one"),
            (&[0], "rows of matrix 0: expected at least one"),
            (&[4, 0], "rows of matrix 1: expected at least one"),
            (&[7, 3], "rows of matrix 1: expected 4"),
            (&[5, 8], "rows of matrix 0: expected 8"),
        ] {
            let error = scheme.commit(&accelerator, &of_heights(heights)).err().expect("no tree").to_string();
            assert!(error.contains(reason), "{heights:?}: {error}");
        }
        let (tree, _) = scheme.commit(&accelerator, &of_heights(&[5])).expect("a tree");
        assert!(tree.open_batch(4).is_ok() && tree.open_batches(&[]).expect("nothing to open").is_empty());
        let error = tree.open_batches(&[0, 5]).expect_err("five rows").to_string();
        assert!(error.contains("index: expected below 5, got 5"), "{error}");
    }
}
