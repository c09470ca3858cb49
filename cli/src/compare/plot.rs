//! Draws the plots of a comparison.

use anyhow::{Error, Result};
use bench_support::plot::{self, Bar, Line, Plot};
use bench_support::table::milliseconds;

use super::results::{Comparison, Measurement};

/// Plots the times of `operation` against size, with one line per implementation, or at one size with one bar each.
/// Returns `None` if there are no measurements.
pub fn sizes(comparison: &Comparison, operation: &str) -> Result<Option<Plot>> {
    if let [_] = comparison.logs(operation)[..] {
        return one_size(comparison, operation);
    }
    let line = |name| Line { name, points: points(comparison, operation, name), is_approximate: false };
    let lines: Vec<Line<'_>> = comparison.implementations(operation).into_iter().map(line).collect();
    plot::sizes(&lines, size_name(operation)).map_err(Error::from_boxed)
}

fn one_size(comparison: &Comparison, operation: &str) -> Result<Option<Plot>> {
    let bar = |one: &'_ Measurement| Bar { name: named(one), phases: vec![("time", one.milliseconds)] };
    plot::phases(&comparison.by_operation(operation).map(bar).collect::<Vec<_>>()).map_err(Error::from_boxed)
}

/// Returns what the size of `operation` counts.
pub fn size_name(operation: &str) -> &'static str {
    match operation.split(' ').next() {
        Some("msm") => "points",
        Some("ntt") => "field elements",
        Some("groth16") => "constraints",
        Some("halo2") => "rows",
        Some("circom") => "constraints, rounded up",
        _ => "size",
    }
}

fn points(comparison: &Comparison, operation: &str, implementation: &str) -> Vec<(f64, f64)> {
    let of_it = comparison.by_operation(operation).filter(|one| one.implementation == implementation);
    let mut points: Vec<_> = of_it.map(|one| (f64::from(one.log), one.milliseconds)).collect();
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    points
}

/// Plots the phases of `operation` at the largest size, with one bar per implementation that reports phases. Returns
/// `None` if no implementation does.
pub fn phases(comparison: &Comparison, operation: &str) -> Result<Option<Plot>> {
    let largest = comparison.logs(operation).last().copied();
    let of_largest =
        comparison.by_operation(operation).filter(|one| Some(one.log) == largest && !one.phases.is_empty());
    plot::phases(&of_largest.map(bar).collect::<Vec<_>>()).map_err(Error::from_boxed)
}

fn bar(one: &Measurement) -> Bar<'_> {
    Bar { name: named(one), phases: one.phases.iter().map(|phase| (phase.name, phase.milliseconds)).collect() }
}

fn named(one: &Measurement) -> String {
    format!("{}: {} ms", one.implementation, milliseconds(one.milliseconds))
}
