//! Sums products on the host's cores over fields of one or two words: sums whole words and reduces each sum once.

use ff::Field;
use p3_field::PrimeField32;
use rayon::prelude::*;

use super::element_and_accumulator::{DenseField, SmallInteger};
use crate::field::plonky3::{BabyBear, Goldilocks};
use crate::field::{Element, as_bytes};
use crate::{Error, Result};

/// Offset added to signed 32-bit integers, 2^31, so that none is negative.
const BIAS: u64 = 1 << 31;
/// Number of 32-bit words per AVX2 register.
#[cfg(target_arch = "x86_64")]
const LANES: usize = 8;

/// Returns the memory of `elements` as words of type `W`.
fn words<F: Element, W: bytemuck::AnyBitPattern>(elements: &[F]) -> &[W] {
    bytemuck::cast_slice(as_bytes(elements))
}

/// Returns each integer of `row` with [`BIAS`] added, as an unsigned number.
fn add_bias<N: SmallInteger>(row: &[N]) -> Vec<u32> {
    let biased = |number: &N| ((*number).into() as u32) ^ BIAS as u32;
    row.iter().map(biased).collect()
}

/// Writes `entry(column)` to `out[i]` for each column i. `columns` holds them one after the other, each of `length`
/// words.
fn for_each_column<F, W>(length: usize, columns: &[W], out: &mut [F], entry: impl Fn(&[W]) -> F) {
    for (number, out) in out.iter_mut().enumerate() {
        *out = entry(&columns[number * length..][..length]);
    }
}

// SAFETY: the type is one word in Montgomery form, and each word that the check accepts is an element.
unsafe impl DenseField for BabyBear {
    fn check_limbs(elements: &[Self]) -> Result<()> {
        let p = p3_baby_bear::BabyBear::ORDER_U32;
        match words::<_, u32>(elements).par_iter().position_first(|word| *word >= p) {
            None => Ok(()),
            Some(number) => {
                Err(Error::invalid("field", format!("element {number}"), "limbs below the modulus", "others"))
            }
        }
    }

    fn sums_of_products(row: &[Self], columns: &[Self], out: &mut [Self]) -> Result<()> {
        let row = words(row);
        // Limbs of a product are a·b/R.
        let scale = inverse_of_radix().square();
        for_each_column(row.len(), words(columns), out, |column| {
            reduce_babybear(dot_product::<4>(row, column)) * scale
        });
        Ok(())
    }

    fn sums_of_integer_products<N: SmallInteger>(row: &[N], columns: &[Self], out: &mut [Self]) -> Result<()> {
        let (row, scale, bias) = (add_bias(row), inverse_of_radix(), Self::from(BIAS));
        for_each_column(row.len(), words(columns), out, |column| {
            // The sum of fewer than 2^32 words of 31 bits fits 64 bits.
            let excess: u64 = column.iter().map(|word| u64::from(*word)).sum();
            (reduce_babybear(dot_product::<2>(&row, column)) - bias * reduce_babybear(excess.into())) * scale
        });
        Ok(())
    }
}

/// Returns `number` modulo the BabyBear prime as an element. `number` is below 2^96, as sums of fewer than 2^32
/// products are.
fn reduce_babybear(number: u128) -> BabyBear {
    let p = u64::from(p3_baby_bear::BabyBear::ORDER_U32);
    // A remainder of 64 bits by a constant compiles to products; one of 128 bits is a long division.
    let high = (number >> 32) as u64 % p;
    BabyBear::from(high << 32 | number as u64 & 0xffff_ffff)
}

/// Returns 1/R for the Montgomery factor R = 2^32. Its stored word is 1.
fn inverse_of_radix() -> BabyBear {
    BabyBear::from(1 << 32).invert().unwrap_or(BabyBear::ZERO)
}

/// Returns the dot product Σ a\[i\]·b\[i\]. Any `FIT` of the products add up to less than 2^64.
fn dot_product<const FIT: usize>(a: &[u32], b: &[u32]) -> u128 {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has AVX2.
        return unsafe { dot_product_avx2::<FIT>(a, b) };
    }
    dot_product_portable(a, b)
}

