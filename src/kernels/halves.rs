//! The endomorphism (x, y) → (βx, y) of a curve y² = x³ + b, a multiplication by λ, β³ = 1 = λ³, and how a scalar is
//! k₀ + λ·k₁ with halves k₀ and k₁ about half as long (R. Gallant, R. Lambert and S. Vanstone, CRYPTO 2001).
//!
//! Short vectors v₁ and v₂ of the lattice of all (a, b) with a + λ·b ≡ 0 modulo the order r take (s, 0) to
//! (k₀, k₁) = (s, 0) − c₁·v₁ − c₂·v₂, cᵢ being what (s, 0) has of vᵢ, rounded.

use ff::{Field, PrimeField};
use halo2curves::group::Curve;
use halo2curves::group::prime::PrimeCurveAffine;
use num_bigint::{BigInt, BigUint, Sign};

use super::fields::canonical_limbs;

/// Words of a half while it is computed: its sign, and room for what is multiplied.
pub const HALF_WORDS: usize = 5;
/// A multiple |cᵢ| is its scalar times a quotient of so many words …
pub const QUOTIENT_WORDS: usize = 6;
/// … divided by 2 to the power of 32 times this, rounded: the quotient's own rounding changes it by 2⁻³³ at most.
pub const QUOTIENT_SHIFT: usize = 9;

/// The endomorphism, and what halves scalars, as little-endian 32-bit limbs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Halves {
    /// β in Montgomery form, limbs as those of the curve's b.
    pub beta: Vec<u32>,
    /// Of each short vector: |cᵢ| for a scalar of 1, times 2^(32·`QUOTIENT_SHIFT`).
    pub quotients: [Vec<u32>; 2],
    /// Of each short vector: what |cᵢ| = 1 adds to k₀ and k₁, modulo 2^(32·`HALF_WORDS`).
    pub steps: [[Vec<u32>; 2]; 2],
    /// |k₀| and |k₁| are below 2 to this power for every scalar of 256 bits.
    pub bits: u32,
}

impl Halves {
    /// For the curve whose generator's x is given as `x`, in the form that `limbs` makes of it.
    pub(super) fn of<A: PrimeCurveAffine, F: Field>(x: impl Fn(&A) -> F, limbs: impl Fn(&F) -> Vec<u32>) -> Self
    where
        A::Curve: Curve<AffineRepr = A>,
    {
        let (order, lambda) = (order::<A::Scalar>(), cube_root::<A::Scalar>());
        let image = (A::generator() * lambda).to_affine();
        // No x of a generator is zero, for then its order would be 3.
        let beta = x(&image) * x(&A::generator()).invert().unwrap_or(F::ZERO);
        let [first, second] = short_vectors(&order, &natural(&lambda));
        // (s, 0) has s·b₂/D of v₁ and −s·b₁/D of v₂ for the determinant D = ±r.
        let determinant = &first[0] * &second[1] - &second[0] * &first[1];
        let shares =
            [second[1].clone(), -&first[1]].map(|share| if determinant.sign() == Sign::Minus { -share } else { share });
        let quotients = shares.each_ref().map(|share| quotient(share, &order));
        let steps = [step(&first, &shares[0]), step(&second, &shares[1])];
        let bits = [0, 1].map(|half| bits_of_half(first[half].magnitude() + second[half].magnitude()));
        Self { beta: limbs(&beta), quotients, steps, bits: bits[0].max(bits[1]) }
    }

    /// Signs, whether negative, and magnitudes of k₀ and k₁, as `cl/msm_scalars.cl` has them.
    pub fn halve(&self, scalar: &[u8; 32]) -> [(bool, [u8; 4 * HALF_WORDS]); 2] {
        let mut words = [0; 8];
        let bytes = scalar.as_chunks::<4>().0;
        words.iter_mut().zip(bytes).for_each(|(word, bytes)| *word = u32::from_le_bytes(*bytes));
        let mut halves = [[words[0], words[1], words[2], words[3], words[4]], [0; HALF_WORDS]];
        for (quotient, steps) in self.quotients.iter().zip(&self.steps) {
            // A half in the word below rounds to the nearest.
            let mut product = [0; 8 + QUOTIENT_WORDS];
            product[QUOTIENT_SHIFT - 1] = 1 << 31;
            add_product(&mut product, &words, quotient);
            halves.iter_mut().zip(steps).for_each(|(half, step)| add_product(half, &product[QUOTIENT_SHIFT..], step));
        }
        halves.map(sign_and_magnitude)
    }
}

/// |cᵢ| for a scalar of 1, times 2^(32·`QUOTIENT_SHIFT`), rounded: a share is r times that.
fn quotient(share: &BigInt, order: &BigUint) -> Vec<u32> {
    let twice: BigUint = (share.magnitude() << (32 * QUOTIENT_SHIFT + 1)) / order;
    words(&((twice + 1u32) >> 1u32), QUOTIENT_WORDS)
}

/// What |cᵢ| = 1 adds to both halves: −vᵢ, or vᵢ where cᵢ is negative.
fn step(vector: &[BigInt; 2], share: &BigInt) -> [Vec<u32>; 2] {
    let added = |number: &BigInt| if share.sign() == Sign::Minus { number.clone() } else { -number };
    vector.each_ref().map(|number| words(&modulo_words(&added(number)), HALF_WORDS))
}

/// Bits of a half, which is a combination of two numbers with factors of 1/2 and 2⁻³² at most, if these add up to `sum`.
fn bits_of_half(sum: BigUint) -> u32 {
    (&sum / 2u32 + (sum >> 32u32) + 1u32).bits() as u32
}

