//! Chooses the moduli of products by residues and computes the constants of kernels. Touches no device.
//!
//! A product is a number P = Σ x·y of K terms with |x| ≤ X and |y| ≤ Y, so |P| ≤ K·X·Y. With moduli whose product is M,
//! residues determine P if |P| < M/2. Residues yᵢ = P·(M/mᵢ)⁻¹ mod mᵢ give P = Σ yᵢ·M/mᵢ − q·M, where q is Σ yᵢ/mᵢ =
//! P/M + q, rounded. Fractions are ⌊2³²/mᵢ⌋, so their sum is too small by at most 49·255 in units of 2⁻³², which is
//! below 2⁻¹⁸. So q is right if |P|/M < 1/2 − 2⁻¹⁶, which the choice of moduli ensures.
//!
//! Elements of one or two words are taken whole. Elements of 255 bits would need more moduli than there are, so they
//! are split: x = x0 + 2^s·x1. Both parts have the same sign and are at most h, so x0 − x1 is within ±h too. Then P =
//! P0 + 2^(2s)·P1 + 2^s·(P0 + P1 − P2) with P0 = Σ x0·y0, P1 = Σ x1·y1, P2 = Σ (x0 − x1)·(y0 − y1).

use num_bigint::BigUint;

use super::element_and_accumulator::ElementKind;
use crate::kernels::gemm::{
    CRT_BIAS, CRT_FRACTION, CRT_HALF, CRT_INVERSE, CRT_MODULUS, CRT_OFFSET, CRT_RECIPROCAL, CRT_SHIFT, CRT_SLOPE_HIGH,
    CRT_SLOPE_LOW, CRT_STEP, CRT_WORDS,
};

/// Number of pairwise coprime moduli that exist from 256 down to [`MIN_MODULUS`].
pub(super) const MAX_MODULI: usize = 49;
/// Smallest modulus in use. A smaller one adds too few bits to be worth a product of matrices.
const MIN_MODULUS: u16 = 29;
/// Bound on the absolute value of a sum of bytes times balanced powers of 256, and of the difference of two such sums.
const SUMS: u64 = 1 << 21;
/// Number of work-items per warp in `crt_reconstruct`.
const LANES: usize = 32;

/// Pairwise coprime moduli in descending order. They are at most 256, so that balanced residues fit a signed byte. Each
/// is the largest number that is coprime to all before it.
pub(super) const MODULI: [u16; MAX_MODULI] = moduli();

const fn moduli() -> [u16; MAX_MODULI] {
    let mut found = [0; MAX_MODULI];
    let (mut count, mut next) = (0, 256);
    while next >= MIN_MODULUS {
        if is_coprime(next, &found, count) {
            found[count] = next;
            count += 1;
        }
        next -= 1;
    }
    assert!(count == MAX_MODULI, "as many as there are");
    found
}

const fn is_coprime(number: u16, to: &[u16; MAX_MODULI], count: usize) -> bool {
    let mut i = 0;
    while i < count {
        let (mut a, mut b) = (number, to[i]);
        while b != 0 {
            (a, b) = (b, a % b);
        }
        if a != 1 {
            return false;
        }
        i += 1;
    }
    true
}

/// Describes a prime field by its modulus and its Montgomery form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FieldParams {
    pub p: BigUint,
    /// Element 1 as stored, which is R mod p. R is 1 if the field is not in Montgomery form.
    pub one: BigUint,
    /// Number of 32-bit words per element.
    pub words: usize,
}

impl FieldParams {
    /// Creates the description of a field from the little-endian words of its `modulus` and of its stored element
    /// `one`.
    pub(super) fn new(modulus: &[u32], one: &[u32]) -> Self {
        Self { p: BigUint::new(modulus.to_vec()), one: BigUint::new(one.to_vec()), words: modulus.len() }
    }
}

/// Describes the entries of one factor of a product.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Operand {
    pub kind: ElementKind,
    /// Bound on entries: canonical values are within ±(2^bits − 1). `None` if no bound is known.
    pub bits: Option<u32>,
}

