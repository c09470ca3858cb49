//! Opens polynomials by two schemes.
//!
//! GWC: Gabizon, Williamson and Ciobotaru ("PLONK", 2019, section 3), with a quotient for each point.
//!
//! SHPLONK: Boneh, Drake, Fisch and Gabizon ("Efficient polynomial commitment schemes for multiple points and
//! polynomials", 2020, section 4), with two curve points for all openings together.

use ff::Field;

use crate::plonk::circuit::ProofCurve;
use crate::plonk::columns_layout_and_key::{Column, ColumnView};
use crate::plonk::engine::Basis;
use crate::{Error, Result};
use super::opening_stage::{OpeningStage, Polynomials, unique};
use super::queries::PolynomialId;

impl<C: ProofCurve> OpeningStage<'_, C> {
    /// Opens the polynomials by the GWC scheme. For each point, it sums the polynomials that are opened there, weighed
    /// by powers of `v`, and divides the sum by X − point. Returns commitments to the quotients, in the order of the
    /// points' first queries.
    ///
    /// # Errors
    /// - [`Error::Aborted`](crate::Error::Aborted): the engine's hook aborted.
    /// - A forced backend failed: its error.
    pub fn gwc(self, v: C::Scalar) -> Result<Vec<C>> {
        let rotations = unique(self.queries.iter().map(|(query, _)| query.rotation));
        let quotients = rotations.into_iter().map(|rotation| self.quotient_at(rotation, v));
        let quotients = quotients.collect::<Result<Vec<_>>>()?;
        let views: Vec<_> = quotients.iter().map(Column::view).collect();
        self.polynomials.setting.commit(Basis::Monomial, &views)
    }

    fn quotient_at(&self, rotation: usize, v: C::Scalar) -> Result<Column<C::Scalar>> {
        let (polynomials, engine) = (&self.polynomials, self.polynomials.setting.engine);
        let queries = self.queries.iter().filter(|(query, _)| query.rotation == rotation);
        let views = queries.map(|(query, _)| polynomials.polynomial_view(query.polynomial));
        let powers = std::iter::successors(Some(C::Scalar::ONE), |power| Some(*power * v));
        // The division drops the remainder, which is the value.
        let sum = engine.linear_combination(&views.zip(powers).collect::<Vec<_>>())?;
        engine.divide(sum.view(), vec![polynomials.evaluation_point(rotation)])
    }
}

/// Holds a SHPLONK opening after the first of its two commitments.
#[derive(Debug)]
pub struct Shplonk<'a, C: ProofCurve> {
    polynomials: Polynomials<'a, C>,
    /// Distinct rotations at which polynomials are opened. A rotation is an exponent of ω, reduced modulo n.
    rotations: Vec<usize>,
    /// Sets of points, given as ascending rotations. Each has the sum of the polynomials that are opened there, weighed
    /// by powers of y.
    sets: Vec<(Vec<usize>, Column<C::Scalar>)>,
    /// Σ v^s·(f_s − r_s)/Z_s, where Z_s is 0 at the points of set s and r_s has the values of f_s there.
    quotient: Column<C::Scalar>,
    v: C::Scalar,
}

impl<'a, C: ProofCurve> OpeningStage<'a, C> {
    /// Starts to open the polynomials by the SHPLONK scheme. Polynomials that are opened at the same points form a set.
    /// Powers of `y` weigh the polynomials of a set, and powers of `v` weigh the sets. Returns the next stage, and the
    /// commitment to the sum of all sets' quotients by their points.
    ///
    /// # Errors
    /// - [`Error::Aborted`]: the engine's hook aborted.
    /// - A forced backend failed: its error.
    pub fn shplonk(self, y: C::Scalar, v: C::Scalar) -> Result<(Shplonk<'a, C>, C)> {
        let Self { polynomials, queries } = self;
        let queries: Vec<_> = queries.into_iter().map(|(query, _)| (query.polynomial, query.rotation)).collect();
        let rotations = unique(queries.iter().map(|(_, rotation)| *rotation));
        let engine = polynomials.setting.engine;
        let sum = |(points, members): (Vec<usize>, Vec<PolynomialId>)| {
            let views = members.iter().map(|member| polynomials.polynomial_view(*member));
            Ok((points, engine.linear_combination(&views.zip(iterate_powers(y)).collect::<Vec<_>>())?))
        };
        let sets: Vec<_> = group_by_points(&queries).into_iter().map(sum).collect::<Result<_>>()?;
        // Each set is divided by all of its points at once, so that a division drops its own r_s only.
        let quotients = sets.iter().map(|(points, sum)| {
            engine.divide(sum.view(), points.iter().map(|rotation| polynomials.evaluation_point(*rotation)).collect())
        });
        let quotients = quotients.collect::<Result<Vec<_>>>()?;
        let terms: Vec<_> = quotients.iter().map(Column::view).zip(iterate_powers(v)).collect();
        let quotient = engine.linear_combination(&terms)?;
        let point = single_point(engine.commit(Basis::Monomial, &[quotient.view()])?)?;
        Ok((Shplonk { polynomials, rotations, sets, quotient, v }, point))
    }
}

