//! The numbers of a run, as they are kept in `msm.json` and the like.

use std::path::Path;

use serde::{Deserialize, Serialize};

/// All that a bench measured.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Results {
    /// The bench's name.
    pub bench: String,
    /// What it ran on: devices, threads, programs of peers.
    pub machine: Vec<String>,
    pub measurements: Vec<Measurement>,
}

/// One cell of a table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Measurement {
    /// Such as `msm_bls12_381_g1`.
    pub operation: String,
    /// Who ran it.
    pub implementation: String,
    /// Where inputs were before and results after.
    pub place: String,
    pub distribution: String,
    pub log_n: u32,
    pub outcome: Outcome,
}

/// A time, or why there is none.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// The median of some samples.
    Time { nanoseconds: u64, samples: usize, note: String },
    /// The reason.
    Absent(String),
}

impl Outcome {
    /// The time in milliseconds.
    pub fn milliseconds(&self) -> Option<f64> {
        match self {
            Self::Time { nanoseconds, .. } => Some(*nanoseconds as f64 / 1e6),
            Self::Absent(_) => None,
        }
    }
}

impl Measurement {
    /// The column or line that it belongs to.
    pub fn series(&self) -> String {
        format!("{}, {}", self.implementation, self.place)
    }

    fn key(&self) -> (&str, &str, &str, &str, u32) {
        (&self.operation, &self.implementation, &self.place, &self.distribution, self.log_n)
    }
}

impl Results {
    /// Adds a measurement; one of the same thing is replaced.
    pub fn add(&mut self, measurement: Measurement) {
        match self.measurements.iter_mut().find(|there| there.key() == measurement.key()) {
            Some(there) => *there = measurement,
            None => self.measurements.push(measurement),
        }
    }

    /// Adds all of another run.
    pub fn merge(&mut self, other: Self) {
        self.bench = other.bench;
        self.machine = unique(std::mem::take(&mut self.machine).into_iter().chain(other.machine));
        other.measurements.into_iter().for_each(|measurement| self.add(measurement));
    }

    /// Names of the operations, in the order in which they were measured.
    pub fn operations(&self) -> Vec<&str> {
        unique(self.measurements.iter().map(|measurement| measurement.operation.as_str()))
    }

    /// One operation's measurements.
    pub fn of<'a>(&'a self, operation: &'a str) -> impl Iterator<Item = &'a Measurement> + Clone + 'a {
        self.measurements.iter().filter(move |measurement| measurement.operation == operation)
    }

    /// # Errors
    /// The file cannot be read, or is of another form.
    pub fn read(path: &Path) -> std::io::Result<Self> {
        Ok(serde_json::from_slice(&std::fs::read(path)?)?)
    }

    /// # Errors
    /// The file cannot be written; the text names it.
    pub fn write(&self, path: &Path) -> Result<(), String> {
        let text = serde_json::to_string_pretty(self).map_err(std::io::Error::from);
        let written = text.and_then(|text| std::fs::write(path, text + "\n"));
        written.map_err(|error| format!("{}: {error}", path.display()))
    }
}

/// Every value once, in order of first appearance.
pub fn unique<T: PartialEq>(values: impl Iterator<Item = T>) -> Vec<T> {
    values.fold(Vec::new(), |mut there, value| {
        if !there.contains(&value) {
            there.push(value);
        }
        there
    })
}
