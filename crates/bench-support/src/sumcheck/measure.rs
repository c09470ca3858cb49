//! Proofs by every way that is asked for, timed and verified.

use std::time::Instant;

use proofwarp::field::{DeviceVector, HostVector};
use proofwarp::sumcheck::{
    BoundTranscript, Columns, HashTranscript, KernelPath, Proof, Prover, SumcheckField, SumcheckOptions as Choice,
    prove_with, verify,
};
use proofwarp::{Accelerator, BackendKind, Report};
use serde::Serialize;

use super::inputs::Inputs;
use super::merkle;
use super::options::{Lying, Options};
use super::over::Over;
use crate::Failure;
use crate::timing::median;

/// Holds the times of one way to prove.
#[derive(Serialize)]
pub struct Outcome {
    pub way: String,
    pub backend: String,
    pub device: String,
    pub explanation: String,
    pub rounds: usize,
    pub proof_bytes: usize,
    pub first_ms: f64,
    /// The median of the others.
    pub proof_ms: f64,
    pub verify_ms: f64,
    pub fallbacks: Vec<String>,
}

/// Says where a way proves, and by which path.
struct Way {
    name: String,
    accelerator: Accelerator,
    choice: Choice,
}

/// Proves by each way.
///
/// # Errors
/// A proof or its openings do not verify, or it is not that of the first way, or those of the engine.
pub fn measure<F: SumcheckField, O: Over<F>>(
    accelerator: &Accelerator,
    options: &Options,
) -> Result<Vec<Outcome>, Failure> {
    let inputs = Inputs::<F, O>::new(options.vars, options.degree, options.eq);
    let mut first: Option<Proof<F>> = None;
    let mut outcomes = Vec::new();
    for way in ways(accelerator, &inputs, options.compare)? {
        let (proof, outcome) = way.measure(&inputs, options)?;
        if first.as_ref().is_some_and(|first| *first != proof) {
            return Err(format!("{}: another proof than {}'s", way.name, "the first way").into());
        }
        first.get_or_insert(proof);
        outcomes.push(outcome);
    }
    Ok(outcomes)
}

/// The one that is chosen; to compare, also the other paths, as far as there are any, and the CPU.
fn ways<F: SumcheckField, O: Over<F>>(
    accelerator: &Accelerator,
    inputs: &Inputs<F, O>,
    compare: bool,
) -> Result<Vec<Way>, Failure> {
    let way = |name: &str, choice: Choice| Way { name: name.to_owned(), accelerator: accelerator.clone(), choice };
    let by = |path: KernelPath| Choice { path: Some(path), ..Choice::default() };
    let mut ways = vec![way("chosen", Choice::default())];
    if compare {
        let prover = Prover::new(accelerator, &inputs.claim, O::host(&inputs.slices()))?;
        let chosen = prover.explain();
        if chosen.path == Some(KernelPath::Clmad) {
            ways.push(way("portable", by(KernelPath::Portable)));
        }
        let (name, rounds) = if chosen.pairs { ("a round a pass", 1) } else { ("two rounds a pass", 2) };
        let others = [
            way(name, Choice { rounds_a_pass: Some(rounds), ..Choice::default() }),
            way("bitsliced", by(KernelPath::Bitsliced)),
        ];
        // Refused where the field or the claim is of another kind.
        let is_there = |way: &Way| {
            Prover::with_options(accelerator, &inputs.claim, O::host(&inputs.slices()), &way.choice).is_ok()
        };
        if chosen.path.is_some() {
            ways.extend(others.into_iter().filter(is_there));
        }
        if !accelerator.devices().is_empty() {
            let cpu = Accelerator::with_backend(BackendKind::Cpu)?;
            ways.push(Way { accelerator: cpu, ..way("cpu", Choice::default()) });
        }
    }
    Ok(ways)
}

impl Way {
    fn measure<F: SumcheckField, O: Over<F>>(
        &self,
        inputs: &Inputs<F, O>,
        options: &Options,
    ) -> Result<(Proof<F>, Outcome), Failure> {
        let place = Place::<F, O>::new(&self.accelerator, options.columns, inputs)?;
        let columns = || place.columns();
        let explanation = Prover::with_options(&self.accelerator, &inputs.claim, columns(), &self.choice)?;
        let explanation = explanation.explain().to_string();
        let (proof, first_ms, _) = self.prove(inputs, columns())?;
        let others = (0..options.proofs).map(|_| self.prove(inputs, columns())).collect::<Result<Vec<_>, _>>()?;
        let report = &others[0].2;
        let start = Instant::now();
        let mut transcript = transcript();
        let bound = BoundTranscript::bind_commitment(&mut transcript, &inputs.root)?;
        let (point, finals) = verify(&inputs.claim, &proof, bound)?;
        let verify_ms = milliseconds(start);
        merkle::check::<F, O>(&inputs.columns, &inputs.root, (&point, &finals))?;
        let outcome = Outcome {
            way: self.name.clone(),
            backend: report.backend.to_string(),
            device: report.device.clone(),
            explanation,
            rounds: proof.messages.len(),
            proof_bytes: proof.to_bytes().len(),
            first_ms,
            proof_ms: median(others.iter().map(|(_, ms, _)| *ms).collect()),
            verify_ms,
            fallbacks: report.fallbacks.clone(),
        };
        Ok((proof, outcome))
    }

    fn prove<F: SumcheckField, O: Over<F>>(
        &self,
        inputs: &Inputs<F, O>,
        columns: Columns<'_, F>,
    ) -> Result<(Proof<F>, f64, Report), Failure> {
        let start = Instant::now();
        let mut transcript = transcript();
        let bound = BoundTranscript::bind_commitment(&mut transcript, &inputs.root)?;
        let (proof, report) = prove_with(&self.accelerator, &inputs.claim, columns, bound, &self.choice, None)?;
        Ok((proof, milliseconds(start), report))
    }
}

/// Where columns lie before proofs. Without a device, that is the host's ordinary memory.
enum Place<'a, F: SumcheckField, O: Over<F>> {
    Host(Vec<&'a [O::Entry]>),
    Pinned(Vec<HostVector<O::Entry>>),
    Device(DeviceVector<O::Entry>),
}

impl<'a, F: SumcheckField, O: Over<F>> Place<'a, F, O> {
    fn new(accelerator: &Accelerator, lying: Lying, inputs: &'a Inputs<F, O>) -> Result<Self, Failure> {
        let Some(device) = accelerator.devices().first().filter(|_| lying != Lying::Host) else {
            return Ok(Self::Host(inputs.slices()));
        };
        let mut stream = device.stream()?;
        if lying == Lying::Device {
            let vector = DeviceVector::upload(&mut stream, &inputs.columns.concat())?;
            stream.synchronize(None)?;
            return Ok(Self::Device(vector));
        }
        let pinned = |column: &Vec<O::Entry>| {
            let mut vector = HostVector::new(&stream, column.len())?;
            vector.copy_from_slice(column);
            Ok(vector)
        };
        inputs.columns.iter().map(pinned).collect::<Result<_, Failure>>().map(Self::Pinned)
    }

    fn columns(&self) -> Columns<'_, F> {
        match self {
            Self::Host(slices) => O::host(slices),
            Self::Pinned(vectors) => O::pinned(&vectors.iter().collect::<Vec<_>>()),
            Self::Device(vector) => O::device(vector),
        }
    }
}

fn transcript() -> HashTranscript {
    HashTranscript::new(b"bench sumcheck")
}

fn milliseconds(start: Instant) -> f64 {
    start.elapsed().as_secs_f64() * 1e3
}
