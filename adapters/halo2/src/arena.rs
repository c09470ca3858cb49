//! Holds the cells that circuits assign, and the columns made of them.

use std::hint::black_box;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Mutex, MutexGuard, PoisonError};

use ff::{BatchInvert, Field};
use halo2_axiom::halo2curves::bn256::Fr;
use halo2_axiom::plonk::Assigned;
use proofwarp::secret_vec::SecretVec;
use rayon::prelude::*;

use crate::memory::par_filled_vec;

/// Minimum limit of the dropped arenas whose memory is kept, 2. Touching new memory takes longer than a proof on a device.
const MIN_KEPT: usize = 2;
/// Number of cells cleared at a time, 256: they stay in a core's cache for both passes.
const PIECE: usize = 1 << 8;
/// Number of cells that are evaluated together, 2^14: an inversion is a hundredth of the work.
const EVALUATED: usize = 1 << 14;

static MEMORY: Mutex<Vec<Memory>> = Mutex::new(Vec::new());

/// Number of arenas that live. As many dropped ones are kept, because a queue's next proofs need them.
static LIVE: AtomicUsize = AtomicUsize::new(0);

/// Holds a column of cells that a circuit assigns, and the values of the cells. A cell that is not assigned is 0. Cells
/// never move.
#[derive(Default)]
pub(crate) struct ColumnMemory {
    cells: Vec<Assigned<Fr>>,
    /// Empty until they are first requested.
    values: Vec<Fr>,
}

impl ColumnMemory {
    pub(crate) fn new(rows: usize) -> Self {
        Self { cells: par_filled_vec(Assigned::Zero, rows), values: Vec::new() }
    }

    /// Computes the values of the cells, on all cores, and returns them.
    fn compute_values(&mut self) -> &mut Vec<Fr> {
        // On reuse the vector has its length already, so no value moves.
        self.values.resize(self.cells.len(), Fr::ZERO);
        let values = self.values.par_chunks_mut(EVALUATED);
        self.cells.par_chunks(EVALUATED).zip(values).for_each(|(cells, values)| evaluate_fractions(cells, values));
        &mut self.values
    }

    /// Computes the values of the cells, on this thread alone, and returns them.
    pub(crate) fn compute_values_alone(&mut self) -> &mut Vec<Fr> {
        self.values.resize(self.cells.len(), Fr::ZERO);
        let values = self.values.chunks_mut(EVALUATED);
        self.cells.chunks(EVALUATED).zip(values).for_each(|(cells, values)| evaluate_fractions(cells, values));
        &mut self.values
    }

    /// Overwrites all cells and values with zeros.
    pub(crate) fn clear(&mut self) {
        self.cells.par_chunks_mut(PIECE).for_each(|cells| {
            // Fills with the widest variant first: a narrow one leaves the rest of a cell unchanged.
            cells.fill(Assigned::Rational(Fr::ZERO, Fr::ZERO));
            // Keeps these stores, which nothing reads, from being optimised away.
            black_box(&mut *cells);
            cells.fill(Assigned::Zero);
        });
        self.values.fill(Fr::ZERO);
        black_box(&self.values);
    }
}

/// Holds a circuit's witness, columns of the same height. When it is dropped, another thread overwrites its memory and
/// keeps it for the next arena of the same shape.
pub(crate) struct WitnessArena(Memory);

struct Memory {
    columns: Vec<ColumnMemory>,
    rows: usize,
}

impl WitnessArena {
    pub(crate) fn new(columns: usize, rows: usize) -> Self {
        let mut kept = lock_cached_memory();
        let fits = |memory: &Memory| memory.rows == rows && memory.columns.len() == columns;
        let found = kept.iter().position(fits).map(|at| kept.remove(at));
        drop(kept);
        LIVE.fetch_add(1, Relaxed);
        let new = || Memory { columns: (0..columns).map(|_| ColumnMemory::new(rows)).collect(), rows };
        Self(found.unwrap_or_else(new))
    }

    /// Returns the cell at `row` of `column`, or `None` if it does not exist.
    pub(crate) fn cell(&mut self, column: usize, row: usize) -> Option<&mut Assigned<Fr>> {
        self.0.columns.get_mut(column)?.cells.get_mut(row)
    }

