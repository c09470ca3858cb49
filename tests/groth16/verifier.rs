//! The verifier, by proofs that the numbers of a setup give, and by bellperson's.

use bellperson::groth16;
use blstrs::{Bls12, Scalar};
use ff::Field;
use group::prime::PrimeCurveAffine;
use halo2curves::bn256::Bn256;
use pairing::MultiMillerLoop;
use proofwarp::groth16::{Engine, PreparedVerifyingKey, Proof, VerifyingKey, Witness, verify};
use proofwarp::{Accelerator, BackendKind};

use crate::circuits::{Chain, Kind, prover, setup, stock};
use crate::verify::outside;

fn g1<E: Engine>(number: u64) -> E::G1Affine {
    (E::G1Affine::generator() * E::Fr::from(number)).into()
}

fn g2<E: Engine>(number: u64) -> E::G2Affine {
    (E::G2Affine::generator() * E::Fr::from(number)).into()
}

/// Returns a key, inputs and a proof. In exponents, 13·11 = 2·3 + (1 + 4·5 + 6·0 + 3·7)·2 + 53·1.
fn example<E: Engine>() -> (VerifyingKey<E>, Vec<E::Fr>, Proof<E>) {
    let ic = [1, 4, 6, 3].map(g1::<E>).to_vec();
    let key =
        VerifyingKey { alpha_g1: g1::<E>(2), beta_g2: g2::<E>(3), gamma_g2: g2::<E>(2), delta_g2: g2::<E>(1), ic };
    let inputs = [5, 0, 7].map(E::Fr::from).to_vec();
    (key, inputs, Proof { a: g1::<E>(13), b: g2::<E>(11), c: g1::<E>(53) })
}

/// Returns whether `proof` verifies, which a prepared key and prepared inputs must say too.
fn verifies<E: Engine + MultiMillerLoop>(key: &VerifyingKey<E>, inputs: &[E::Fr], proof: &Proof<E>) -> bool {
    let is_valid = verify(key, inputs, proof).expect("inputs of the key");
    let key = PreparedVerifyingKey::new(key.clone());
    let prepared = key.prepare_inputs(inputs).expect("inputs of the key");
    assert_eq!(key.verify_prepared(&prepared, proof).expect("a process of its own"), is_valid);
    is_valid
}

fn check_changes<E: Engine + MultiMillerLoop>() {
    let (key, inputs, proof) = example::<E>();
    assert!(verifies(&key, &inputs, &proof));
    let proofs = [
        Proof { a: g1::<E>(14), ..proof.clone() },
        Proof { b: g2::<E>(12), ..proof.clone() },
        Proof { c: g1::<E>(54), ..proof.clone() },
        Proof { a: -proof.a, ..proof.clone() },
        Proof { a: g1::<E>(0), b: g2::<E>(0), c: g1::<E>(0) },
    ];
    assert!(proofs.iter().all(|changed| !verifies(&key, &inputs, changed)));
    for index in 0..inputs.len() {
        let mut changed = inputs.clone();
        changed[index] += E::Fr::ONE;
        assert!(!verifies(&key, &changed, &proof), "input {index}");
    }
    let keys = [
        VerifyingKey { alpha_g1: g1::<E>(3), ..key.clone() },
        VerifyingKey { beta_g2: g2::<E>(4), ..key.clone() },
        VerifyingKey { gamma_g2: g2::<E>(3), ..key.clone() },
        VerifyingKey { delta_g2: g2::<E>(2), ..key.clone() },
        VerifyingKey { ic: [2, 4, 6, 3].map(g1::<E>).to_vec(), ..key.clone() },
    ];
    assert!(keys.iter().all(|changed| !verifies(changed, &inputs, &proof)));
}

#[test]
fn changed_proofs_inputs_and_keys_are_refused() {
    check_changes::<Bls12>();
    check_changes::<Bn256>();
}

fn check_counts<E: Engine + MultiMillerLoop>() {
    let (key, inputs, proof) = example::<E>();
    for count in [0, 2, 4] {
        let wrong: Vec<_> = inputs.iter().copied().cycle().take(count).collect();
        let error = verify(&key, &wrong, &proof).expect_err("a wrong number of inputs").to_string();
        assert!(error.ends_with(&format!("expected 3, as the key has 4 points ic, got {count}")), "{error}");
        PreparedVerifyingKey::new(key.clone()).prepare_inputs(&wrong).map(drop).expect_err("a wrong number of inputs");
    }
    verify(&VerifyingKey { ic: vec![], ..key }, &[], &proof).expect_err("a key without points");
}

#[test]
fn numbers_of_inputs_are_checked() {
    check_counts::<Bls12>();
    check_counts::<Bn256>();
    let witness = |inputs| Witness::<Scalar> { inputs, aux: (&[]).into(), evaluations: None };
    assert_eq!(witness(&[Scalar::ONE, Scalar::ZERO]).public_inputs(), Some(&[Scalar::ZERO][..]));
    assert_eq!(witness(&[Scalar::ZERO, Scalar::ZERO]).public_inputs(), None);
    assert_eq!(witness(&[]).public_inputs(), None);
}

/// Infinity is a point of its group: 0 = 2·3 + 42·2 − 90 in exponents.
fn check_infinity<E: Engine + MultiMillerLoop>() {
    let (key, inputs, proof) = example::<E>();
    let valid = Proof { a: g1::<E>(0), c: -g1::<E>(90), ..proof };
    assert!(verifies(&key, &inputs, &valid));
    assert!(verifies(&key, &inputs, &Proof { a: proof.a, b: g2::<E>(0), c: -g1::<E>(90) }));
    assert!(!verifies(&key, &inputs, &Proof { c: g1::<E>(0), ..proof }));
    let ic = [0; 4].map(g1::<E>).to_vec();
    assert!(verifies(&VerifyingKey { ic, ..key }, &inputs, &Proof { c: g1::<E>(137), ..proof }));
}

#[test]
fn points_at_infinity() {
    check_infinity::<Bls12>();
    check_infinity::<Bn256>();
}

/// A pairing does not notice the part of a point that is outside the group.
#[test]
fn points_outside_the_group_are_refused() {
    let (key, inputs, proof) = example::<Bls12>();
    assert!(!verifies(&key, &inputs, &Proof { a: (outside() + proof.a).into(), ..proof }));
    assert!(!verifies(&key, &inputs, &Proof { c: (outside() + proof.c).into(), ..proof }));
}

#[test]
fn proofs_of_bellperson() {
    let parameters = setup(5, Kind::Plain);
    let (_, inputs, _) = prover(&Accelerator::with_backend(BackendKind::Cpu).expect("CPU"), &parameters);
    let circuit = Chain { links: 5, secret: Scalar::from(2), kind: Kind::Plain };
    let &groth16::Proof { a, b, c } = &stock(&[circuit], &parameters, &[Scalar::from(8)], &[Scalar::from(9)])[0];
    let groth16::VerifyingKey { alpha_g1, beta_g2, gamma_g2, delta_g2, ic, .. } = parameters.vk;
    let key = VerifyingKey::<Bls12> { alpha_g1, beta_g2, gamma_g2, delta_g2, ic };
    assert!(verifies(&key, &inputs[1..], &Proof { a, b, c }));
    assert!(!verifies(&key, &[inputs[1], inputs[2] + Scalar::ONE], &Proof { a, b, c }));
}
