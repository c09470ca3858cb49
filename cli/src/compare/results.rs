//! What is measured.

use std::time::Duration;

use serde::Serialize;

/// A part of a call.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Phase {
    pub name: &'static str,
    pub milliseconds: f64,
}

impl Phase {
    /// A part that took this long.
    pub fn new(name: &'static str, time: Duration) -> Self {
        Self { name, milliseconds: time.as_secs_f64() * 1e3 }
    }
}

/// A number.
#[derive(Debug, Clone, Serialize)]
pub struct Measurement {
    /// Such as `msm bls12_381_g1`.
    pub operation: String,
    pub implementation: String,
    pub log: u32,
    /// The median.
    pub milliseconds: f64,
    /// Where the time of the median's call went; empty where that is not known.
    pub phases: Vec<Phase>,
}

/// A run.
#[derive(Debug, Clone, Serialize)]
pub struct Comparison {
    pub what: String,
    pub command: String,
    /// Names and values: machine, devices, versions, settings.
    pub environment: Vec<(String, String)>,
    pub measurements: Vec<Measurement>,
    /// What could have been measured, and why it was not.
    pub left_out: Vec<String>,
    /// What was checked.
    pub checked: Vec<String>,
}

impl Comparison {
    /// Operations in order.
    pub fn operations(&self) -> Vec<&str> {
        unique(self.measurements.iter().map(|one| one.operation.as_str()))
    }

    /// Implementations of an operation in order, ours first.
    pub fn implementations<'a>(&'a self, operation: &str) -> Vec<&'a str> {
        let of_it = self.measurements.iter().filter(|one| one.operation == operation);
        unique(of_it.map(|one| one.implementation.as_str()))
    }

    /// Sizes of an operation in order.
    pub fn logs(&self, operation: &str) -> Vec<u32> {
        let mut logs = unique(self.of(operation).map(|one| one.log));
        logs.sort_unstable();
        logs
    }

    /// The numbers of an operation.
    pub fn of<'a>(&'a self, operation: &'a str) -> impl Iterator<Item = &'a Measurement> {
        self.measurements.iter().filter(move |one| one.operation == operation)
    }

    /// A number.
    pub fn find<'a>(&'a self, operation: &str, implementation: &str, log: u32) -> Option<&'a Measurement> {
        let is_it =
            |one: &&Measurement| (one.operation.as_str(), one.implementation.as_str()) == (operation, implementation);
        self.measurements.iter().filter(is_it).find(|one| one.log == log)
    }
}

fn unique<T: PartialEq>(items: impl Iterator<Item = T>) -> Vec<T> {
    items.fold(Vec::new(), |mut found, item| {
        if !found.contains(&item) {
            found.push(item);
        }
        found
    })
}
