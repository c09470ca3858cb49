//! Timed proofs through bellperson, and their stock verification.

use std::fmt::Write;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use bellperson::groth16::{Parameters, Proof, prepare_verifying_key, verify_proof};
use bellperson::{Circuit, ConstraintSystem, SynthesisError};
use blstrs::{Bls12, Scalar};
use ff::Field;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

use super::circuits::Workload;
use super::outcome::Outcome;
use super::parameters;
use super::work::WorkOptions;
use crate::{Failure, progress};

/// Holds circuits of one shape to prove, and the randomisation r and s of their proofs.
pub struct Batch {
    /// Each with a witness of its own.
    pub circuits: Vec<Workload>,
    /// One for each proof.
    pub r: Vec<Scalar>,
    /// One for each proof.
    pub s: Vec<Scalar>,
    /// Constraints of each circuit.
    pub constraints: usize,
}

impl Batch {
    /// Draws the circuits' witnesses and the randomisation. Prints the circuit's description and number of constraints.
    ///
    /// # Errors
    /// Returns an error if the batch is empty, or if the circuit cannot be synthesised.
    pub fn new(options: &WorkOptions) -> Result<Self, Failure> {
        let (log, seeds) =
            (options.log_constraints, (0..options.batch).map(|number| options.seed.wrapping_add(u64::from(number))));
        let circuits: Vec<Workload> = progress::step("computing the witness", || {
            seeds.map(|seed| Workload::new(options.circuit, log, seed)).collect::<Result<_, _>>()
        })?;
        let first = circuits.first().ok_or("there is nothing to prove")?;
        let constraints = first.constraints()?;
        eprintln!("{} × {}: {constraints} constraints, domain 2^{log}", circuits.len(), first.describe());
        let mut rng = ChaCha8Rng::seed_from_u64(options.seed);
        let [r, s] = [(); 2].map(|()| circuits.iter().map(|_| Scalar::random(&mut rng)).collect());
        Ok(Self { circuits, r, s, constraints })
    }
}

/// Proofs of a batch and how long they took.
pub struct Run {
    /// The proofs.
    pub proofs: Vec<Proof<Bls12>>,
    /// From the start to the end of the circuits' synthesis.
    pub synthesis: Duration,
    /// From the end of synthesis to the proofs.
    pub proving: Duration,
}

/// A batch with the parameters of its circuits.
pub struct Task {
    /// How often to prove.
    pub work: WorkOptions,
    /// Circuits to prove.
    pub batch: Batch,
    /// Parameters to prove and verify with.
    pub parameters: Parameters<Bls12>,
}

impl Task {
    /// Makes the batch, and reads or generates the parameters.
    ///
    /// # Errors
    /// Returns an error if the parameters cannot be kept, or if the circuit cannot be synthesised.
    pub fn load(work: &WorkOptions) -> Result<Self, Failure> {
        parameters::check(work)?;
        let batch = Batch::new(work)?;
        let parameters = parameters::load(&batch.circuits[0], work)?;
        Ok(Self { work: work.clone(), batch, parameters })
    }

    /// Proves the batch once by `prover`, a function of bellperson's, which takes circuits, r and s.
    ///
    /// # Errors
    /// Returns the error of `prover`.
    pub fn prove(
        &self,
        prover: impl FnOnce(Vec<TimedCircuit>, Vec<Scalar>, Vec<Scalar>) -> Result<Vec<Proof<Bls12>>, SynthesisError>,
    ) -> Result<Run, Failure> {
        let end = Arc::new(Mutex::new(None));
        let timed = |workload: &Workload| TimedCircuit { workload: workload.clone(), end: end.clone() };
        let circuits = self.batch.circuits.iter().map(timed).collect();
        let (r, s) = (self.batch.r.clone(), self.batch.s.clone());
        let start = Instant::now();
        let proofs = prover(circuits, r, s)?;
        let done = Instant::now();
        let end = end.lock().unwrap_or_else(PoisonError::into_inner).take();
        let synthesised: Instant = end.ok_or("bellperson did not synthesise the circuits")?;
        Ok(Run { proofs, synthesis: synthesised - start, proving: done - synthesised })
    }

