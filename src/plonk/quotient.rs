//! The random polynomial, then y: the quotient of all constraints by X^n − 1.

use ff::{Field, PrimeField};

use super::column::{Column, View};
use super::curve::ProofCurve;
use super::engine::Basis;
use super::evaluations::Quotient;
use super::products::Products;
use super::sums::Sum;
use super::terms::Terms;
use super::witness::Setting;
use crate::field::NttField;
use crate::{Error, Result};

/// A proof after its random polynomial.
#[derive(Debug)]
pub struct Masked<'a, C: ProofCurve> {
    products: Products<'a, C>,
    random: Column<C::Scalar>,
}

impl<'a, C: ProofCurve> Products<'a, C> {
    /// Takes n random coefficients, which hide the openings of the quotient, and commits to them.
    ///
    /// # Errors
    /// There are not n, or a forced backend failed.
    pub fn random(self, coefficients: Vec<C::Scalar>) -> Result<(Masked<'a, C>, C)> {
        let random = Column::new(coefficients);
        let points = self.permuted.start.setting.engine.commit(Basis::Monomial, &[random.view()])?;
        let point = points.into_iter().next().ok_or_else(|| Error::lost("plonk"))?;
        Ok((Masked { products: self, random }, point))
    }
}

impl<'a, C: ProofCurve> Masked<'a, C> {
    /// Divides the sum of all constraints, weighed by powers of y, by X^n − 1, and commits to the quotient's pieces of n
    /// coefficients, low ones first.
    ///
    /// # Errors
    /// The quotient needs more than the field's roots of unity, or a forced backend failed.
    pub fn quotient(self, y: C::Scalar) -> Result<(Quotient<'a, C>, Vec<C>)> {
        let Self { products, random } = self;
        let (setting, challenges) = (products.permuted.start.setting, products.challenges());
        let own = products.into_coefficients()?;
        let cosets = Cosets::new(setting)?;
        let terms = Sum::new(Terms::of(setting.circuit), challenges.len());
        let challenges = terms.challenges(&challenges, y);
        let parts = cosets.shifts.iter().map(|shift| {
            let sum = sum_on_coset(setting, &own, &terms, terms.step(y), &challenges, *shift)?;
            // X^n − 1 is one number on a coset of the subgroup of order n, never 0 on these.
            let vanishing = Option::from((power(*shift, setting.circuit.log_n) - C::Scalar::ONE).invert());
            setting.engine.off_coset(sum.view(), *shift, vanishing.unwrap_or(C::Scalar::ZERO))
        });
        let parts = parts.collect::<Result<Vec<_>>>()?;
        let pieces = cosets.pieces(setting, &parts);
        let points = setting.engine.commit(Basis::Monomial, &pieces.iter().map(Column::view).collect::<Vec<_>>())?;
        Ok((Quotient { setting, own, pieces, random }, points))
    }
}

impl<C: ProofCurve> Products<'_, C> {
    /// The circuit's own challenges, then θ, β, γ.
    fn challenges(&self) -> Vec<C::Scalar> {
        [&self.permuted.start.challenges[..], &[self.permuted.theta, self.beta, self.gamma]].concat()
    }

    /// Coefficients of each circuit's own columns, by number; values go.
    fn into_coefficients(self) -> Result<Vec<Vec<Column<C::Scalar>>>> {
        let engine = self.permuted.start.setting.engine;
        let circuits = self.permuted.start.circuits.into_iter().zip(self.permuted.lookups).zip(self.running);
        let interpolated = circuits.map(|((witness, lookups), products)| {
            let (inputs, tables): (Vec<_>, Vec<_>) =
                lookups.into_iter().map(|columns| <(_, _)>::from(columns.permuted)).unzip();
            let all = [witness.advice, witness.instance, products.sets, products.lookups, inputs, tables];
            engine.interpolate(&all.iter().flatten().map(Column::view).collect::<Vec<_>>())
        });
        interpolated.collect()
    }
}

/// The sum of all terms of all circuits on one coset.
fn sum_on_coset<C: ProofCurve>(
    setting: Setting<'_, C>,
    own: &[Vec<Column<C::Scalar>>],
    terms: &Sum<C::Scalar>,
    step: C::Scalar,
    challenges: &[C::Scalar],
    shift: C::Scalar,
) -> Result<Column<C::Scalar>> {
    let engine = setting.engine;
    let shared = engine.on_coset(&setting.key.coefficients(), shift)?;
    let mut sums = Vec::with_capacity(own.len());
    for coefficients in own {
        let own = engine.on_coset(&coefficients.iter().map(Column::view).collect::<Vec<_>>(), shift)?;
        let columns: Vec<_> = shared.iter().chain(&own).map(Column::view).collect();
        sums.push(engine.weighted_sum(terms, &columns, challenges, shift)?);
    }
    Ok(engine.combine(&falling_powers(step, &sums)))
}

