//! Checks the arguments of a program.

use super::program::{ERROR_CONTEXT, Program};
use crate::field::NttField;
use crate::{Error, Result};

impl<F: NttField> Program<F> {
    /// Checks that `challenges` has an element for every challenge that the program reads.
    pub(super) fn check_challenges(&self, challenges: &[F]) -> Result<()> {
        check_at_least("number of challenges", self.challenge_count(), challenges.len())
    }

    /// Checks that `columns`, the number of columns, is enough for every column that the program reads.
    pub(super) fn check_columns(&self, columns: usize) -> Result<()> {
        check_at_least("number of columns", self.column_count(), columns)
    }

    /// Checks that `outputs`, the number of output vectors, is the number that the program writes.
    pub(super) fn check_outputs(&self, outputs: usize) -> Result<()> {
        check_equal("number of outputs", self.output_count(), outputs)
    }
}

fn check_at_least(what: &str, expected: usize, actual: usize) -> Result<()> {
    if actual >= expected {
        Ok(())
    } else {
        Err(Error::invalid(ERROR_CONTEXT, what, format!("at least {expected}"), actual))
    }
}

pub(super) fn check_equal(what: impl Into<String>, expected: usize, actual: usize) -> Result<()> {
    if actual == expected { Ok(()) } else { Err(Error::invalid(ERROR_CONTEXT, what, expected, actual)) }
}
