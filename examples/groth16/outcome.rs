//! Results as this program and its counterpart on stock crates exchange and write them.

use serde::{Deserialize, Serialize};

/// What one way to prove measured; times are those of the run with the median proving time, in milliseconds, of all
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
}
