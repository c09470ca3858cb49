//! Prints the tables of a bench.

use std::fmt::Write as _;

use comfy_table::{Table, presets};

use crate::inputs::RANDOM;
use crate::results::{Measurement, Outcome, Results, unique};

/// How this crate's implementations are named.
const OURS: &str = "proofwarp";

/// One cell in words, for those who wait.
pub fn line(measurement: &Measurement) -> String {
    let Measurement { operation, distribution, log_n, .. } = measurement;
    let name = format!("{operation} 2^{log_n} {distribution}, {}", measurement.series());
    match &measurement.outcome {
        Outcome::Time { samples, note, .. } => {
            let time = measurement.outcome.milliseconds().unwrap_or_default();
            format!("{name}: {time:.3} ms ({samples} samples) {note}")
        }
        Outcome::Absent(reason) => format!("{name}: absent: {reason}"),
    }
}

/// Prints for every operation the table of its sizes and the one of its distributions, and what is absent.
pub fn print(results: &Results) {
    for operation in results.operations() {
        let all: Vec<&Measurement> = results.of(operation).collect();
        let sizes: Vec<&Measurement> = all.iter().filter(|cell| cell.distribution == RANDOM).copied().collect();
        say!("\n{operation}, ms (in brackets: times the first proofwarp column of the same place)");
        say!("{}", table("log n", &sizes, |cell| format!("2^{}", cell.log_n)));
        if let Some(compared) = all.iter().find(|cell| cell.distribution != RANDOM) {
            let log_n = compared.log_n;
            let cells: Vec<&Measurement> = all.iter().filter(|cell| cell.log_n == log_n).copied().collect();
            say!("\n{operation} of 2^{log_n} by the distribution of scalars, ms");
            say!("{}", table("scalars", &cells, |cell| cell.distribution.clone()));
        }
        print!("{}", absences(&all));
    }
}

/// Rows by `row`, columns by implementation and place.
fn table(corner: &str, cells: &[&Measurement], row: impl Fn(&Measurement) -> String) -> Table {
    let columns = unique(cells.iter().map(|cell| cell.series()));
    let mut table = Table::new();
    table.load_preset(presets::ASCII_MARKDOWN);
    table.set_header(std::iter::once(corner.to_owned()).chain(columns.iter().cloned()));
    for name in unique(cells.iter().map(|cell| row(cell))) {
        let cells: Vec<&Measurement> = cells.iter().filter(|cell| row(cell) == name).copied().collect();
        let text = |column: &String| cells.iter().find(|cell| cell.series() == *column).map(|cell| text(cell, &cells));
        table.add_row(std::iter::once(name).chain(columns.iter().map(|column| text(column).unwrap_or_default())));
    }
    table
}

/// A time and its ratio to this crate's in the same row.
fn text(cell: &Measurement, row: &[&Measurement]) -> String {
    let Some(time) = cell.outcome.milliseconds() else { return "absent".to_owned() };
    let mut text = if time < 100.0 { format!("{time:.3}") } else { format!("{time:.1}") };
    if let Some(ours) = baseline(cell, row).filter(|ours| ours.series() != cell.series()) {
        let ratio = time / ours.outcome.milliseconds().unwrap_or(f64::NAN);
        let _ = write!(text, " ({ratio:.2})");
    }
    text
}

/// This crate's first time in the row from the same place.
fn baseline<'a>(cell: &Measurement, row: &[&'a Measurement]) -> Option<&'a Measurement> {
    let ours = |there: &&&Measurement| there.implementation.starts_with(OURS) && there.place == cell.place;
    row.iter().filter(ours).find(|there| there.outcome.milliseconds().is_some()).copied()
}

/// Columns without a time and why, each reason once, with the rows if it is not the same for all.
fn absences(cells: &[&Measurement]) -> String {
    let reason = |cell: &&Measurement| match &cell.outcome {
        Outcome::Absent(reason) => Some((cell.series(), reason.clone())),
        Outcome::Time { .. } => None,
    };
    let mut text = String::new();
    for (series, reason) in unique(cells.iter().filter_map(reason)) {
        let column: Vec<&Measurement> = cells.iter().filter(|cell| cell.series() == series).copied().collect();
        let absent = Outcome::Absent(reason.clone());
        let rows = unique(column.iter().filter(|cell| cell.outcome == absent).map(|cell| row(cell)));
        let rows = if rows.len() < column.len() { format!(" ({})", rows.join("; ")) } else { String::new() };
        let _ = writeln!(text, "absent: {series}{rows}: {reason}");
    }
    text
}

fn row(cell: &Measurement) -> String {
    format!("2^{} {}", cell.log_n, cell.distribution)
}
