//! Checks the arguments of an operation: their kinds, the number of rows, and that all rows are there.

use std::fmt;

use super::operation::{Operation, Parameter};
use crate::{Error, Result};

const ERROR_CONTEXT: &str = "columns";

/// Holds an argument of an [`Operation`]: a column of type `C`, or a number.
pub enum Argument<'a, C: ?Sized> {
    /// A column with an element per row, or a short column of constants.
    Column(&'a C),
    /// A number, or a rotation in rows.
    Number(i64),
}

impl<C: ?Sized> fmt::Debug for Argument<'_, C> {
    /// Writes no elements, which may be secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Column(_) => f.write_str("Column(_)"),
            Self::Number(number) => write!(f, "Number({number})"),
        }
    }
}

impl<C: ?Sized> Clone for Argument<'_, C> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<C: ?Sized> Copy for Argument<'_, C> {}

/// Gives the checks access to a column in host or device memory.
pub(super) trait ColumnAccess {
    /// Returns the number of elements of the column.
    fn length(&self) -> usize;
    /// Returns whether `self` and `other` are in the same memory.
    fn is_same_memory(&self, other: &Self) -> bool;
}

/// Holds an operation's arguments after they passed all checks.
pub(super) struct CheckedCall<'a, C: ?Sized> {
    pub rows: u32,
    /// Arguments in the order of the operation, without the number of rows. Rotations are reduced modulo `rows`.
    pub arguments: Vec<CheckedArgument<'a, C>>,
}

/// Holds a column, or a number or rotation, of a [`CheckedCall`].
pub(super) enum CheckedArgument<'a, C: ?Sized> {
    Column(&'a C),
    Number(u32),
}

