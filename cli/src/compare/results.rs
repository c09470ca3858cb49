//! Holds measurements.

use std::time::Duration;

use bench_support::results::unique;
use serde::Serialize;

/// Holds the name and the time of a phase of a measured call.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Phase {
    pub name: &'static str,
    pub milliseconds: f64,
}

impl Phase {
    /// Creates the phase `name`, which took `time`.
    pub fn new(name: &'static str, time: Duration) -> Self {
        Self { name, milliseconds: time.as_secs_f64() * 1e3 }
    }
}

/// Holds the measured time of an operation by one implementation at one size.
#[derive(Debug, Clone, Serialize)]
pub struct Measurement {
    /// Such as `msm bls12_381_g1`.
    pub operation: String,
    pub implementation: String,
    pub log: u32,
    /// Median.
    pub milliseconds: f64,
    /// Times of the phases of the median's call; empty if they are not known.
    pub phases: Vec<Phase>,
}

/// Holds the results of a run of `proofwarp compare`.
#[derive(Debug, Clone, Serialize)]
pub struct Comparison {
    pub what: String,
    pub command: String,
    /// Day of the run, as year-month-day.
    pub date: String,
    /// Names and values: machine, devices, versions, settings.
    pub environment: Vec<(String, String)>,
    pub measurements: Vec<Measurement>,
    /// Measurements that were left out, and why.
    pub left_out: Vec<String>,
    /// Checks that passed.
    pub checked: Vec<String>,
}

impl Comparison {
    /// Returns the names of the operations, in the order in which they were measured.
    pub fn operations(&self) -> Vec<&str> {
        unique(self.measurements.iter().map(|one| one.operation.as_str()))
    }

    /// Returns the names of the implementations of `operation`, in the order in which they were measured: proofwarp's
    /// first.
    pub fn implementations<'a>(&'a self, operation: &str) -> Vec<&'a str> {
        let of_it = self.measurements.iter().filter(|one| one.operation == operation);
        unique(of_it.map(|one| one.implementation.as_str()))
    }

    /// Returns the binary logarithms of the sizes at which `operation` was measured, in ascending order.
    pub fn logs(&self, operation: &str) -> Vec<u32> {
        let mut logs = unique(self.by_operation(operation).map(|one| one.log));
        logs.sort_unstable();
        logs
    }

    /// Returns the measurements of `operation`, in the order in which they were made.
    pub fn by_operation<'a>(&'a self, operation: &'a str) -> impl Iterator<Item = &'a Measurement> {
        self.measurements.iter().filter(move |one| one.operation == operation)
    }

    /// Returns the values of the property `name` of the environment.
    pub fn environment<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.environment.iter().filter(move |(property, _)| property == name).map(|(_, value)| value.as_str())
    }

    /// Returns the measurement of `operation` by `implementation` at size 2^`log`, or `None` if there is none.
    pub fn find<'a>(&'a self, operation: &str, implementation: &str, log: u32) -> Option<&'a Measurement> {
        let is_it =
            |one: &&Measurement| (one.operation.as_str(), one.implementation.as_str()) == (operation, implementation);
        self.measurements.iter().filter(is_it).find(|one| one.log == log)
    }
}
