//! Tracks which cells must be equal, as cycles of a permutation.

use ff::{Field, PrimeField};
use halo2_axiom::halo2curves::bn256::Fr;
use halo2_axiom::plonk::{Any, Column, Error};
use rayon::prelude::*;

use crate::memory::par_filled_vec;

/// Number of consecutive powers that one task computes, 4096.
const PIECE: usize = 1 << 12;

/// Links a cell into its cycle. Cells are numbered column by column.
#[derive(Debug, Clone, Copy)]
struct Link {
    /// The cell that this one goes to.
    next: u32,
    /// A cell of the same cycle with a smaller number; or this cell, which then names the cycle.
    toward: u32,
}

/// Holds a permutation of the cells of some columns. Each of its cycles consists of cells that must be equal.
pub(super) struct PermutationCycles {
    places: ColumnIndices,
    links: Vec<Link>,
    log_rows: u32,
}

impl PermutationCycles {
    /// Creates the permutation of the cells of `columns` in which every cell is a cycle of its own. Columns have
    /// 2^`log_rows` rows.
    ///
    /// # Errors
    /// - [`Error::BoundsFailure`]: there are more than 2^32 cells, and their key would take 256 GiB.
    pub(super) fn new(columns: &[Column<Any>], log_rows: u32) -> Result<Self, Error> {
        let cells = (columns.len() as u64) << log_rows;
        if cells > 1 << u32::BITS {
            log::error!("a permutation of at most 2^32 cells, not of {} columns of 2^{log_rows}", columns.len());
            return Err(Error::BoundsFailure);
        }
        let alone = |cell: u64| Link { next: cell as u32, toward: cell as u32 };
        let links = (0..cells as usize).into_par_iter().map(|cell| alone(cell as u64)).collect();
        Ok(Self { places: ColumnIndices::from_columns(columns), links, log_rows })
    }

    /// Makes the cells `left` and `right`, given by column and row, equal by merging their cycles: each cell gets the
    /// other's successor.
    ///
    /// # Errors
    /// - [`Error::ColumnNotInPermutation`]: a column is not in the permutation.
    /// - [`Error::BoundsFailure`]: there is no such row.
    pub(super) fn join(&mut self, left: (Column<Any>, usize), right: (Column<Any>, usize)) -> Result<(), Error> {
        let (left, right) = (self.cell_index(left)?, self.cell_index(right)?);
        let (one, other) = (self.find_representative(left), self.find_representative(right));
        if one != other {
            // Links by number, not by length: with path halving a join takes O(log n) amortised (Tarjan and van
            // Leeuwen).
            self.links[one.max(other) as usize].toward = one.min(other);
            let next = self.links[left].next;
            self.links[left].next = std::mem::replace(&mut self.links[right].next, next);
        }
        Ok(())
    }

    /// Returns the number of the cell that represents the cycle of `cell`, as in union-find, and halves the path to it.
    fn find_representative(&mut self, cell: usize) -> u32 {
        let mut cell = cell as u32;
        loop {
            let toward = self.links[cell as usize].toward;
            if toward == cell {
                return cell;
            }
            let beyond = self.links[toward as usize].toward;
            self.links[cell as usize].toward = beyond;
            cell = beyond;
        }
    }

    /// Returns the number of cells.
    pub(super) fn cell_count(&self) -> usize {
        self.links.len()
    }

    /// Returns the values of σ for each column: δ^c·ω^r in a cell whose successor is in row r of column c. ω is
    /// `omega`.
    pub(super) fn sigma(&self, omega: Fr) -> Vec<Vec<Fr>> {
        let rows = 1 << self.log_rows;
        let (deltas, omegas) = (powers(Fr::DELTA, self.links.len() / rows), powers(omega, rows));
        let value = |link: &Link| {
            let cell = link.next as usize;
            deltas[cell >> self.log_rows] * omegas[cell & (rows - 1)]
        };
        self.links.par_chunks(rows).map(|column| column.par_iter().map(value).collect()).collect()
    }

    fn cell_index(&self, (column, row): (Column<Any>, usize)) -> Result<usize, Error> {
        let place = self.places.get(column).ok_or(Error::ColumnNotInPermutation(column))?;
        if row >> self.log_rows != 0 {
            return Err(Error::BoundsFailure);
        }
        Ok((place << self.log_rows) + row)
    }
}

