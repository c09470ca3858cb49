//! What is timed.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use halo2_axiom::halo2curves::bn256::G1Affine;
use halo2_axiom::plonk::ProvingKey;
use halo2_axiom::transcript::TranscriptWriterBuffer;
use proofwarp_halo2::halo2_axiom;
use serde::Serialize;

use crate::prove::{Prover, Task};
use crate::{Failure, progress};

/// Steps after the synthesis, by the challenge before which each ends: θ, β, y, x, the first of the openings', none. γ comes
/// right after β.
const STEPS: [(&str, Option<usize>); 6] = [
    ("columns of the witness", Some(0)),
    ("lookups", Some(1)),
    ("products, random polynomial", Some(3)),
    ("quotient", Some(4)),
    ("evaluations", Some(5)),
    ("openings", None),
];

/// How reports of key generation begin.
const KEYGEN: &str = "halo2 keygen: ";

/// A step of a proof, or of a key.
#[derive(Debug, Clone, Serialize)]
pub struct Step {
    pub name: String,
    pub ms: f64,
}

/// What one prover measured, in milliseconds.
#[derive(Debug, Serialize)]
pub struct Outcome {
    pub prover: Prover,
    /// Backends and devices of proofwarp's operations; none where halo2-axiom proved.
    pub ran_on: Vec<String>,
    /// The key's digest.
    pub key: String,
    pub keygen_vk_ms: f64,
    pub keygen_pk_ms: f64,
    /// Of proofwarp's, in the order in which they end: some run beside others.
    pub keygen_vk_steps: Vec<Step>,
    pub keygen_pk_steps: Vec<Step>,
    /// The first proof, which brings the setup to the device.
    pub first_ms: f64,
    /// The median of the proofs after it.
    pub proof_ms: f64,
    /// Of the proof with the median.
    pub steps: Vec<Step>,
    /// Of each proof after the first.
    pub runs_ms: Vec<f64>,
    /// halo2-axiom's verification, of the proof with the median.
    pub verify_ms: f64,
    pub proof_bytes: usize,
    /// Proofs that halo2-axiom verified.
    pub verified: usize,
}

/// One proof.
struct Run {
    time: Duration,
    steps: Vec<Step>,
    verification: Duration,
    bytes: usize,
}

