//! Times key generation and proofs of one prover.

use std::time::{Duration, Instant};

use halo2_axiom::halo2curves::bn256::{Fr, G1Affine};
use halo2_axiom::plonk::{Circuit, Error, ProvingKey, VerifyingKey};
use halo2_axiom::transcript::{Blake2bWrite, Challenge255, TranscriptWriterBuffer};
use proofwarp_halo2::TimedTranscript;

use super::outcome::{Outcome, Step};
use super::task::Task;
use super::timed::Timed;
use super::work::name;
use crate::{Failure, progress};

/// Transcript that provers write to. It times the steps of a proof.
pub type Transcript = TimedTranscript<Blake2bWrite<Vec<u8>, G1Affine, Challenge255<G1Affine>>>;

/// A prover. It holds the setup and the multi-opening scheme of its keys and proofs.
pub trait Prover {
    /// Returns its name.
    fn name(&self) -> &'static str;

    /// Makes the verifying key of `circuit`.
    ///
    /// # Errors
    /// Returns the error of the prover.
    fn keygen_vk<C: Circuit<Fr>>(&self, circuit: &C) -> Result<VerifyingKey<G1Affine>, Failure>;

    /// Makes the proving key of `circuit` and `vk`.
    ///
    /// # Errors
    /// Returns the error of the prover.
    fn keygen_pk<C: Circuit<Fr>>(
        &self,
        vk: VerifyingKey<G1Affine>,
        circuit: &C,
    ) -> Result<ProvingKey<G1Affine>, Failure>;

    /// Proves one circuit.
    ///
    /// # Errors
    /// Returns the error of the prover.
    fn prove<C: Circuit<Fr>>(
        &self,
        key: &ProvingKey<G1Affine>,
        circuit: &[C; 1],
        instances: &[&[Fr]],
    ) -> Result<Transcript, Failure>;

    /// Returns the steps of key generation since the last call, or none if the prover does not report them.
    fn key_steps(&self) -> Vec<Step> {
        Vec::new()
    }

    /// Returns the bound of the memory that a proof with `key` takes on the first device, as text. Returns `None` if
    /// the prover states none.
    fn memory_bound(&self, _key: &ProvingKey<G1Affine>) -> Option<String> {
        None
    }

    /// Returns the maximum bytes of a device's memory that it took, or `None` if that is unknown.
    fn device_bytes(&self) -> Option<u64> {
        None
    }

    /// Returns the devices, or the host's cores, that it has run on.
    fn ran_on(&self) -> Vec<String>;
}

/// One proof.
struct Run {
    time: Duration,
    steps: Vec<Step>,
    verification: Duration,
    bytes: usize,
}

/// Makes keys, a first proof and the timed proofs of `task` by `prover`. halo2-axiom verifies each proof.
///
/// # Errors
/// Returns an error if a step fails, or if a proof does not verify.
pub fn measure<C: Circuit<Fr>>(prover: &impl Prover, task: &Task<'_, C>) -> Result<Outcome, Failure> {
    let (name_, keys) = (prover.name(), &task.circuits.for_keys);
    let (vk, keygen_vk) = timed(&format!("{name_}: keygen_vk"), || prover.keygen_vk(keys))?;
    let (key, keygen_vk_steps) = (format!("{:?}", vk.transcript_repr()), prover.key_steps());
    let (pk, keygen_pk) = timed(&format!("{name_}: keygen_pk"), || prover.keygen_pk(vk, keys))?;
    let keygen_pk_steps = prover.key_steps();
    if let Some(bound) = prover.memory_bound(&pk) {
        println!("{name_}: a proof takes {bound}");
    }
    let circuit = [Timed::new((task.circuits.for_proofs)(keys))];
    let (first, _) = timed(&format!("{name_}: first proof"), || run(prover, task, &pk, &circuit))?;
    let again = |_| Ok(timed(&format!("{name_}: proof"), || run(prover, task, &pk, &circuit))?.0);
    let mut runs = (0..task.work.proofs).map(again).collect::<Result<Vec<_>, Failure>>()?;
    let runs_ms: Vec<_> = runs.iter().map(|run| ms(run.time)).collect();
    runs.sort_by_key(|run| run.time);
    let median = runs.swap_remove(runs.len() / 2);
    Ok(Outcome {
        prover: name_.to_owned(),
        circuit: name(&task.work.circuit),
        k: task.work.k,
        ran_on: prover.ran_on(),
        device_bytes: prover.device_bytes(),
        key,
        keygen_vk_ms: ms(keygen_vk),
        keygen_pk_ms: ms(keygen_pk),
        keygen_vk_steps,
        keygen_pk_steps,
        first_ms: ms(first.time),
        proof_ms: ms(median.time),
        steps: median.steps,
        verify_ms: ms(median.verification),
        proof_bytes: median.bytes,
        verified: 1 + runs_ms.len(),
        runs_ms,
    })
}

fn timed<T, E: Into<Failure>>(name: &str, work: impl FnOnce() -> Result<T, E>) -> Result<(T, Duration), Failure> {
    let start = Instant::now();
    let result = progress::step(name, || work().map_err(Into::into))?;
    Ok((result, start.elapsed()))
}

fn run<C: Circuit<Fr>>(
    prover: &impl Prover,
    task: &Task<'_, C>,
    key: &ProvingKey<G1Affine>,
    circuit: &[Timed<C>; 1],
) -> Result<Run, Failure> {
    let columns: Vec<_> = task.circuits.instances.iter().map(Vec::as_slice).collect();
    let transcript = prover.prove(key, circuit, &columns)?;
    let times = transcript.steps();
    let proof = transcript.into_inner().finalize();
    let verifying = Instant::now();
    task.verify(key.get_vk(), &proof).map_err(|error| format!("a proof does not verify: {error}"))?;
    let time = times.iter().map(|(_, time)| *time).sum();
    Ok(Run { time, steps: steps(times, circuit[0].synthesis()), verification: verifying.elapsed(), bytes: proof.len() })
}

/// Returns the steps of `times`. The first one, which includes `synthesis`, is split in two.
fn steps(times: [(&str, Duration); 6], synthesis: Duration) -> Vec<Step> {
    let mut steps: Vec<_> = times.iter().map(|(name, time)| Step { name: (*name).to_owned(), ms: ms(*time) }).collect();
    steps[0] = Step { name: "columns of the witness".to_owned(), ms: ms(times[0].1) - ms(synthesis) };
    steps.insert(0, Step { name: "synthesis".to_owned(), ms: ms(synthesis) });
    steps
}

/// Runs `prove` on a new transcript and returns the transcript.
///
/// # Errors
/// Returns the error of `prove`.
pub fn written(prove: impl FnOnce(&mut Transcript) -> Result<(), Error>) -> Result<Transcript, Failure> {
    let mut transcript = TimedTranscript::new(Blake2bWrite::init(Vec::new()));
    prove(&mut transcript)?;
    Ok(transcript)
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
