//! What is timed.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};
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

/// A step of a proof.
#[derive(Debug, Clone, Serialize)]
pub struct Step {
    pub name: &'static str,
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
    let places = (prover == Prover::Ours).then(places);
    let name = name(prover);
    let (vk, keygen_vk) = timed(&format!("{name}: keygen_vk"), || task.keygen_vk(prover))?;
    let key = format!("{:?}", vk.transcript_repr());
    let (pk, keygen_pk) = timed(&format!("{name}: keygen_pk"), || task.keygen_pk(prover, vk))?;
    let (first, _) = timed(&format!("{name}: first proof"), || run(prover, task, &pk))?;
    let again = |_| Ok(timed(&format!("{name}: proof"), || run(prover, task, &pk))?.0);
    let mut runs = (0..proofs).map(again).collect::<Result<Vec<_>, Failure>>()?;
    let runs_ms: Vec<_> = runs.iter().map(|run| ms(run.time)).collect();
    runs.sort_by_key(|run| run.time);
    let median = runs.swap_remove(runs.len() / 2);
    let places = places.map(|places| places.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect());
    Ok(Outcome {
        prover,
        ran_on: places.unwrap_or_default(),
        key,
        keygen_vk_ms: ms(keygen_vk),
        keygen_pk_ms: ms(keygen_pk),
        first_ms: ms(first.time),
        proof_ms: ms(median.time),
        steps: median.steps,
        verify_ms: ms(median.verification),
        proof_bytes: median.bytes,
        verified: 1 + runs_ms.len(),
        runs_ms,
    })
}

/// Where proofwarp's operations run from now on.
fn places() -> Arc<Mutex<BTreeSet<String>>> {
    let places: Arc<Mutex<BTreeSet<String>>> = Arc::default();
    let seen = places.clone();
    proofwarp::report::observe(move |report| {
        let place = format!("{} ({})", report.backend, report.device);
        seen.lock().unwrap_or_else(PoisonError::into_inner).insert(place);
    });
    places
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
            let step = Step { name, ms: ms(to - from) };
            from = to;
            step
        })
        .collect();
    steps[0].ms -= ms(synthesis);
    steps.insert(0, Step { name: "synthesis", ms: ms(synthesis) });
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
