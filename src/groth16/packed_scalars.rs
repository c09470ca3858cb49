//! Packs field elements: zeros and ones take two bits each.

use std::fmt;

use rayon::prelude::*;

use crate::field::NttField;
use crate::rayon_waits::install;
use crate::secret_vec::SecretVec;

/// Number of elements of a block, 2^14. Expanded they take 512 KiB, which a core's cache holds.
const BLOCK: usize = 1 << 14;
/// Number of blocks that are expanded at a time, 8, by as many cores.
const BLOCKS_AT_ONCE: usize = 8;
/// Number of elements, 64, that share a word of a block's bits.
const WORD: usize = u64::BITS as usize;
/// Minimum number of elements, 64, for which a block allocates memory.
const MIN_CAPACITY: usize = 64;

/// Holds field elements in order. A zero or a one takes two bits, another element its own size more. All memory is
/// cleared when dropped.
///
/// ```
/// # use blstrs::Scalar;
/// use proofwarp::groth16::PackedScalars;
///
/// let mut values: PackedScalars<_> = [0, 1, 7].map(Scalar::from).into_iter().collect();
/// values.push(Scalar::from(1));
/// assert_eq!(values.len(), 4);
/// ```
pub struct PackedScalars<F: Copy> {
    blocks: Vec<Block<F>>,
    len: usize,
}

/// Holds up to [`BLOCK`] elements. Bits are stored from the lowest one of the first word on, one for each element.
struct Block<F: Copy> {
    len: usize,
    /// Whether the element is one.
    ones: SecretVec<u64>,
    /// Whether the element is neither zero nor one.
    large: SecretVec<u64>,
    /// The elements that are neither zero nor one.
    values: SecretVec<F>,
}

impl<F: Copy> Default for PackedScalars<F> {
    /// Returns no elements.
    fn default() -> Self {
        Self { blocks: Vec::new(), len: 0 }
    }
}

impl<F: NttField> FromIterator<F> for PackedScalars<F> {
    fn from_iter<I: IntoIterator<Item = F>>(values: I) -> Self {
        let mut packed = Self::default();
        for value in values {
            packed.push(value);
        }
        packed
    }
}

impl<F: Copy> fmt::Debug for PackedScalars<F> {
    /// Writes only the number of elements, because they may be secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} packed secret values", self.len)
    }
}

impl<F: Copy> PackedScalars<F> {
    /// Returns the number of elements.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the bytes of host memory that the elements take.
    pub fn host_bytes(&self) -> u64 {
        self.blocks.iter().map(Block::host_bytes).sum()
    }
}

impl<F: NttField> PackedScalars<F> {
    /// Appends `value`.
    pub fn push(&mut self, value: F) {
        if self.len.is_multiple_of(BLOCK) {
            self.blocks.push(Block::new());
        }
        if let Some(block) = self.blocks.last_mut() {
            block.push(value);
            self.len += 1;
        }
    }

    /// Appends the elements of `other`.
    pub fn extend_from(&mut self, other: &Self) {
        let mut piece = SecretVec(vec![F::ZERO; other.len.min(BLOCK)]);
        for block in &other.blocks {
            let piece = &mut piece[..block.len];
            block.write_to(piece);
            for value in piece {
                self.push(*value);
            }
        }
    }

    /// Writes all elements to `to`, which has their number, on all cores.
    pub(super) fn write_to(&self, to: &mut [F]) {
        install(|| to.par_chunks_mut(BLOCK).zip(&self.blocks).for_each(|(to, block)| block.write_to(to)));
    }

    /// Calls `visit` with all elements in order, up to 2^17 at a time.
    ///
    /// # Errors
    /// Returns the first error of `visit`.
    pub(super) fn try_for_each_piece<E>(&self, mut visit: impl FnMut(&[F]) -> Result<(), E>) -> Result<(), E> {
        const PIECE: usize = BLOCKS_AT_ONCE * BLOCK;
        let mut piece = SecretVec(vec![F::ZERO; self.len.min(PIECE)]);
        let mut left = self.len;
        for blocks in self.blocks.chunks(BLOCKS_AT_ONCE) {
            let piece = &mut piece[..left.min(PIECE)];
            install(|| piece.par_chunks_mut(BLOCK).zip(blocks).for_each(|(to, block)| block.write_to(to)));
            visit(piece)?;
            left -= piece.len();
        }
        Ok(())
    }
}

impl<F: Copy> Block<F> {
    fn new() -> Self {
        // They never grow, so no copy of them is left behind.
        let bits = || SecretVec(Vec::with_capacity(BLOCK / WORD));
        Self { len: 0, ones: bits(), large: bits(), values: SecretVec::default() }
    }

