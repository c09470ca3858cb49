//! Commits to a matrix by a Merkle tree of Poseidon2, whose root has to be that of Plonky3's crates: the CPU runs these.

use proofwarp::field::plonky3::{BabyBear, Goldilocks, KoalaBear};
use proofwarp::hash::{MerkleTreeMmcs, PaddingFreeSponge, Poseidon2, RowMajorMatrix, TruncatedPermutation};
use proofwarp::{Accelerator, BackendKind, Report, Result};

use super::{Answer, timed};

/// Number of columns that the matrix has.
const COLUMNS: usize = 16;

/// Defines a test of trees over a field. The sponge has a width and a rate; digests and the width of the permutation
/// that compresses two of them follow.
macro_rules! tree_test {
    ($name:ident, $field:ty, $width:literal, $rate:literal, $digest:literal, $pair:literal) => {
        pub fn $name(accelerator: &Accelerator, log: u32) -> Result<Answer> {
            let sponge = PaddingFreeSponge::<_, $width, $rate, $digest>::new(Poseidon2::<$field, $width>::plonky3());
            let pair = TruncatedPermutation::new(Poseidon2::<$field, $pair>::plonky3());
            let mmcs = MerkleTreeMmcs::new(sponge, pair, 0);
            let values: Vec<$field> = (0..1_u32 << log).map(|number| <$field>::from(number)).collect();
            compare(accelerator, |accelerator| {
                let matrix = RowMajorMatrix::host(&values, COLUMNS.min(values.len()))?;
                let (tree, report) = mmcs.commit(accelerator, &[matrix])?;
                Ok((tree.cap().to_vec(), report))
            })
        }
    };
}

tree_test!(goldilocks_8, Goldilocks, 8, 4, 4, 8);
tree_test!(goldilocks_12, Goldilocks, 12, 8, 4, 8);
tree_test!(koala_bear_16, KoalaBear, 16, 8, 8, 16);
tree_test!(baby_bear_24, BabyBear, 24, 16, 8, 16);

fn compare<T: PartialEq>(
    accelerator: &Accelerator,
    commit: impl Fn(&Accelerator) -> Result<(T, Report)>,
) -> Result<Answer> {
    let (known, _) = commit(&Accelerator::with_backend(BackendKind::Cpu)?)?;
    commit(accelerator)?;
    let ((root, report), time) = timed(|| commit(accelerator))?;
    Ok(Answer { report, time, is_right: root == known })
}
