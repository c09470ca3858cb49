//! Defines results as programs write and exchange them.

use serde::{Deserialize, Serialize};

/// A step of a proof, or of a key.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Step {
    /// Its name.
    pub name: String,
    /// Milliseconds.
    pub ms: f64,
}

/// Holds the measurements of one prover on one circuit. Times are in milliseconds.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Outcome {
    /// Name of the prover.
    pub prover: String,
    /// Name of the circuit.
    pub circuit: String,
    /// Binary logarithm of the rows.
    pub k: u32,
    /// Backends and devices, or the host's cores.
    pub ran_on: Vec<String>,
    /// Maximum bytes of one device's memory that keys and proofs took, if known.
    #[serde(default)]
    pub device_bytes: Option<u64>,
    /// Digest of the verifying key.
    pub key: String,
    /// Time of `keygen_vk`.
    pub keygen_vk_ms: f64,
    /// Time of `keygen_pk`.
    pub keygen_pk_ms: f64,
    /// Steps of proofwarp's `keygen_vk`, in the order in which they end. Some overlap others.
    pub keygen_vk_steps: Vec<Step>,
    /// Steps of proofwarp's `keygen_pk`, in the order in which they end.
    pub keygen_pk_steps: Vec<Step>,
    /// Time of the first proof, which uploads the setup to the device.
    pub first_ms: f64,
    /// Median time of the proofs after the first.
    pub proof_ms: f64,
    /// Steps of the proof with the median time, the synthesis first.
    pub steps: Vec<Step>,
    /// Time of each proof after the first.
    pub runs_ms: Vec<f64>,
    /// Time in which halo2-axiom verified the proof with the median time.
    pub verify_ms: f64,
    /// Bytes of a proof.
    pub proof_bytes: usize,
    /// Proofs that halo2-axiom verified.
    pub verified: usize,
}
