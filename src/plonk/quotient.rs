//! The random polynomial, then y: the quotient of all constraints by X^n − 1.

use super::column::{Column, View};
use super::curve::ProofCurve;
use super::engine::{Basis, Cosets};
use super::evaluations::Quotient;
use super::products::Products;
use super::sums::Sum;
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
        let engine = self.permuted.start.setting.engine;
        let random = engine.take(vec![coefficients])?;
        let random = random.into_iter().next().ok_or_else(|| Error::lost("plonk"))?;
        let points = engine.commit(Basis::Monomial, &[random.view()])?;
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
        let cosets = setting.engine.cosets(setting.circuit.pieces())?;
        let terms = &setting.circuit.quotient;
        let challenges = terms.challenges(&challenges, y);
        let part = |number| sum_on_coset(setting, &own, (terms, &challenges, terms.step(y)), (&cosets, number));
        let parts = (0..cosets.count()).map(part).collect::<Result<Vec<_>>>()?;
        let pieces = setting.engine.pieces(&cosets, &parts.iter().map(Column::view).collect::<Vec<_>>())?;
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

/// The sum of all terms of all circuits on one coset: the sum of one circuit's, challenges and weights, and by what those
/// of a circuit grow when another's follow.
fn sum_on_coset<C: ProofCurve>(
    setting: Setting<'_, C>,
    own: &[Vec<Column<C::Scalar>>],
    (terms, challenges, step): (&Sum<C::Scalar>, &[C::Scalar], C::Scalar),
    (cosets, number): (&Cosets<C::Scalar>, usize),
) -> Result<Column<C::Scalar>> {
    let engine = setting.engine;
    let shared = engine.on_coset(cosets, number, &setting.key.coefficients())?;
    let mut sums = Vec::with_capacity(own.len());
    for coefficients in own {
        let own = engine.on_coset(cosets, number, &coefficients.iter().map(Column::view).collect::<Vec<_>>())?;
        let columns: Vec<_> = shared.iter().chain(&own).map(Column::view).collect();
        sums.push(engine.weighted_sum(terms, &columns, challenges, cosets.shift(number))?);
    }
    engine.combine(&falling_powers(step, &sums))
}

/// Columns with the powers of a factor, that of the last one being 1.
fn falling_powers<F: NttField>(factor: F, columns: &[Column<F>]) -> Vec<(View<'_, F>, F)> {
    let powers = std::iter::successors(Some(F::ONE), |power| Some(*power * factor));
    columns.iter().map(Column::view).rev().zip(powers).collect()
}
