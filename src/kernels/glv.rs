//! GLV decomposition (R. Gallant, R. Lambert and S. Vanstone, CRYPTO 2001). The endomorphism (x, y) → (βx, y) of a
//! curve y² = x³ + b is a multiplication by λ, with β³ = 1 = λ³. A scalar is k₀ + λ·k₁ with halves k₀ and k₁ about half
//! as long.
//!
//! The lattice of all (a, b) with a + λ·b ≡ 0 modulo the order r has short vectors v₁ and v₂. If cᵢ is the rounded
//! coordinate of (s, 0) along vᵢ, then (k₀, k₁) = (s, 0) − c₁·v₁ − c₂·v₂.

use num_bigint::{BigInt, BigUint, Sign};

use super::fields::FieldDescription;
use super::spec::{FieldKind, FieldSpec};

/// Number of 32-bit words that k₀ or k₁ takes while it is computed, 5: its sign, and room for products.
pub(crate) const GLV_WORDS: usize = 5;
/// Number of 32-bit words of a quotient, 6. The product of quotient and scalar, shifted right by [`QUOTIENT_SHIFT`]
/// words and rounded, is |cᵢ|.
pub(crate) const QUOTIENT_WORDS: usize = 6;
/// Number of 32-bit words, 9, by which the product of quotient and scalar is shifted right. The quotient's own rounding
/// then changes |cᵢ| by at most 2⁻³³.
pub(crate) const QUOTIENT_SHIFT: usize = 9;

/// Holds the constants of a curve's GLV decomposition, as little-endian 32-bit limbs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GlvParams {
    /// Quotient for each short lattice vector vᵢ: |cᵢ| for a scalar of 1, times 2^(32·`QUOTIENT_SHIFT`), rounded.
    pub quotients: [Vec<u32>; 2],
    /// Numbers that each unit of |cᵢ| adds to k₀ and k₁, for each short lattice vector vᵢ. They are modulo
    /// 2^(32·`GLV_WORDS`).
    pub steps: [[Vec<u32>; 2]; 2],
    /// Maximum number of bits of |k₀| and of |k₁|, for every scalar of 256 bits.
    pub bits: u32,
}

impl GlvParams {
    /// Computes the constants of a curve whose scalar field is `scalars`.
    pub fn new(scalars: &'static FieldSpec) -> Self {
        let (order, lambda) = (order(scalars), cube_root(scalars));
        let [first, second] = short_vectors(&order, &lambda);
        // For the determinant D = ±r, (s, 0) has the coordinates s·b₂/D along v₁ and −s·b₁/D along v₂.
        let determinant = &first[0] * &second[1] - &second[0] * &first[1];
        let shares =
            [second[1].clone(), -&first[1]].map(|share| if determinant.sign() == Sign::Minus { -share } else { share });
        let quotients = shares.each_ref().map(|share| scaled_quotient(share, &order));
        let steps = [half_increments(&first, &shares[0]), half_increments(&second, &shares[1])];
        let bits = [0, 1].map(|half| max_half_bits(first[half].magnitude() + second[half].magnitude()));
        Self { quotients, steps, bits: bits[0].max(bits[1]) }
    }

    /// Splits `scalar`, which is little-endian, into k₀ and k₁, as `cl/msm_glv.cl` does. Returns for each whether it is
    /// negative, and its magnitude as little-endian bytes.
    pub fn glv_decompose(&self, scalar: &[u8; 32]) -> [(bool, [u8; 4 * GLV_WORDS]); 2] {
        let mut words = [0; 8];
        let bytes = scalar.as_chunks::<4>().0;
        words.iter_mut().zip(bytes).for_each(|(word, bytes)| *word = u32::from_le_bytes(*bytes));
        let mut halves = [[words[0], words[1], words[2], words[3], words[4]], [0; GLV_WORDS]];
        for (quotient, steps) in self.quotients.iter().zip(&self.steps) {
            // One half, in the word below, rounds to the nearest.
            let mut product = [0; 8 + QUOTIENT_WORDS];
            product[QUOTIENT_SHIFT - 1] = 1 << 31;
            add_product(&mut product, &words, quotient);
            halves.iter_mut().zip(steps).for_each(|(half, step)| add_product(half, &product[QUOTIENT_SHIFT..], step));
        }
        halves.map(sign_and_magnitude)
    }
}