/// Makes keys, a first proof and so many more; halo2-axiom verifies each.
///
/// # Errors
/// A step failed, or a proof does not verify.
pub fn measure(prover: Prover, task: &Task<'_>, proofs: u32) -> Result<Outcome, Failure> {
    let seen = (prover == Prover::Ours).then(watch);
    let steps = || seen.as_ref().map_or_else(Vec::new, |seen| std::mem::take(&mut lock(seen).steps));
    let name = name(prover);
    let (vk, keygen_vk) = timed(&format!("{name}: keygen_vk"), || task.keygen_vk(prover))?;
    let (key, keygen_vk_steps) = (format!("{:?}", vk.transcript_repr()), steps());
    let (pk, keygen_pk) = timed(&format!("{name}: keygen_pk"), || task.keygen_pk(prover, vk))?;
    let keygen_pk_steps = steps();
    let (first, _) = timed(&format!("{name}: first proof"), || run(prover, task, &pk))?;
    let again = |_| Ok(timed(&format!("{name}: proof"), || run(prover, task, &pk))?.0);
    let mut runs = (0..proofs).map(again).collect::<Result<Vec<_>, Failure>>()?;
    let runs_ms: Vec<_> = runs.iter().map(|run| ms(run.time)).collect();
    runs.sort_by_key(|run| run.time);
    let median = runs.swap_remove(runs.len() / 2);
    Ok(Outcome {
        prover,
        ran_on: seen.map_or_else(Vec::new, |seen| lock(&seen).places.iter().cloned().collect()),
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

/// What proofwarp reports.
#[derive(Default)]
struct Seen {
    /// Where its operations run.
    places: BTreeSet<String>,
    /// Of keys.
    steps: Vec<Step>,
}

/// What proofwarp reports from now on.
fn watch() -> Arc<Mutex<Seen>> {
    let seen: Arc<Mutex<Seen>> = Arc::default();
    let all = seen.clone();
    proofwarp::report::observe(move |report| {
        let mut seen = lock(&all);
        if let Some(name) = report.operation.strip_prefix(KEYGEN) {
            seen.steps.push(Step { name: name.to_owned(), ms: ms(report.total) });
        } else {
            seen.places.insert(format!("{} ({})", report.backend, report.device));
        }
    });
    seen
}

fn lock(seen: &Mutex<Seen>) -> MutexGuard<'_, Seen> {
    seen.lock().unwrap_or_else(PoisonError::into_inner)
}

pub fn name(prover: Prover) -> &'static str {
    match prover {
        Prover::Ours => "proofwarp",
        Prover::Stock => "halo2-axiom",
    }
}

fn timed<T, E: Into<Failure>>(name: &str, work: impl FnOnce() -> Result<T, E>) -> Result<(T, Duration), Failure> {
    let start = Instant::now();
    let result = progress::step(name, || work().map_err(Into::into))?;
    Ok((result, start.elapsed()))
}

fn run(prover: Prover, task: &Task<'_>, key: &ProvingKey<G1Affine>) -> Result<Run, Failure> {
    let start = Instant::now();
    let transcript = task.prove(prover, key)?;
    let end = Instant::now();
    let steps = steps(start, &transcript.marks, end, task.circuit.synthesis());
    let proof = transcript.inner.finalize();
    let verifying = Instant::now();
    task.verify(key.get_vk(), &proof).map_err(|error| format!("a proof does not verify: {error}"))?;
    Ok(Run { time: end - start, steps, verification: verifying.elapsed(), bytes: proof.len() })
}

/// Times between challenges, that of the synthesis apart.
fn steps(start: Instant, marks: &[Instant], end: Instant, synthesis: Duration) -> Vec<Step> {
    let mut from = start;
    let mut steps: Vec<_> = STEPS
        .iter()
        .map(|(name, mark)| {
            let to = mark.and_then(|mark| marks.get(mark)).copied().unwrap_or(end);
            let step = Step { name: (*name).to_owned(), ms: ms(to - from) };
            from = to;
            step
        })
        .collect();
    steps[0].ms -= ms(synthesis);
    steps.insert(0, Step { name: "synthesis".to_owned(), ms: ms(synthesis) });
    steps
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

#[cfg(test)]
mod tests {
    use halo2_axiom::poly::kzg::commitment::ParamsKZG;
    use rand_core::OsRng;

    use super::*;
    use crate::circuit::Filled;
    use crate::prove::Opening;
    use crate::shape::{Kind, Shape};

    #[test]
    fn both_provers_prove_and_steps_add_up() {
        let (setup, circuit) = (ParamsKZG::setup(10, OsRng), Filled::new(Shape::new(Kind::Measured, 10)));
        for opening in [Opening::Shplonk, Opening::Gwc] {
            let task = Task { setup: &setup, circuit: &circuit, opening };
            let [ours, stock] = [Prover::Ours, Prover::Stock].map(|prover| measure(prover, &task, 2).expect("proofs"));
            assert_eq!((&ours.key, ours.proof_bytes), (&stock.key, stock.proof_bytes));
            assert!(!ours.ran_on.is_empty() && stock.ran_on.is_empty());
            for steps in [&ours.keygen_vk_steps, &ours.keygen_pk_steps] {
                assert!(steps.iter().any(|step| step.name == "synthesis") && steps.iter().all(|step| step.ms > 0.0));
            }
            assert!(stock.keygen_vk_steps.is_empty() && stock.keygen_pk_steps.is_empty());
            for outcome in [ours, stock] {
                let sum: f64 = outcome.steps.iter().map(|step| step.ms).sum();
                assert!((sum - outcome.proof_ms).abs() < 0.01 && outcome.steps.iter().all(|step| step.ms > 0.0));
                assert_eq!((outcome.verified, outcome.runs_ms.len()), (3, 2));
            }
        }
    }

    #[test]
    fn another_witness_is_no_proof() {
        let (setup, circuit) = (ParamsKZG::setup(10, OsRng), Filled::new(Shape::new(Kind::Wide, 10)));
        let task = Task { setup: &setup, circuit: &circuit, opening: Opening::Shplonk };
        let key = task.keygen_pk(Prover::Ours, task.keygen_vk(Prover::Ours).expect("a key")).expect("a key");
        let mut proof = task.prove(Prover::Ours, &key).expect("a proof").inner.finalize();
        assert!(task.verify(key.get_vk(), &proof).is_ok());
        proof[40] ^= 1;
        assert!(task.verify(key.get_vk(), &proof).is_err());
    }
}
