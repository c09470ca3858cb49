//! Holds the cells that circuits assign, and the columns made of them.

use std::hint::black_box;
use std::sync::{Mutex, MutexGuard, PoisonError};

use ff::{BatchInvert, Field};
use halo2_axiom::halo2curves::bn256::Fr;
use halo2_axiom::plonk::Assigned;
use proofwarp::secret_vec::SecretVec;
use rayon::prelude::*;

use crate::memory::par_filled_vec;

/// Limits the dropped arenas whose memory is kept to 2. Touching new memory takes longer than a proof on a device.
const KEPT: usize = 2;
/// Number of cells cleared at a time, 256: they stay in a core's cache for both passes.
const PIECE: usize = 1 << 8;

static MEMORY: Mutex<Vec<Memory>> = Mutex::new(Vec::new());

/// Holds columns of cells that a circuit assigns, all of the same height. A cell that is not assigned is 0. Cells never
/// move.
pub(crate) struct AssignedCells(Vec<Vec<Assigned<Fr>>>);

impl AssignedCells {
    pub(crate) fn new(columns: usize, rows: usize) -> Self {
        Self((0..columns).map(|_| par_filled_vec(Assigned::Zero, rows)).collect())
    }

    /// Returns the cell at `row` of `column`, or `None` if it does not exist.
    pub(crate) fn cell(&mut self, column: usize, row: usize) -> Option<&mut Assigned<Fr>> {
        self.0.get_mut(column)?.get_mut(row)
    }
}

/// Holds a circuit's witness: its cells, and the columns of their values. When it is dropped, another thread overwrites
/// its memory and keeps it for the next arena of the same shape.
pub(crate) struct WitnessArena(Memory);

struct Memory {
    cells: AssignedCells,
    /// Empty until they are first requested.
    values: Vec<Vec<Fr>>,
    rows: usize,
}

impl WitnessArena {
    pub(crate) fn new(columns: usize, rows: usize) -> Self {
        let mut kept = lock_cached_memory();
        let fits = |memory: &Memory| memory.rows == rows && memory.values.len() == columns;
        let found = kept.iter().position(fits).map(|at| kept.remove(at));
        drop(kept);
        let new = || Memory { cells: AssignedCells::new(columns, rows), values: vec![Vec::new(); columns], rows };
        Self(found.unwrap_or_else(new))
    }

    /// Returns the cell at `row` of `column`, or `None` if it does not exist.
    pub(crate) fn cell(&mut self, column: usize, row: usize) -> Option<&mut Assigned<Fr>> {
        self.0.cells.cell(column, row)
    }

    /// Computes the values of the columns with the indices `columns`. Returns each index with the column's values, in
    /// ascending order of index.
    pub(crate) fn compute_values(&mut self, columns: &[usize]) -> Vec<(usize, &mut Vec<Fr>)> {
        let all = self.0.cells.0.iter().zip(&mut self.0.values).enumerate();
        let some = all.filter(|(number, _)| columns.contains(number));
        let mut some: Vec<_> = some.map(|(number, (cells, values))| (number, cells, values)).collect();
        some.par_iter_mut().for_each(|(_, cells, values)| evaluate_fractions(cells, values));
        some.into_iter().map(|(number, _, values)| (number, values)).collect()
    }
}

impl Drop for WitnessArena {
    fn drop(&mut self) {
        let empty = Memory { cells: AssignedCells(Vec::new()), values: Vec::new(), rows: 0 };
        let mut used = std::mem::replace(&mut self.0, empty);
        rayon::spawn(move || {
            used.clear();
            let mut kept = lock_cached_memory();
            kept.push(used);
            let gone = kept.len().saturating_sub(KEPT);
            let gone: Vec<_> = kept.drain(..gone).collect();
            drop(kept);
            drop(gone);
        });
    }
}

impl Memory {
    /// Overwrites all cells and values with zeros.
    fn clear(&mut self) {
        self.cells.0.par_iter_mut().flat_map(|column| column.par_chunks_mut(PIECE)).for_each(|cells| {
            // Fills with the widest variant first: a narrow one leaves the rest of a cell unchanged.
            cells.fill(Assigned::Rational(Fr::ZERO, Fr::ZERO));
            // Keeps these stores, which nothing reads, from being optimised away.
            black_box(&mut *cells);
            cells.fill(Assigned::Zero);
        });
        self.values.par_iter_mut().for_each(|values| values.fill(Fr::ZERO));
        black_box(&self.values);
    }
}

fn lock_cached_memory() -> MutexGuard<'static, Vec<Memory>> {
    MEMORY.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Frees the memory of dropped arenas that is kept for reuse.
pub(crate) fn clear_arenas() {
    let gone = std::mem::take(&mut *lock_cached_memory());
    drop(gone);
}

/// Replaces `values` with the values of `cells`: numerators divided by denominators, where n/0 is 0. All divisions
/// share one inversion.
fn evaluate_fractions(cells: &[Assigned<Fr>], values: &mut Vec<Fr>) {
    let mut denominators = SecretVec(cells.iter().filter_map(Assigned::denominator).collect());
    denominators.iter_mut().batch_invert();
    let mut inverses = denominators.iter();
    let value = |cell: &Assigned<Fr>| match cell {
        Assigned::Zero => Fr::ZERO,
        Assigned::Trivial(value) => *value,
        Assigned::Rational(numerator, _) => inverses.next().map_or(Fr::ZERO, |inverse| *numerator * inverse),
    };
    // On reuse the vector has its capacity already, so no value moves.
    values.clear();
    values.extend(cells.iter().map(value));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fractions() {
        let (two, six) = (Fr::from(2), Fr::from(6));
        let cells = [Assigned::Rational(six, two), Assigned::Zero, Assigned::Rational(six, Fr::ZERO), six.into()];
        let mut values = Vec::new();
        evaluate_fractions(&cells, &mut values);
        assert_eq!(values, [Fr::from(3), Fr::ZERO, Fr::ZERO, six]);
    }

    #[test]
    fn memory_is_zero_again() {
        let mut used = Memory { cells: AssignedCells::new(2, 300), values: vec![Vec::new(); 2], rows: 300 };
        *used.cells.cell(1, 299).expect("a cell") = Assigned::Rational(Fr::from(6), Fr::from(2));
        evaluate_fractions(&used.cells.0[1], &mut used.values[1]);
        assert_eq!(used.values[1][299], Fr::from(3));
        used.clear();
        assert!(used.cells.0.iter().flatten().all(|cell| matches!(cell, Assigned::Zero)));
        assert!(used.values.iter().flatten().all(|value| *value == Fr::ZERO));
    }
}
