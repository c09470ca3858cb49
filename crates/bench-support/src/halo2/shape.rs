//! Defines the numbers of columns and rows of circuits.

/// Binary logarithm of the number of values in the lookup table, 12. A circuit of at most 2^12 rows has fewer: one for
/// every two rows.
const TABLE: u32 = 12;

/// A circuit's columns. The first advice columns are looked up in one table. Each other one is the output of a gate.
/// All advice columns and one fixed column are in the permutation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// Advice columns.
    pub advice: usize,
    /// Fixed columns.
    pub fixed: usize,
    /// Advice columns that are looked up.
    pub lookups: usize,
    /// Binary logarithm of the rows.
    pub k: u32,
}

impl Shape {
    /// Returns a shape of 2^`k` rows: 12 advice, 14 fixed columns, 3 lookups, 13 columns in the permutation.
    pub fn measured(k: u32) -> Self {
        Self { advice: 12, fixed: 14, lookups: 3, k }
    }

    /// Returns a shape of 2^`k` rows: 48 advice, 50 fixed columns, 8 lookups, 49 columns in the permutation.
    pub fn wide(k: u32) -> Self {
        Self { advice: 48, fixed: 50, lookups: 8, k }
    }

    /// Returns the number of gates. A fixed column turns each of them on.
    pub fn gates(&self) -> usize {
        self.advice - self.lookups
    }

    /// Returns the number of fixed columns that gates multiply by: all but those that turn gates on, the table and the
    /// constants.
    pub fn coefficients(&self) -> usize {
        self.fixed - self.gates() - 2
    }

    /// Returns the number of values in the table, which count up from 0. At most half of the rows have one.
    pub fn table(&self) -> usize {
        1 << TABLE.min(self.k - 1)
    }

    /// Returns whether `gate` has degree 5. The other gates have degree 3.
    pub fn is_high(gate: usize) -> bool {
        gate % 3 == 2
    }
}

impl Default for Shape {
    fn default() -> Self {
        Self::measured(TABLE)
    }
}
