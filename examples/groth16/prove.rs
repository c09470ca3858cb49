//! Timed proofs through bellperson, and their stock verification.

use std::fmt::Write;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use bellperson::groth16::{Parameters, Proof, create_proof, prepare_verifying_key, verify_proof};
use bellperson::{Circuit, ConstraintSystem, SynthesisError};
use blstrs::{Bls12, Scalar};
use ff::Field;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

use crate::circuits::Workload;
use crate::options::WorkOptions;
use crate::outcome::Outcome;
use crate::{Failure, progress};

/// A proof and how long it took.
pub struct Run {
    /// The proof.
    pub proof: Proof<Bls12>,
    /// From the start to the end of the circuit's synthesis.
    pub synthesis: Duration,
    /// From the end of synthesis to the proof.
    pub proving: Duration,
}

/// Draws the circuit's witness, and says what is to be proved.
///
/// # Errors
/// The circuit cannot be synthesised.
pub fn workload(options: &WorkOptions) -> Result<Workload, Failure> {
    let log = options.log_constraints;
    let workload = progress::step("computing the witness", || Workload::new(options.circuit, log, options.seed))?;
    eprintln!("{}: {} constraints, domain 2^{log}", workload.describe(), workload.constraints()?);
    Ok(workload)
}

/// Proves once; the randomisation r and s is drawn from `seed`.
///
/// # Errors
/// Those of bellperson.
pub fn prove(workload: &Workload, parameters: &Parameters<Bls12>, seed: u64) -> Result<Run, Failure> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let (r, s) = (Scalar::random(&mut rng), Scalar::random(&mut rng));
    let end = Arc::new(OnceLock::new());
    let circuit = Timed { workload: workload.clone(), end: end.clone() };
    let start = Instant::now();
    let proof = create_proof(circuit, parameters, r, s)?;
    let synthesised = *end.get().ok_or("bellperson did not synthesise the circuit")?;
    Ok(Run { proof, synthesis: synthesised - start, proving: synthesised.elapsed() })
}

/// The median run's times, with its proof verified.
///
/// # Errors
/// There is no run, runs differ in their proof, or it is not valid.
pub fn outcome(
    engine: &str,
    ran_on: String,
    runs: &[Run],
    workload: &Workload,
    parameters: &Parameters<Bls12>,
) -> Result<Outcome, Failure> {
    let run = runs.get(median(runs)).ok_or("there is no proof to verify")?;
    if runs.iter().any(|other| other.proof != run.proof) {
        return Err("proofs of the same witness and randomisation differ from run to run".into());
    }
    Ok(Outcome {
        engine: engine.to_owned(),
        constraints: workload.constraints()?,
        ran_on,
        synthesis_ms: ms(run.synthesis),
        proving_ms: ms(run.proving),
        verify_ms: ms(verify(run, workload, parameters)?),
        runs_ms: runs.iter().map(|run| ms(run.proving)).collect(),
        proof: hex(&run.proof)?,
    })
}

/// The time that stock verification takes.
fn verify(run: &Run, workload: &Workload, parameters: &Parameters<Bls12>) -> Result<Duration, Failure> {
    let inputs = workload.public_inputs();
    let start = Instant::now();
    let key = prepare_verifying_key(&parameters.vk);
    if !verify_proof(&key, &run.proof, &inputs)? {
        return Err("the proof is NOT valid".into());
    }
    Ok(start.elapsed())
}

/// The proof's bytes in hexadecimal.
fn hex(proof: &Proof<Bls12>) -> Result<String, Failure> {
    let mut bytes = Vec::new();
    proof.write(&mut bytes)?;
    let mut text = String::with_capacity(2 * bytes.len());
    bytes.iter().try_for_each(|byte| write!(text, "{byte:02x}"))?;
    Ok(text)
}

/// Index of the run with the median proving time, the lower one of two.
pub fn median(runs: &[Run]) -> usize {
    let mut order: Vec<usize> = (0..runs.len()).collect();
    order.sort_by_key(|&index| runs[index].proving);
    order.get(runs.len().saturating_sub(1) / 2).copied().unwrap_or_default()
}

/// Milliseconds.
pub fn ms(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e3
}

/// A circuit that notes when its synthesis ended.
struct Timed {
    workload: Workload,
    end: Arc<OnceLock<Instant>>,
}

impl Circuit<Scalar> for Timed {
    fn synthesize<CS: ConstraintSystem<Scalar>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
        self.workload.synthesize(cs)?;
        self.end.get_or_init(Instant::now);
        Ok(())
    }
}
