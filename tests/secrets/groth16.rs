//! Proofs of Groth16: their witnesses, and r and s.

use std::sync::Arc;

use blstrs::{Bls12, G1Affine, G2Affine, Scalar as Fr};
use ff::Field;
use group::prime::PrimeCurveAffine;
use proofwarp::backend::Abort;
use proofwarp::groth16::{Batch, Circuit, Parameters, ProvingKeyOnDevice, Witness};
use proofwarp::matrix::Csr;
use proofwarp::{Accelerator, Error};

use crate::common::abort_after;
use crate::numbers::{Secrets, forms};
use crate::subjects::public;
use crate::{COUNT, numbers};

const CONSTRAINTS: usize = 250;
/// The first secrets are r and s of both proofs, the rest auxiliary variables, the first of which are both circuits'.
const RANDOM: usize = 4;
const AUX: usize = COUNT - RANDOM;

fn matrices() -> [Arc<Csr<Fr>>; 3] {
    [3, 4, 5].map(|seed| {
        let numbers = public(5, seed);
        let column = |row: usize, k: usize| (row * (seed as usize + k) + 17 * k) % (AUX + 2);
        let rows = (0..CONSTRAINTS).map(|row| (0..3).map(|k| (column(row, k), numbers[k])).collect::<Vec<_>>());
        Arc::new(Csr::from_rows(AUX + 2, rows).expect("a matrix"))
    })
}

/// A key of any points: the proofs do not verify.
fn key(accelerator: &Accelerator, circuit: &Circuit<Fr>) -> ProvingKeyOnDevice<Bls12> {
    let points = |count: usize, seed| -> Vec<G1Affine> {
        public::<Fr>(4, seed)
            .into_iter()
            .cycle()
            .take(count)
            .map(|number| (G1Affine::generator() * number).into())
            .collect()
    };
    let points_g2 = |count: usize, seed| -> Vec<G2Affine> {
        public::<Fr>(4, seed)
            .into_iter()
            .cycle()
            .take(count)
            .map(|number| (G2Affine::generator() * number).into())
            .collect()
    };
    let (b, some, some_g2) = (circuit.variables_of_b().len(), points(3, 6), points_g2(2, 7));
    let parameters = Parameters {
        alpha_g1: some[0],
        beta_g1: some[1],
        beta_g2: some_g2[0],
        delta_g1: some[2],
        delta_g2: some_g2[1],
        h: points(CONSTRAINTS.next_power_of_two() - 1, 8).into(),
        l: points(AUX, 9).into(),
        a: points(circuit.variables_of_a().len(), 10).into(),
        b_g1: points(b, 11).into(),
        b_g2: points_g2(b, 12).into(),
    };
    ProvingKeyOnDevice::new(accelerator, parameters).expect("a key")
}

/// A product of a matrix with a witness, of the secrets.
fn evaluation(matrix: &Csr<Fr>, inputs: &[Fr], aux: &[Fr]) -> Secrets<Fr> {
    let mut values = Secrets::zeros(CONSTRAINTS);
    let value = |column: usize| if column < 2 { &inputs[column] } else { &aux[column - 2] };
    for (row, sum) in values.iter_mut().enumerate() {
        *sum = matrix.row(row).map(|(column, coefficient)| coefficient * value(column)).sum();
    }
    values
}

/// Inputs, witnesses, and whatever is done with a batch of them.
fn with_batch(accelerator: &Accelerator, evaluated: bool, work: impl Fn(&Batch<'_, Bls12>)) {
    let secrets = Secrets::<Fr>::new();
    let (random, aux) = secrets.split_at(RANDOM);
    let inputs = [Fr::ONE, Fr::from(7)];
    let matrices = matrices();
    let vectors = matrices.each_ref().map(|matrix| evaluation(matrix, &inputs, aux));
    let evaluations = evaluated.then(|| vectors.each_ref().map(|vector| &vector[..]));
    let circuit = Circuit::from_matrices(2, matrices).expect("a circuit");
    let key = key(accelerator, &circuit);
    let witnesses = [Witness { inputs: &inputs, aux: aux.into(), evaluations }; 2];
    let (r, s) = random.split_at(2);
    work(&Batch::new(&key, &circuit, &witnesses, r, s).expect("a batch"));
}

fn run(accelerator: &Accelerator, batch: &Batch<'_, Bls12>, abort: Abort<'_>) {
    let result = batch.run(accelerator, abort);
    assert!(matches!(result, Err(Error::Aborted) | Ok(_)), "{result:?}");
}

pub fn proofs(accelerator: &Accelerator) {
    with_batch(accelerator, false, |batch| run(accelerator, batch, None));
}

pub fn evaluated(accelerator: &Accelerator) {
    with_batch(accelerator, true, |batch| run(accelerator, batch, None));
}

/// At several steps, and not gone on with.
pub fn aborted(accelerator: &Accelerator) {
    for questions in [1, 9, 40, 160] {
        with_batch(accelerator, false, |batch| run(accelerator, batch, Some(&abort_after(questions))));
    }
}

/// A device fails at several steps, and the host goes on.
pub fn failed(accelerator: &Accelerator) {
    let free = Accelerator::automatic().expect("settings").with_devices(accelerator.devices().to_vec());
    for launches in [0, 5, 20, 50] {
        with_batch(&free, false, |batch| {
            if let Some(device) = free.devices().first() {
                device.inject_launch_fault(launches);
            }
            run(&free, batch, None);
            free.devices().iter().for_each(|device| device.inject_launch_fault(u32::MAX));
        });
    }
}

/// The secrets, and A, B and C times the witness.
pub fn secrets() -> Vec<[u32; 8]> {
    let secrets = Secrets::<Fr>::new();
    let inputs = [Fr::ONE, Fr::from(7)];
    let mut all = numbers::forms(&secrets);
    for matrix in matrices() {
        all.extend(forms(&evaluation(&matrix, &inputs, &secrets[RANDOM..])));
    }
    all
}
