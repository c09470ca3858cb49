//! Damaged parameter files, mapped by bellperson: an error, or a proof.
#![no_main]

use bellperson::groth16::Parameters;
use blstrs::{Bls12, Scalar};
use libfuzzer_sys::fuzz_target;
use proofwarp_bellperson::{clear_key_cache, groth16};
use proofwarp_fuzz::{Damage, FILE, Power, file, with_lengths};

fuzz_target!(|input: (Damage, bool)| {
    let (damage, checked) = input;
    let Some(bytes) = with_lengths(damage.of(&FILE)) else { return };
    let (_folder, path) = file(&bytes);
    let Ok(mapped) = Parameters::<Bls12>::build_mapped_parameters(path, checked) else { return };
    let [r, s] = [5, 6].map(Scalar::from);
    let proof = groth16::create_proof(Power(Scalar::from(3)), &mapped, r, s);
    assert!(proof.is_ok() || !matches!(damage, Damage::Whole), "{:?}", proof.err());
    clear_key_cache();
});