/// Holds the position of each column in the permutation, by the column's kind and index.
struct ColumnIndices([Vec<Option<u32>>; 3]);

impl ColumnIndices {
    fn from_columns(columns: &[Column<Any>]) -> Self {
        let mut places: [Vec<_>; 3] = Default::default();
        for (place, column) in columns.iter().enumerate() {
            let kind: &mut Vec<_> = &mut places[column_kind_index(*column)];
            kind.resize(kind.len().max(column.index() + 1), None);
            kind[column.index()] = Some(place as u32);
        }
        Self(places)
    }

    fn get(&self, column: Column<Any>) -> Option<usize> {
        self.0[column_kind_index(column)].get(column.index()).copied().flatten().map(|place| place as usize)
    }
}

fn column_kind_index(column: Column<Any>) -> usize {
    match column.column_type() {
        Any::Advice(_) => 0,
        Any::Fixed => 1,
        Any::Instance => 2,
    }
}

/// Returns the first `count` powers of `base`, starting with 1.
fn powers(base: Fr, count: usize) -> Vec<Fr> {
    let mut powers = par_filled_vec(Fr::ONE, count);
    powers.par_chunks_mut(PIECE).enumerate().for_each(|(number, piece)| {
        let mut power = base.pow_vartime([(number * PIECE) as u64]);
        for place in piece {
            *place = power;
            power *= base;
        }
    });
    powers
}

#[cfg(test)]
mod tests {
    use halo2_axiom::plonk::ConstraintSystem;
    use rand_chacha::ChaCha20Rng;
    use rand_core::{RngCore, SeedableRng};

    use super::*;

    fn columns() -> Vec<Column<Any>> {
        let mut system = ConstraintSystem::<Fr>::default();
        let (advice, fixed, instance) = (system.advice_column(), system.fixed_column(), system.instance_column());
        vec![instance.into(), advice.into(), fixed.into(), system.advice_column().into()]
    }

    /// Compares the cycles with sets of equal cells that are joined one by one.
    #[test]
    fn cycles_are_what_is_equal() {
        let (columns, log_rows) = (columns(), 5);
        let mut cycles = PermutationCycles::new(&columns, log_rows).expect("few cells");
        let mut class: Vec<_> = (0..columns.len() << log_rows).collect();
        let mut rng = ChaCha20Rng::seed_from_u64(1);
        for _ in 0..60 {
            let [left, right] = [(); 2].map(|()| rng.next_u32() as usize % class.len());
            let place = |cell: usize| (columns[cell >> log_rows], cell & 31);
            cycles.join(place(left), place(right)).expect("cells");
            let (from, to) = (class[left], class[right]);
            class.iter_mut().filter(|one| **one == from).for_each(|one| *one = to);
        }
        for start in 0..class.len() {
            let mut cycle = vec![start];
            while cycles.links[cycle[cycle.len() - 1]].next as usize != start {
                cycle.push(cycles.links[cycle[cycle.len() - 1]].next as usize);
                assert!(cycle.len() <= class.len(), "a path that leads into a cycle");
            }
            let equal = class.iter().filter(|one| **one == class[start]).count();
            assert!(cycle.len() == equal && cycle.iter().all(|cell| class[*cell] == class[start]));
        }
    }

    #[test]
    fn cells_that_are_not_there() {
        let all = columns();
        let mut cycles = PermutationCycles::new(&all[..3], 5).expect("few cells");
        assert!(matches!(cycles.join((all[0], 0), (all[3], 0)), Err(Error::ColumnNotInPermutation(_))));
        assert!(matches!(cycles.join((all[0], 32), (all[1], 0)), Err(Error::BoundsFailure)));
        assert!(matches!(PermutationCycles::new(&all, 31), Err(Error::BoundsFailure)));
    }

    #[test]
    fn powers_of_several_pieces() {
        let (base, count) = (Fr::from(3), 2 * PIECE + 5);
        let expected: Vec<_> = std::iter::successors(Some(Fr::ONE), |power| Some(*power * base)).take(count).collect();
        assert_eq!(powers(base, count), expected);
    }
}