impl Operand {
    /// Returns whether residues are computed of the limbs as stored, without conversion from Montgomery form.
    pub(super) fn is_raw(self) -> bool {
        self.kind == ElementKind::Field && self.bits.is_none()
    }

    /// Returns the largest absolute value that an entry may have. `p` is the modulus of the field.
    fn max_abs(self, p: &BigUint) -> BigUint {
        let half = p >> 1;
        match (self.kind, self.bits) {
            (ElementKind::Field, None) => half,
            (ElementKind::Field, Some(bits)) => half.min((BigUint::from(1u32) << bits) - 1u32),
            (ElementKind::Byte, _) => BigUint::from(1u32 << 7),
            (ElementKind::Word, _) => BigUint::from(1u32 << 31),
        }
    }
}

/// Holds the moduli of a product by residues, and how entries are split before residues are computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Basis {
    /// Number of moduli in use, from the start of [`MODULI`].
    pub moduli: usize,
    /// Number of parts of an entry: 1, or 2 for a lower and an upper half.
    pub parts: usize,
    /// Number of bits of the lower half.
    pub split: u32,
}

impl Basis {
    /// Chooses the basis with the fewest byte products for sums of `inner` products of entries of `a` and `b`. Returns
    /// `None` if even all [`MODULI`] are too few.
    pub(super) fn new(p: &BigUint, a: Operand, b: Operand, inner: usize) -> Option<Self> {
        let inner = BigUint::from(inner.max(1));
        let whole = required_modulus_count(&(&inner * a.max_abs(p) * b.max_abs(p))).map(|moduli| Self {
            moduli,
            parts: 1,
            split: 128,
        });
        if a.kind != ElementKind::Field || b.kind != ElementKind::Field {
            return whole;
        }
        let (split, half) = choose_split(&a.max_abs(p).max(b.max_abs(p)));
        let halved = required_modulus_count(&(inner * &half * half)).map(|moduli| Self { moduli, parts: 2, split });
        whole.into_iter().chain(halved).min_by_key(Self::byte_product_count)
    }

    /// Returns the number of products of byte matrices that make up one product of matrices.
    pub(super) fn byte_product_count(&self) -> usize {
        self.moduli * self.products_per_modulus()
    }

    /// Returns the number of products of byte matrices per modulus: 3 by Karatsuba if entries are split, else 1.
    pub(super) fn products_per_modulus(&self) -> usize {
        if self.parts == 1 { 1 } else { 3 }
    }
}

/// Returns the number of moduli that represent all numbers within ±`bound`. Returns `None` if even all [`MODULI`] are
/// too few.
fn required_modulus_count(bound: &BigUint) -> Option<usize> {
    // 2·bound < M·(1 − 2^-15).
    let enough = bound << 16u32;
    let mut product = BigUint::from(1u32);
    let last = MODULI.iter().position(|modulus| {
        product *= *modulus;
        product.bits() + 15 >= enough.bits() && enough < &product * ((1u32 << 15) - 1)
    });
    last.map(|last| last + 1)
}

/// Chooses the bit at which numbers up to `most` are split. Both halves have at most 128 bits, and the larger one is as
/// small as possible. Returns the bit and the maximum of both halves.
fn choose_split(most: &BigUint) -> (u32, BigUint) {
    let half = |split: u32| ((BigUint::from(1u32) << split) - 1u32).max(most >> split);
    // The lower half grows with its bits, and the upper one shrinks.
    let middle = most.bits().div_ceil(2) as u32;
    let near = [middle.saturating_sub(1), middle].map(|split| split.clamp(97, 128));
    let [before, best] = near.map(|split| (split, half(split)));
    if before.1 < best.1 { before } else { best }
}

/// Holds the constants of a product by residues, in the form that the kernels read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Constants {
    /// Constants of the moduli, [`CRT_WORDS`] words for each.
    pub table: Vec<u32>,
    /// Weight of each residue in the result: the limbs of an element, by Karatsuba product, then by modulus.
    pub weights: Vec<u32>,
    /// Value of −M in the result, where M is the product of the moduli: the limbs of an element for each Karatsuba
    /// product.
    pub corrections: Vec<u32>,
}

