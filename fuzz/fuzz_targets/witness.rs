//! Damaged wtns files: an error that names the file and shows no value, or a witness.
#![no_main]

use arbitrary::Arbitrary;
use halo2curves::bn256::Bn256;
use libfuzzer_sys::fuzz_target;
use proofwarp_circom::{CurveId, Witness};
use proofwarp_fuzz::Damage;
use proofwarp_fuzz::circom::{WITNESS, with_section_lengths};

#[derive(Debug, Arbitrary)]
struct Input {
    damage: Damage,
    keeps_lengths: bool,
    signals: u8,
}

fuzz_target!(|input: Input| {
    let mut bytes = input.damage.of(&WITNESS);
    if input.keeps_lengths {
        bytes = with_section_lengths(&WITNESS, bytes);
    }
    match Witness::from_bytes("fuzzed.wtns", bytes) {
        Ok(witness) => {
            assert_eq!(witness.values().len(), witness.len() as usize);
            let signals = witness.public_signals::<Bn256>(input.signals.into());
            let has_them = witness.curve() == CurveId::Bn254 && u32::from(input.signals) < witness.len();
            assert_eq!(signals.is_ok(), has_them, "{signals:?}");
        }
        Err(error) => {
            assert!(!matches!(input.damage, Damage::Whole), "{error}");
            assert!(error.to_string().starts_with("fuzzed.wtns: "), "{error}");
        }
    }
});
