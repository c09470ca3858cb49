//! Splits a map's matrix into blocks of 8 × 8 bits, for processors that multiply by such blocks.

/// Numbers that the instructions map at a time, 8.
pub(super) const BATCH: usize = 8;

/// Holds a map's matrix in blocks of 8 × 8 bits. Block (i, j) takes byte j of a number to its part of byte i of the
/// image. The indices are the rotation r, the half of the image's bytes, the half of the number's bytes, and i. Within
/// these halves, entry i is the block (i, (i + r) mod 8).
#[derive(Clone)]
pub(super) struct Blocks(pub [[[[u64; 8]; 2]; 2]; 8]);

impl Blocks {
    pub(super) fn from_columns(columns: &[u128; 128]) -> Self {
        let eight = |turn: usize, to: usize, from: usize| {
            std::array::from_fn(|i| extract_block(columns, 8 * to + i, 8 * from + (i + turn) % 8))
        };
        let turned = |turn| std::array::from_fn(|to| std::array::from_fn(|from| eight(turn, to, from)));
        Self(std::array::from_fn(turned))
    }
}

/// Returns the block that takes byte `from` of a number to its part of byte `to` of the image. It has the form of
/// GF2P8AFFINEQB: byte 7 − b is the row of bit b.
fn extract_block(columns: &[u128; 128], to: usize, from: usize) -> u64 {
    let bits = (0..64).filter(|bit| columns[8 * from + bit % 8] >> (8 * to + bit / 8) & 1 == 1);
    bits.fold(0, |block, bit| block | 1 << (8 * (7 - bit / 8) + bit % 8))
}