    fn host_bytes(&self) -> u64 {
        let words = self.ones.0.capacity() + self.large.0.capacity();
        (words * size_of::<u64>() + self.values.0.capacity() * size_of::<F>()) as u64
    }
}

impl<F: NttField> Block<F> {
    /// Appends `value`. The block must have fewer than [`BLOCK`] elements.
    fn push(&mut self, value: F) {
        let bit = self.len % WORD;
        self.len += 1;
        if bit == 0 {
            self.ones.0.push(0);
            self.large.0.push(0);
        }
        let bits = if value == F::ONE { &mut self.ones } else { &mut self.large };
        if let Some(word) = bits.last_mut().filter(|_| !value.is_zero_vartime()) {
            *word |= 1 << bit;
        }
        if !value.is_zero_vartime() && value != F::ONE {
            self.store(value);
        }
    }

    /// Appends `value` to the stored values. Memory that is too small is cleared once they are copied.
    fn store(&mut self, value: F) {
        let Self { values, .. } = self;
        if values.len() == values.0.capacity() {
            let mut larger = Vec::with_capacity((2 * values.len()).clamp(MIN_CAPACITY, BLOCK));
            larger.extend_from_slice(values);
            *values = SecretVec(larger);
        }
        values.0.push(value);
    }

    /// Writes the elements to `to`, which has their number.
    fn write_to(&self, to: &mut [F]) {
        let mut values = self.values.iter();
        for (to, (ones, large)) in to.chunks_mut(WORD).zip(self.ones.iter().zip(self.large.iter())) {
            for (bit, to) in to.iter_mut().enumerate() {
                let has = |bits: &u64| bits >> bit & 1 == 1;
                *to = if has(ones) { F::ONE } else { F::ZERO };
                if let Some(value) = has(large).then(|| values.next()).flatten() {
                    *to = *value;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use blstrs::Scalar;
    use ff::Field;
    use proptest::prelude::*;

    use super::*;

    /// Returns `count` elements. An element is neither zero nor one if `every` divides its index.
    fn elements(count: usize, every: usize) -> Vec<Scalar> {
        let small = |i: usize| Scalar::from((i / 3 % 2) as u64);
        (0..count).map(|i| if i % every == 0 { Scalar::from(i as u64 + 5).square() } else { small(i) }).collect()
    }

    fn pack(values: &[Scalar]) -> PackedScalars<Scalar> {
        values.iter().copied().collect()
    }

    fn check(values: &[Scalar]) {
        let packed = pack(values);
        assert_eq!((packed.len(), packed.is_empty()), (values.len(), values.is_empty()));
        let mut written = vec![Scalar::from(9); values.len()];
        packed.write_to(&mut written);
        assert!(written == values);
        let mut pieces = Vec::new();
        let visit = |piece: &[Scalar]| {
            pieces.extend_from_slice(piece);
            Ok::<_, ()>(())
        };
        packed.try_for_each_piece(visit).expect("no error");
        assert!(pieces == values);
        let mut twice = pack(values);
        twice.extend_from(&packed);
        written.resize(2 * values.len(), Scalar::ZERO);
        twice.write_to(&mut written);
        assert!(written == [values, values].concat());
    }

    #[test]
    fn elements_come_back() {
        for count in [0, 1, 63, 64, 65, BLOCK - 1, BLOCK, BLOCK + 1, BLOCKS_AT_ONCE * BLOCK + 3] {
            for every in [1, 2, 50, usize::MAX] {
                check(&elements(count, every));
            }
        }
    }

    #[test]
    fn the_first_error_ends_the_visit() {
        let (packed, mut visits) = (pack(&elements(3 * BLOCKS_AT_ONCE * BLOCK, 7)), 0);
        let visit = |_: &[Scalar]| {
            visits += 1;
            if visits == 2 { Err("second") } else { Ok(()) }
        };
        assert_eq!(packed.try_for_each_piece(visit), Err("second"));
        assert_eq!(visits, 2);
    }

    /// Zeros and ones take two bits, at a block's granularity, and others 32 bytes at most twice.
    #[test]
    fn memory_is_small() {
        let bytes = |every| pack(&elements(16 * BLOCK, every)).host_bytes() as usize;
        // One element, the first, is large.
        assert_eq!(bytes(usize::MAX), 16 * BLOCK / 4 + 32 * MIN_CAPACITY);
        assert!(bytes(100) < 16 * BLOCK / 4 + 2 * 32 * (16 * BLOCK / 100 + 16 * MIN_CAPACITY));
        assert_eq!(format!("{:?}", pack(&elements(5, 1))), "5 packed secret values");
    }

    proptest! {
        #[test]
        fn any_elements_come_back(values in proptest::collection::vec(0..4_u64, 0..300)) {
            check(&values.into_iter().map(|value| Scalar::from(value) - Scalar::ONE).collect::<Vec<_>>());
        }
    }
}
