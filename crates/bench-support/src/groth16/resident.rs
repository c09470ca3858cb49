//! Proofs on the resident pipeline: the key stays on the devices, and a proof takes the witness alone, or the witness
//! with A·z, B·z and C·z.

use std::time::Instant;

use bellperson::SynthesisError;
use bellperson::groth16::Proof;
use blstrs::{Bls12, Scalar};
use proofwarp::groth16::{Circuit, ProvingKeyOnDevice, Witness, prove};
use proofwarp::{Accelerator, Report};
use proofwarp_bellperson::recorder::{ConstraintCount, ConstraintSink, SynthesisRecorder};
use proofwarp_bellperson::{Evaluations, Matrices, parameters};
use rayon::prelude::*;

use super::outcome::Outcome;
use super::task::{Batch, Run, Task, ms};
use super::{phases, steps};
use crate::Failure;

/// Keys made anew to time their first proofs.
const FIRST_PROOFS: usize = 3;

/// Measures both forms of witnesses on one key. With `steps` it also times the steps of a proof of the witness alone.
///
/// # Errors
/// Returns an error of the engine, or an error if a proof is not valid.
pub fn measure(accelerator: &Accelerator, task: &Task, steps: bool) -> Result<Vec<Outcome>, Failure> {
    let ready = Ready::new(accelerator, task)?;
    let evaluated = ready.measure::<Evaluations<Scalar>>("resident (a, b, c)", task)?;
    let mut witness = ready.measure::<ConstraintCount>("resident (witness)", task)?;
    if steps {
        let capture = SynthesisRecorder::<_, ConstraintCount>::from_circuit(task.batch.circuits[0].clone())?;
        let assignment = [&capture.inputs[..], &capture.aux].concat();
        witness.steps = steps::measure(&ready.key, &ready.circuit, &assignment)?;
        ready.first_proofs(&task.batch)?;
    }
    Ok(vec![witness, evaluated])
}

/// A circuit with its matrices, and its key. The key is on the first device if that has enough memory.
struct Ready {
    key: ProvingKeyOnDevice<Bls12>,
    circuit: Circuit<Scalar>,
}

impl Ready {
    fn new(accelerator: &Accelerator, task: &Task) -> Result<Self, Failure> {
        let start = Instant::now();
        let capture = SynthesisRecorder::<_, Matrices<Scalar>>::from_circuit(task.batch.circuits[0].clone())?;
        let circuit = capture.record.circuit(capture.inputs.len(), capture.aux.len())?;
        println!("matrices taken down in {:.1} ms", ms(start.elapsed()));
        let key = parameters::<Bls12, _>(&&task.parameters, &circuit)?;
        let start = Instant::now();
        let key = ProvingKeyOnDevice::new(accelerator, key)?;
        match key.device_bytes() {
            0 => println!("the key stays on the host: there is no device, or no room"),
            bytes => println!("key uploaded in {:.1} ms: {bytes} bytes", ms(start.elapsed())),
        }
        Ok(Self { key, circuit })
    }

    /// Times the first proofs of `batch` on new keys and prints the times. The key is uploaded before the proof, or
    /// beside the proof's other work. Both times include the upload.
    fn first_proofs(&self, batch: &Batch) -> Result<(), Failure> {
        for _ in 0..FIRST_PROOFS {
            let mut times = [0.0; 2];
            for (time, early) in times.iter_mut().zip([true, false]) {
                let key = ProvingKeyOnDevice::new_lazy(self.key.accelerator(), self.key.parameters().clone())?;
                let start = Instant::now();
                if early {
                    key.upload(key.accelerator(), None)?;
                }
                let upload = start.elapsed();
                *time = ms(upload + run::<ConstraintCount>(&key, &self.circuit, batch)?.0.proving);
            }
            let [after, beside] = times;
            println!("first proof of a key: upload, then proof {after:.1} ms; the upload beside it {beside:.1} ms");
        }
        Ok(())
    }

    fn measure<R: Form>(&self, engine: &str, task: &Task) -> Result<Outcome, Failure> {
        let (runs, report) = task.repeat(engine, || run::<R>(&self.key, &self.circuit, &task.batch))?;
        let phases = vec![phases::resident(&report)];
        Ok(Outcome { phases: phases.clone(), ..task.outcome(engine, phases::places(&phases), &runs)? })
    }
}

/// Synthesises the circuits of `batch` and proves them with `key`. Returns the timed run and the engine's report.
fn run<R: Form>(
    key: &ProvingKeyOnDevice<Bls12>,
    circuit: &Circuit<Scalar>,
    batch: &Batch,
) -> Result<(Run, Report), Failure> {
    let circuits = batch.circuits.clone();
    let start = Instant::now();
    let captures: Vec<SynthesisRecorder<Scalar, R>> =
        circuits.into_par_iter().map(SynthesisRecorder::from_circuit).collect::<Result<_, SynthesisError>>()?;
    let synthesis = start.elapsed();
    let start = Instant::now();
    let witnesses: Vec<Witness<'_, Scalar>> = captures.iter().map(witness).collect();
    let (proofs, report) = prove(key, circuit, &witnesses, &batch.r, &batch.s, None)?;
    let proving = start.elapsed();
    let proofs = proofs.into_iter().map(|proof| Proof { a: proof.a, b: proof.b, c: proof.c }).collect();
    Ok((Run { proofs, synthesis, proving }, report))
}

fn witness<R: Form>(capture: &SynthesisRecorder<Scalar, R>) -> Witness<'_, Scalar> {
    Witness { inputs: &capture.inputs, aux: (&capture.aux).into(), evaluations: capture.record.evaluations() }
}

/// A form of witness: it holds A·z, B·z and C·z, or leaves them to the device.
trait Form: ConstraintSink<Scalar> {
    /// Returns A·z, B·z and C·z, or `None` if the device is to compute them.
    fn evaluations(&self) -> Option<[&[Scalar]; 3]>;
}

impl Form for Evaluations<Scalar> {
    fn evaluations(&self) -> Option<[&[Scalar]; 3]> {
        Some(self.slices())
    }
}

impl Form for ConstraintCount {
    fn evaluations(&self) -> Option<[&[Scalar]; 3]> {
        None
    }
}
