//! Results as programs exchange and write them.

use serde::{Deserialize, Serialize};

/// Holds what one way to prove measured. Times are those of the run with the median proving time, in milliseconds, of all
/// proofs of a batch together.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Outcome {
    /// What proved: an adapter of proofwarp, `stock`, or `supraseal (published)`.
    pub engine: String,
    /// Number of constraints.
    pub constraints: usize,
    /// Backends and devices; stock only tells GPU and CPU apart.
    pub ran_on: String,
    /// Synthesis of the circuits.
    pub synthesis_ms: f64,
    /// From the end of synthesis to the proofs.
    pub proving_ms: f64,
    /// Stock verification.
    pub verify_ms: f64,
    /// From the end of synthesis to the proofs, of every timed run.
    pub runs_ms: Vec<f64>,
    /// Proofs of a run that stock verification accepted, the same in all runs; none where an older program says nothing.
    #[serde(default)]
    pub verified: usize,
    /// The proofs in hexadecimal, one after another.
    pub proof: String,
    /// The engine's part, where it is proofwarp and reports it.
    #[serde(default)]
    pub phases: Vec<Phase>,
    /// Steps that overlap in a proof, each alone.
    #[serde(default)]
    pub steps: Vec<Phase>,
}

/// A phase of a proof: operations of one kind, one after another or at once on several devices.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Phase {
    /// What it computes.
    pub name: String,
    /// Calls into the engine.
    pub operations: usize,
    /// Elements that went in.
    pub elements: usize,
    /// Elements that the engine should have worked on besides, but did not report.
    pub unreported: usize,
    /// The backends and devices that it ran on.
    pub backends: Vec<String>,
    /// Wall time.
    pub ms: f64,
    /// Sum of the times of uploads.
    pub upload_ms: f64,
    /// Sum of the times of kernels.
    pub kernels_ms: f64,
    /// Sum of the times of downloads.
    pub download_ms: f64,
    /// Sum of the times that compiling or loading kernels took, which only first uses do.
    pub compile_ms: f64,
    /// Why other backends were passed over.
    pub fallbacks: Vec<String>,
}
