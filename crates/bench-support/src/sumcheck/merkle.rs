//! Hashes columns into a Merkle tree by SHA-256. The transcript is bound to its root, and the verifier opens it.
//!
//! The verifier of this program reads all columns. `docs/sumcheck.md` has an argument whose verifier reads a root of them.

use ff::Field;
use proofwarp::sumcheck::SumcheckField;
use rayon::prelude::*;
use sha2::{Digest, Sha256};

use super::over::Over;
use crate::Failure;

/// Elements of a leaf, 2^10: less than a core hashes in 20 µs.
const LEAF: usize = 1 << 10;

type Node = [u8; 32];

/// Returns the root of a tree whose leaves are parts of `columns`, one column after the other.
pub fn root<F: SumcheckField, O: Over<F>>(columns: &[Vec<O::Entry>]) -> Node {
    let leaf = |part: &[O::Entry]| {
        let mut bytes = vec![0];
        for entry in part {
            O::lift(*entry).write(&mut bytes);
        }
        Sha256::digest(&bytes).into()
    };
    let parts: Vec<&[O::Entry]> = columns.iter().flat_map(|column| column.chunks(LEAF)).collect();
    let mut nodes: Vec<Node> = parts.into_par_iter().map(leaf).collect();
    while nodes.len() > 1 {
        nodes = nodes.par_chunks(2).map(above).collect();
    }
    nodes.first().copied().unwrap_or_default()
}

/// The node above two, or above one where their number is odd. It is no leaf: its first byte is another.
fn above(nodes: &[Node]) -> Node {
    Sha256::digest([&[nodes.len() as u8], nodes.as_flattened()].concat()).into()
}

/// Checks that `columns` are those of a root, and that `finals` are their values at `point`: the openings.
///
/// # Errors
/// The root is another, or a value is.
pub fn check<F: SumcheckField, O: Over<F>>(
    columns: &[Vec<O::Entry>],
    expected: &Node,
    (point, finals): (&[F], &[F]),
) -> Result<(), Failure> {
    if root::<F, O>(columns) != *expected {
        return Err("the columns are not those that were committed to".into());
    }
    let values: Vec<F> = columns.iter().map(|column| at::<F, O>(column, point)).collect();
    if values == finals { Ok(()) } else { Err("the columns have other values at the point".into()) }
}

/// The value at a point of the multilinear polynomial with these values; the first variable is the highest bit of a row's number.
fn at<F: SumcheckField, O: Over<F>>(column: &[O::Entry], point: &[F]) -> F {
    let (high, low) = point.split_at(point.len() / 2);
    let [high, low] = [high, low].map(weights);
    let of_part = |(part, weight): (&[O::Entry], &F::Compute)| {
        *weight * part.iter().zip(&low).map(|(entry, weight)| O::in_work(*entry) * weight).sum::<F::Compute>()
    };
    let parts = column.par_chunks(low.len()).zip(&high).map(of_part);
    F::from_compute_field(parts.reduce(|| F::Compute::ZERO, |a, b| a + b))
}

/// eq(point, x) for all x.
fn weights<F: SumcheckField>(point: &[F]) -> Vec<F::Compute> {
    let double = |all: Vec<F::Compute>, r: &F| {
        let r = r.to_compute_field();
        all.iter().flat_map(|weight| [*weight - *weight * r, *weight * r]).collect()
    };
    point.iter().fold(vec![F::Compute::ONE], double)
}

#[cfg(test)]
mod tests {
    use proofwarp::field::ghash::Ghash;

    use super::super::over::Same;
    use super::*;

    #[test]
    fn openings_are_of_the_columns_that_were_committed_to() {
        let columns: Vec<Vec<Ghash>> = (1..4).map(|k| (0..4096).map(|row| Ghash(row * k + 1)).collect()).collect();
        let root = root::<Ghash, Same>(&columns);
        let point: Vec<Ghash> = (0..12).map(|i| Ghash(u128::from(i == 0))).collect();
        // The point is row 2048.
        let finals = [2049, 4097, 6145].map(Ghash);
        check::<Ghash, Same>(&columns, &root, (&point, &finals)).expect("as they are");
        let mut others = columns.clone();
        others[2][4095] += Ghash::ONE;
        let error = check::<Ghash, Same>(&others, &root, (&point, &finals)).expect_err("another column");
        assert_eq!(error.to_string(), "the columns are not those that were committed to");
        let error = check::<Ghash, Same>(&columns, &root, (&point, &[Ghash::ONE; 3])).expect_err("other values");
        assert_eq!(error.to_string(), "the columns have other values at the point");
    }
}
