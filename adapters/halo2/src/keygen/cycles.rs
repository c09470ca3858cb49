//! Which cells have to be equal, as cycles of a permutation.

use std::collections::HashMap;

use ff::{Field, PrimeField};
use halo2_axiom::halo2curves::bn256::Fr;
use halo2_axiom::plonk::{Any, Column, Error};
use rayon::prelude::*;

/// A cell: its row and its column's place in the permutation. Cells of 2^32 rows would not fit memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Cell {
    column: u32,
    row: u32,
}

/// A permutation of the cells of some columns, made by joining cycles.
pub struct Cycles {
    columns: HashMap<Column<Any>, usize>,
    /// Where each cell goes, by column and row.
    next: Vec<Vec<Cell>>,
    /// The cell that names a cell's cycle.
    name: Vec<Vec<Cell>>,
    /// Length of the cycle that a cell names.
    length: Vec<Vec<u32>>,
}

impl Cycles {
    /// Every cell on its own.
    pub fn new(columns: &[Column<Any>], rows: usize) -> Self {
        let cells = |column| (0..rows as u32).map(|row| Cell { column, row }).collect();
        let next: Vec<Vec<_>> = (0..columns.len() as u32).map(cells).collect();
        let columns: HashMap<_, _> = columns.iter().enumerate().map(|(place, column)| (*column, place)).collect();
        Self { length: vec![vec![1; rows]; columns.len()], columns, name: next.clone(), next }
    }

    /// Makes two cells equal: their cycles become one. The shorter one takes the other's name, the second's at a tie, which
    /// is halo2-axiom's order and settles the key's bytes.
    ///
    /// # Errors
    /// A column is not of the permutation, or has no such row.
    pub fn join(&mut self, left: (Column<Any>, usize), right: (Column<Any>, usize)) -> Result<(), Error> {
        let (left, right) = (self.cell(left)?, self.cell(right)?);
        let (mut longer, mut shorter) = (*at(&mut self.name, left), *at(&mut self.name, right));
        if longer == shorter {
            return Ok(());
        }
        let lengths = [longer, shorter].map(|cell| *at(&mut self.length, cell));
        if lengths[0] < lengths[1] {
            std::mem::swap(&mut longer, &mut shorter);
        }
        *at(&mut self.length, longer) = lengths[0] + lengths[1];
        let mut cell = shorter;
        loop {
            *at(&mut self.name, cell) = longer;
            cell = *at(&mut self.next, cell);
            if cell == shorter {
                break;
            }
        }
        let (from_left, from_right) = (*at(&mut self.next, left), *at(&mut self.next, right));
        (*at(&mut self.next, left), *at(&mut self.next, right)) = (from_right, from_left);
        Ok(())
    }

    /// σ of each column: δ^c·ω^r in a cell that goes to row r of column c.
    pub fn sigma(&self, omega: Fr) -> Vec<Vec<Fr>> {
        let rows = self.next.first().map_or(0, Vec::len);
        let powers = |base: Fr, count| -> Vec<Fr> {
            std::iter::successors(Some(Fr::ONE), |power| Some(*power * base)).take(count).collect()
        };
        let (deltas, omegas) = (powers(Fr::DELTA, self.next.len()), powers(omega, rows));
        let value = |cell: &Cell| deltas[cell.column as usize] * omegas[cell.row as usize];
        self.next.par_iter().map(|column| column.iter().map(value).collect()).collect()
    }

    fn cell(&self, (column, row): (Column<Any>, usize)) -> Result<Cell, Error> {
        let place = *self.columns.get(&column).ok_or(Error::ColumnNotInPermutation(column))?;
        if row >= self.next[place].len() {
            return Err(Error::BoundsFailure);
        }
        Ok(Cell { column: place as u32, row: row as u32 })
    }
}

fn at<T>(table: &mut [Vec<T>], cell: Cell) -> &mut T {
    &mut table[cell.column as usize][cell.row as usize]
}
