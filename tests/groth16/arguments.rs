//! Arguments that do not fit each other.

use std::sync::Arc;

use bellperson::groth16::Parameters;
use blstrs::{Bls12, G1Affine, Scalar};
use ff::Field;
use proofwarp::groth16::{self, Densities, ProvingKeyOnDevice, Witness, prove};
use proofwarp::matrix::Csr;
use proofwarp::msm::{BasePoints, EncodedPoints, PointChecks};
use proofwarp::{Accelerator, BackendKind, Error};
use proofwarp_bellperson::{Assignment, Prover, parameters};

use crate::circuits::{Kind, batch, prover, setup};
use crate::common::accelerators_and_cpu;

fn invalid<T: std::fmt::Debug>(result: Result<T, Error>, what: &str) {
    match result {
        Err(error @ Error::Invalid { .. }) => assert!(error.to_string().contains(what), "{error}"),
        other => panic!("expected an error that names {what:?}, got {other:?}"),
    }
}

#[test]
fn lengths_that_do_not_match() {
    let key = setup(5, Kind::Plain);
    for accelerator in accelerators_and_cpu() {
        let (prover, inputs, aux) = prover(&accelerator, &key);
        let [one, none] = [[Scalar::ONE].as_slice(), &[]];
        let run = |witness: Witness<'_, Scalar>, r: &[Scalar], s: &[Scalar]| {
            prove(prover.key(), prover.circuit(), &[witness], r, s, None)
        };
        let good = Witness { inputs: &inputs, aux: (&aux).into(), evaluations: None };
        assert!(run(good, one, one).is_ok());
        invalid(run(good, none, one), "number of r: expected 1, got 0");
        invalid(run(good, one, none), "number of s: expected 1, got 0");
        invalid(run(Witness { inputs: &inputs[1..], ..good }, one, one), "inputs of witness 0: expected 3, got 2");
        invalid(
            run(Witness { aux: (&aux[1..]).into(), ..good }, one, one),
            "auxiliary values of witness 0: expected 11, got 10",
        );
        let short = Some([aux.as_slice(); 3]);
        invalid(run(Witness { evaluations: short, ..good }, one, one), "a of witness 0: expected 14, got 11");
        let mut parameters = prover.key().parameters().clone();
        let h = parameters.h.on_host().expect("in memory").clone();
        parameters.h = h[1..].to_vec().into();
        invalid(ProvingKeyOnDevice::<Bls12>::new(&accelerator, parameters.clone()), "length of h");
        parameters.h = h[..7].to_vec().into();
        let small = ProvingKeyOnDevice::<Bls12>::new(&accelerator, parameters).expect("a key of another circuit");
        invalid(
            prove(&small, prover.circuit(), &[good], one, one, None),
            "elements of the key's domain: expected 16, got 8",
        );
        let [a_aux, b_inputs, b_aux] = [[true; 11].as_slice(), &[true; 3], &[true; 11]];
        let circuit = groth16::Circuit::new(14, Densities { a_aux, b_inputs, b_aux }).expect("circuit");
        invalid(prove(prover.key(), &circuit, &[good], one, one, None), "bases of b");
        invalid(groth16::Circuit::<Scalar>::new(14, Densities { a_aux, b_inputs, b_aux: &[] }), "density");
    }
}

#[test]
fn keys_and_circuits_that_cannot_be() {
    let key = setup(5, Kind::Plain);
    let accelerator = Accelerator::with_backend(BackendKind::Cpu).expect("the CPU");
    let (prover, inputs, aux) = prover(&accelerator, &key);
    let parameters = groth16::Parameters { delta_g2: blstrs::G2Affine::default(), ..prover.key().parameters().clone() };
    invalid(ProvingKeyOnDevice::<Bls12>::new(&accelerator, parameters), "δ");
    let [square, wide] = [2, 3].map(|columns| {
        let rows = [vec![(0, Scalar::ONE)], vec![]];
        Arc::new(Csr::from_rows(columns, rows).expect("matrix"))
    });
    let matrices = [square.clone(), square.clone(), wide];
    invalid(groth16::Circuit::from_matrices(1, matrices), "columns of C: expected 2, got 3");
    invalid(groth16::Circuit::from_matrices(3, [square.clone(), square.clone(), square]), "number of inputs");
    let matrices = prover.circuit();
    let density = |matrix: usize, columns: std::ops::Range<usize>| -> Vec<bool> {
        let matrix = &matrices.matrices()[matrix];
        columns.map(|column| (0..matrix.rows()).any(|row| matrix.row(row).any(|(at, _)| at == column))).collect()
    };
    let (a_aux, b_inputs, b_aux) = (density(0, 3..14), density(1, 0..3), density(1, 3..14));
    let densities = Densities { a_aux: &a_aux, b_inputs: &b_inputs, b_aux: &b_aux };
    let circuit = groth16::Circuit::new(14, densities).expect("circuit");
    let witness = Witness { inputs: &inputs, aux: (&aux).into(), evaluations: None };
    let one = [Scalar::ONE];
    invalid(prove(prover.key(), &circuit, &[witness], &one, &one, None), "neither");
    assert!(parameters_of(&key, &circuit));
}