/// Columns with the powers of a factor, that of the last one being 1.
fn falling_powers<F: NttField>(factor: F, columns: &[Column<F>]) -> Vec<(View<'_, F>, F)> {
    let powers = std::iter::successors(Some(F::ONE), |power| Some(*power * factor));
    columns.iter().map(Column::view).rev().zip(powers).collect()
}

/// As many cosets of the subgroup of order n as the quotient has pieces: they tell it from all others of its degree.
struct Cosets<F> {
    /// cⱼ of the coset cⱼ·ω^i.
    shifts: Vec<F>,
    /// The inverse of the matrix of (cⱼ^n)^i: row i makes piece i of what is on the cosets.
    inverse: Vec<Vec<F>>,
}

impl<F: NttField> Cosets<F> {
    fn new<C: ProofCurve<Scalar = F>>(setting: Setting<'_, C>) -> Result<Self> {
        let (count, log_n) = (setting.circuit.pieces(), setting.circuit.log_n);
        let log_all = log_n + count.next_power_of_two().trailing_zeros();
        if log_all > F::S {
            let expected = format!("at most 2^{}", F::S - (log_all - log_n));
            return Err(Error::invalid("plonk", "rows of a circuit of this degree", expected, format!("2^{log_n}")));
        }
        let root = (log_all..F::S).fold(F::ROOT_OF_UNITY, |root, _| root.square());
        let shifts: Vec<F> =
            std::iter::successors(Some(F::MULTIPLICATIVE_GENERATOR), |shift| Some(*shift * root)).take(count).collect();
        let points: Vec<_> = shifts.iter().map(|shift| power(*shift, log_n)).collect();
        Ok(Self { inverse: inverse_vandermonde(&points), shifts })
    }

    /// Pieces of the polynomial h that is Σ hᵢ·(cⱼ^n)^i modulo X^n − cⱼ^n, by these remainders.
    fn pieces<C: ProofCurve<Scalar = F>>(&self, setting: Setting<'_, C>, parts: &[Column<F>]) -> Vec<Column<F>> {
        let piece = |row: &Vec<F>| {
            let terms: Vec<_> = parts.iter().map(Column::view).zip(row.iter().copied()).collect();
            setting.engine.combine(&terms)
        };
        self.inverse.iter().map(piece).collect()
    }
}

/// base^(2^log).
fn power<F: PrimeField>(base: F, log: u32) -> F {
    (0..log).fold(base, |power, _| power.square())
}

/// The inverse of the matrix of points[j]^i, row j, column i, for different points: entry (i, j) is coefficient i of the
/// polynomial that is 1 at point j and 0 at others.
fn inverse_vandermonde<F: PrimeField>(points: &[F]) -> Vec<Vec<F>> {
    let mut inverse = vec![vec![F::ZERO; points.len()]; points.len()];
    for (j, point) in points.iter().enumerate() {
        for (i, coefficient) in lagrange_polynomial(points, *point).into_iter().enumerate() {
            inverse[i][j] = coefficient;
        }
    }
    inverse
}

/// ∏(X − p)/∏(point − p) over the other points.
fn lagrange_polynomial<F: PrimeField>(points: &[F], point: F) -> Vec<F> {
    let (mut polynomial, mut scale) = (vec![F::ONE], F::ONE);
    for other in points.iter().filter(|other| **other != point) {
        scale *= point - other;
        polynomial.insert(0, F::ZERO);
        for i in 1..polynomial.len() {
            let above = polynomial[i];
            polynomial[i - 1] -= above * other;
        }
    }
    // Points differ, so that this is not 0.
    let scale = scale.invert().unwrap_or(F::ZERO);
    polynomial.into_iter().map(|coefficient| coefficient * scale).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use halo2curves::bn256::Fr;

    #[test]
    fn vandermonde_inverse() {
        let points = [3, 5, 8, 13, 21].map(Fr::from);
        let inverse = inverse_vandermonde(&points);
        for (j, point) in points.iter().enumerate() {
            for column in 0..points.len() {
                let entry = |i: usize| point.pow_vartime([i as u64]) * inverse[i][column];
                let sum: Fr = (0..points.len()).map(entry).sum();
                assert_eq!(sum, Fr::from(u64::from(j == column)));
            }
        }
    }
}
