//! Multiplies by blocks of 8 × 8 bits (GFNI), in registers of 512 bits.

use std::arch::x86_64::{
    __m512i, _mm512_alignr_epi64, _mm512_gf2p8affine_epi64_epi8, _mm512_loadu_si512, _mm512_permutex2var_epi8,
    _mm512_setzero_si512, _mm512_storeu_si512, _mm512_xor_si512,
};

use super::gfni_blocks::{BATCH, Blocks};

/// Permutations that place the bytes of eight numbers in two registers: word j of sixteen gets byte j of each number.
const TO_WORDS: [[u8; 64]; 2] = [to_words_permutation(0), to_words_permutation(1)];
/// Permutations that place the bytes of sixteen words back into eight numbers, the inverse of [`TO_WORDS`].
const TO_NUMBERS: [[u8; 64]; 2] = [to_numbers_permutation(0), to_numbers_permutation(1)];

const fn to_words_permutation(half: usize) -> [u8; 64] {
    let (mut places, mut place) = ([0; 64], 0);
    while place < 64 {
        places[place] = (16 * (place % 8) + 8 * half + place / 8) as u8;
        place += 1;
    }
    places
}

const fn to_numbers_permutation(half: usize) -> [u8; 64] {
    let (mut places, mut place) = ([0; 64], 0);
    while place < 64 {
        places[place] = (8 * (place % 16) + 4 * half + place / 16) as u8;
        place += 1;
    }
    places
}

/// Returns whether the processor has the instructions of [`apply`].
pub(super) fn is_gfni_available() -> bool {
    is_x86_feature_detected!("gfni")
        && is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512vbmi")
}

#[inline]
#[target_feature(enable = "avx512f")]
fn load<T>(from: &[T]) -> __m512i {
    assert!(size_of_val(from) >= 64);
    // SAFETY: there are at least 64 bytes, and the load needs no alignment.
    unsafe { _mm512_loadu_si512(from.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn store(to: &mut [u128], value: __m512i) {
    assert!(size_of_val(to) >= 64);
    // SAFETY: as in `load`.
    unsafe { _mm512_storeu_si512(to.as_mut_ptr().cast(), value) };
}

/// Writes the images of `values` under the map of `blocks` to `images`, eight at a time. Byte j of all eight numbers
/// forms a word, which one block multiplies.
#[target_feature(enable = "gfni,avx512f,avx512bw,avx512vbmi")]
pub(super) fn apply(blocks: &Blocks, values: &[[u128; BATCH]], images: &mut [[u128; BATCH]]) {
    let (to_low, to_high) = (load(&TO_WORDS[0]), load(&TO_WORDS[1]));
    let (to_first, to_last) = (load(&TO_NUMBERS[0]), load(&TO_NUMBERS[1]));
    for (eight, to) in values.iter().zip(images) {
        let given = (load(&eight[..BATCH / 2]), load(&eight[BATCH / 2..]));
        let words = TransposedBytes(
            _mm512_permutex2var_epi8(given.0, to_low, given.1),
            _mm512_permutex2var_epi8(given.0, to_high, given.1),
        );
        let image = map_words(blocks, words);
        let (first, last) = to.split_at_mut(BATCH / 2);
        store(first, _mm512_permutex2var_epi8(image.0, to_first, image.1));
        store(last, _mm512_permutex2var_epi8(image.0, to_last, image.1));
    }
}

/// Holds the bytes of eight numbers as sixteen words, where word j has byte j of each number. The first register has
/// words 0 to 7, the second has words 8 to 15.
#[derive(Clone, Copy)]
struct TransposedBytes(__m512i, __m512i);

/// Returns the words of the images of eight numbers, from the numbers' `words`.
#[inline]
#[target_feature(enable = "gfni,avx512f")]
fn map_words(Blocks(turns): &Blocks, mut words: TransposedBytes) -> TransposedBytes {
    let mut sums = TransposedBytes(_mm512_setzero_si512(), _mm512_setzero_si512());
    for [low, high] in turns {
        sums.0 = _mm512_xor_si512(sums.0, multiply_rotated_blocks(low, words));
        sums.1 = _mm512_xor_si512(sums.1, multiply_rotated_blocks(high, words));
        words = TransposedBytes(_mm512_alignr_epi64::<1>(words.0, words.0), _mm512_alignr_epi64::<1>(words.1, words.1));
    }
    sums
}

/// Returns the products of all `words` and the blocks of one rotation, added up for one half of the images' words.
#[inline]
#[target_feature(enable = "gfni,avx512f")]
fn multiply_rotated_blocks([low, high]: &[[u64; 8]; 2], words: TransposedBytes) -> __m512i {
    _mm512_xor_si512(
        _mm512_gf2p8affine_epi64_epi8::<0>(words.0, load(low)),
        _mm512_gf2p8affine_epi64_epi8::<0>(words.1, load(high)),
    )
}
