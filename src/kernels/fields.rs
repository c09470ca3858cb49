//! Derives the constants of a field that kernels need from the field's Rust type.

use ec_gpu::GpuField;
use ff::PrimeField;

/// Holds the constants of a field, as little-endian 32-bit limbs. The field is prime unless `binary` is true.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldDescription {
    /// Prefix of the field's functions in kernels, such as `bls12_381_fq`.
    pub name: &'static str,
    /// The prime p. For a binary field, the reduction polynomial without its highest power.
    pub modulus: Vec<u32>,
    /// R mod p, the Montgomery form of 1. R is 2^(32·limbs), except that it is 1 for prime fields of two limbs and
    /// binary fields.
    pub one: Vec<u32>,
    /// R² mod p, which converts a canonical element to Montgomery form.
    pub r2: Vec<u32>,
    /// Whether the field has characteristic two. R is 1 then.
    pub binary: bool,
}

impl FieldDescription {
    /// Returns the constants that field `F` has by ec-gpu's trait. `name` prefixes the field's functions in kernels.
    pub fn from_gpu_field<F: GpuField>(name: &'static str) -> Self {
        Self { name, modulus: F::modulus(), one: F::one(), r2: F::r2(), binary: false }
    }

    /// Computes the constants of field `F`, which has ff's trait but not ec-gpu's, by its arithmetic. `name` prefixes
    /// the field's functions in kernels.
    ///
    /// The field's `Repr` must be little-endian, which holds for halo2curves and `pasta_curves`.
    pub fn from_prime_field<F: PrimeField>(name: &'static str) -> Self {
        let limbs = F::NUM_BITS.div_ceil(32) as usize;
        let r = F::from(2).pow_vartime([32 * limbs as u64]);
        let mut modulus = canonical_limbs(&-F::ONE, limbs);
        // p is odd, so p − 1 ends in 0 and adding 1 carries nowhere.
        modulus[0] += 1;
        let [one, r2] = [r, r.square()].map(|power| canonical_limbs(&power, limbs));
        Self { name, modulus, one, r2, binary: false }
    }

    /// Returns the constants of the prime field of `modulus`, a prime of one or two limbs. With one limb, R is 2^32.
    /// With two, elements are in canonical form, and R is 1.
    pub fn from_modulus(name: &'static str, modulus: u128) -> Self {
        let limbs = (128 - modulus.leading_zeros()).div_ceil(32) as usize;
        let one = if limbs == 1 { (1 << 32) % modulus } else { 1 };
        let [modulus, one, r2] = [modulus, one, one * one % modulus]
            .map(|number| (0..limbs).map(|limb| (number >> (32 * limb)) as u32).collect());
        Self { name, modulus, one, r2, binary: false }
    }

    /// Returns the constants of the binary field `GF(2)[x]/(x^128 + x^7 + x^2 + x + 1)`.
    pub fn ghash(name: &'static str) -> Self {
        let one = vec![1, 0, 0, 0];
        Self { name, modulus: vec![0x87, 0, 0, 0], r2: one.clone(), one, binary: true }
    }

    /// Returns the number of 32-bit limbs of an element.
    pub fn limb_count(&self) -> usize {
        self.modulus.len()
    }

    /// Returns whether the field is prime and an element has one or two 32-bit limbs.
    pub fn is_small(&self) -> bool {
        !self.binary && self.limb_count() <= 2
    }

    /// Returns 2p as little-endian 32-bit limbs, of which it has no more than p.
    pub fn twice_modulus(&self) -> Vec<u32> {
        let below = std::iter::once(&0).chain(&self.modulus);
        self.modulus.iter().zip(below).map(|(limb, below)| limb << 1 | below >> 31).collect()
    }

    /// Returns whether 5p < 2^(32·limbs), as far as the highest limb tells. The bounds in `cl/field_loose.cl` need
    /// that.
    pub fn has_loose_elements(&self) -> bool {
        self.modulus.last().is_some_and(|&limb| limb < u32::MAX / 5)
    }

    /// Returns −p⁻¹ mod 2³², by Newton's iteration (each step doubles the number of correct bits).
    pub fn inv32(&self) -> u32 {
        let p = self.modulus[0];
        let inverse = (0..5).fold(1u32, |x, _| x.wrapping_mul(2u32.wrapping_sub(p.wrapping_mul(x))));
        inverse.wrapping_neg()
    }
}

/// Describes the extension of a field of one or two limbs by a root of X^degree − residue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Extension {
    /// Prefix of the extension's functions in kernels, such as `goldilocks2`.
    pub name: &'static str,
    /// Number of coefficients of an element.
    pub degree: usize,
    /// Number that the root's power with exponent `degree` equals.
    pub residue: u32,
}

impl Extension {
    /// Returns the residue as an element of `field` in Montgomery form, as little-endian 32-bit limbs.
    pub fn residue_limbs(&self, field: &FieldDescription) -> Vec<u32> {
        let number = |limbs: &[u32]| limbs.iter().rev().fold(0, |number, limb| number << 32 | u128::from(*limb));
        // The first factor is below 2^32, so that the product fits in 128 bits.
        let residue = u128::from(self.residue) * number(&field.one) % number(&field.modulus);
        (0..field.limb_count()).map(|limb| (residue >> (32 * limb)) as u32).collect()
    }
}

/// Returns the canonical form of `value`, as `limbs` little-endian 32-bit limbs. The field's `Repr` must be
/// little-endian.
pub(super) fn canonical_limbs<F: PrimeField>(value: &F, limbs: usize) -> Vec<u32> {
    limbs_from_bytes(value.to_repr().as_ref(), limbs)
}

/// Returns the little-endian number `bytes` as `limbs` little-endian 32-bit limbs. Missing bytes are zeros.
pub(super) fn limbs_from_bytes(bytes: &[u8], limbs: usize) -> Vec<u32> {
    let mut bytes = bytes.to_vec();
    bytes.resize(4 * limbs, 0);
    bytes.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect()
}
