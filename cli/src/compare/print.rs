//! Prints a comparison on a terminal.

use std::io::{self, Write};

use anyhow::Result;
use bench_support::table::{self, milliseconds};

use super::results::Comparison;
use crate::output::{self, Out};

/// Prints the tables of `comparison`, the checks that passed, and the measurements that were left out.
///
/// # Errors
/// Returns an error if standard output cannot be written.
pub fn print(comparison: &Comparison) -> Result<()> {
    output::print(|out| write(comparison, out))
}

fn write(comparison: &Comparison, out: &mut Out) -> io::Result<()> {
    for operation in comparison.operations() {
        let (header, rows) = rows(comparison, operation);
        let header: Vec<&str> = header.iter().map(String::as_str).collect();
        let table = table::new(&header, 1.., rows);
        writeln!(out, "\n{operation}: ms, and how many times as long as the first\n{table}")?;
    }
    comparison.checked.iter().try_for_each(|line| writeln!(out, "{line}"))?;
    comparison.left_out.iter().try_for_each(|line| writeln!(out, "left out: {line}"))
}

/// Returns the header and the rows of the table of `operation`. The table has a column per size and a row per
/// implementation.
pub fn rows(comparison: &Comparison, operation: &str) -> (Vec<String>, Vec<Vec<String>>) {
    let logs = comparison.logs(operation);
    let implementations = comparison.implementations(operation);
    let header = std::iter::once(String::new()).chain(logs.iter().map(|log| format!("2^{log}"))).collect();
    let cell = |implementation: &str, log: u32| {
        let Some(found) = comparison.find(operation, implementation, log) else { return String::new() };
        let first = implementations.first().and_then(|first| comparison.find(operation, first, log));
        let ratio = first.filter(|_| implementations[0] != implementation);
        let ratio = ratio.map(|first| format!(" ({:.1} ×)", found.milliseconds / first.milliseconds));
        milliseconds(found.milliseconds) + &ratio.unwrap_or_default()
    };
    let row = |implementation: &&str| {
        let cells = logs.iter().map(|log| cell(implementation, *log));
        std::iter::once((*implementation).to_owned()).chain(cells).collect()
    };
    (header, implementations.iter().map(row).collect())
}
