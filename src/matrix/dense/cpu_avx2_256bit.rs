//! Adds up unreduced products of numbers of 256 bits with AVX2, four at a time. A register holds a limb of 26 bits of
//! each of four elements. Products of limbs have 52 bits, and hundreds of them add up without a carry.

use std::arch::x86_64::{
    __m256i, _mm256_add_epi64, _mm256_and_si256, _mm256_loadu_si256, _mm256_mul_epu32, _mm256_or_si256,
    _mm256_permute2x128_si256, _mm256_set1_epi64x, _mm256_setzero_si256, _mm256_slli_epi64, _mm256_srli_epi64,
    _mm256_storeu_si256, _mm256_unpackhi_epi64, _mm256_unpacklo_epi64,
};

use super::element_and_accumulator::{WideAccumulator, add_products};
use crate::field::{Element, as_bytes};
use crate::secret_vec::SecretVec;

/// Number of elements that a register holds a limb of.
const LANES: usize = 4;
/// Number of bits that a limb holds.
const BITS: usize = 26;
/// Number of limbs per element, which hold 260 bits.
const LIMBS: usize = 10;
/// Number of limb positions that a product of two elements has.
const COLUMNS: usize = 2 * LIMBS - 1;
/// Maximum number of blocks of four elements that are summed without carries. A sum of 10·256 products of 52 bits stays
/// below 2^64.
const BLOCKS: usize = 256;

/// Holds four elements. Register i holds limb i of each of them.
type PackedLimbs = [__m256i; LIMBS];

/// Adds the unreduced dot product of `row` and column i to `sums[i]`. Returns false, and adds nothing, if the processor
/// lacks AVX2 or elements do not have 32 bytes.
pub(super) fn add_dot_products<F: Element>(row: &[F], columns: &[F], sums: &mut [WideAccumulator]) -> bool {
    let can = size_of::<F>() == 32 && is_x86_feature_detected!("avx2");
    if can {
        let (length, whole) = (row.len(), row.len() / LANES * LANES);
        for start in (0..whole).step_by(LANES * BLOCKS) {
            let some = start..(start + LANES * BLOCKS).min(whole);
            // SAFETY: the processor has AVX2.
            let blocks =
                SecretVec(element_blocks(&row[some.clone()]).iter().map(|four| unsafe { pack_limbs(four) }).collect());
            for (number, sum) in sums.iter_mut().enumerate() {
                let column = &columns[number * length..][some.clone()];
                // SAFETY: as above.
                add_limb_columns(sum, &unsafe { dot_product_limbs(&blocks, element_blocks(column)) });
            }
        }
        for (number, sum) in sums.iter_mut().enumerate() {
            add_products(sum, &row[whole..], &columns[number * length..][whole..length]);
        }
    }
    can
}

/// Returns the bytes of `elements`, which have 32 bytes each, in blocks of four elements. An incomplete last block is
/// left out.
fn element_blocks<F: Element>(elements: &[F]) -> &[[[u8; 32]; LANES]] {
    as_bytes(elements).as_chunks().0.as_chunks().0
}

/// Splits the bytes of `four` elements into limbs of 26 bits. Here and below, no closure is passed to a function
/// compiled without AVX2, because it would not be inlined there.
#[inline]
#[target_feature(enable = "avx2")]
fn pack_limbs(four: &[[u8; 32]; LANES]) -> PackedLimbs {
    // SAFETY: an element is as long as a register, and the load needs no alignment.
    let load = |element: &[u8; 32]| unsafe { _mm256_loadu_si256(element.as_ptr().cast()) };
    let [a, b, c, d] = [load(&four[0]), load(&four[1]), load(&four[2]), load(&four[3])];
    // `even` holds words 0 and 2, `odd` words 1 and 3: of a and b, then of c and d.
    let even = [_mm256_unpacklo_epi64(a, b), _mm256_unpacklo_epi64(c, d)];
    let odd = [_mm256_unpackhi_epi64(a, b), _mm256_unpackhi_epi64(c, d)];
    let low = |[ab, cd]: [__m256i; 2]| _mm256_permute2x128_si256::<0x20>(ab, cd);
    let high = |[ab, cd]: [__m256i; 2]| _mm256_permute2x128_si256::<0x31>(ab, cd);
    let [w0, w1, w2, w3] = [low(even), low(odd), high(even), high(odd)];
    let mask = _mm256_set1_epi64x((1 << BITS) - 1);
    let cut = |word| _mm256_and_si256(word, mask);
    let both = |low, high| _mm256_and_si256(_mm256_or_si256(low, high), mask);
    [
        cut(w0),
        cut(_mm256_srli_epi64::<26>(w0)),
        both(_mm256_srli_epi64::<52>(w0), _mm256_slli_epi64::<12>(w1)),
        cut(_mm256_srli_epi64::<14>(w1)),
        both(_mm256_srli_epi64::<40>(w1), _mm256_slli_epi64::<24>(w2)),
        cut(_mm256_srli_epi64::<2>(w2)),
        cut(_mm256_srli_epi64::<28>(w2)),
        both(_mm256_srli_epi64::<54>(w2), _mm256_slli_epi64::<10>(w3)),
        cut(_mm256_srli_epi64::<16>(w3)),
        _mm256_srli_epi64::<42>(w3),
    ]
}

/// Returns the four 64-bit words of `register`, lowest first.
#[target_feature(enable = "avx2")]
fn register_words(register: __m256i) -> [u64; LANES] {
    let mut words = [0; LANES];
    // SAFETY: the words are as long as a register, and the store needs no alignment.
    unsafe { _mm256_storeu_si256(words.as_mut_ptr().cast(), register) };
    words
}

/// Adds Σ p\[i\]·q\[j\] over all i + j = COLUMN to `sum[COLUMN]`, in each lane.
#[inline]
#[target_feature(enable = "avx2")]
fn add_limb_products<const COLUMN: usize>(sum: &mut [__m256i; COLUMNS], p: &PackedLimbs, q: &PackedLimbs) {
    let mut total = sum[COLUMN];
    // Compilers unroll a loop of known length.
    for i in 0..LIMBS {
        if i <= COLUMN && COLUMN - i < LIMBS {
            total = _mm256_add_epi64(total, _mm256_mul_epu32(p[i], q[COLUMN - i]));
        }
    }
    sum[COLUMN] = total;
}

macro_rules! columns {
    ($sum:ident $p:ident $q:ident: $($column:literal)*) => { $(add_limb_products::<$column>(&mut $sum, $p, &$q);)* };
}

/// Returns the dot product of `row` and `column_of_b` as a sum for each limb position, without carries. `row` has at
/// most [`BLOCKS`] blocks.
#[target_feature(enable = "avx2")]
fn dot_product_limbs(row: &[PackedLimbs], column_of_b: &[[[u8; 32]; LANES]]) -> [u128; COLUMNS] {
    let mut sums = [_mm256_setzero_si256(); COLUMNS];
    for (p, q) in row.iter().zip(column_of_b) {
        let q = pack_limbs(q);
        columns!(sums p q: 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18);
    }
    sums.map(|sum| register_words(sum).into_iter().map(u128::from).sum())
}

/// Adds Σ `columns[i]`·2^(26·i) to `sum`. Each column is below 2^66 and is shifted by at most 58 bits.
fn add_limb_columns(sum: &mut WideAccumulator, columns: &[u128; COLUMNS]) {
    for (number, column) in columns.iter().enumerate() {
        let bit = BITS * number;
        sum.add_shifted(bit / 64, column << (bit % 64));
    }
}
