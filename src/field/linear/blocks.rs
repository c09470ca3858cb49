//! A map's matrix in blocks of 8 × 8 bits, for processors that multiply by such.

/// Numbers that are mapped at a time.
pub(super) const AT_ONCE: usize = 8;

/// Block (i, j) takes byte j of a number to its part of byte i of the image. By rotation, half of the image's bytes and half of the
/// number's, eight blocks are together: of byte i = 0 … 7 of the one half, and byte i + rotation modulo 8 of the other.
#[derive(Clone)]
pub(super) struct Blocks(pub [[[[u64; 8]; 2]; 2]; 8]);

impl Blocks {
    pub fn of(columns: &[u128; 128]) -> Self {
        let eight = |turn: usize, to: usize, from: usize| {
            std::array::from_fn(|i| block(columns, 8 * to + i, 8 * from + (i + turn) % 8))
        };
        let turned = |turn| std::array::from_fn(|to| std::array::from_fn(|from| eight(turn, to, from)));
        Self(std::array::from_fn(turned))
    }
}

/// A block as GF2P8AFFINEQB has it: byte 7 − b is the row of bit b.
fn block(columns: &[u128; 128], to: usize, from: usize) -> u64 {
    let bits = (0..64).filter(|bit| columns[8 * from + bit % 8] >> (8 * to + bit / 8) & 1 == 1);
    bits.fold(0, |block, bit| block | 1 << (8 * (7 - bit / 8) + bit % 8))
}