/// Returns the dot product Σ a\[i\]·b\[i\] with AVX2, eight products at a time. Words with even and with odd indices
/// have separate sums.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn dot_product_avx2<const FIT: usize>(a: &[u32], b: &[u32]) -> u128 {
    use std::arch::x86_64::{
        __m256i, _mm256_add_epi64, _mm256_and_si256, _mm256_loadu_si256, _mm256_mul_epu32, _mm256_set1_epi64x,
        _mm256_setzero_si256, _mm256_srli_epi64, _mm256_storeu_si256,
    };
    // SAFETY: eight words are as long as a register, and the load needs no alignment.
    let load = |words: &[u32; LANES]| unsafe { _mm256_loadu_si256(words.as_ptr().cast()) };
    let mask = _mm256_set1_epi64x(0xffff_ffff);
    let (mut low, mut high) = ([_mm256_setzero_si256(); 2], [_mm256_setzero_si256(); 2]);
    let (blocks_a, rest_a) = a.as_chunks::<LANES>();
    let (blocks_b, rest_b) = b.as_chunks::<LANES>();
    for (a, b) in blocks_a.chunks(FIT).zip(blocks_b.chunks(FIT)) {
        let mut sums = [_mm256_setzero_si256(); 2];
        for (a, b) in a.iter().zip(b) {
            let (a, b) = (load(a), load(b));
            sums[0] = _mm256_add_epi64(sums[0], _mm256_mul_epu32(a, b));
            let (a, b) = (_mm256_srli_epi64::<32>(a), _mm256_srli_epi64::<32>(b));
            sums[1] = _mm256_add_epi64(sums[1], _mm256_mul_epu32(a, b));
        }
        for i in 0..2 {
            low[i] = _mm256_add_epi64(low[i], _mm256_and_si256(sums[i], mask));
            high[i] = _mm256_add_epi64(high[i], _mm256_srli_epi64::<32>(sums[i]));
        }
    }
    let lanes = |register: __m256i| -> [u64; 4] {
        let mut lanes = [0; 4];
        // SAFETY: as above.
        unsafe { _mm256_storeu_si256(lanes.as_mut_ptr().cast(), register) };
        lanes
    };
    let total = |registers: [__m256i; 2]| registers.map(|register| wide_sum(&lanes(register))).iter().sum::<u128>();
    dot_product_portable(rest_a, rest_b) + total(low) + (total(high) << 32)
}

fn wide_sum(words: &[u64]) -> u128 {
    words.iter().map(|word| u128::from(*word)).sum()
}

fn dot_product_portable(a: &[u32], b: &[u32]) -> u128 {
    let halves = a.iter().zip(b).map(|(a, b)| {
        let product = u64::from(*a) * u64::from(*b);
        (product & 0xffff_ffff, product >> 32)
    });
    // The sum of fewer than 2^32 halves of 32 bits fits 64 bits.
    let (low, high) = halves.fold((0u64, 0u64), |sums, halves| (sums.0 + halves.0, sums.1 + halves.1));
    u128::from(low) + (u128::from(high) << 32)
}

// SAFETY: the type is one word, and every word is an element.
unsafe impl DenseField for Goldilocks {
    /// Accepts any elements, because every 64-bit word is a valid Goldilocks element.
    fn check_limbs(_: &[Self]) -> Result<()> {
        Ok(())
    }

    fn sums_of_products(row: &[Self], columns: &[Self], out: &mut [Self]) -> Result<()> {
        let row = words::<_, u64>(row);
        for_each_column(row.len(), words(columns), out, |column| {
            let (sum, overflows) = dot_product_u64(row, column);
            // 2^128 = −2^32.
            reduce_goldilocks(sum) - Self::from(overflows) * Self::from(1 << 32)
        });
        Ok(())
    }