    /// Takes the memory of `column`, which has no cell until [`Self::restore`]. Returns `None` if there is no such
    /// column.
    pub(crate) fn take(&mut self, column: usize) -> Option<ColumnMemory> {
        self.0.columns.get_mut(column).map(std::mem::take)
    }

    /// Puts back the `memory` of `column`.
    pub(crate) fn restore(&mut self, column: usize, memory: ColumnMemory) {
        if let Some(place) = self.0.columns.get_mut(column) {
            *place = memory;
        }
    }

    /// Computes the values of the columns with the indices `columns`. Returns each index with the column's values, in
    /// ascending order of index.
    pub(crate) fn compute_values(&mut self, columns: &[usize]) -> Vec<(usize, &mut Vec<Fr>)> {
        let all = self.0.columns.iter_mut().enumerate();
        let some: Vec<_> = all.filter(|(number, _)| columns.contains(number)).collect();
        some.into_par_iter().map(|(number, column)| (number, column.compute_values())).collect()
    }
}

impl Drop for WitnessArena {
    fn drop(&mut self) {
        LIVE.fetch_sub(1, Relaxed);
        let mut used = Memory { columns: std::mem::take(&mut self.0.columns), rows: self.0.rows };
        rayon::spawn(move || {
            used.columns.par_iter_mut().for_each(ColumnMemory::clear);
            if used.columns.iter().any(|column| column.cells.len() != used.rows) {
                // A panic of the circuit left a column with a task.
                return;
            }
            let mut kept = lock_cached_memory();
            kept.push(used);
            let gone = kept.len().saturating_sub(LIVE.load(Relaxed).max(MIN_KEPT));
            let gone: Vec<_> = kept.drain(..gone).collect();
            drop(kept);
            drop(gone);
        });
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

/// Writes the values of `cells` to `values`: numerators divided by denominators, where n/0 is 0. All divisions share
/// one inversion.
fn evaluate_fractions(cells: &[Assigned<Fr>], values: &mut [Fr]) {
    let fractions = cells.iter().filter_map(Assigned::denominator);
    // Of its final capacity, so that no memory is freed before it is cleared.
    let mut denominators = SecretVec(Vec::with_capacity(fractions.clone().count()));
    denominators.0.extend(fractions);
    denominators.iter_mut().batch_invert();
    let mut inverses = denominators.iter();
    let value = |cell: &Assigned<Fr>| match cell {
        Assigned::Zero => Fr::ZERO,
        Assigned::Trivial(value) => *value,
        Assigned::Rational(numerator, _) => inverses.next().map_or(Fr::ZERO, |inverse| *numerator * inverse),
    };
    values.iter_mut().zip(cells.iter().map(value)).for_each(|(to, value)| *to = value);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fractions() {
        let (two, six) = (Fr::from(2), Fr::from(6));
        let cells = [Assigned::Rational(six, two), Assigned::Zero, Assigned::Rational(six, Fr::ZERO), six.into()];
        let mut values = [Fr::ONE; 4];
        evaluate_fractions(&cells, &mut values);
        assert_eq!(values, [Fr::from(3), Fr::ZERO, Fr::ZERO, six]);
    }

    #[test]
    fn memory_is_zero_again() {
        let mut used = ColumnMemory::new(300);
        used.cells[299] = Assigned::Rational(Fr::from(6), Fr::from(2));
        assert_eq!(used.compute_values()[299], Fr::from(3));
        used.values.fill(Fr::ONE);
        assert_eq!(used.compute_values_alone()[298..], [Fr::ZERO, Fr::from(3)]);
        used.clear();
        assert!(used.cells.iter().all(|cell| matches!(cell, Assigned::Zero)));
        assert!(used.values.iter().all(|value| *value == Fr::ZERO));
    }

    #[test]
    fn a_column_comes_back() {
        let mut arena = WitnessArena::new(2, 300);
        let taken = arena.take(1).expect("a column");
        assert!(arena.cell(1, 0).is_none() && arena.cell(0, 0).is_some() && arena.take(2).is_none());
        arena.restore(1, taken);
        assert!(arena.cell(1, 299).is_some());
    }
}
