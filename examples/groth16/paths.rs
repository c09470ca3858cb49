//! The ways to prove, each measured on the same circuits, parameters and randomisation.

use bellperson::groth16::{Parameters, create_proof_batch};
use blstrs::Bls12;
use proofwarp::Accelerator;
use serde::Serialize;

use crate::cli::Options;
use crate::options::WorkOptions;
use crate::outcome::Outcome;
use crate::phases::Phase;
use crate::prove::Batch;
use crate::{Failure, mapped, parameters, phases, prove, resident};

/// How proofwarp is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Adapter {
    /// Unmodified bellperson, through the drop-in for its GPU crate
    EcGpuGen,
    /// Unmodified bellperson with its feature `cuda-supraseal`, through the drop-in for that prover; a program of its own
    Supraseal,
    /// All of a proof on the devices, by the crate proofwarp-bellperson
    Resident,
}

/// What to compare with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Against {
    /// Another adapter: see --adapter
    EcGpuGen,
    /// Another adapter: see --adapter
    Supraseal,
    /// Another adapter: see --adapter
    Resident,
    /// Unmodified bellperson on the stock crate
    Stock,
}

impl Against {
    /// The adapter, unless it is stock.
    pub fn adapter(self) -> Option<Adapter> {
        match self {
            Self::EcGpuGen => Some(Adapter::EcGpuGen),
            Self::Supraseal => Some(Adapter::Supraseal),
            Self::Resident => Some(Adapter::Resident),
            Self::Stock => None,
        }
    }
}

/// What a way to prove took, and where.
#[derive(Debug, Clone, Serialize)]
pub struct Measured {
    /// Times and proofs.
    pub outcome: Outcome,
    /// The engine's part.
    pub phases: Vec<Phase>,
    /// Steps that overlap in a proof, each alone.
    pub steps: Vec<Phase>,
}

impl Measured {
    /// What another program measured, which tells no phases.
    pub fn elsewhere(outcome: Outcome) -> Self {
        Self { outcome, phases: Vec::new(), steps: Vec::new() }
    }
}

/// Measures those of the adapters that were asked for that run in this process, one after the other.
///
/// # Errors
/// One cannot prove, or its proof is not valid.
pub fn measure(accelerator: &Accelerator, options: &Options) -> Result<Vec<Measured>, Failure> {
    let work = &options.work;
    let adapters = options.adapters();
    if adapters.iter().all(|adapter| *adapter == Adapter::Supraseal) {
        return Ok(Vec::new());
    }
    let batch = Batch::new(work)?;
    let parameters = parameters::load(&batch.circuits[0], work)?;
    phases::collect();
    let mut measured = Vec::new();
    for adapter in adapters {
        match adapter {
            Adapter::EcGpuGen => measured.push(ec_gpu_gen(work, &batch, &parameters)?),
            Adapter::Supraseal => {}
            Adapter::Resident => {
                if options.mapped {
                    mapped::measure(accelerator, work, &batch.circuits[0])?;
                }
                measured.extend(resident::measure(accelerator, work, &batch, &parameters, options.steps)?);
            }
        }
    }
    Ok(measured)
}

/// Gives memory back that devices keep for later: another program may need it.
pub fn trim(accelerator: &Accelerator) {
    accelerator.devices().iter().for_each(|device| device.trim());
}

/// bellperson's own prover on the drop-in.
fn ec_gpu_gen(work: &WorkOptions, batch: &Batch, parameters: &Parameters<Bls12>) -> Result<Measured, Failure> {
    const ENGINE: &str = "ec-gpu-gen";
    let (runs, phases) = prove::repeat(ENGINE, work, || {
        phases::clear();
        let run = prove::prove(batch, |circuits, r, s| create_proof_batch(circuits, parameters, r, s))?;
        Ok((run, phases::take(parameters, batch.circuits.len())))
    })?;
    let outcome = prove::outcome(ENGINE, phases::places(&phases), &runs, batch, parameters)?;
    Ok(Measured { outcome, phases, steps: Vec::new() })
}