fn parameters_of(key: &Parameters<Bls12>, circuit: &groth16::Circuit<Scalar>) -> bool {
    parameters::<Bls12, _>(&key, circuit)
        .is_ok_and(|parameters| parameters.a.in_memory().is_some_and(|a| Arc::ptr_eq(a, &key.a)))
}

#[test]
fn assignments_of_another_circuit() {
    let key = setup(5, Kind::Plain);
    for accelerator in accelerators_and_cpu() {
        let (own, other) = (batch(1, 5, Kind::Plain).0, batch(1, 5, Kind::Empty).0);
        let (prover, mut assignment) = Prover::<Bls12>::new(&accelerator, own[0], &&key).expect("prover");
        let one = [Scalar::ONE];
        let refused = |assignment: Assignment<Scalar>, what: &str| {
            let error = prover.prove(&[assignment], &one, &one, None).expect_err(what);
            assert!(error.to_string().contains(what), "{error}");
        };
        refused(prover.assign(other).expect("assignment").remove(0), "constraints of circuit 0: expected 14, got 20");
        assignment.aux.pop();
        refused(assignment, "auxiliary values of witness 0: expected 11, got 10");
        refused(Assignment::default(), "constraints of circuit 0: expected 14, got 0");
        Prover::<Bls12>::new(&accelerator, batch(1, 6, Kind::Plain).0[0], &&key).expect_err("too few points");
    }
}

/// Points of which there are said to be more than memory has.
#[derive(Debug, Clone, Copy)]
struct Endless;

impl EncodedPoints<G1Affine> for Endless {
    fn count(&self) -> usize {
        usize::MAX
    }

    fn expected(&self) -> PointChecks {
        PointChecks::default()
    }

    fn read(&self, _: &mut dyn FnMut(&[u8]) -> Result<(), Error>) -> Result<(), Error> {
        Err(Error::Aborted)
    }

    fn decode(&self) -> Result<Vec<G1Affine>, Error> {
        Err(Error::Aborted)
    }

    fn name(&self, number: usize) -> String {
        number.to_string()
    }
}

#[test]
fn keys_of_any_length() {
    let key = setup(5, Kind::Plain);
    for accelerator in accelerators_and_cpu() {
        let (prover, inputs, aux) = prover(&accelerator, &key);
        let good = prover.key().parameters().clone();
        let endless = || BasePoints::encoded(Endless).expect("of a curve that devices decode");
        let error = ProvingKeyOnDevice::new_lazy(&accelerator, groth16::Parameters { h: endless(), ..good.clone() });
        invalid(error, "length of h");
        let error = ProvingKeyOnDevice::new_lazy(&accelerator, groth16::Parameters { b_g1: endless(), ..good.clone() });
        invalid(error, "length of b_g2");
        let long = groth16::Parameters { l: endless(), a: endless(), ..good };
        assert_eq!(long.device_bytes(), u64::MAX);
        let long = ProvingKeyOnDevice::new_lazy(&accelerator, long).expect("lengths of l and a are the circuit's");
        assert!(accelerator.devices().is_empty() || !long.upload_is_deferred(&accelerator).expect("memory"));
        let witness = Witness { inputs: &inputs, aux: (&aux).into(), evaluations: None };
        let one = [Scalar::ONE];
        invalid(prove(&long, prover.circuit(), &[witness], &one, &one, None), "bases of l");
    }
}
