//! How many columns and rows circuits have.

/// Binary logarithm of the values in the table.
const TABLE: u32 = 12;

/// A circuit's columns: the first advice columns are looked up in one table, each other one is what a gate gives. All advice
/// columns and one fixed column are in the permutation.
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
    /// 12 advice, 14 fixed columns, 3 lookups, 13 columns in the permutation.
    pub fn measured(k: u32) -> Self {
        Self { advice: 12, fixed: 14, lookups: 3, k }
    }

    /// 48 advice, 50 fixed columns, 8 lookups, 49 columns in the permutation.
    pub fn wide(k: u32) -> Self {
        Self { advice: 48, fixed: 50, lookups: 8, k }
    }

    /// Gates, each of which has a fixed column that turns it on.
    pub fn gates(&self) -> usize {
        self.advice - self.lookups
    }

    /// Fixed columns that gates multiply by: all but those that turn gates on, the table and the constants.
    pub fn coefficients(&self) -> usize {
        self.fixed - self.gates() - 2
    }

    /// Values in the table, from 0 on; half of the rows where there are few.
    pub fn table(&self) -> usize {
        1 << TABLE.min(self.k - 1)
    }

    /// Whether a gate has degree 5; the others have 3.
    pub fn is_high(gate: usize) -> bool {
        gate % 3 == 2
    }
}

impl Default for Shape {
    fn default() -> Self {
        Self::measured(TABLE)
    }
}
