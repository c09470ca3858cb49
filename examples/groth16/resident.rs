//! Proofs on the resident pipeline: the key stays on the devices, and a proof takes the witness alone, or the witness
//! with A·z, B·z and C·z.

use std::time::Instant;

use bellperson::SynthesisError;
use bellperson::groth16::{self, Proof};
use blstrs::{Bls12, Scalar};
use proofwarp::groth16::{Circuit, ProvingKeyOnDevice, Witness, prove};
use proofwarp::{Accelerator, Report};
use proofwarp_bellperson::capture::{Capture, Count, Record};
use proofwarp_bellperson::{Evaluations, Matrices, parameters};
use rayon::prelude::*;

use crate::circuits::Workload;
use crate::options::WorkOptions;
use crate::prove::{Batch, Run, ms};
use crate::ways::Measured;
use crate::{Failure, phases, prove, steps};

type Parameters = groth16::Parameters<Bls12>;

/// Both forms of witnesses, on one key; with the witness alone also the steps, if they are asked for.
///
/// # Errors
/// Those of the engine, or a proof is not valid.
pub fn measure(
    accelerator: &Accelerator,
    work: &WorkOptions,
    batch: &Batch,
    parameters: &Parameters,
    steps: bool,
) -> Result<Vec<Measured>, Failure> {
    let ready = Ready::new(accelerator, &batch.circuits[0], parameters)?;
    let evaluated = ready.measure::<Evaluations<Scalar>>("resident (a, b, c)", work, batch, parameters)?;
    let mut witness = ready.measure::<Count>("resident (witness)", work, batch, parameters)?;
    if steps {
        let capture = Capture::<_, Count>::of(batch.circuits[0].clone())?;
        let assignment = [capture.inputs, capture.aux].concat();
        witness.steps = steps::measure(&ready.key, &ready.circuit, &assignment)?;
    }
    Ok(vec![witness, evaluated])
}

/// A circuit with its matrices, and its key on the first device.
struct Ready {
    key: ProvingKeyOnDevice<Bls12>,
    circuit: Circuit<Scalar>,
}

impl Ready {
    fn new(accelerator: &Accelerator, workload: &Workload, source: &Parameters) -> Result<Self, Failure> {
        let start = Instant::now();
        let capture = Capture::<_, Matrices<Scalar>>::of(workload.clone())?;
        let circuit = capture.record.circuit(capture.inputs.len(), capture.aux.len())?;
        println!("matrices taken down in {:.1} ms", ms(start.elapsed()));
        let key = parameters::<Bls12, _>(&source, &circuit)?;
        let start = Instant::now();
        let key = ProvingKeyOnDevice::new(accelerator, key)?;
        println!("key uploaded in {:.1} ms: {} bytes", ms(start.elapsed()), key.bytes());
        Ok(Self { key, circuit })
    }

    fn measure<R: Form>(
        &self,
        engine: &str,
        work: &WorkOptions,
        batch: &Batch,
        parameters: &Parameters,
    ) -> Result<Measured, Failure> {
        let (runs, report) = prove::repeat(engine, work, || self.prove::<R>(batch))?;
        let phases = vec![phases::resident(&report)];
        let outcome = prove::outcome(engine, phases::places(&phases), &runs, batch, parameters)?;
        Ok(Measured { outcome, phases, steps: Vec::new() })
    }

    fn prove<R: Form>(&self, batch: &Batch) -> Result<(Run, Report), Failure> {
        let circuits = batch.circuits.clone();
        let start = Instant::now();
        let captures: Vec<Capture<Scalar, R>> =
            circuits.into_par_iter().map(Capture::of).collect::<Result<_, SynthesisError>>()?;
        let synthesis = start.elapsed();
        let start = Instant::now();
        let witnesses: Vec<Witness<'_, Scalar>> = captures.iter().map(witness).collect();
        let (proofs, report) = prove(&self.key, &self.circuit, &witnesses, &batch.r, &batch.s, None)?;
        let proving = start.elapsed();
        let proofs = proofs.into_iter().map(|proof| Proof { a: proof.a, b: proof.b, c: proof.c }).collect();
        Ok((Run { proofs, synthesis, proving }, report))
    }
}

fn witness<R: Form>(capture: &Capture<Scalar, R>) -> Witness<'_, Scalar> {
    Witness { inputs: &capture.inputs, aux: &capture.aux, evaluations: capture.record.evaluations() }
}

/// What synthesis leaves to the device.
trait Form: Record<Scalar> {
    /// A·z, B·z and C·z, unless the device is to compute them.
    fn evaluations(&self) -> Option<[&[Scalar]; 3]>;
}

impl Form for Evaluations<Scalar> {
    fn evaluations(&self) -> Option<[&[Scalar]; 3]> {
        Some(self.slices())
    }
}

impl Form for Count {
    fn evaluations(&self) -> Option<[&[Scalar]; 3]> {
        None
    }
}
