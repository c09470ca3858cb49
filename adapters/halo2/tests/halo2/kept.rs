//! What is kept of setups and keys is never taken for another's.

use halo2_axiom::SerdeFormat;
use halo2_axiom::halo2curves::bn256::{Bn256, G1Affine};
use halo2_axiom::halo2curves::serde::SerdeObject;
use halo2_axiom::plonk::ProvingKey;
use halo2_axiom::poly::kzg::commitment::ParamsKZG;
use proofwarp_halo2::{Kind, clear_setups, keygen_pk, keygen_pk2};
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;

use crate::described::{Described, Shape, instances_of, keys, prove_on, setup, verify_on};

const K: u32 = 6;

/// Two shapes that differ in what is equal alone: their keys have the same numbers of columns and the same constraints.
fn shapes() -> [Shape; 2] {
    [Shape::base(), Shape { copies: vec![[(0, 1), (2, 6)], [(3, 0), (1, 4)]], ..Shape::base() }]
}

/// Whether a proof of a shape verifies by the key it is proved with.
fn proves(setup: &ParamsKZG<Bn256>, shape: &Shape, key: &ProvingKey<G1Affine>) -> bool {
    let circuits = [Described::new(shape, 1)];
    let instances = instances_of(&circuits);
    let proof = prove_on(setup, Kind::Shplonk, key, &circuits, &instances, 7).expect("a proof");
    verify_on(setup, Kind::Shplonk, key.get_vk(), &instances, &proof)
}

#[test]
fn keys_of_one_form_in_turn() {
    let shapes = shapes();
    let keys = shapes.each_ref().map(|shape| keys(shape, K));
    for _ in 0..2 {
        for (shape, key) in shapes.iter().zip(&keys) {
            assert!(proves(&setup(K), shape, key));
        }
    }
    // Not because copies are not looked at.
    assert!(!proves(&setup(K), &shapes[0], &keys[1]));
}

#[test]
fn setups_of_one_size_in_turn() {
    let shape = Shape::base();
    let setups = [100, 101].map(|seed| ParamsKZG::setup(K, ChaCha20Rng::seed_from_u64(seed)));
    let keys = setups.each_ref().map(|setup| keygen_pk2(setup, &Described::new(&shape, 0), false).expect("a key"));
    for _ in 0..2 {
        for (setup, key) in setups.iter().zip(&keys) {
            assert!(proves(setup, &shape, key));
        }
    }
    assert!(!proves(&setups[0], &shape, &keys[1]));
}

/// A setup with one base changed, of those at a place in its file: it proves nothing, and does not take the place of the right
/// one that is read later. The right one may take its place.
#[test]
fn damaged_setups() {
    let shape = Shape::base();
    let right = ParamsKZG::<Bn256>::setup(K, ChaCha20Rng::seed_from_u64(102));
    let key = keygen_pk2(&right, &Described::new(&shape, 0), false).expect("a key");
    let rows = 1 << K;
    // Bases, then Lagrange bases.
    for base in [rows / 3, rows + 5] {
        clear_setups();
        let damaged = damaged(&right, base);
        assert!(!proves(&damaged, &shape, &key), "base {base}");
        assert!(proves(&right, &shape, &key), "base {base}: what is kept is the damaged setup");
    }
}

/// A setup one of whose bases is its double.
fn damaged(setup: &ParamsKZG<Bn256>, base: usize) -> ParamsKZG<Bn256> {
    let mut bytes = Vec::new();
    setup.write_custom(&mut bytes, SerdeFormat::RawBytesUnchecked).expect("memory");
    let at = 4 + 64 * base..4 + 64 * (base + 1);
    let point = G1Affine::from_raw_bytes_unchecked(&bytes[at.clone()]);
    let other: G1Affine = (point + point).into();
    bytes[at].copy_from_slice(&other.to_raw_bytes());
    ParamsKZG::read_custom(&mut &bytes[..], SerdeFormat::RawBytesUnchecked).expect("a setup")
}

/// A proving key of one circuit's columns for another one's verifying key proves nothing, and is not taken for the right one.
#[test]
fn a_key_of_two_circuits() {
    let (shapes, setup) = (shapes(), setup(K));
    let right = keys(&shapes[0], K);
    let mixed = keygen_pk(&*setup, right.get_vk().clone(), &Described::new(&shapes[1], 0)).expect("a key");
    for _ in 0..2 {
        assert!(shapes.iter().all(|shape| !proves(&setup, shape, &mixed)));
        assert!(proves(&setup, &shapes[0], &right));
    }
}
