//! A constraint system as plain data.

use super::layout::{Layout, Name};
use crate::expression::Expression;
use crate::{Error, Result};

/// Values that have to be in a table.
#[derive(Debug, Clone)]
pub struct Lookup<F> {
    /// What warnings call it.
    pub name: String,
    /// Expressions whose values, row by row, are to be found.
    pub inputs: Vec<Expression<F>>,
    /// As many expressions, in whose values, row by row, they are to be found.
    pub tables: Vec<Expression<F>>,
}

/// A constraint system over columns of 2^log_n rows.
///
/// Expressions name columns by [`Layout::number`] and the circuit's challenges by their index.
#[derive(Debug, Clone)]
pub struct Circuit<F> {
    /// Binary logarithm of the number n of rows.
    pub log_n: u32,
    /// The greatest degree of a constraint, products of the permutation and lookups included: at least 3.
    pub degree: usize,
    /// Rows at the end that hide the columns; the row before them is where products end.
    pub blinding: usize,
    /// Columns.
    pub layout: Layout,
    /// The phase of each column of the witness.
    pub advice_phases: Vec<u8>,
    /// The phase after which each challenge is known.
    pub challenge_phases: Vec<u8>,
    /// Constraints: 0 in every row.
    pub gates: Vec<Expression<F>>,
    /// Lookups.
    pub lookups: Vec<Lookup<F>>,
    /// Columns of the permutation: fixed, advice or instance.
    pub permutation: Vec<Name>,
    /// Columns of the witness and the rotations at which they are opened, in the transcript's order.
    pub advice_queries: Vec<(usize, i32)>,
    /// The same of the key.
    pub fixed_queries: Vec<(usize, i32)>,
}

impl<F> Circuit<F> {
    /// Number of rows, n.
    pub fn rows(&self) -> usize {
        1 << self.log_n
    }

    /// Rows that a witness may use; products end in the row after them.
    pub fn usable(&self) -> usize {
        self.rows() - self.blinding - 1
    }

    /// The rotation from row 0 back to where products end.
    pub fn back_to_end(&self) -> i32 {
        0_i32.wrapping_sub_unsigned(self.blinding as u32 + 1)
    }

    /// Columns of the permutation in one product: as many as the degree has room for.
    pub fn set_size(&self) -> usize {
        self.degree - 2
    }

    /// Polynomials of degree below n that the quotient is cut into, and cosets that it is evaluated on.
    pub fn pieces(&self) -> usize {
        self.degree - 1
    }

    /// Numbers of the columns of a phase.
    pub fn advice_of(&self, phase: u8) -> Vec<usize> {
        numbers_of(&self.advice_phases, phase)
    }

    /// Numbers of the challenges that are known after a phase.
    pub fn challenges_after(&self, phase: u8) -> Vec<usize> {
        numbers_of(&self.challenge_phases, phase)
    }

    /// Phases, of which there is at least one.
    pub fn phases(&self) -> u8 {
        self.advice_phases.iter().max().map_or(1, |last| last + 1)
    }

    /// That the numbers fit each other.
    ///
    /// # Errors
    /// They do not: says which.
    pub fn check(&self) -> Result<()> {
        let is = |what: &str, expected: usize, actual: usize| match expected == actual {
            true => Ok(()),
            false => Err(Error::invalid("plonk circuit", what, expected, actual)),
        };
        is("phases of advice columns", self.layout.advice, self.advice_phases.len())?;
        is("columns of the permutation", self.layout.permuted, self.permutation.len())?;
        is("lookups", self.layout.lookups, self.lookups.len())?;
        if self.degree < 3 {
            return Err(Error::invalid("plonk circuit", "degree", "at least 3", self.degree));
        }
        is("sets", self.layout.permuted.div_ceil(self.set_size()), self.layout.sets)?;
        let least = self.blinding + 3;
        if self.log_n >= usize::BITS || self.rows() < least {
            return Err(Error::invalid(
                "plonk circuit",
                "rows",
                format!("at least {least}"),
                format!("2^{}", self.log_n),
            ));
        }
        self.lookups.iter().try_for_each(|lookup| is("tables of a lookup", lookup.inputs.len(), lookup.tables.len()))
    }
}

fn numbers_of(phases: &[u8], phase: u8) -> Vec<usize> {
    (0..phases.len()).filter(|number| phases[*number] == phase).collect()
}