impl<C: ProofCurve> Shplonk<'_, C> {
    /// Finishes the opening: returns the commitment to the polynomial that proves the quotient's value at the challenge
    /// `u`.
    ///
    /// # Errors
    /// - [`Error::Aborted`]: the engine's hook aborted.
    /// - A forced backend failed: its error.
    pub fn finish(self, u: C::Scalar) -> Result<C> {
        let engine = self.polynomials.setting.engine;
        let others = |points: &[usize]| self.evaluate_vanishing(u, |rotation| !points.contains(rotation));
        let mut factors: Vec<_> = self.sets.iter().map(|(points, _)| others(points)).collect();
        // All factors are divided by the first set's, which is not 0, since u is random.
        let scale = factors.first().and_then(|factor| factor.invert().into()).unwrap_or(C::Scalar::ZERO);
        factors.iter_mut().zip(iterate_powers(self.v)).for_each(|(factor, power)| *factor *= power * scale);
        let mut terms: Vec<(ColumnView<'_, C::Scalar>, C::Scalar)> =
            self.sets.iter().map(|(_, sum)| sum.view()).zip(factors).collect();
        terms.push((self.quotient.view(), -self.evaluate_vanishing(u, |_| true) * scale));
        // The constants r_s(u) are left out: they would change the remainder alone.
        let witness = engine.divide(engine.linear_combination(&terms)?.view(), vec![u])?;
        single_point(engine.commit(Basis::Monomial, &[witness.view()])?)
    }

    /// Returns ∏(`u` − point) over the points whose rotations satisfy `is_one`, 1 if there are none.
    fn evaluate_vanishing(&self, u: C::Scalar, is_one: impl Fn(&usize) -> bool) -> C::Scalar {
        let rotations = self.rotations.iter().filter(|rotation| is_one(rotation));
        rotations.fold(C::Scalar::ONE, |product, rotation| product * (u - self.polynomials.evaluation_point(*rotation)))
    }
}

/// Groups polynomials that are opened at the same points. A query is a polynomial and a rotation. Returns each group's
/// rotations, in ascending order, and its polynomials, in the order of their first query.
fn group_by_points(queries: &[(PolynomialId, usize)]) -> Vec<(Vec<usize>, Vec<PolynomialId>)> {
    let mut sets: Vec<(Vec<usize>, Vec<PolynomialId>)> = Vec::new();
    for polynomial in unique(queries.iter().map(|(polynomial, _)| *polynomial)) {
        let its = queries.iter().filter(|(other, _)| *other == polynomial);
        let mut points = unique(its.map(|(_, rotation)| *rotation));
        points.sort_unstable();
        match sets.iter_mut().find(|(others, _)| *others == points) {
            Some((_, members)) => members.push(polynomial),
            None => sets.push((points, vec![polynomial])),
        }
    }
    sets
}

fn iterate_powers<F: Field>(base: F) -> impl Iterator<Item = F> {
    std::iter::successors(Some(F::ONE), move |power| Some(*power * base))
}

fn single_point<C>(points: Vec<C>) -> Result<C> {
    points.into_iter().next().ok_or_else(|| Error::internal("plonk"))
}
