//! Names the curves, and knows their primes.

use std::fmt;

use num_bigint::BigUint;

use crate::error::{FileSection, Result};

/// A curve that zkeys are made for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CurveId {
    /// BN254, which circom and snarkjs call `bn128`.
    Bn254,
    /// BLS12-381, which they call `bls12381`.
    Bls12_381,
}

const BN254_Q: [u8; 32] =
    to_bytes([0x3c20_8c16_d87c_fd47, 0x9781_6a91_6871_ca8d, 0xb850_45b6_8181_585d, 0x3064_4e72_e131_a029]);
const BN254_R: [u8; 32] =
    to_bytes([0x43e1_f593_f000_0001, 0x2833_e848_79b9_7091, 0xb850_45b6_8181_585d, 0x3064_4e72_e131_a029]);
const BLS12_381_Q: [u8; 48] = to_bytes([
    0xb9fe_ffff_ffff_aaab,
    0x1eab_fffe_b153_ffff,
    0x6730_d2a0_f6b0_f624,
    0x6477_4b84_f385_12bf,
    0x4b1b_a7b6_434b_acd7,
    0x1a01_11ea_397f_e69a,
]);
const BLS12_381_R: [u8; 32] =
    to_bytes([0xffff_ffff_0000_0001, 0x53bd_a402_fffe_5bfe, 0x3339_d808_09a1_d805, 0x73ed_a753_299d_7d48]);

/// Returns the bytes of little-endian `limbs`.
const fn to_bytes<const LIMBS: usize, const BYTES: usize>(limbs: [u64; LIMBS]) -> [u8; BYTES] {
    let mut bytes = [0; BYTES];
    let mut index = 0;
    while index < BYTES {
        bytes[index] = (limbs[index / 8] >> (8 * (index % 8))) as u8;
        index += 1;
    }
    bytes
}

impl CurveId {
    /// All curves.
    pub const ALL: [Self; 2] = [Self::Bn254, Self::Bls12_381];
    /// Bytes that a scalar of either curve takes.
    pub const SCALAR_BYTES: usize = 32;

    /// Returns the base field's prime q, little-endian. Its length is that of an encoded coordinate.
    pub fn base_prime(self) -> &'static [u8] {
        match self {
            Self::Bn254 => &BN254_Q,
            Self::Bls12_381 => &BLS12_381_Q,
        }
    }

    /// Returns the scalar field's prime r, little-endian.
    pub fn scalar_prime(self) -> &'static [u8; Self::SCALAR_BYTES] {
        match self {
            Self::Bn254 => &BN254_R,
            Self::Bls12_381 => &BLS12_381_R,
        }
    }

    /// Returns the mask of r's bits in its highest byte.
    pub(crate) fn highest_byte_mask(self) -> u8 {
        match self {
            Self::Bn254 => 0x3f,
            Self::Bls12_381 => 0x7f,
        }
    }

    /// Returns the exponent of 2 in r − 1: the logarithm of the largest domain.
    pub fn two_adicity(self) -> u32 {
        match self {
            Self::Bn254 => 28,
            Self::Bls12_381 => 32,
        }
    }

    /// Returns the name in snarkjs's JSON files.
    pub fn json_name(self) -> &'static str {
        match self {
            Self::Bn254 => "bn128",
            Self::Bls12_381 => "bls12381",
        }
    }

    /// Returns the curve that JSON files call `name`, if there is one.
    pub fn from_json_name(name: &str) -> Option<Self> {
        match name.to_ascii_lowercase().as_str() {
            "bn128" | "bn254" | "altbn128" => Some(Self::Bn254),
            "bls12381" | "bls12-381" | "bls12_381" => Some(Self::Bls12_381),
            _ => None,
        }
    }

    /// Returns the curve whose base field has the little-endian prime `q`.
    ///
    /// # Errors
    /// - [`Error::Unsupported`](crate::Error::Unsupported): no curve has it.
    pub(crate) fn from_base_prime(place: FileSection<'_>, q: &[u8]) -> Result<Self> {
        let found = Self::ALL.into_iter().find(|curve| curve.base_prime() == q);
        found.ok_or_else(|| place.unsupported("base field", "that of BN254 or BLS12-381", decimal(q)))
    }

    /// Returns the curve whose scalar field has the little-endian prime `r`.
    ///
    /// # Errors
    /// - [`Error::Unsupported`](crate::Error::Unsupported): no curve has it.
    pub(crate) fn from_scalar_prime(place: FileSection<'_>, r: &[u8]) -> Result<Self> {
        let found = Self::ALL.into_iter().find(|curve| curve.scalar_prime() == r);
        found.ok_or_else(|| place.unsupported("scalar field", "that of BN254 or BLS12-381", decimal(r)))
    }

    /// Checks that `r` is the scalar field's little-endian prime.
    ///
    /// # Errors
    /// - [`Error::Malformed`](crate::Error::Malformed): it is not.
    pub(crate) fn expect_scalar_prime(self, place: FileSection<'_>, r: &[u8]) -> Result<()> {
        if r == self.scalar_prime() {
            return Ok(());
        }
        Err(place.malformed("r", format!("{} of {self}", decimal(self.scalar_prime())), decimal(r)))
    }
}

