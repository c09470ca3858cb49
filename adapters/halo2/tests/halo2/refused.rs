//! Witnesses that break their circuit, and calls that cannot be served.

use halo2_axiom::halo2curves::bn256::{Bn256, Fr, G1Affine};
use halo2_axiom::plonk::Error;
use halo2_axiom::poly::kzg::commitment::KZGCommitmentScheme;
use halo2_axiom::poly::kzg::multiopen::ProverSHPLONK;
use halo2_axiom::transcript::{Blake2bWrite, Challenge255, TranscriptWriterBuffer};
use proofwarp_halo2::{Kind, create_proof_from_advice};
use rand_core::OsRng;

use crate::described::{Described, Shape, instances_of, keys, prove, setup, slices, verify};
use crate::logged::logged;

const K: u32 = 6;

/// A proof is made, and does not verify.
fn makes_a_bad_proof(circuit: Described) {
    let (shape, circuits) = (circuit.shape.clone(), [circuit]);
    let (key, instances) = (keys(&shape, K), instances_of(&circuits));
    for kind in [Kind::Shplonk, Kind::Gwc] {
        let proof = prove(kind, K, &key, &circuits, &instances, 1).expect("a proof");
        assert!(!verify(kind, K, key.get_vk(), &instances, &proof));
    }
}

#[test]
fn broken_gate() {
    makes_a_bad_proof(Described { bad_gate: true, ..Described::new(&Shape::base(), 1) });
}

#[test]
fn broken_lookup_is_named() {
    let bad = Described { bad_lookup: true, ..Described::new(&Shape::base(), 1) };
    let ((), warnings) = logged(|| makes_a_bad_proof(bad));
    let expected = "circuit 0, lookup 0 \"values of the table\": the values in row 4 are not in the table";
    assert!(warnings.iter().any(|warning| warning.starts_with(expected)), "{warnings:?}");
}

#[test]
fn wrong_instance() {
    let shape = Shape::base();
    let (key, circuits) = (keys(&shape, K), [Described::new(&shape, 1)]);
    let mut instances = instances_of(&circuits);
    instances[0][0][0] += Fr::one();
    let proof = prove(Kind::Gwc, K, &key, &circuits, &instances, 1).expect("a proof");
    assert!(!verify(Kind::Gwc, K, key.get_vk(), &instances, &proof));
}

#[test]
fn instances_that_do_not_fit() {
    let shape = Shape::base();
    let (key, circuits) = (keys(&shape, K), [Described::new(&shape, 1)]);
    let refused = |instances: &[Vec<Vec<Fr>>]| prove(Kind::Gwc, K, &key, &circuits, instances, 1).expect_err("refused");
    let fitting = instances_of(&circuits);
    assert!(matches!(refused(&[]), Error::InvalidInstances));
    assert!(matches!(refused(&[fitting[0].clone(), fitting[0].clone()]), Error::InvalidInstances));
    assert!(matches!(refused(&[fitting[0][..1].to_vec()]), Error::InvalidInstances));
    let long = vec![vec![vec![Fr::one(); 64], Vec::new()]];
    assert!(matches!(refused(&long), Error::InstanceTooLarge));
    let none = prove(Kind::Gwc, K, &key, &[], &[], 1).expect_err("no circuit");
    assert!(matches!(none, Error::InvalidInstances));
}

#[test]
fn setups_that_do_not_fit() {
    let shape = Shape::base();
    let (key, circuits) = (keys(&shape, K), [Described::new(&shape, 1)]);
    let instances = instances_of(&circuits);
    let refused = |k| prove(Kind::Shplonk, k, &key, &circuits, &instances, 1).expect_err("refused");
    assert!(matches!(refused(K - 1), Error::NotEnoughRowsAvailable { current_k: 5 }));
    assert!(matches!(refused(K + 1), Error::BoundsFailure));
}

/// The circuit to be proved assigns more rows than that of its key: rows that hide columns get random values, rows that are
/// not there are refused.
#[test]
fn rows_that_cannot_be_used() {
    let shape = Shape::base();
    let (key, instances) = (keys(&shape, K), instances_of(&[Described::new(&shape, 1)]));
    let prove_long = |rows: usize| {
        let long = Described { hidden_rows: Some(rows), ..Described::new(&shape, 1) };
        prove(Kind::Gwc, K, &key, &[long], &instances, 1)
    };
    let (proof, lines) = logged(|| prove_long(1 << K));
    assert!(verify(Kind::Gwc, K, key.get_vk(), &instances, &proof.expect("a proof")));
    assert!(lines.iter().any(|line| line.contains("get random values")), "{lines:?}");
    let error = prove_long((1 << K) + 1).expect_err("too many rows");
    assert!(matches!(error, Error::NotEnoughRowsAvailable { current_k: K }));
}

#[test]
fn key_of_another_circuit() {
    let (shape, other) = (Shape::base(), Shape { inputs: 4, ..Shape::base() });
    let circuits = [Described::new(&other, 1)];
    let instances = instances_of(&circuits);
    let error = prove(Kind::Gwc, K, &keys(&shape, K), &circuits, &instances, 1).expect_err("another circuit's key");
    assert!(matches!(error, Error::BoundsFailure));
}

/// A circuit of nothing but what columns can be made for by hand: no constraint but copies of the instance.
#[test]
fn columns_in_place_of_a_circuit() {
    let shape = Shape { instances: vec![2], ..Shape::default() };
    let (key, circuit) = (keys(&shape, K), Described::new(&shape, 1));
    let instances = instances_of(std::slice::from_ref(&circuit));
    let by_hand = |advice: Vec<Vec<Fr>>| {
        let columns = slices(&instances);
        let mut transcript = Blake2bWrite::<_, G1Affine, Challenge255<_>>::init(Vec::new());
        let setup = setup(K);
        create_proof_from_advice::<KZGCommitmentScheme<Bn256>, ProverSHPLONK<'_, Bn256>, _, _, _>(
            &setup,
            &key,
            &columns[0],
            advice,
            OsRng,
            &mut transcript,
        )?;
        Ok::<_, Error>(transcript.finalize())
    };
    let mut column = vec![Fr::zero(); 1 << K];
    column[1..3].copy_from_slice(&instances[0][0]);
    let proof = by_hand(vec![column.clone()]).expect("a proof");
    assert!(verify(Kind::Shplonk, K, key.get_vk(), &instances, &proof));
    column[2] += Fr::one();
    let proof = by_hand(vec![column.clone()]).expect("a proof");
    assert!(!verify(Kind::Shplonk, K, key.get_vk(), &instances, &proof));
    let long = [&column[..], &[Fr::zero()]].concat();
    for unfit in [vec![], vec![column[1..].to_vec()], vec![long], vec![column.clone(), column]] {
        assert!(matches!(by_hand(unfit).expect_err("unfit"), Error::BoundsFailure));
    }
}
