//! What was measured, as it is kept and as another program says it.

use serde::{Deserialize, Serialize};

/// A step of a proof, or of a key.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Step {
    /// Its name.
    pub name: String,
    /// Milliseconds.
    pub ms: f64,
}

/// What one prover measured of one circuit, in milliseconds.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Outcome {
    /// Who proved.
    pub prover: String,
    /// Name of the circuit.
    pub circuit: String,
    /// Binary logarithm of the rows.
    pub k: u32,
    /// Backends and devices, or the host's cores.
    pub ran_on: Vec<String>,
    /// The most bytes of one device's memory that keys and proofs took, where that is known.
    #[serde(default)]
    pub device_bytes: Option<u64>,
    /// The key's digest.
    pub key: String,
    /// The verifying key.
    pub keygen_vk_ms: f64,
    /// The proving key.
    pub keygen_pk_ms: f64,
    /// Of proofwarp's verifying key, in the order in which they end: some run beside others.
    pub keygen_vk_steps: Vec<Step>,
    /// Of proofwarp's proving key.
    pub keygen_pk_steps: Vec<Step>,
    /// The first proof, which brings the setup to the device.
    pub first_ms: f64,
    /// The median of the proofs after it.
    pub proof_ms: f64,
    /// Of the proof with the median, the synthesis first.
    pub steps: Vec<Step>,
    /// Of each proof after the first.
    pub runs_ms: Vec<f64>,
    /// halo2-axiom's verification, of the proof with the median.
    pub verify_ms: f64,
    /// Bytes of a proof.
    pub proof_bytes: usize,
    /// Proofs that halo2-axiom verified.
    pub verified: usize,
}