    fn sums_of_integer_products<N: SmallInteger>(row: &[N], columns: &[Self], out: &mut [Self]) -> Result<()> {
        let (row, bias) = (add_bias(row), Self::from(BIAS));
        for_each_column(row.len(), words::<_, u64>(columns), out, |column| {
            let (products, excess) = row.iter().zip(column).fold((0, 0), |(products, excess), (a, b)| {
                let b = u128::from(*b);
                (products + u128::from(*a) * b, excess + b)
            });
            reduce_goldilocks(products) - bias * reduce_goldilocks(excess)
        });
        Ok(())
    }
}

fn reduce_goldilocks(number: u128) -> Goldilocks {
    let [low, high] = [number as u64, (number >> 64) as u64].map(Goldilocks::from);
    low + high * Goldilocks::from(0xffff_ffff)
}

/// Returns the dot product Σ a\[i\]·b\[i\] modulo 2^128, and how often the sum exceeded 2^128.
fn dot_product_u64(a: &[u64], b: &[u64]) -> (u128, u64) {
    a.iter().zip(b).fold((0u128, 0), |(sum, overflows), (a, b)| {
        let (sum, overflow) = sum.overflowing_add(u128::from(*a) * u128::from(*b));
        (sum, overflows + u64::from(overflow))
    })
}

#[cfg(test)]
mod tests {
    use ff::PrimeField;

    use super::*;

    /// Checks dot products of constant vectors of the elements `extremes`. Vectors are shorter than, as long as and
    /// longer than a block of registers.
    fn check_dot_products<F: DenseField>(extremes: &[F]) {
        for a in extremes {
            for b in extremes {
                for count in [0, 1, 7, 31, 32, 33, 100] {
                    let mut out = [F::ONE];
                    F::sums_of_products(&vec![*a; count], &vec![*b; count], &mut out).expect("a product");
                    assert_eq!(out[0], *a * b * F::from(count as u64));
                }
            }
            for count in [0, 1, 16, 17, 1000] {
                let mut out = [F::ONE; 2];
                let columns = vec![*a; 2 * count];
                F::sums_of_integer_products(&vec![i32::MIN; count], &columns, &mut out).expect("a product");
                assert_eq!(out, [-*a * F::from(BIAS) * F::from(count as u64); 2]);
                F::sums_of_integer_products(&vec![i32::MAX; count], &columns, &mut out).expect("a product");
                assert_eq!(out, [*a * F::from(BIAS - 1) * F::from(count as u64); 2]);
                F::sums_of_integer_products(&vec![-1i8; count], &columns, &mut out).expect("a product");
                assert_eq!(out, [-*a * F::from(count as u64); 2]);
            }
        }
    }

    fn edge_case_elements<F: PrimeField>() -> Vec<F> {
        vec![F::ZERO, F::ONE, -F::ONE, F::TWO_INV, -F::TWO_INV, F::MULTIPLICATIVE_GENERATOR]
    }

    #[test]
    fn sums_of_extremes() {
        let mut of_goldilocks = edge_case_elements::<Goldilocks>();
        of_goldilocks.push(Goldilocks(p3_goldilocks::Goldilocks::new(u64::MAX)));
        check_dot_products(&of_goldilocks);
        let mut of_baby_bear = edge_case_elements::<BabyBear>();
        // This element has the limb p − 1.
        of_baby_bear.push(-inverse_of_radix());
        check_dot_products(&of_baby_bear);
    }

    /// Checks that dot products with AVX2 equal portable ones.
    #[test]
    fn all_registers_agree() {
        let a: Vec<u32> =
            (0..1000u32).map(|i| i.wrapping_mul(0x9e37_79b9) % p3_baby_bear::BabyBear::ORDER_U32).collect();
        assert_eq!(dot_product::<4>(&a, &a[..]), dot_product_portable(&a, &a));
        assert_eq!(dot_product::<2>(&a, &a[..]), a.iter().map(|a| u128::from(*a) * u128::from(*a)).sum());
    }
}