/// Returns the little-endian number `bytes` in decimal digits, or its length if it is too long for a message.
fn decimal(bytes: &[u8]) -> String {
    match bytes.len() {
        ..=64 => BigUint::from_bytes_le(bytes).to_string(),
        length => format!("a number of {length} bytes"),
    }
}

/// Returns whether the little-endian number `bytes` is below `bound`, which has the same length.
pub(crate) fn is_below(bytes: &[u8], bound: &[u8]) -> bool {
    bytes.iter().rev().lt(bound.iter().rev())
}

impl fmt::Display for CurveId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Bn254 => "BN254",
            Self::Bls12_381 => "BLS12-381",
        })
    }
}

#[cfg(test)]
mod tests {
    use ff::PrimeField;

    use super::*;

    fn number(text: &str) -> BigUint {
        BigUint::parse_bytes(text.trim_start_matches("0x").as_bytes(), 16).expect("digits")
    }

    fn check<F: PrimeField>(curve: CurveId) {
        assert_eq!(BigUint::from_bytes_le(curve.scalar_prime()), number(F::MODULUS));
        assert_eq!(curve.two_adicity(), F::S);
        let highest = curve.scalar_prime()[31];
        assert_eq!(curve.highest_byte_mask(), (highest.next_power_of_two()) - 1);
    }

    #[test]
    fn primes_are_those_of_the_fields() {
        check::<halo2curves::bn256::Fr>(CurveId::Bn254);
        check::<blstrs::Scalar>(CurveId::Bls12_381);
        let q = BigUint::from_bytes_le(CurveId::Bn254.base_prime());
        assert_eq!(q, number(halo2curves::bn256::Fq::MODULUS));
        let q = BigUint::from_bytes_le(CurveId::Bls12_381.base_prime());
        // The curve is defined with z = −0xd201000000010000: q = (z − 1)²·r/3 + z.
        let z = BigUint::from(0xd201_0000_0001_0000_u64);
        let r = BigUint::from_bytes_le(CurveId::Bls12_381.scalar_prime());
        assert_eq!(q, (&z + 1_u8) * (&z + 1_u8) * r / 3_u8 - z);
    }

    #[test]
    fn numbers_are_compared_from_their_highest_byte() {
        for (number, bound, expected) in [([0, 1], [1, 1], true), ([255, 0], [0, 1], true), ([1, 1], [1, 1], false)] {
            assert_eq!(is_below(&number, &bound), expected, "{number:?} below {bound:?}");
        }
        assert!(!is_below(&[0, 2], &[255, 1]));
    }
}
