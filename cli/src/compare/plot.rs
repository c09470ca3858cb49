//! Draws the plots of a comparison.

use anyhow::{Error, Result};
use bench_support::plot::{self, Bar, Line, Plot};
use bench_support::table::milliseconds;

use super::results::{Comparison, Measurement};

/// Plots the times of `operation` against size, with one line per implementation. Returns `None` if there are no
/// measurements.
pub fn sizes(comparison: &Comparison, operation: &str) -> Result<Option<Plot>> {
    let line = |name| Line { name, points: points(comparison, operation, name) };
    let lines: Vec<Line<'_>> = comparison.implementations(operation).into_iter().map(line).collect();
    plot::sizes(&lines).map_err(Error::from_boxed)
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
    let name = format!("{}: {} ms", one.implementation, milliseconds(one.milliseconds));
    Bar { name, phases: one.phases.iter().map(|phase| (phase.name, phase.milliseconds)).collect() }
}
