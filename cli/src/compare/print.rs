//! Prints a comparison on a terminal.

use std::io::{self, Write};

use anyhow::Result;
use bench_support::table::{self, milliseconds};

use super::results::Comparison;
use super::{plot, verdict};
use crate::output::{self, Out};

/// Prints the tables of `comparison`, the checks that passed, and the measurements that were left out.
///
/// # Errors
/// Returns an error if standard output cannot be written.
pub fn print(comparison: &Comparison) -> Result<()> {
    output::print(|out| write(comparison, out))
}

fn write(comparison: &Comparison, out: &mut Out) -> io::Result<()> {
    if let Some(sentence) = verdict::sentence(comparison) {
        writeln!(out, "\n{sentence}")?;
    }
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

/// Returns the header and the rows of the table of `operation` with a row per size and a column per implementation.
pub fn rows_by_size(comparison: &Comparison, operation: &str) -> (Vec<String>, Vec<Vec<String>>) {
    let (sizes, rows) = rows(comparison, operation);
    let column = |place: usize| rows.iter().map(move |row| row[place].clone());
    let header = std::iter::once(plot::size_name(operation).to_owned()).chain(column(0)).collect();
    let row = |(place, size): (usize, &String)| std::iter::once(size.clone()).chain(column(place)).collect();
    (header, sizes.iter().enumerate().skip(1).map(row).collect())
}

/// Formats the table of `operation` as Markdown, with a row per size.
pub fn markdown(comparison: &Comparison, operation: &str) -> String {
    let (header, rows) = rows_by_size(comparison, operation);
    let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let rule = vec!["---".to_owned(); header.len()];
    let lines = [header, rule].into_iter().chain(rows).map(|cells| line(&cells));
    format!("{operation}, median ms:\n\n{}", lines.collect::<String>())
}
