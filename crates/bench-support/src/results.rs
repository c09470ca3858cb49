//! The numbers of a run, as they are kept in `msm.json` and the like.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::output;

/// All that a bench measured.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Results {
    /// The bench's name.
    pub bench: String,
    /// Devices, threads and programs of peers that it ran on.
    pub machine: Vec<String>,
    /// One for each cell of the tables.
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
    /// How the scalars were distributed.
    pub distribution: String,
    /// Binary logarithm of the size.
    pub log_n: u32,
    /// The time, or why there is none.
    pub outcome: Outcome,
}

/// A time, or why there is none.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// The median of some samples.
    Time {
        /// The median.
        nanoseconds: u64,
        /// Number of samples.
        samples: usize,
        /// Remark for the tables.
        note: String,
    },
    /// The reason.
    Absent(String),
}

impl Outcome {
    /// Holds a time of one sample, with the `note` that says where it is from.
    pub fn single(milliseconds: f64, note: &str) -> Self {
        Self::Time { nanoseconds: (milliseconds * 1e6) as u64, samples: 1, note: note.to_owned() }
    }

    /// The time in milliseconds.
    pub fn milliseconds(&self) -> Option<f64> {
        match self {
            Self::Time { nanoseconds, .. } => Some(*nanoseconds as f64 / 1e6),
            Self::Absent(_) => None,
        }
    }

    /// The remark on the time, or the reason why there is none.
    pub fn note(&self) -> &str {
        match self {
            Self::Time { note, .. } => note,
            Self::Absent(reason) => reason,
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

    /// Returns the measurements of `operation`.
    pub fn of<'a>(&'a self, operation: &'a str) -> impl Iterator<Item = &'a Measurement> + Clone + 'a {
        self.measurements.iter().filter(move |measurement| measurement.operation == operation)
    }

    /// Reads the results of the file `path`.
    ///
    /// # Errors
    /// The file cannot be read, or is of another form.
    pub fn read(path: &Path) -> std::io::Result<Self> {
        Ok(serde_json::from_slice(&std::fs::read(path)?)?)
    }

    /// Writes the results to the file `path`.
    ///
    /// # Errors
    /// The file cannot be written; the text names it.
    pub fn write(&self, path: &Path) -> Result<(), String> {
        output::write_json(path, self)
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
