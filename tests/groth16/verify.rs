//! Proofs that are verified before they are returned.

use std::sync::Arc;

use bellperson::groth16::{Parameters, prepare_verifying_key, verify_proof};
use blstrs::{Bls12, G1Affine, G1Projective, Scalar};
use ff::Field;
use group::Group;
use group::prime::PrimeCurveAffine;
use proofwarp::Accelerator;
use proofwarp_bellperson::{Assignment, Prover};

use crate::circuits::{Chain, Kind, batch, setup, stock};
use crate::common::accelerators_and_cpu;

const LINKS: usize = 6;

fn prover(accelerator: &Accelerator, key: &Parameters<Bls12>) -> (Prover<Bls12>, Assignment<Scalar>) {
    let circuit = Chain { links: LINKS, secret: Scalar::from(2), kind: Kind::Dense };
    let (prover, assignment) = Prover::<Bls12>::new(accelerator, circuit, &key).expect("prover");
    (prover.verify(true), assignment)
}

/// Proofs that are made, but that nobody would accept.
fn refused(prover: Prover<Bls12>, good: &Parameters<Bls12>, assignment: Assignment<Scalar>, what: &str) {
    let inputs = assignment.inputs[1..].to_vec();
    let (assignments, r) = ([assignment], [Scalar::from(8)]);
    let error = prover.prove(&assignments, &r, &r, None).expect_err(what).to_string();
    assert!(error.contains("proof 0 made on") && error.contains("does not verify"), "{what}: {error}");
    let (proofs, _) = prover.verify(false).prove(&assignments, &r, &r, None).expect("proofs that nobody checks");
    let mut bytes = Vec::new();
    proofs[0].write(&mut bytes).expect("memory");
    let read = bellperson::groth16::Proof::read(&*bytes);
    let valid = |proof| verify_proof(&prepare_verifying_key(&good.vk), &proof, &inputs).expect("inputs");
    assert!(!read.is_ok_and(valid), "{what} does no harm");
}

#[test]
fn good_proofs_are_returned() {
    let key = setup(LINKS, Kind::Dense);
    let (circuits, r, s) = batch(3, LINKS, Kind::Dense);
    let expected = stock(&circuits, &key, &r, &s);
    for accelerator in accelerators_and_cpu() {
        let (prover, _) = prover(&accelerator, &key);
        let assignments = prover.assign(circuits.clone()).expect("assignments");
        assert_eq!(prover.prove(&assignments, &r, &s, None).expect("proofs").0, expected);
    }
}

#[test]
fn tampered_keys() {
    let key = setup(LINKS, Kind::Dense);
    let other = |points: &Arc<Vec<G1Affine>>| {
        let mut points = points.to_vec();
        points[2] = G1Affine::generator();
        Arc::new(points)
    };
    let mut b_g2 = key.b_g2.to_vec();
    b_g2[2] = blstrs::G2Affine::generator();
    let keys = [
        ("h", Parameters { h: other(&key.h), ..key.clone() }),
        ("l", Parameters { l: other(&key.l), ..key.clone() }),
        ("a", Parameters { a: other(&key.a), ..key.clone() }),
        ("b_g1", Parameters { b_g1: other(&key.b_g1), ..key.clone() }),
        ("b_g2", Parameters { b_g2: Arc::new(b_g2), ..key.clone() }),
    ];
    for accelerator in accelerators_and_cpu() {
        for (what, tampered) in &keys {
            let (prover, assignment) = prover(&accelerator, tampered);
            refused(prover, &key, assignment, what);
        }
    }
}

/// A point of the curve that is not in the group, whose part outside of it a pairing need not notice.
#[test]
fn points_outside_of_the_group() {
    let key = setup(LINKS, Kind::Dense);
    let mut h = key.h.to_vec();
    h[0] = (h[0].to_curve() + outside()).into();
    let tampered = Parameters { h: Arc::new(h), ..key.clone() };
    for accelerator in accelerators_and_cpu() {
        let (prover, assignment) = prover(&accelerator, &tampered);
        refused(prover, &key, assignment, "a point outside of the group");
    }
}

/// A point of the curve whose order is prime to the group's: another one times the group's order.
pub(crate) fn outside() -> G1Projective {
    let point = (1..=u8::MAX).find_map(|x| {
        let mut bytes = [0; 48];
        (bytes[0], bytes[47]) = (0x80, x);
        Option::<G1Affine>::from(G1Affine::from_compressed_unchecked(&bytes))
            .filter(|point| !bool::from(point.is_torsion_free()))
    });
    let point = point.expect("most points are outside").to_curve();
    // r = (r − 1) + 1, bit by bit, since products by scalars take points for ones of the group.
    let bits = (-Scalar::ONE).to_bytes_be().into_iter().flat_map(|byte| (0..8).rev().map(move |bit| byte >> bit & 1));
    let product = bits.fold(G1Projective::identity(), |sum, bit| {
        sum.double() + if bit == 1 { point } else { G1Projective::identity() }
    });
    product + point
}

#[test]
fn wrong_witnesses() {
    let key = setup(LINKS, Kind::Dense);
    for accelerator in accelerators_and_cpu() {
        for place in [0, 5] {
            let (prover, mut assignment) = prover(&accelerator, &key);
            assignment.aux[place] += Scalar::ONE;
            refused(prover, &key, assignment, "a wrong witness");
        }
        let (prover, mut assignment) = prover(&accelerator, &key);
        assignment.inputs[2] += Scalar::ONE;
        refused(prover, &key, assignment, "a wrong input");
    }
}