/// Returns |cᵢ| for a scalar of 1, times 2^(32·`QUOTIENT_SHIFT`), rounded, as little-endian words. `share` is cᵢ for a
/// scalar of 1, times r = `order`.
fn scaled_quotient(share: &BigInt, order: &BigUint) -> Vec<u32> {
    let twice: BigUint = (share.magnitude() << (32 * QUOTIENT_SHIFT + 1)) / order;
    encode_words(&((twice + 1u32) >> 1u32), QUOTIENT_WORDS)
}

/// Returns the numbers that each unit of |cᵢ| adds to k₀ and k₁: −vᵢ, or vᵢ if cᵢ is negative. `vector` is vᵢ, and
/// `share` has the sign of cᵢ.
fn half_increments(vector: &[BigInt; 2], share: &BigInt) -> [Vec<u32>; 2] {
    let added = |number: &BigInt| if share.sign() == Sign::Minus { number.clone() } else { -number };
    vector.each_ref().map(|number| encode_words(&to_twos_complement(&added(number)), GLV_WORDS))
}

/// Returns the maximum number of bits of k₀ or k₁. It combines two numbers, whose magnitudes add up to `sum`, with
/// factors of at most 1/2 + 2⁻³².
fn max_half_bits(sum: BigUint) -> u32 {
    (&sum / 2u32 + (sum >> 32u32) + 1u32).bits() as u32
}

/// Returns whether `half`, in two's complement, is negative, and its magnitude as little-endian bytes.
fn sign_and_magnitude(half: [u32; GLV_WORDS]) -> (bool, [u8; 4 * GLV_WORDS]) {
    let is_negative = half[GLV_WORDS - 1] >> 31 == 1;
    let mut magnitude = half.map(|word| if is_negative { !word } else { word });
    add_product(&mut magnitude, &[u32::from(is_negative)], &[1]);
    let mut bytes = [0; 4 * GLV_WORDS];
    let words = bytes.as_chunks_mut::<4>().0;
    words.iter_mut().zip(magnitude).for_each(|(bytes, word)| *bytes = word.to_le_bytes());
    (is_negative, bytes)
}

/// Adds a·b to `sum`, modulo 2^(32·words of `sum`). All have little-endian 32-bit words.
fn add_product(sum: &mut [u32], a: &[u32], b: &[u32]) {
    for (i, a) in a.iter().enumerate().take(sum.len()) {
        let mut carry = 0;
        let factors = b.iter().chain(std::iter::repeat(&0));
        for (word, b) in sum[i..].iter_mut().zip(factors) {
            let all = u64::from(*a) * u64::from(*b) + u64::from(*word) + carry;
            (*word, carry) = (all as u32, all >> 32);
        }
    }
}

/// Returns the order r of the group, the modulus of the field of `scalars`.
fn order(scalars: &'static FieldSpec) -> BigUint {
    BigUint::from_slice(&FieldDescription::new(scalars).modulus)
}

/// Returns λ, a third root of unity that is not 1. The order r of the field of `scalars` is such that r − 1 is a multiple
/// of 3.
pub(super) fn cube_root(scalars: &'static FieldSpec) -> BigUint {
    let order = order(scalars);
    let generator = if let FieldKind::Prime { generator, .. } = scalars.kind { generator } else { 1 };
    BigUint::from(generator).modpow(&((&order - 1u32) / 3u32), &order)
}

