//! Polynomials by their coefficients, low first.

use rayon::prelude::*;

use super::PIECE;
use crate::field::NttField;

/// The value at a point.
pub fn evaluate<F: NttField>(coefficients: &[F], point: F) -> F {
    let pieces = coefficients.par_chunks(PIECE).enumerate();
    let value = |(piece, coefficients): (usize, &[F])| {
        let value = coefficients.iter().rev().fold(F::ZERO, |sum, coefficient| sum * point + coefficient);
        value * point.pow_vartime([(piece * PIECE) as u64])
    };
    pieces.map(value).reduce(|| F::ZERO, |a, b| a + b)
}

/// Σ factor·polynomial, each of `length` coefficients.
pub fn combine<F: NttField>(terms: &[(&[F], F)], length: usize) -> Vec<F> {
    let mut sums = vec![F::ZERO; length];
    sums.par_chunks_mut(PIECE).enumerate().for_each(|(piece, sums)| {
        for (column, factor) in terms {
            let column = &column[piece * PIECE..];
            sums.iter_mut().zip(column).for_each(|(sum, value)| *sum += *value * factor);
        }
    });
    sums
}

/// Divides by X − root in place, forgetting the remainder; the leading coefficient becomes 0.
pub fn divide<F: NttField>(coefficients: &mut [F], root: F) {
    let mut above = F::ZERO;
    for coefficient in coefficients.iter_mut().rev() {
        // Coefficient i of the quotient is the sum of what is above it.
        let sum = *coefficient + above * root;
        *coefficient = above;
        above = sum;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ff::Field;
    use halo2curves::bn256::Fr;

    fn polynomial(length: u64) -> Vec<Fr> {
        (0..length).map(|i| Fr::from(i * i + 3).square()).collect()
    }

    #[test]
    fn quotient_and_remainder() {
        let (p, root, x) = (polynomial(3000), Fr::from(17), Fr::from(99));
        let mut quotient = p.clone();
        divide(&mut quotient, root);
        assert_eq!(quotient.last(), Some(&Fr::ZERO));
        assert_eq!(evaluate(&p, x), evaluate(&quotient, x) * (x - root) + evaluate(&p, root));
    }

    #[test]
    fn sums_are_linear() {
        let (p, q, x) = (polynomial(2500), polynomial(2500).into_iter().rev().collect::<Vec<_>>(), Fr::from(5));
        let sum = combine(&[(&p, Fr::from(2)), (&q, -Fr::ONE)], 2500);
        assert_eq!(evaluate(&sum, x), evaluate(&p, x) * Fr::from(2) - evaluate(&q, x));
    }
}
