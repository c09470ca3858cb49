//! Computes the first round on the host's cores over columns of the base field. Its challenge folds them to the compute
//! field.

use ff::Field;
use rayon::prelude::*;

use super::cpu::HostColumns;
use super::field::SumcheckField;
use super::round_claim::RoundShape;
use super::round_poly::Point;
use crate::blocking::install;
use crate::field::SecretVec;

/// Number of pairs of rows that one task computes with, 4096.
const ROWS: usize = 1 << 12;
/// Length of [`Values`], 8. It exceeds the number of points at which a product is evaluated.
const MAX_POINTS: usize = 8;

/// Holds a value over the base field for each point. Entries beyond the number of points are unused.
type Values<F> = [<F as SumcheckField>::Base; MAX_POINTS];

/// Borrows the caller's columns over the base field of F.
pub(super) struct BaseRows<'a, F: SumcheckField>(Vec<&'a [F::Base]>);

impl<'a, F: SumcheckField> BaseRows<'a, F> {
    pub fn new(columns: Vec<&'a [F::Base]>) -> Self {
        Self(columns)
    }

    fn row_count(&self) -> usize {
        self.0.first().map_or(0, |column| column.len())
    }

    /// Returns the columns, converted to the compute field of F.
    pub fn lifted(&self) -> HostColumns<'a, F::Compute> {
        self.map_rows(self.row_count(), |column, row| F::from_base(column[row]).to_compute_field())
    }

    /// Binds the first variable to `challenge`, and returns the folded columns in the compute field of F.
    pub fn folded(&self, challenge: F::Compute) -> HostColumns<'a, F::Compute> {
        let half = self.row_count() / 2;
        self.map_rows(half, |column, row| {
            let (low, high) = (column[row], column[half + row]);
            F::from_base(low).to_compute_field() + F::times_base(challenge, high - low)
        })
    }

    fn map_rows(
        &self,
        rows: usize,
        value: impl Fn(&[F::Base], usize) -> F::Compute + Sync,
    ) -> HostColumns<'a, F::Compute> {
        let column = |column: &&[F::Base]| {
            SecretVec::par_from_fn(rows, |first, piece| {
                piece.iter_mut().enumerate().for_each(|(row, to)| *to = value(column, first + row));
            })
        };
        HostColumns::Own(install(|| self.0.iter().map(column).collect()), rows)
    }

    /// Returns the product of all columns, summed over half the rows, at each point of `shape`.
    pub fn evaluate_round(&self, shape: &RoundShape<F::Compute>) -> Vec<F::Compute> {
        let (half, points) = (self.row_count() / 2, &shape.points);
        let part = |number: usize| {
            let rows = number * ROWS..half.min((number + 1) * ROWS);
            rows.fold(zeros(), |sums, row| add_products(sums, self.products(row, points)))
        };
        let sums = install(|| (0..half.div_ceil(ROWS)).into_par_iter().map(part).reduce(zeros, add_products));
        sums[..points.len()].iter().map(|sum| F::from_base(*sum).to_compute_field()).collect()
    }

    /// Returns the product of all columns at each of `points`, for the pair of rows `row` and `row` + half.
    fn products(&self, row: usize, points: &[Point]) -> Values<F> {
        let half = self.row_count() / 2;
        let mut products = [F::Base::ONE; MAX_POINTS];
        for column in &self.0 {
            let (low, difference) = (column[row], column[half + row] - column[row]);
            let mut values = [low; MAX_POINTS];
            (1..points.len()).for_each(|number| values[number] = values[number - 1] + difference);
            for (product, point) in products.iter_mut().zip(points) {
                *product *= match point {
                    Point::At(number) => values[*number as usize % MAX_POINTS],
                    Point::Infinity => difference,
                };
            }
        }
        products
    }
}

fn zeros<B: Field>() -> [B; MAX_POINTS] {
    [B::ZERO; MAX_POINTS]
}

fn add_products<B: Field>(mut sums: [B; MAX_POINTS], more: [B; MAX_POINTS]) -> [B; MAX_POINTS] {
    sums.iter_mut().zip(more).for_each(|(sum, more)| *sum += more);
    sums
}
