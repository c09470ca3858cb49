//! Proves the sum of a column that has i in row i, times a column of ones.
//!
//! The bits of a row's number are the coordinates of a vertex, so the column's polynomial is Σ 2^bit · x over the bits,
//! and its value at any point is known. In a binary field, the element whose only bit is this one stands for 2^bit.

use blstrs::Scalar;
use halo2curves::bn256;
use proofwarp::field::ghash::Ghash;
use proofwarp::field::tower::Tower;
use proofwarp::sumcheck::{
    BoundTranscript, Claim, Columns, HashTranscript, KernelPath, SumcheckField, SumcheckOptions, prove_with, verify,
};
use proofwarp::{Accelerator, Result};

use super::{Answer, timed};

/// A field that has elements for powers of two.
pub trait RowNumber: SumcheckField {
    /// Path to take; `None` selects the fastest.
    const PATH: Option<KernelPath>;

    /// Returns the element for 2^`bit`.
    fn power(bit: u32) -> Self;
}

macro_rules! row_numbers {
    ($($field:ty, $path:expr, $power:expr;)*) => {
        $(impl RowNumber for $field {
            const PATH: Option<KernelPath> = $path;

            fn power(bit: u32) -> Self {
                $power(1 << bit)
            }
        })*
    };
}

row_numbers! {
    Scalar, None, Self::from;
    bn256::Fr, None, Self::from;
    Ghash, None, Ghash;
    Tower, Some(KernelPath::Bitsliced), Tower;
}

pub fn test<F: RowNumber>(accelerator: &Accelerator, log: u32) -> Result<Answer> {
    let mut numbers = vec![F::ZERO];
    for bit in 0..log {
        let upper: Vec<F> = numbers.iter().map(|number| *number + F::power(bit)).collect();
        numbers.extend(upper);
    }
    let ones = vec![F::ONE; numbers.len()];
    // Half of the rows have any one bit.
    let half = |bit| (1..log).fold(F::power(bit), |sum, _| sum.double());
    let claim = Claim::product(log, &[0, 1]).with_sum((0..log).map(half).sum());
    let options = SumcheckOptions { path: F::PATH, ..SumcheckOptions::default() };
    let run = || {
        let mut transcript = HashTranscript::new(b"self-test");
        let bound = BoundTranscript::bind_commitment(&mut transcript, b"row numbers and ones")?;
        prove_with(accelerator, &claim, Columns::host(&[&numbers, &ones]), bound, &options, None)
    };
    run()?;
    let ((proof, report), time) = timed(run)?;
    let mut transcript = HashTranscript::new(b"self-test");
    let bound = BoundTranscript::bind_commitment(&mut transcript, b"row numbers and ones")?;
    let (point, finals) = verify(&claim, &proof, bound)?;
    // The first variable is the highest bit.
    let value = (0..log).rev().zip(&point).map(|(bit, x)| F::power(bit) * x).sum();
    Ok(Answer { report, time, is_right: finals == [value, F::ONE] })
}
