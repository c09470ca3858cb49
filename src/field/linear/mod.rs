//! Linear maps of 128 bits over GF(2).

#[cfg(target_arch = "x86_64")]
mod gfni_blocks;
#[cfg(target_arch = "x86_64")]
mod x86;

use std::fmt;

#[cfg(target_arch = "x86_64")]
use gfni_blocks::Blocks;

const BITS: usize = u128::BITS as usize;
const BYTES: usize = BITS / 8;

/// Holds a linear map of 128 bits over GF(2): the images of single bits, tables of the images of bytes, and its matrix
/// in blocks.
#[derive(Clone)]
pub struct LinearMap {
    columns: [u128; BITS],
    tables: Box<[[u128; 256]]>,
    #[cfg(target_arch = "x86_64")]
    blocks: Box<Blocks>,
}

impl fmt::Debug for LinearMap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LinearMap").field("columns", &self.columns).finish_non_exhaustive()
    }
}

impl LinearMap {
    /// Creates the map that takes bit i to `columns[i]`.
    pub fn new(columns: [u128; BITS]) -> Self {
        let image = |byte: usize, value: usize| {
            let bits = (0..8).filter(|bit| value >> bit & 1 == 1);
            bits.fold(0, |sum, bit| sum ^ columns[8 * byte + bit])
        };
        let table = |byte: usize| std::array::from_fn(|value| image(byte, value));
        Self {
            columns,
            tables: (0..BYTES).map(table).collect(),
            #[cfg(target_arch = "x86_64")]
            blocks: Box::new(Blocks::from_columns(&columns)),
        }
    }

    /// Returns the images of single bits: entry i is the image of bit i.
    pub fn columns(&self) -> &[u128; BITS] {
        &self.columns
    }

    /// Returns the image of `value`, by 16 look-ups in tables.
    pub fn apply(&self, value: u128) -> u128 {
        let bytes = value.to_le_bytes();
        self.tables.iter().zip(bytes).fold(0, |sum, (table, byte)| sum ^ table[usize::from(byte)])
    }

    /// Writes the images of `values` to `images`, up to the shorter length. If the processor has GFNI, it maps eight
    /// numbers at a time.
    pub fn apply_all(&self, values: &[u128], images: &mut [u128]) {
        let length = values.len().min(images.len());
        let done = self.apply_simd(&values[..length], &mut images[..length]);
        let rest = values.iter().zip(images).skip(done);
        rest.for_each(|(value, image)| *image = self.apply(*value));
    }

    /// Maps leading `values` by the processor's instructions, eight at a time, and returns how many it mapped. Both
    /// slices must have equal lengths. Returns 0 if the processor lacks the instructions.
    #[cfg(target_arch = "x86_64")]
    fn apply_simd(&self, values: &[u128], images: &mut [u128]) -> usize {
        if !x86::is_gfni_available() {
            return 0;
        }
        let (values, images) = (values.as_chunks().0, images.as_chunks_mut().0);
        // SAFETY: the processor was asked just now.
        unsafe { x86::apply(&self.blocks, values, images) };
        values.len() * gfni_blocks::BATCH
    }

    #[cfg(not(target_arch = "x86_64"))]
    fn apply_simd(&self, _: &[u128], _: &mut [u128]) -> usize {
        0
    }

    /// Returns the inverse map, or `None` if two numbers have equal images.
    pub fn inverse(&self) -> Option<Self> {
        let span = EchelonBasis::from_vectors(&self.columns);
        let mut columns = [0; BITS];
        for (bit, column) in columns.iter_mut().enumerate() {
            *column = span.coordinates(1 << bit)?;
        }
        Some(Self::new(columns))
    }
}

/// Holds a basis, in echelon form, of the span of given vectors over GF(2).
#[derive(Debug, Clone)]
pub(crate) struct EchelonBasis {
    /// Entry b holds a basis vector whose highest bit is b, or `None` if there is none. The vector is a sum of given
    /// vectors. Bit i of the second number says whether given vector i is in this sum.
    rows: [Option<(u128, u128)>; BITS],
}

impl EchelonBasis {
    pub(crate) fn from_vectors(vectors: &[u128; BITS]) -> Self {
        let mut span = Self { rows: [None; BITS] };
        for (number, vector) in vectors.iter().enumerate() {
            let (rest, sum) = span.reduce(*vector);
            if let Some(highest) = rest.checked_ilog2() {
                span.rows[highest as usize] = Some((rest, sum ^ 1 << number));
            }
        }
        span
    }

    /// Returns the given vectors whose sum is `vector`, as a number in which bit i stands for vector i. Returns `None`
    /// if `vector` is outside the span.
    pub(crate) fn coordinates(&self, vector: u128) -> Option<u128> {
        let (rest, sum) = self.reduce(vector);
        (rest == 0).then_some(sum)
    }

    /// Reduces `vector` by the basis. Returns the rest, and the given vectors that were subtracted, as a number in
    /// which bit i stands for vector i.
    fn reduce(&self, mut vector: u128) -> (u128, u128) {
        let mut sum = 0;
        while let Some((row, of)) = vector.checked_ilog2().and_then(|highest| self.rows[highest as usize]) {
            vector ^= row;
            sum ^= of;
        }
        (vector, sum)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns `count` pseudorandom numbers.
    fn pseudorandom_numbers(count: usize) -> Vec<u128> {
        let step = |value: &u128| Some(value.wrapping_mul(0xda94_2042_e4dd_58b5).wrapping_add(value >> 61 | 1));
        std::iter::successors(Some(0x0123_4567_89ab_cdef_u128 << 35), step).take(count).collect()
    }

    #[test]
    fn many_at_once_are_as_one_by_one() {
        let random = LinearMap::new(std::array::from_fn(|bit| pseudorandom_numbers(BITS)[bit]));
        let same = LinearMap::new(std::array::from_fn(|bit| 1 << bit));
        let single: Vec<u128> = (0..BITS).map(|bit| 1 << bit).collect();
        for map in [random, same] {
            for values in (0..40).map(pseudorandom_numbers).chain([single.clone(), vec![u128::MAX; 9]]) {
                let mut images = vec![0; values.len()];
                map.apply_all(&values, &mut images);
                assert_eq!(images, values.iter().map(|value| map.apply(*value)).collect::<Vec<_>>());
            }
        }
    }
}