impl Constants {
    /// Computes the constants for products in the field `prime`. `raw` is the number of factors whose residues are of
    /// limbs as stored. The product has the stored form too.
    pub(super) fn new(prime: &FieldParams, basis: Basis, raw: usize) -> Self {
        let (p, words) = (&prime.p, prime.words);
        let moduli = &MODULI[..basis.moduli];
        let all: BigUint = moduli.iter().map(|modulus| BigUint::from(*modulus)).product();
        let factors: Vec<BigUint> =
            karatsuba_factors(p, basis).iter().map(|factor| factor * montgomery_factor(prime, raw) % p).collect();
        let weight = |factor: &BigUint, modulus: &u16| limbs(&(&all / *modulus * factor % p), words);
        let weights = factors.iter().flat_map(|factor| moduli.iter().flat_map(move |modulus| weight(factor, modulus)));
        let corrections = factors.iter().flat_map(|factor| limbs(&((p - &all * factor % p) % p), words));
        Self {
            table: moduli.iter().flat_map(|modulus| modulus_constants(*modulus, &all)).collect(),
            weights: weights.collect(),
            corrections: corrections.collect(),
        }
    }
}

impl Constants {
    /// Returns the weights of residues as `crt_reconstruct` of `cl/gemm_crt_reconstruct.cl` reads them:
    /// - for each step of 32 residues and each tile of eight bytes, two words per lane. Each word has the bytes of four
    ///   residues in one of the tile's columns;
    /// - then one word for each byte of an element, with that byte of the correction of each Karatsuba product.
    pub(super) fn pack_weights(&self, basis: Basis) -> Vec<u32> {
        let words = self.corrections.len() / basis.products_per_modulus();
        let tiles = words.div_ceil(2) + 2;
        let mut crt_weights = Vec::new();
        for step in 0..basis.byte_product_count().div_ceil(CRT_STEP) {
            for place in (0..tiles * 2 * LANES).map(|word| (word / (2 * LANES), word / 2 % LANES, word % 2)) {
                let (tile, lane, half) = place;
                let first = CRT_STEP * step + 4 * (lane % 4) + CRT_STEP / 2 * half;
                let byte = |i: usize| u32::from(self.weight_byte(basis, first + i, tile, lane / 4)) << (8 * i);
                crt_weights.push((0..4).map(byte).sum());
            }
        }
        crt_weights.extend(byte_planes(&self.corrections, words));
        crt_weights
    }

    /// Returns one byte of the weight of the residue with index `set`, for one of the eight columns of `tile`. Columns
    /// 2t and 2t + 1 are two bytes of quarter t of the element. In the last two tiles they are bytes of the fraction
    /// ⌊2³²/m⌋ for Karatsuba product t.
    fn weight_byte(&self, basis: Basis, set: usize, tile: usize, column: usize) -> u8 {
        let share = self.corrections.len() / basis.products_per_modulus();
        let (part, values) = (column / 2, share.div_ceil(2));
        let (of_element, of_fraction) = (2 * tile + column % 2, 2 * tile.saturating_sub(values) + column % 2);
        if set >= basis.byte_product_count() {
            0
        } else if tile >= values {
            let mine = set / basis.moduli == part;
            if mine { byte_of(&self.table[CRT_WORDS * (set % basis.moduli) + CRT_FRACTION..], of_fraction) } else { 0 }
        } else if of_element < share {
            byte_of(&self.weights[share * set..], share * part + of_element)
        } else {
            0
        }
    }
}

/// Returns byte `at` of the little-endian number `limbs`, where byte 0 is the lowest.
fn byte_of(limbs: &[u32], at: usize) -> u8 {
    limbs[at / 4].to_le_bytes()[at % 4]
}