/// Of a half that is negative where its highest bit is set.
fn sign_and_magnitude(half: [u32; HALF_WORDS]) -> (bool, [u8; 4 * HALF_WORDS]) {
    let is_negative = half[HALF_WORDS - 1] >> 31 == 1;
    let mut magnitude = half.map(|word| if is_negative { !word } else { word });
    add_product(&mut magnitude, &[u32::from(is_negative)], &[1]);
    let mut bytes = [0; 4 * HALF_WORDS];
    let words = bytes.as_chunks_mut::<4>().0;
    words.iter_mut().zip(magnitude).for_each(|(bytes, word)| *bytes = word.to_le_bytes());
    (is_negative, bytes)
}

/// sum += a·b, modulo what the sum has room for.
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

/// r.
fn order<S: PrimeField>() -> BigUint {
    natural(&-S::ONE) + 1u32
}

/// The canonical form, for fields whose `Repr` is little-endian.
fn natural<S: PrimeField>(value: &S) -> BigUint {
    BigUint::from_slice(&canonical_limbs(value, S::NUM_BITS.div_ceil(32) as usize))
}

/// A third root of unity that is not 1; r − 1 is a multiple of 3.
fn cube_root<S: PrimeField>() -> S {
    let exponent = ((order::<S>() - 1u32) / 3u32).to_u64_digits();
    S::MULTIPLICATIVE_GENERATOR.pow_vartime(exponent)
}

/// Two short vectors (a, b) with a + λ·b ≡ 0 modulo r, by Euclid's algorithm: they are a basis of all of these.
fn short_vectors(order: &BigUint, lambda: &BigUint) -> [[BigInt; 2]; 2] {
    // Remainders a with a ≡ t·λ modulo r.
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

/// A number modulo 2^(32·`HALF_WORDS`).
fn modulo_words(value: &BigInt) -> BigUint {
    let modulus = BigInt::from(1) << (32 * HALF_WORDS);
    (((value % &modulus) + &modulus) % &modulus).magnitude().clone()
}

fn words(value: &BigUint, count: usize) -> Vec<u32> {
    let mut words = value.to_u32_digits();
    assert!(words.len() <= count, "{value} fits into {count} words");
    words.resize(count, 0);
    words
}

#[cfg(test)]
mod tests {
    use halo2curves::bn256;
    use pasta_curves::{EpAffine, EqAffine};
    use proptest::prelude::*;

    use super::super::modules;
    use super::*;

    /// The halves of each curve by its name, and the order of its group, with what the halves are of.
    fn of(name: &str) -> (Halves, BigUint, BigUint) {
        let module = modules().into_iter().find(|module| module.name == format!("msm_{name}")).expect("module");
        let halves = module.curve.expect("curve").halves;
        let numbers = |order, lambda| (halves.clone(), order, lambda);
        match name {
            "bls12_381_g1" | "bls12_381_g2" => {
                numbers(order::<blstrs::Scalar>(), natural(&cube_root::<blstrs::Scalar>()))
            }
            "bn254_g1" | "bn254_g2" => numbers(order::<bn256::Fr>(), natural(&cube_root::<bn256::Fr>())),
            "pallas" => {
                type Scalar = <EpAffine as PrimeCurveAffine>::Scalar;
                numbers(order::<Scalar>(), natural(&cube_root::<Scalar>()))
            }
            _ => {
                type Scalar = <EqAffine as PrimeCurveAffine>::Scalar;
                numbers(order::<Scalar>(), natural(&cube_root::<Scalar>()))
            }
        }
    }

    const CURVES: [&str; 6] = ["bls12_381_g1", "bls12_381_g2", "bn254_g1", "bn254_g2", "pallas", "vesta"];

    /// k₀ and k₁.
    fn halve(halves: &Halves, scalar: &BigUint) -> [BigInt; 2] {
        let mut bytes = scalar.to_bytes_le();
        bytes.resize(32, 0);
        let halves = halves.halve(&bytes.try_into().expect("256 bits"));
        halves.map(|(is_negative, magnitude)| {
            BigInt::from_bytes_le(if is_negative { Sign::Minus } else { Sign::Plus }, &magnitude)
        })
    }

    fn check(name: &str, scalar: &BigUint) {
        let (halves, order, lambda) = of(name);
        let [k0, k1] = halve(&halves, scalar);
        assert!(k0.bits().max(k1.bits()) <= u64::from(halves.bits), "{k0}, {k1} of {scalar} on {name}");
        let (order, difference) = (BigInt::from(order), k0 + k1 * BigInt::from(lambda) - BigInt::from(scalar.clone()));
        assert_eq!((difference % order).sign(), Sign::NoSign, "{scalar} on {name}");
    }

    #[test]
    fn scalars_at_the_ends_are_halved() {
        for name in CURVES {
            let (halves, order, lambda) = of(name);
            assert!(halves.bits <= 128, "{} bits on {name}", halves.bits);
            let all = (BigUint::from(1u32) << 256u32) - 1u32;
            let of_order =
                [0u32, 1, 2, 3].iter().flat_map(|k| [&order / 2u32 + k, &order - k, &lambda + k, &lambda - k]);
            for scalar in of_order.chain([0u32, 1, 2].map(BigUint::from)).chain([order.clone(), all]) {
                check(name, &scalar);
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn any_scalar_is_halved(words in prop::array::uniform8(any::<u32>())) {
            for name in CURVES {
                check(name, &BigUint::from_slice(&words));
            }
        }
    }
}