impl<'a, C: ColumnAccess + ?Sized> CheckedCall<'a, C> {
    /// Checks the `arguments` of `operation` and determines the number of rows. `items` is the requested number of
    /// work-items, or 0 for as many as the rows need.
    pub(super) fn new(operation: Operation, arguments: &[Argument<'a, C>], items: usize) -> Result<Self> {
        let parameters = operation.parameters();
        if parameters.len() != arguments.len() {
            return Err(error(operation, "number of arguments", parameters.len(), arguments.len()));
        }
        let pairs: Vec<_> = parameters.iter().copied().zip(arguments.iter().copied()).collect();
        pairs.iter().enumerate().try_for_each(|(number, pair)| check_kind(operation, number, *pair))?;
        let call = UncheckedCall { operation, pairs };
        let rows = call.row_count(items)?;
        call.check_lengths(rows as usize)?;
        call.check_aliasing(rows)?;
        call.check_numbers(rows)?;
        let resolved = call.pairs.iter().filter(|(parameter, _)| *parameter != Parameter::Rows);
        let resolve = |(parameter, argument): &(Parameter, Argument<'a, C>)| match *argument {
            Argument::Column(column) => CheckedArgument::Column(column),
            Argument::Number(number) if *parameter == Parameter::Rotation => {
                CheckedArgument::Number(normalize_rotation(number, rows))
            }
            Argument::Number(number) => CheckedArgument::Number(number as u32),
        };
        Ok(Self { rows, arguments: resolved.map(resolve).collect() })
    }
}

/// Returns `rotation` modulo `rows`, which is not negative. Returns 0 if there are no rows.
fn normalize_rotation(rotation: i64, rows: u32) -> u32 {
    rotation.checked_rem_euclid(i64::from(rows)).unwrap_or(0) as u32
}

fn error(operation: Operation, what: impl Into<String>, expected: impl ToString, actual: impl ToString) -> Error {
    Error::invalid(ERROR_CONTEXT, format!("{operation}: {}", what.into()), expected, actual)
}

fn check_kind<C: ?Sized>(
    operation: Operation,
    number: usize,
    (parameter, argument): (Parameter, Argument<'_, C>),
) -> Result<()> {
    let is_number = matches!(parameter, Parameter::Rotation | Parameter::Rows | Parameter::Number);
    let what = || format!("argument {number}");
    match argument {
        Argument::Column(_) if is_number => Err(error(operation, what(), "a number", "a column")),
        Argument::Number(_) if !is_number => Err(error(operation, what(), "a column", "a number")),
        Argument::Number(value) if parameter != Parameter::Rotation && u32::try_from(value).is_err() => {
            Err(error(operation, what(), "a number from 0 to below 2^32", value))
        }
        _ => Ok(()),
    }
}

struct UncheckedCall<'a, C: ?Sized> {
    operation: Operation,
    pairs: Vec<(Parameter, Argument<'a, C>)>,
}

impl<'a, C: ColumnAccess + ?Sized> UncheckedCall<'a, C> {
    fn numbers(&self, kind: Parameter) -> impl Iterator<Item = i64> {
        let number = move |(parameter, argument): &(Parameter, Argument<'a, C>)| match argument {
            Argument::Number(number) if *parameter == kind => Some(*number),
            _ => None,
        };
        self.pairs.iter().filter_map(number)
    }

    fn columns(&self) -> impl Iterator<Item = (usize, Parameter, &'a C)> {
        let column = |(number, (parameter, argument)): (usize, &(Parameter, Argument<'a, C>))| match *argument {
            Argument::Column(column) => Some((number, *parameter, column)),
            Argument::Number(_) => None,
        };
        self.pairs.iter().enumerate().filter_map(column)
    }

    /// Returns the number of rows to write. It is the row argument if the operation has one, else the rows of `items`
    /// work-items, else the length of the first written column.
    fn row_count(&self, items: usize) -> Result<u32> {
        let of_items = items.saturating_mul(self.operation.rows_per_item());
        let is_target = |kind| matches!(kind, Parameter::Written | Parameter::Updated);
        let target = self.columns().find(|(_, kind, _)| is_target(*kind)).map_or(0, |(_, _, column)| column.length());
        let rows = match self.numbers(Parameter::Rows).next() {
            Some(rows) if items > 0 && of_items < rows as usize && self.operation != Operation::LookupSlots => {
                return Err(error(self.operation, "work-items", format!("at least {rows}"), items));
            }
            Some(rows) => rows as usize,
            None if items > 0 => of_items,
            None => target,
        };
        u32::try_from(rows).map_err(|_| error(self.operation, "rows", "below 2^32", rows))
    }

    fn check_lengths(&self, rows: usize) -> Result<()> {
        let prefix = self.numbers(Parameter::Number).next().unwrap_or(0) as usize;
        for (number, kind, column) in self.columns() {
            let needed = match kind {
                Parameter::Elements(count) => count,
                Parameter::Prefix => prefix.min(rows),
                _ => rows,
            };
            if column.length() < needed {
                let what = format!("elements of argument {number}");
                return Err(error(self.operation, what, format!("at least {needed}"), column.length()));
            }
        }
        Ok(())
    }

    /// Checks that no written column is also read at another row or as constants, and that none is written twice.
    fn check_aliasing(&self, rows: u32) -> Result<()> {
        let mut rotations = self.numbers(Parameter::Rotation);
        let all: Vec<_> = self.columns().collect();
        let written = |kind| matches!(kind, Parameter::Written | Parameter::Updated);
        for (number, kind, column) in &all {
            let elsewhere = match kind {
                Parameter::Rotated => rotations.next().is_some_and(|rotation| normalize_rotation(rotation, rows) != 0),
                Parameter::Elements(_) => true,
                kind => written(*kind),
            };
            let others = all.iter().filter(|other| other.0 != *number && written(other.1));
            if elsewhere && others.into_iter().any(|other| other.2.is_same_memory(column)) {
                let what = format!("argument {number}");
                return Err(error(self.operation, what, "a column that is not written meanwhile", "one that is"));
            }
        }
        Ok(())
    }

    fn check_numbers(&self, rows: u32) -> Result<()> {
        let numbers: Vec<_> = self.numbers(Parameter::Number).collect();
        match (self.operation, &numbers[..]) {
            (Operation::Periodic, &[period]) => {
                let powers = self.columns().nth(1).map_or(0, |(_, _, column)| column.length());
                let fine = period > 0 && period as usize - 1 <= powers;
                if fine { Ok(()) } else { Err(error(self.operation, "period", format!("1 to {}", powers + 1), period)) }
            }
            (Operation::LookupSlots, &[0]) => Err(error(self.operation, "rows of a slot", "at least 1", 0)),
            (Operation::SortStep, &[round, step]) => {
                let whole = round < 31 && step <= round && rows.is_multiple_of(2 << round);
                let actual = || format!("{step} of round {round} of {rows} rows");
                if whole {
                    Ok(())
                } else {
                    Err(error(self.operation, "step", "one of the round, in whole blocks", actual()))
                }
            }
            _ => Ok(()),
        }
    }
}
