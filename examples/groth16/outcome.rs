//! Results as this program and its counterpart on stock crates exchange and write them.

use serde::{Deserialize, Serialize};

/// What one side measured; times are those of the run with the median proving time, in milliseconds.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Outcome {
    /// The ec-gpu-gen it ran on: `proofwarp` or `stock`.
    pub engine: String,
    /// Number of constraints.
    pub constraints: usize,
    /// Backends and devices; stock only tells GPU and CPU apart.
    pub ran_on: String,
    /// Synthesis of the circuit.
    pub synthesis_ms: f64,
    /// From the end of synthesis to the proof.
    pub proving_ms: f64,
    /// Stock verification.
    pub verify_ms: f64,
    /// From the end of synthesis to the proof, of every timed run.
    pub runs_ms: Vec<f64>,
    /// The proof in hexadecimal.
    pub proof: String,
}