/// Returns two short vectors (a, b) with a + λ·b ≡ 0 modulo r = `order`, by Euclid's algorithm. They are a basis of the
/// lattice of all such vectors.
fn short_vectors(order: &BigUint, lambda: &BigUint) -> [[BigInt; 2]; 2] {
    // Holds pairs of remainders a and factors t with a ≡ t·λ modulo r.
    let mut remainders =
        vec![[BigInt::from(order.clone()), BigInt::from(0)], [BigInt::from(lambda.clone()), BigInt::from(1)]];
    while let [.., before, last] = &remainders[..] {
        if last[0].sign() == Sign::NoSign {
            break;
        }
        let quotient = &before[0] / &last[0];
        let next = [0, 1].map(|i| &before[i] - &quotient * &last[i]);
        remainders.push(next);
    }
    let root = BigInt::from(order.sqrt());
    let first = remainders.iter().position(|[a, _]| *a < root).unwrap_or(1);
    let length = |[a, t]: &&[BigInt; 2]| a.magnitude().max(t.magnitude()).clone();
    let neighbours = [&remainders[first - 1], &remainders[first + 1]];
    let second = neighbours.into_iter().min_by_key(length).unwrap_or(&remainders[first - 1]);
    [&remainders[first], second].map(|[a, t]| [a.clone(), -t])
}

/// Returns `value` modulo 2^(32·`GLV_WORDS`), as a number that is not negative.
fn to_twos_complement(value: &BigInt) -> BigUint {
    let modulus = BigInt::from(1) << (32 * GLV_WORDS);
    (((value % &modulus) + &modulus) % &modulus).magnitude().clone()
}

fn encode_words(value: &BigUint, count: usize) -> Vec<u32> {
    let mut words = value.to_u32_digits();
    assert!(words.len() <= count, "{value} fits into {count} words");
    words.resize(count, 0);
    words
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::kernels::registry;
    use crate::kernels::spec::CurveSpec;

    /// Returns k₀ and k₁ of `scalar` by the constants `halves`.
    fn glv_decompose(halves: &GlvParams, scalar: &BigUint) -> [BigInt; 2] {
        let mut bytes = scalar.to_bytes_le();
        bytes.resize(32, 0);
        let halves = halves.glv_decompose(&bytes.try_into().expect("256 bits"));
        halves.map(|(is_negative, magnitude)| {
            BigInt::from_bytes_le(if is_negative { Sign::Minus } else { Sign::Plus }, &magnitude)
        })
    }

    fn check_decomposition(curve: &CurveSpec, scalar: &BigUint) {
        let (halves, order, lambda) = (GlvParams::new(curve.scalars), order(curve.scalars), cube_root(curve.scalars));
        let name = curve.name;
        let [k0, k1] = glv_decompose(&halves, scalar);
        assert!(k0.bits().max(k1.bits()) <= u64::from(halves.bits), "{k0}, {k1} of {scalar} on {name}");
        let (order, difference) = (BigInt::from(order), k0 + k1 * BigInt::from(lambda) - BigInt::from(scalar.clone()));
        assert_eq!((difference % order).sign(), Sign::NoSign, "{scalar} on {name}");
    }

    #[test]
    fn scalars_at_the_ends_are_halved() {
        for curve in registry::curves() {
            let (halves, order, lambda) =
                (GlvParams::new(curve.scalars), order(curve.scalars), cube_root(curve.scalars));
            assert!(halves.bits <= 128, "{} bits on {}", halves.bits, curve.name);
            let all = (BigUint::from(1u32) << 256u32) - 1u32;
            let of_order =
                [0u32, 1, 2, 3].iter().flat_map(|k| [&order / 2u32 + k, &order - k, &lambda + k, &lambda - k]);
            for scalar in of_order.chain([0u32, 1, 2].map(BigUint::from)).chain([order.clone(), all]) {
                check_decomposition(curve, &scalar);
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn any_scalar_is_halved(words in prop::array::uniform8(any::<u32>())) {
            for curve in registry::curves() {
                check_decomposition(curve, &BigUint::from_slice(&words));
            }
        }
    }
}
