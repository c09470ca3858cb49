//! Groth16 proofs from a witness, everything between the witness's upload and the sums in the proof on the device.
//!
//! [`ProvingKeyOnDevice`] holds a key's bases, [`Circuit`] what proofs of one circuit have in common; [`prove`] makes
//! proofs of a batch of witnesses, which are assignments, or assignments with a, b and c evaluated ([`Witness`]).
//!
//! The quotient takes six transforms: with a', b' for values on the coset, where Z is one number,
//!
//! ```text
//! h = (interpolated(a'·b') − c)/Z
//! ```
//!
//! in coefficients, since interpolation is linear and c has a degree below the domain's order: c needs no way to the
//! coset and back.

mod batch;
mod circuit;
mod cpu;
mod gpu;
mod key;
mod per_device;
mod proof;
mod queue;
mod quotient;
mod running;
mod spread;
mod streamed;

use std::sync::{Mutex, PoisonError};

pub use batch::Batch;
pub use circuit::{Circuit, Densities};
pub use key::{Parameters, ProvingKeyOnDevice};
pub use proof::Proof;

use proof::Partial;
use spread::Job;

use crate::backend::Abort;
use crate::curve::MsmCurve;
use crate::field::NttField;
use crate::{Error, Report, Result};

/// Where errors of this module's checks say that they come from.
const PLACE: &str = "groth16";

/// A pairing engine whose groups and scalar field the kernels know: BLS12-381 (`blstrs::Bls12`), BN254
/// (`halo2curves::bn256::Bn256`).
pub trait Engine: pairing::Engine<Fr: NttField, G1Affine: MsmCurve, G2Affine: MsmCurve> {}

impl<E: pairing::Engine<Fr: NttField, G1Affine: MsmCurve, G2Affine: MsmCurve>> Engine for E {}

/// An assignment of a circuit's variables.
#[derive(Debug, Clone, Copy)]
pub struct Witness<'a, F> {
    /// Values of the inputs, the first of which is one.
    pub inputs: &'a [F],
    /// Values of the auxiliary variables.
    pub aux: &'a [F],
    /// A·z, B·z and C·z for the assignment z, where the caller has them; else the circuit's matrices give them.
    pub evaluations: Option<[&'a [F]; 3]>,
}

/// A proof for each witness, with its r and s of the zero-knowledge blinding (both zero for a proof without).
///
/// The circuits of a batch are spread over the devices, and where fewer are left than there are devices, the sums of each
/// circuit are; on each device some circuits are under way at once. Where a device fails, and no backend is forced, the
/// proofs that are not finished then are made on the CPU, and the report says why.
///
/// # Errors
/// Lengths of the key, the circuit, the witnesses and the randomness do not match, there are neither evaluations nor
/// matrices, the hook aborted, or a forced backend failed.
pub fn prove<E: Engine>(
    key: &ProvingKeyOnDevice<E>,
    circuit: &Circuit<E::Fr>,
    witnesses: &[Witness<'_, E::Fr>],
    r: &[E::Fr],
    s: &[E::Fr],
    abort: Abort<'_>,
) -> Result<(Vec<Proof<E>>, Report)> {
    let batch = Batch::new(key, circuit, witnesses, r, s)?;
    let report = batch.run(key.accelerator(), abort)?;
    Ok((batch.proofs()?, report))
}

impl<F: NttField> Witness<'_, F> {
    fn check(&self, number: usize, circuit: &Circuit<F>) -> Result<()> {
        let of = |what: &str| format!("{what} of witness {number}");
        equal(of("inputs"), circuit.inputs, self.inputs.len())?;
        equal(of("auxiliary values"), circuit.aux, self.aux.len())?;
        match (&self.evaluations, circuit.matrices()) {
            (Some(vectors), _) => ["a", "b", "c"]
                .iter()
                .zip(vectors)
                .try_for_each(|(name, vector)| equal(of(name), circuit.constraints, vector.len())),
            (None, Some(_)) => Ok(()),
            (None, None) => {
                Err(Error::invalid(PLACE, of("evaluations"), "some, or a circuit with its matrices", "neither"))
            }
        }
    }
}

/// The sums of each witness, as far as they are done.
struct Results<E: Engine>(Mutex<Vec<Partial<E>>>);

impl<E: Engine> Results<E> {
    fn new(count: usize) -> Self {
        Self(Mutex::new((0..count).map(|_| Partial::NONE).collect()))
    }

    fn put(&self, number: usize, sums: Partial<E>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)[number].add(sums);
    }

    /// What is there of each of some.
    fn of(&self, numbers: &[usize]) -> Self {
        let done = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Self(Mutex::new(numbers.iter().map(|number| done[*number].clone()).collect()))
    }

    /// What is left of jobs.
    fn missing_of(&self, jobs: &[Job]) -> Vec<Job> {
        let done = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let left = |job: &Job| Job { share: job.share.without(done[job.number].share()), ..*job };
        jobs.iter().map(left).filter(|job| !job.share.is_empty()).collect()
    }

    fn missing(&self) -> Vec<usize> {
        let done = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        (0..done.len()).filter(|number| done[*number].all().is_none()).collect()
    }

    /// What there is of each.
    fn all(self) -> Vec<Partial<E>> {
        self.0.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

fn equal(what: impl Into<String>, expected: usize, actual: usize) -> Result<()> {
    if expected == actual { Ok(()) } else { Err(Error::invalid(PLACE, what, expected, actual)) }
}
