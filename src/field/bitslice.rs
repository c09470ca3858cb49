//! Bit-sliced elements of 128 bits: a word holds the same bit of 32 elements.
//!
//! Memory is in tiles of 1024 elements, `[tile][bit][lane]`. Lane l of a tile holds the tile's elements 32·l to 32·l +
//! 31; bit k of its words belongs to element 32·l + k. So 32 neighbouring work-items read adjacent words of a bit. A
//! last tile that is not full is filled with zeros.
//!
//! ```
//! use proofwarp::field::bitslice;
//!
//! let elements: Vec<u128> = (0..100).map(|i| i * i << 90).collect();
//! let words = bitslice::to_tiles(&elements);
//! assert_eq!(words.len(), bitslice::TILE_WORDS);
//! assert_eq!(words[97 * bitslice::LANES] >> 12 & 1, (144 >> 7) & 1, "bit 97 of element 12");
//! assert_eq!(bitslice::from_tiles(&words, 100).as_deref(), Some(&elements[..]));
//! ```

use crate::kernels::sumcheck::{SLICED_BITS, SLICED_LANES};

/// Elements whose bits share a word, 32.
pub const SLICED: usize = SLICED_BITS as usize;
/// Words that hold one bit of a tile's elements, 32.
pub const LANES: usize = SLICED_LANES as usize;
/// Elements that a tile holds, 1024.
pub const TILE: usize = SLICED * LANES;
/// Bits that an element has, 128.
const BITS: usize = 128;
/// 32-bit words that a tile takes, 4096.
pub const TILE_WORDS: usize = BITS * LANES;

/// Transposes the matrix of 32 × 32 bits whose rows are `words`. It swaps ever smaller blocks beside the diagonal (as
/// in H. Warren, "Hacker's Delight").
fn transpose(words: &mut [u32; 32]) {
    let (mut width, mut mask) = (16, 0x0000_ffff_u32);
    while width > 0 {
        for low in (0..32).filter(|row| row & width == 0) {
            let swapped = (words[low] >> width ^ words[low + width]) & mask;
            words[low] ^= swapped << width;
            words[low + width] ^= swapped;
        }
        width /= 2;
        mask ^= mask << width;
    }
}

/// Slices 32 elements into words: bit i of word k is bit k of `elements[i]`.
pub fn slice(elements: &[u128; SLICED]) -> [u32; BITS] {
    let mut words = [0; BITS];
    for (part, block) in words.as_chunks_mut::<32>().0.iter_mut().enumerate() {
        block.iter_mut().zip(elements).for_each(|(word, element)| *word = (element >> (32 * part)) as u32);
        transpose(block);
    }
    words
}

/// Restores 32 elements from their bit-sliced `words`, the inverse of [`slice()`].
pub fn unslice(words: &[u32; BITS]) -> [u128; SLICED] {
    let mut elements = [0; SLICED];
    for (part, block) in words.as_chunks::<32>().0.iter().enumerate() {
        let mut block = *block;
        transpose(&mut block);
        elements.iter_mut().zip(block).for_each(|(element, word)| *element |= u128::from(word) << (32 * part));
    }
    elements
}

/// Packs `elements` into bit-sliced tiles. The last tile is filled with zeros.
pub fn to_tiles(elements: &[u128]) -> Vec<u32> {
    let mut words = vec![0; elements.len().div_ceil(TILE) * TILE_WORDS];
    for (number, part) in elements.chunks(SLICED).enumerate() {
        let mut all = [0; SLICED];
        all[..part.len()].copy_from_slice(part);
        let first = number / LANES * TILE_WORDS + number % LANES;
        words[first..].iter_mut().step_by(LANES).zip(slice(&all)).for_each(|(word, sliced)| *word = sliced);
    }
    words
}

/// Returns the first `count` elements of the tiles `words`, or `None` if `words` has not the length of tiles for
/// `count` elements.
pub fn from_tiles(words: &[u32], count: usize) -> Option<Vec<u128>> {
    if count.div_ceil(TILE).checked_mul(TILE_WORDS) != Some(words.len()) {
        return None;
    }
    let part = |number: usize| {
        let first = number / LANES * TILE_WORDS + number % LANES;
        unslice(&std::array::from_fn(|bit| words[first + bit * LANES]))
    };
    let mut elements: Vec<u128> = (0..count.div_ceil(SLICED)).flat_map(part).collect();
    elements.truncate(count);
    Some(elements)
}