/// Packs up to four numbers by byte position: word i of the result holds byte i of each number, the first one lowest.
/// `numbers` holds them one after the other, in `words` words each.
fn byte_planes(numbers: &[u32], words: usize) -> impl Iterator<Item = u32> {
    (0..4 * words).map(move |at| {
        let byte = |(number, limbs): (usize, &[u32])| u32::from(byte_of(limbs, at)) << (8 * number);
        numbers.chunks(words).enumerate().map(byte).sum()
    })
}

/// Returns the factor of each Karatsuba product in the whole product. Without a split it is 1.
fn karatsuba_factors(p: &BigUint, basis: Basis) -> Vec<BigUint> {
    let one = BigUint::from(1u32);
    if basis.parts == 1 {
        return vec![one];
    }
    let (low, high) = (BigUint::from(1u32) << basis.split, BigUint::from(1u32) << (2 * basis.split));
    vec![one + &low, high + &low, (p - &low % p) % p]
}

/// Returns R^(1 − raw) mod p. This factor brings a product to Montgomery form if `raw` of its two factors have that
/// form.
fn montgomery_factor(prime: &FieldParams, raw: usize) -> BigUint {
    match raw {
        0 => prime.one.clone(),
        1 => BigUint::from(1u32),
        // Fermat's theorem gives R⁻¹ = R^(p − 2).
        _ => prime.one.modpow(&(&prime.p - 2u32), &prime.p),
    }
}

/// Returns the constants of `modulus` in the table, where `all` is the product of all moduli. `cl/gemm_crt.cl` and
/// `cuda/gemm_int8_common.cuh` describe the words.
fn modulus_constants(modulus: u16, all: &BigUint) -> [u32; CRT_WORDS] {
    let m = u32::from(modulus);
    let mut entry = [0; CRT_WORDS];
    for (number, word) in entry[..8].iter_mut().enumerate() {
        *word = (0..4).fold(0, |word, i| word | balanced_power(4 * number as u32 + i, m) << (8 * i));
    }
    let rest = (all / m % m).iter_u32_digits().next().unwrap_or(0);
    let inverse = (1..=m).find(|candidate| candidate * rest % m == 1 % m).unwrap_or(0);
    let fraction = |number: u64| ((number << 32).div_ceil(u64::from(m))) as u32;
    // A sum has 2³¹ added.
    let lifted = u64::from(m - inverse) * (1 << 31) % u64::from(m);
    let slope = (u128::from(inverse) << 64).div_ceil(u128::from(m)) as u64;
    entry[CRT_MODULUS] = m;
    entry[CRT_RECIPROCAL] = fraction(1);
    entry[CRT_INVERSE] = inverse;
    entry[CRT_FRACTION] = ((1u64 << 32) / u64::from(m)) as u32;
    entry[CRT_OFFSET] = fraction(u64::from(m / 2)) + SUMS as u32;
    entry[CRT_HALF] = m / 2;
    entry[CRT_BIAS] = ((1u64 << 31) % u64::from(m)) as u32;
    entry[CRT_SLOPE_LOW] = slope as u32;
    entry[CRT_SLOPE_HIGH] = ((slope >> 32) as u32).wrapping_neg();
    entry[CRT_SHIFT] = fraction(lifted).wrapping_add(2).wrapping_neg();
    entry
}

/// Returns 256^`number` modulo `m` as a signed byte of smallest absolute value.
fn balanced_power(number: u32, m: u32) -> u32 {
    let power = (0..number).fold(1 % m, |power, _| power * 256 % m);
    (if power > m / 2 { power.wrapping_sub(m) } else { power }) & 0xff
}

fn limbs(number: &BigUint, words: usize) -> Vec<u32> {
    number.iter_u32_digits().chain(std::iter::repeat(0)).take(words).collect()
}

#[cfg(test)]
mod tests {
    use num_bigint::BigInt;

    use super::*;

    use crate::kernels;

    const FIELD: Operand = Operand { kind: ElementKind::Field, bits: None };
    const BYTE: Operand = Operand { kind: ElementKind::Byte, bits: None };
    const WORD: Operand = Operand { kind: ElementKind::Word, bits: None };

