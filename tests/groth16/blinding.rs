//! What r and s are for: proofs of one witness have nothing in common that does not come of the key.

use bellperson::groth16::{prepare_verifying_key, verify_proof};
use blstrs::{Bls12, Scalar};
use ff::Field;
use proofwarp::groth16::{Proof, Witness, prove};
use proofwarp_bellperson::{create_random_proof, create_random_proof_batch};
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::SeedableRng;

use crate::circuits::{Kind, batch, prover, setup};
use crate::common::{accelerators_and_cpu, rng};

/// r changes A and C alone, s changes B and C; every pair gives another proof of a batch of one witness.
#[test]
fn r_and_s_are_used() {
    let key = setup(5, Kind::Plain);
    let mut rng = rng(1);
    let [r0, r1, s0, s1] = [(); 4].map(|()| Scalar::random(&mut rng));
    let (r, s) = ([r0, r1, r0, r1, Scalar::ZERO], [s0, s0, s1, s1, Scalar::ZERO]);
    for accelerator in accelerators_and_cpu() {
        let (prover, inputs, aux) = prover(&accelerator, &key);
        let witnesses = [Witness { inputs: &inputs, aux: (&aux).into(), evaluations: None }; 5];
        let (proofs, _) = prove(prover.key(), prover.circuit(), &witnesses, &r, &s, None).expect("proofs");
        let equal = |one: &Proof<Bls12>, other: &Proof<Bls12>| [one.a == other.a, one.b == other.b, one.c == other.c];
        assert_eq!(equal(&proofs[0], &proofs[1]), [false, true, false], "r");
        assert_eq!(equal(&proofs[0], &proofs[2]), [true, false, false], "s");
        assert_eq!(equal(&proofs[1], &proofs[2]), [false; 3], "both");
        assert_eq!(equal(&proofs[3], &proofs[0]), [false; 3], "both");
        assert!(proofs[..4].iter().all(|proof| equal(proof, &proofs[4]) == [false; 3]), "zero");
    }
}

/// What is drawn is the generator's: another state gives another proof, also within a batch.
#[test]
fn randomness_is_drawn() {
    let key = setup(4, Kind::Plain);
    let (circuits, ..) = batch(1, 4, Kind::Plain);
    let mut random = ChaCha20Rng::seed_from_u64(3);
    let mut proofs = vec![create_random_proof(circuits[0], &key, &mut random).expect("a proof")];
    proofs.push(create_random_proof(circuits[0], &key, &mut random).expect("a proof"));
    let twice = vec![circuits[0]; 2];
    proofs.extend(create_random_proof_batch(twice, &key, &mut random).expect("proofs"));
    for (number, one) in proofs.iter().enumerate() {
        for other in &proofs[..number] {
            assert!(one.a != other.a && one.b != other.b && one.c != other.c);
        }
    }
    let again = create_random_proof(circuits[0], &key, &mut ChaCha20Rng::seed_from_u64(3)).expect("a proof");
    assert_eq!(again, proofs[0]);
    let value = (0..4).fold(circuits[0].secret, |x, _| x.square() * x + x + Scalar::from(5));
    let prepared = prepare_verifying_key(&key.vk);
    let verifies = |proof| verify_proof(&prepared, proof, &[Scalar::from(3), value]).expect("inputs");
    assert!(proofs.iter().all(verifies));
}
