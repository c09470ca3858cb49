//! Products along a column, of the permutation and of lookups.

use ff::BatchInvert;
use rayon::prelude::*;

use super::PIECE;
use crate::field::{NttField, SecretVec};
use crate::plonk::column::View;

/// Columns of the permutation that share a product.
#[derive(Debug, Clone)]
pub struct Set<'a, F> {
    /// Values, σ, and the factor δ^c of the column's identity δ^c·ω^i.
    pub columns: Vec<(View<'a, F>, View<'a, F>, F)>,
    pub beta: F,
    pub gamma: F,
}

/// ∏(v + β·δ^c·ω^i + γ)/∏(v + β·σ + γ) for `rows` rows. 1/0 is 0.
pub fn permutation_ratios<F: NttField>(set: &Set<'_, F>, omega: F, rows: usize) -> SecretVec<F> {
    let (beta, gamma) = (set.beta, set.gamma);
    ratios(rows, |first, numerators, denominators| {
        let start = omega.pow_vartime([first as u64]);
        for (values, sigma, delta) in &set.columns {
            let (values, sigma) = (&values.host()[first..], &sigma.host()[first..]);
            let mut identity = beta * delta * start;
            for (row, (above, below)) in numerators.iter_mut().zip(denominators.iter_mut()).enumerate() {
                *above *= values[row] + identity + gamma;
                *below *= values[row] + beta * sigma[row] + gamma;
                identity *= omega;
            }
        }
    })
}

/// (A + β)(S + γ)/((A' + β)(S' + γ)) in every row of A, S, A', S'. 1/0 is 0.
pub fn lookup_ratios<F: NttField>([a, s, permuted_a, permuted_s]: [&[F]; 4], beta: F, gamma: F) -> SecretVec<F> {
    ratios(a.len(), |first, numerators, denominators| {
        for (row, (above, below)) in (first..).zip(numerators.iter_mut().zip(denominators.iter_mut())) {
            *above = (a[row] + beta) * (s[row] + gamma);
            *below = (permuted_a[row] + beta) * (permuted_s[row] + gamma);
        }
    })
}

/// Quotients of what `fill` makes, from 1, of pieces of numerators and denominators that start in a row.
fn ratios<F: NttField>(rows: usize, fill: impl Fn(usize, &mut [F], &mut [F]) + Sync) -> SecretVec<F> {
    let mut ratios = SecretVec(vec![F::ONE; rows]);
    ratios.par_chunks_mut(PIECE).enumerate().for_each(|(piece, numerators)| {
        let mut denominators = SecretVec(vec![F::ONE; numerators.len()]);
        fill(piece * PIECE, numerators, &mut denominators);
        // Zeros stay zeros.
        denominators.iter_mut().batch_invert();
        numerators.iter_mut().zip(&*denominators).for_each(|(above, below)| *above *= below);
    });
    ratios
}

/// z with z[0] = first and z[i + 1] = z[i]·ratios[i]: one element more than ratios.
pub fn running_product<F: NttField>(first: F, ratios: &[F]) -> Vec<F> {
    let mut product = Vec::with_capacity(ratios.len() + 1);
    product.push(first);
    let mut z = first;
    product.extend(ratios.iter().map(|ratio| {
        z *= ratio;
        z
    }));
    product
}

#[cfg(test)]
mod tests {
    use super::*;
    use ff::{Field, PrimeField};
    use halo2curves::bn256::Fr;

    #[test]
    fn ratios_divide_by_zero_to_zero() {
        let column = |values: [u64; 3]| values.map(Fr::from);
        let [a, s, pa, ps] = [column([1, 2, 3]), column([4, 5, 6]), column([2, 0, 3]), column([5, 6, 4])];
        // β = 0 makes the second denominator 0.
        let ratios = lookup_ratios([&a, &s, &pa, &ps], Fr::ZERO, Fr::ONE);
        let ratio = |above: u64, below: u64| Fr::from(above) * Fr::from(below).invert().expect("not 0");
        assert_eq!(ratios[..], [ratio(5, 12), Fr::ZERO, ratio(21, 15)]);
        assert_eq!(running_product(Fr::from(2), &ratios)[1..3], [ratio(10, 12), Fr::ZERO]);
    }

    /// A permutation that swaps two equal cells has product 1.
    #[test]
    fn swapped_cells() {
        let n = 4u64;
        let omega = (2..Fr::S).fold(Fr::ROOT_OF_UNITY, |root, _| root.square());
        let mut sigma: Vec<_> = (0..n).map(|i| omega.pow_vartime([i])).collect();
        sigma.swap(1, 3);
        let values = [8, 5, 7, 5].map(Fr::from);
        let columns = vec![(View::new(&values), View::new(&sigma), Fr::ONE)];
        let set = Set { columns, beta: Fr::from(11), gamma: Fr::from(13) };
        let product = running_product(Fr::ONE, &permutation_ratios(&set, omega, 4));
        assert_ne!(product[2], Fr::ONE);
        assert_eq!(product[4], Fr::ONE);
    }
}