    /// Returns the descriptions of all fields that dense matrices support.
    fn primes() -> Vec<FieldParams> {
        let fields = kernels::registry::fields().filter(|field| field.families.contains(&kernels::gemm::FAMILY.name));
        let fields = fields.map(kernels::FieldDescription::new);
        fields.map(|field| FieldParams::new(&field.modulus, &field.one)).collect()
    }

    #[test]
    fn moduli_are_coprime_and_the_largest() {
        assert_eq!(MODULI[..8], [256, 255, 253, 251, 247, 241, 239, 233]);
        for (number, modulus) in MODULI.iter().enumerate() {
            assert!(MODULI[..number].iter().all(|other| gcd(*other, *modulus) == 1 && other > modulus));
        }
        let all: BigUint = MODULI.iter().map(|modulus| BigUint::from(*modulus)).product();
        assert_eq!(all.bits(), 342);
    }

    /// Checks that 2·|P| < M·(1 − 2^-15) for sums P of a number of terms at or next to a power of two. M is the product
    /// of the chosen moduli.
    #[test]
    fn moduli_are_enough() {
        let bounded = Operand { kind: ElementKind::Field, bits: Some(40) };
        for FieldParams { p, .. } in primes() {
            for (a, b) in
                [(FIELD, FIELD), (BYTE, FIELD), (WORD, FIELD), (bounded, FIELD), (bounded, bounded), (BYTE, bounded)]
            {
                for inner in (0..=20).flat_map(|log| [(1usize << log) - 1, 1 << log, (1 << log) + 1]) {
                    let basis = Basis::new(&p, a, b, inner).expect("enough moduli");
                    let all: BigUint = MODULI[..basis.moduli].iter().map(|modulus| BigUint::from(*modulus)).product();
                    let max_abs = |operand: Operand| match basis.parts {
                        1 => operand.max_abs(&p),
                        _ => ((BigUint::from(1u32) << basis.split) - 1u32).max(operand.max_abs(&p) >> basis.split),
                    };
                    let bound = BigUint::from(inner) * max_abs(a) * max_abs(b);
                    assert!(bound * 2u32 * 32768u32 < all * 32767u32, "{inner} terms, {basis:?}");
                    assert!(a.max_abs(&p) >> basis.split < BigUint::from(1u32) << 128);
                }
            }
        }
    }

    #[test]
    fn numbers_of_products() {
        let primes = primes();
        let of =
            |prime: &FieldParams, a, b, inner| Basis::new(&prime.p, a, b, inner).expect("enough").byte_product_count();
        // Finds the scalar field of BN254.
        let large = primes.iter().find(|prime| prime.p.bits() == 254).expect("a field of 254 bits");
        let products = |a, b, inner| of(large, a, b, inner);
        let words = &primes[primes.len() - 2..];
        assert_eq!([1024, 4096, 16384].map(|inner| of(&words[0], FIELD, FIELD, inner)), [18, 18, 19]);
        assert_eq!([1024, 4096, 16384].map(|inner| of(&words[1], FIELD, FIELD, inner)), [9, 10, 10]);
        assert_eq!([1024, 4096, 16384].map(|inner| products(FIELD, FIELD, inner)), [108, 108, 111]);
        assert_eq!([1024, 4096].map(|inner| products(BYTE, FIELD, inner)), [37, 37]);
        let bounded = Operand { kind: ElementKind::Field, bits: Some(16) };
        assert!(products(bounded, bounded, 4096) <= 6);
    }

    fn gcd(a: u16, b: u16) -> u16 {
        if b == 0 { a } else { gcd(b, a % b) }
    }

    /// Returns `number` modulo `modulus`, which is not negative.
    fn modulo(number: &BigInt, modulus: &BigInt) -> BigInt {
        ((number % modulus) + modulus) % modulus
    }

