//! Splits a map's matrix into blocks of 8 × 8 bits, for processors that multiply by such blocks.

/// Numbers that are mapped at a time, 8.
pub(super) const BATCH: usize = 8;

/// Holds blocks by rotation, half of the image's bytes, and half of the number's. Block (i, j) takes byte j of a number
/// to its part of byte i of the image. Eight blocks are together: of bytes i = 0 … 7 of the image's half, each with
/// byte i + rotation modulo 8 of the number's.
#[derive(Clone)]
pub(super) struct Blocks(pub [[[[u64; 8]; 2]; 2]; 8]);

impl Blocks {
    pub fn from_columns(columns: &[u128; 128]) -> Self {
        let eight = |turn: usize, to: usize, from: usize| {
            std::array::from_fn(|i| block(columns, 8 * to + i, 8 * from + (i + turn) % 8))
        };
        let turned = |turn| std::array::from_fn(|to| std::array::from_fn(|from| eight(turn, to, from)));
        Self(std::array::from_fn(turned))
    }
}

/// Returns a block in the form of GF2P8AFFINEQB: byte 7 − b is the row of bit b.
fn block(columns: &[u128; 128], to: usize, from: usize) -> u64 {
    let bits = (0..64).filter(|bit| columns[8 * from + bit % 8] >> (8 * to + bit / 8) & 1 == 1);
    bits.fold(0, |block, bit| block | 1 << (8 * (7 - bit / 8) + bit % 8))
}
