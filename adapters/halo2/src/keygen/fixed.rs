//! Holds fixed columns during a synthesis: values are stored at once, divisions follow at the end.

use std::ops::Range;

use ff::{BatchInvert, Field};
use halo2_axiom::halo2curves::bn256::Fr;
use halo2_axiom::plonk::{Assigned, Error};
use rayon::prelude::*;

use crate::memory::par_filled_vec;

/// Number of elements that share an inversion, 4096.
const PIECE: usize = 1 << 12;

/// Holds fixed columns of equal height. A cell that is not assigned is 0.
pub(super) struct FixedColumns(Vec<FixedColumn>);

struct FixedColumn {
    numerators: Vec<Fr>,
    /// One per numerator once a fraction is assigned; empty before, as in most circuits.
    denominators: Vec<Fr>,
}

impl FixedColumns {
    pub(super) fn new(columns: usize, rows: usize) -> Self {
        let column = |_| FixedColumn { numerators: par_filled_vec(Fr::ZERO, rows), denominators: Vec::new() };
        Self((0..columns).map(column).collect())
    }

    /// Stores `value` in all `rows` of the column with index `column`.
    ///
    /// # Errors
    /// - [`Error::BoundsFailure`]: there is no such column or row.
    pub(super) fn assign(&mut self, column: usize, rows: Range<usize>, value: Assigned<Fr>) -> Result<(), Error> {
        let column = self.0.get_mut(column).ok_or(Error::BoundsFailure)?;
        let count = column.numerators.len();
        column.numerators.get_mut(rows.clone()).ok_or(Error::BoundsFailure)?.fill(value.numerator());
        let denominator = value.denominator();
        if denominator.is_some() && column.denominators.is_empty() {
            column.denominators = par_filled_vec(Fr::ONE, count);
        }
        if let Some(denominators) = column.denominators.get_mut(rows) {
            denominators.fill(denominator.unwrap_or(Fr::ONE));
        }
        Ok(())
    }

    /// Returns the values of all columns. A fraction n/0 has the value 0.
    pub(super) fn into_values(self) -> Vec<Vec<Fr>> {
        self.0.into_iter().map(FixedColumn::into_values).collect()
    }
}

impl FixedColumn {
    fn into_values(mut self) -> Vec<Fr> {
        let pieces = self.numerators.par_chunks_mut(PIECE).zip(self.denominators.par_chunks_mut(PIECE));
        pieces.for_each(|(numerators, denominators)| {
            denominators.iter_mut().batch_invert();
            numerators.iter_mut().zip(denominators).for_each(|(numerator, inverse)| *numerator *= &*inverse);
        });
        self.numerators
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_value_stands() {
        let (two, six) = (Fr::from(2), Fr::from(6));
        let mut columns = FixedColumns::new(2, 8);
        let mut assign = |column, rows, value| columns.assign(column, rows, value);
        assign(0, 0..1, Assigned::Rational(six, two)).expect("a cell");
        assign(0, 1..3, Assigned::Rational(six, two)).expect("cells");
        assign(0, 1..2, Assigned::Trivial(six)).expect("a cell");
        assign(0, 3..4, Assigned::Rational(six, Fr::ZERO)).expect("a cell");
        assign(1, 7..8, Assigned::Trivial(two)).expect("a cell");
        assign(1, 7..8, Assigned::Zero).expect("a cell");
        assign(1, 6..7, Assigned::Trivial(two)).expect("a cell");
        for (column, rows) in [(2, 0..1), (1, 8..9)] {
            assert!(matches!(assign(column, rows, Assigned::Trivial(two)), Err(Error::BoundsFailure)));
        }
        let mut expected = vec![vec![Fr::ZERO; 8]; 2];
        expected[0][..3].copy_from_slice(&[3, 6, 3].map(Fr::from));
        expected[1][6] = two;
        assert_eq!(columns.into_values(), expected);
    }
}