    /// Calls `prove` once to warm up, then as often as asked. Returns all timed runs, and what else `prove` gave in the
    /// median one.
    ///
    /// # Errors
    /// Returns the first error of `prove`.
    pub fn repeat<T>(
        &self,
        name: &str,
        mut prove: impl FnMut() -> Result<(Run, T), Failure>,
    ) -> Result<(Vec<Run>, T), Failure> {
        progress::step(&format!("{name}: to warm up (not counted)"), &mut prove)?;
        let (mut runs, mut rest) = (Vec::new(), Vec::new());
        for number in 1..=self.work.proofs {
            let name = format!("{name}: {number} of {}", self.work.proofs);
            let (run, more) = progress::step(&name, &mut prove)?;
            runs.push(run);
            rest.push(more);
        }
        let of_median = rest.swap_remove(median(&runs));
        Ok((runs, of_median))
    }

    /// Measures `prover`, a function of bellperson's that the program is linked with. `ran_on` says where it ran, once it did.
    ///
    /// # Errors
    /// Returns the error of `prover`, or an error if proofs are not valid or differ from run to run.
    pub fn measure(
        &self,
        engine: &str,
        ran_on: impl FnOnce() -> String,
        prover: impl Fn(Vec<TimedCircuit>, Vec<Scalar>, Vec<Scalar>) -> Result<Vec<Proof<Bls12>>, SynthesisError>,
    ) -> Result<Outcome, Failure> {
        let (runs, ()) = self.repeat(engine, || Ok((self.prove(&prover)?, ())))?;
        self.outcome(engine, ran_on(), &runs)
    }

    /// Returns the times of the median run of `engine`, with its proofs verified.
    ///
    /// # Errors
    /// Returns an error if there is no run, if runs differ in their proofs, or if one is not valid.
    pub fn outcome(&self, engine: &str, ran_on: String, runs: &[Run]) -> Result<Outcome, Failure> {
        let run = runs.get(median(runs)).ok_or("there is no proof to verify")?;
        if runs.iter().any(|other| other.proofs != run.proofs) {
            return Err(format!("{engine}: proofs of the same witness and randomisation differ from run to run").into());
        }
        Ok(Outcome {
            engine: engine.to_owned(),
            constraints: self.batch.constraints,
            ran_on,
            synthesis_ms: ms(run.synthesis),
            proving_ms: ms(run.proving),
            verify_ms: ms(self.verify(&run.proofs)?),
            runs_ms: runs.iter().map(|run| ms(run.proving)).collect(),
            verified: run.proofs.len(),
            proof: hex(&run.proofs)?,
            phases: Vec::new(),
            steps: Vec::new(),
        })
    }

    /// Returns the time that stock verification of all `proofs` takes, one after another.
    fn verify(&self, proofs: &[Proof<Bls12>]) -> Result<Duration, Failure> {
        if proofs.len() != self.batch.circuits.len() {
            return Err(format!("expected {} proofs, got {}", self.batch.circuits.len(), proofs.len()).into());
        }
        let inputs: Vec<Vec<Scalar>> = self.batch.circuits.iter().map(Workload::public_inputs).collect();
        let start = Instant::now();
        let key = prepare_verifying_key(&self.parameters.vk);
        for (number, (proof, inputs)) in proofs.iter().zip(&inputs).enumerate() {
            if !verify_proof(&key, proof, inputs)? {
                return Err(format!("proof {number} is NOT valid").into());
            }
        }
        Ok(start.elapsed())
    }
}

/// Returns the bytes of `proofs` in hexadecimal, one proof after another.
fn hex(proofs: &[Proof<Bls12>]) -> Result<String, Failure> {
    let mut bytes = Vec::new();
    for proof in proofs {
        proof.write(&mut bytes)?;
    }
    let mut text = String::with_capacity(2 * bytes.len());
    bytes.iter().try_for_each(|byte| write!(text, "{byte:02x}"))?;
    Ok(text)
}

/// Returns the index of the run with the median proving time, the upper one of two.
fn median(runs: &[Run]) -> usize {
    let mut order: Vec<usize> = (0..runs.len()).collect();
    order.sort_by_key(|&index| runs[index].proving);
    order.get(runs.len() / 2).copied().unwrap_or_default()
}

/// Converts `duration` to milliseconds.
pub fn ms(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e3
}

/// A circuit that records when its synthesis ended. The circuits of a batch share `end`, which keeps the last time.
pub struct TimedCircuit {
    workload: Workload,
    end: Arc<Mutex<Option<Instant>>>,
}

impl Circuit<Scalar> for TimedCircuit {
    fn synthesize<CS: ConstraintSystem<Scalar>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
        self.workload.synthesize(cs)?;
        *self.end.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
        Ok(())
    }
}