    /// Computes the residues of `number`, then recovers it from them modulo p as the kernels do.
    fn reconstruct_from_residues(prime: &FieldParams, basis: Basis, number: &BigInt) -> BigUint {
        let constants = Constants::new(prime, basis, 1);
        let words = |list: &[u32], at: usize| BigUint::new(list[prime.words * at..][..prime.words].to_vec());
        let (mut sum, mut fractions) = (BigUint::ZERO, 1u64 << 31);
        for (i, modulus) in MODULI[..basis.moduli].iter().enumerate() {
            let entry = &constants.table[CRT_WORDS * i..][..CRT_WORDS];
            let residue = modulo(number, &BigInt::from(*modulus)).iter_u32_digits().next().unwrap_or(0);
            let y = residue * entry[CRT_INVERSE] % entry[CRT_MODULUS];
            sum += words(&constants.weights, i) * y;
            fractions += u64::from(y) * u64::from(entry[CRT_FRACTION]);
        }
        (sum + words(&constants.corrections, 0) * ((fractions >> 32) as u32)) % &prime.p
    }

    #[test]
    fn numbers_at_the_bounds_come_back() {
        for prime in primes() {
            let p = &prime.p;
            for (a, b, inner) in [(BYTE, FIELD, 4096), (BYTE, FIELD, 1 << 20), (WORD, FIELD, 131_073)] {
                let basis = Basis::new(p, a, b, inner).expect("enough");
                let bound = BigInt::from(BigUint::from(inner) * a.max_abs(p) * b.max_abs(p));
                let signed = BigInt::from(p.clone());
                for number in
                    [bound.clone(), -&bound, &bound - 1, 1 - &bound, BigInt::from(0), BigInt::from(-1), BigInt::from(1)]
                {
                    let expected = modulo(&number, &signed);
                    assert_eq!(BigInt::from(reconstruct_from_residues(&prime, basis, &number)), expected);
                }
            }
        }
    }

    /// Checks how kernels compute residues from fractions, at the bounds of sums and near multiples of moduli.
    #[test]
    fn fractions_give_residues() {
        let high = |a: u32, b: u32| ((u64::from(a) * u64::from(b)) >> 32) as u32;
        let all: BigUint = MODULI.iter().map(|modulus| BigUint::from(*modulus)).product();
        for modulus in MODULI {
            let (entry, m) = (modulus_constants(modulus, &all), i64::from(modulus));
            let max_abs = i64::from(SUMS as u32);
            for sum in (-max_abs..-max_abs + 600).chain(-600..600).chain(max_abs - 600..=max_abs) {
                let fraction = (sum as u32).wrapping_mul(entry[CRT_RECIPROCAL]).wrapping_add(entry[CRT_OFFSET]);
                let residue = i64::from(high(fraction, entry[CRT_MODULUS])) - i64::from(entry[CRT_HALF]);
                assert!((residue - sum) % m == 0 && residue >= -(m / 2) && residue < m - m / 2, "{sum} mod {m}");
            }
            let ends = i64::from(i32::MIN)..=i64::from(i32::MAX);
            for sum in [*ends.start(), -1 << 30, -m, 0, 1 << 24, *ends.end()].into_iter().flat_map(|s| s - 300..s + 300)
            {
                if !ends.contains(&sum) {
                    continue;
                }
                let shifted = sum as u32 ^ 0x8000_0000;
                let less = shifted.wrapping_mul(entry[CRT_SLOPE_HIGH]).wrapping_add(entry[CRT_SHIFT]);
                let fraction = high(shifted, entry[CRT_SLOPE_LOW]).wrapping_sub(less);
                assert_eq!(
                    i64::from(high(fraction, entry[CRT_MODULUS])),
                    (sum * i64::from(entry[CRT_INVERSE])).rem_euclid(m),
                    "{sum} mod {m}"
                );
            }
        }
    }

    #[test]
    fn balanced_powers_are_powers() {
        for modulus in MODULI {
            let entry = modulus_constants(modulus, &BigUint::from(modulus));
            let byte = |number: usize| ((entry[number / 4] >> (8 * (number % 4))) as u8).cast_signed();
            let mut power = 1i64;
            for number in 0..32 {
                assert_eq!((i64::from(byte(number)) - power).rem_euclid(i64::from(modulus)), 0);
                power = power * 256 % i64::from(modulus);
            }
        }
    }
}
