//! A small circuit's files for circom's targets: seeds that they damage.

#[path = "../../adapters/circom/tests/common/mod.rs"]
mod generated;

use std::sync::LazyLock;

use halo2curves::bn256::Bn256;
use proofwarp_circom::{VerificationKey, Zkey};

use generated::generator;

/// Constraints of the circuit: the zkey has 3 KiB.
const CONSTRAINTS: usize = 3;

/// Bytes that magic, version and number of sections take.
const FILE_HEADER: usize = 12;

/// Bytes that a section's type and length take.
const SECTION_HEADER: usize = 12;

/// A zkey of BN254.
pub static ZKEY: LazyLock<Vec<u8>> = LazyLock::new(|| generator::zkey::<Bn256>(CONSTRAINTS).to_bytes());

/// Its witness.
pub static WITNESS: LazyLock<Vec<u8>> = LazyLock::new(|| generator::witness::<Bn256>(CONSTRAINTS, 3.into()).to_bytes());

/// Its `verification_key.json`.
pub static KEY: LazyLock<String> = LazyLock::new(|| {
    let zkey = Zkey::from_bytes("seed", ZKEY.clone()).expect("a zkey");
    VerificationKey::<Bn256>::from_zkey(&zkey).expect("a key").to_json()
});

/// Returns `bytes` with the lengths of sections made right, so that damage gets past the check of lengths.
pub fn with_section_lengths(whole: &[u8], mut bytes: Vec<u8>) -> Vec<u8> {
    if bytes.len() != whole.len() {
        return bytes;
    }
    bytes[..FILE_HEADER].copy_from_slice(&whole[..FILE_HEADER]);
    let mut start = FILE_HEADER;
    while start < whole.len() {
        let header = start..start + SECTION_HEADER;
        bytes[header.clone()].copy_from_slice(&whole[header.clone()]);
        let length: [u8; 8] = whole[start + 4..header.end].try_into().expect("eight bytes");
        start = header.end + u64::from_le_bytes(length) as usize;
    }
    bytes
}
