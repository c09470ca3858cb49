//! Damaged zkeys: an error that names the file, or a key whose points, coefficients and sizes can be read.
#![no_main]

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use proofwarp_circom::{Zkey, ZkeyHeader};
use proofwarp_fuzz::Damage;
use proofwarp_fuzz::circom::{ZKEY, with_section_lengths};

#[derive(Debug, Arbitrary)]
struct Input {
    damage: Damage,
    keeps_lengths: bool,
}

fuzz_target!(|input: Input| {
    let mut bytes = input.damage.of(&ZKEY);
    if input.keeps_lengths {
        bytes = with_section_lengths(&ZKEY, bytes);
    }
    let header = ZkeyHeader::from_bytes("fuzzed.zkey", &bytes);
    match Zkey::from_bytes("fuzzed.zkey", bytes) {
        Ok(zkey) => {
            assert_eq!(header.expect("the header of a whole key"), *zkey.header());
            let _ = zkey.check_points();
            assert_eq!(zkey.coefficients().iter().count(), zkey.coefficients().len());
        }
        Err(error) => {
            assert!(!matches!(input.damage, Damage::Whole), "{error}");
            assert!(error.to_string().starts_with("fuzzed.zkey: "), "{error}");
        }
    }
});
