//! Holds measurements, and formats them as a table.

use comfy_table::Table;
use proofwarp::Report;
use serde::Serialize;

use crate::table;

/// Holds the times and the check of one way to multiply.
#[derive(Serialize)]
pub struct Outcome {
    pub way: String,
    pub ran_on: String,
    pub first_ms: f64,
    /// Median of the runs after the first.
    pub median_ms: f64,
    /// Device time of the last run's kernels; 0 if none ran.
    pub kernels_ms: f64,
    pub checked: String,
}

impl Outcome {
    /// Holds the times of `way`, in ms, the `report` of its last run, and how it was `checked`.
    pub fn new(way: String, report: Option<&Report>, (first_ms, median_ms): (f64, f64), checked: String) -> Self {
        let ran_on = report.map_or_else(String::new, |report| format!("{} ({})", report.device, report.backend));
        let kernels_ms = report.map_or(0.0, |report| report.traffic.kernels.as_secs_f64() * 1e3);
        Self { way, ran_on, first_ms, median_ms, kernels_ms, checked }
    }

    fn row(&self) -> Vec<String> {
        let times = [self.first_ms, self.median_ms, self.kernels_ms].map(|ms| format!("{ms:.3}"));
        [self.way.clone(), self.ran_on.clone()].into_iter().chain(times).chain([self.checked.clone()]).collect()
    }
}

/// Returns a table with a row for each of `outcomes`.
pub fn table(outcomes: &[Outcome]) -> Table {
    let header = ["way", "ran on", "first (ms)", "median (ms)", "kernels (ms)", "checked"];
    table::new(&header, 2..5, outcomes.iter().map(Outcome::row))
}
