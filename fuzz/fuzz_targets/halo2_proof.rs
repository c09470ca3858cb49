//! Damaged proofs of halo2: halo2-axiom's verifier takes the whole one alone.
#![no_main]

use std::sync::LazyLock;

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use proofwarp_fuzz::Damage;
use proofwarp_fuzz::halo2::{KEY, SETUP, Setup, key_of, prove, setup_of, verifies};
use proofwarp_halo2::halo2_axiom::halo2curves::bn256::G1Affine;
use proofwarp_halo2::halo2_axiom::plonk::ProvingKey;

static PARTS: LazyLock<(Setup, ProvingKey<G1Affine>)> =
    LazyLock::new(|| (setup_of(&SETUP).expect("the whole setup"), key_of(&KEY).expect("the whole key")));
static PROOFS: LazyLock<[Vec<u8>; 2]> =
    LazyLock::new(|| [false, true].map(|gwc| prove(&PARTS.0, &PARTS.1, gwc, true).expect("a proof")));

#[derive(Debug, Arbitrary)]
struct Input {
    damage: Damage,
    gwc: bool,
}

fuzz_target!(|input: Input| {
    let whole = &PROOFS[usize::from(input.gwc)];
    let proof = input.damage.of(whole);
    // What follows the proof is not read.
    let is_whole = proof.starts_with(whole);
    assert_eq!(verifies(&PARTS.0, &PARTS.1, input.gwc, &proof), is_whole);
});
