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

/// Holds a map as the images of bits, with tables of the images of bytes, and its matrix in blocks.
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
    /// Returns the map that takes bit i to `columns[i]`.
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

    /// Returns the images of bits.
    pub fn columns(&self) -> &[u128; BITS] {
        &self.columns
    }

    /// Returns the image of a number, by 16 look-ups.
    pub fn apply(&self, value: u128) -> u128 {
        let bytes = value.to_le_bytes();
        self.tables.iter().zip(bytes).fold(0, |sum, (table, byte)| sum ^ table[usize::from(byte)])
    }

    /// Writes the images of numbers, up to the shorter length. It uses GFNI, eight numbers at a time, if the processor
    /// has it.
    pub fn apply_all(&self, values: &[u128], images: &mut [u128]) {
        let length = values.len().min(images.len());
        let done = self.apply_many(&values[..length], &mut images[..length]);
        let rest = values.iter().zip(images).skip(done);
        rest.for_each(|(value, image)| *image = self.apply(*value));
    }

    /// Writes as many images as there is an instruction for, and returns their number. Both slices have the same
    /// length.
    #[cfg(target_arch = "x86_64")]
    fn apply_many(&self, values: &[u128], images: &mut [u128]) -> usize {
        if !x86::is_there() {
            return 0;
        }
        let (values, images) = (values.as_chunks().0, images.as_chunks_mut().0);
        // SAFETY: the processor was asked just now.
        unsafe { x86::apply(&self.blocks, values, images) };
        values.len() * gfni_blocks::BATCH
    }

    #[cfg(not(target_arch = "x86_64"))]
    fn apply_many(&self, _: &[u128], _: &mut [u128]) -> usize {
        0
    }

    /// Returns the inverse map; `None` if two numbers have the same image.
    pub fn inverse(&self) -> Option<Self> {
        let span = EchelonBasis::from_vectors(&self.columns);
        let mut columns = [0; BITS];
        for (bit, column) in columns.iter_mut().enumerate() {
            *column = span.coordinates(1 << bit)?;
        }
        Some(Self::new(columns))
    }
}

/// Holds the span of vectors in echelon form.
#[derive(Debug, Clone)]
pub(crate) struct EchelonBasis {
    /// For each bit: a vector that has it as its highest, and the set of given vectors that it is the sum of.
    rows: [Option<(u128, u128)>; BITS],
}

impl EchelonBasis {
    pub fn from_vectors(vectors: &[u128; BITS]) -> Self {
        let mut span = Self { rows: [None; BITS] };
        for (number, vector) in vectors.iter().enumerate() {
            let (rest, sum) = span.reduce(*vector);
            if let Some(highest) = rest.checked_ilog2() {
                span.rows[highest as usize] = Some((rest, sum ^ 1 << number));
            }
        }
        span
    }

    /// Returns the set of vectors whose sum is `vector`; `None` if it is outside the span.
    pub fn coordinates(&self, vector: u128) -> Option<u128> {
        let (rest, sum) = self.reduce(vector);
        (rest == 0).then_some(sum)
    }

    /// Reduces a vector by those of the span; returns the rest, and the set of vectors that were taken off.
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

    /// Returns bits without an order that a fault could follow.
    fn bits(count: usize) -> Vec<u128> {
        let step = |value: &u128| Some(value.wrapping_mul(0xda94_2042_e4dd_58b5).wrapping_add(value >> 61 | 1));
        std::iter::successors(Some(0x0123_4567_89ab_cdef_u128 << 35), step).take(count).collect()
    }

    #[test]
    fn many_at_once_are_as_one_by_one() {
        let random = LinearMap::new(std::array::from_fn(|bit| bits(BITS)[bit]));
        let same = LinearMap::new(std::array::from_fn(|bit| 1 << bit));
        let single: Vec<u128> = (0..BITS).map(|bit| 1 << bit).collect();
        for map in [random, same] {
            for values in (0..40).map(bits).chain([single.clone(), vec![u128::MAX; 9]]) {
                let mut images = vec![0; values.len()];
                map.apply_all(&values, &mut images);
                assert_eq!(images, values.iter().map(|value| map.apply(*value)).collect::<Vec<_>>());
            }
        }
    }
}
