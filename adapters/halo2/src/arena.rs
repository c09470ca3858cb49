//! Cells that circuits assign, and the columns that they make.

use std::hint::black_box;

use ff::{BatchInvert, Field};
use halo2_axiom::halo2curves::bn256::Fr;
use halo2_axiom::plonk::Assigned;
use rayon::prelude::*;

/// Columns of assigned cells, n each, 0 where nothing is assigned. Cleared when dropped; cells never move.
pub struct Arena {
    columns: Vec<Vec<Assigned<Fr>>>,
}

impl Arena {
    pub fn new(columns: usize, rows: usize) -> Self {
        Self { columns: vec![vec![Assigned::Zero; rows]; columns] }
    }

    /// A cell, if there is one.
    pub fn cell(&mut self, column: usize, row: usize) -> Option<&mut Assigned<Fr>> {
        self.columns.get_mut(column)?.get_mut(row)
    }

    /// The cells of a column, if there is one.
    pub fn column(&mut self, column: usize) -> Option<&mut [Assigned<Fr>]> {
        self.columns.get_mut(column).map(Vec::as_mut_slice)
    }

    /// Values of some columns.
    pub fn values(&self, columns: &[usize]) -> Vec<Vec<Fr>> {
        columns.par_iter().map(|column| values(&self.columns[*column])).collect()
    }

    /// Values of all columns.
    pub fn all_values(&self) -> Vec<Vec<Fr>> {
        self.columns.par_iter().map(|cells| values(cells)).collect()
    }
}

impl Drop for Arena {
    fn drop(&mut self) {
        // The widest variant: a narrow one would leave the rest of a cell as it is.
        let cleared = Assigned::Rational(Fr::ZERO, Fr::ZERO);
        self.columns.par_iter_mut().for_each(|column| column.fill(cleared));
        // Nobody reads them any more, but they are to be stored.
        black_box(&self.columns);
    }
}

/// Numerators divided by denominators, with one inversion; n/0 is 0.
fn values(cells: &[Assigned<Fr>]) -> Vec<Fr> {
    let mut denominators: Vec<_> = cells.iter().filter_map(Assigned::denominator).collect();
    denominators.iter_mut().batch_invert();
    let mut inverses = denominators.iter();
    let value = |cell: &Assigned<Fr>| match cell {
        Assigned::Zero => Fr::ZERO,
        Assigned::Trivial(value) => *value,
        Assigned::Rational(numerator, _) => inverses.next().map_or(Fr::ZERO, |inverse| *numerator * inverse),
    };
    let values = cells.iter().map(value).collect();
    denominators.fill(Fr::ZERO);
    black_box(&denominators);
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fractions() {
        let (two, six) = (Fr::from(2), Fr::from(6));
        let cells = [Assigned::Rational(six, two), Assigned::Zero, Assigned::Rational(six, Fr::ZERO), six.into()];
        assert_eq!(values(&cells), [Fr::from(3), Fr::ZERO, Fr::ZERO, six]);
    }
}
