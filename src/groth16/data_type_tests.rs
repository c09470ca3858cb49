//! Tests the parts of a proof, and their distribution. `tests/mutants.py` found them untested.

use std::sync::Arc;

use blstrs::{Bls12, G1Affine, G1Projective, G2Affine, G2Projective, Scalar};
use ff::Field;
use group::Group;
use group::prime::PrimeCurveAffine;

use super::msm_sums_and_proof::PartialMsmSums;
use super::schedule::{QueryId, QuerySet};
use super::{Circuit, Densities, Proof};
use crate::Accelerator;
use crate::matrix::Csr;

/// Checks that proofs are equal exactly if all three parts are.
#[test]
fn each_part_of_a_proof_counts() {
    let (a, b) = (G1Affine::generator(), G2Affine::generator());
    let proof = Proof::<Bls12> { a, b, c: a };
    assert_eq!(proof, proof.clone());
    for other in [
        Proof { a: -a, ..proof.clone() },
        Proof { b: -b, ..proof.clone() },
        Proof { c: -a, ..proof.clone() },
        Proof { a: -a, b: -b, ..proof.clone() },
        Proof { a: -a, c: -a, ..proof.clone() },
        Proof { b: -b, c: -a, ..proof.clone() },
    ] {
        assert_ne!(other, proof);
    }
}

/// Checks that partial sums of single MSMs merge to all five sums in any order.
#[test]
fn sums_join() {
    let sums = [QueryId::H, QueryId::L, QueryId::A, QueryId::BG1];
    let part = |query: QueryId| match query {
        QueryId::BG2 => PartialMsmSums::<Bls12>::from_g2(G2Projective::generator()),
        query => PartialMsmSums::from_g1(query, G1Projective::generator()),
    };
    for first in 0..QueryId::ALL.len() {
        let mut joined = PartialMsmSums::NONE;
        for step in 0..QueryId::ALL.len() {
            assert!(joined.to_complete().is_none(), "{step} of five");
            joined.merge(part(QueryId::ALL[(first + step) % QueryId::ALL.len()]));
        }
        assert_eq!(joined.finished_queries(), QuerySet::ALL);
        let all = joined.to_complete().expect("five of five");
        assert!([all.h, all.l, all.a, all.b_g1].into_iter().all(|sum| sum == G1Projective::generator()));
    }
    for query in sums {
        assert_eq!(part(query).finished_queries(), QuerySet::default().with(query));
    }
}

/// Checks the difference and the union of query sets.
#[test]
fn shares_are_sets() {
    let of = |queries: &[QueryId]| queries.iter().copied().fold(QuerySet::default(), QuerySet::with);
    let (first, second) = (of(&[QueryId::H, QueryId::L]), of(&[QueryId::L, QueryId::BG2]));
    assert_eq!(first.difference(second), of(&[QueryId::H]));
    assert_eq!(second.difference(first), of(&[QueryId::BG2]));
    assert_eq!(first.or(second), of(&[QueryId::H, QueryId::L, QueryId::BG2]));
    assert!(first.difference(QuerySet::ALL).is_empty() && !first.is_empty());
}

/// Checks that all variables may be inputs, and that inputs and auxiliary variables in the queries of B are counted
/// apart.
#[test]
fn variables_are_inputs_first() {
    let matrix = Arc::new(Csr::from_rows(2, [vec![(0, Scalar::ONE)], vec![(1, Scalar::ONE)]]).expect("a matrix"));
    let circuit = |inputs| Circuit::from_matrices(inputs, [(); 3].map(|()| matrix.clone()));
    for (inputs, in_b) in [(0, [0, 2]), (1, [1, 1]), (2, [2, 0])] {
        let circuit = circuit(inputs).expect("two variables");
        assert_eq!((circuit.input_count(), circuit.aux_count()), (inputs, 2 - inputs));
        assert_eq!(circuit.query_lengths(), [2, in_b[0], in_b[1]]);
    }
    circuit(3).expect_err("there are two");
}

/// Checks that a circuit takes four bytes on a device for each variable in the query of A or B. A query of all
/// variables takes none.
#[test]
fn a_circuit_counts_its_bytes() {
    let accelerator = Accelerator::automatic().expect("settings are right");
    if accelerator.devices().is_empty() {
        return println!("skipped: no device");
    }
    let circuit = |b_aux: &[bool]| {
        let densities = Densities { a_aux: &[true, false, true], b_inputs: &[true], b_aux };
        let circuit = Circuit::<Scalar>::new(2, densities).expect("a circuit");
        circuit.upload(&accelerator, None).expect("memory");
        circuit.device_bytes()
    };
    let devices = accelerator.devices().len() as u64;
    assert_eq!(circuit(&[false, true, false]), devices * 4 * (3 + 2));
    assert_eq!(circuit(&[true; 3]), devices * 4 * 3);
}
