//! Linear maps of 128 bits over GF(2).

use std::fmt;

const BITS: usize = u128::BITS as usize;
const BYTES: usize = BITS / 8;

/// A map by the images of bits, with tables of the images of bytes.
#[derive(Clone)]
pub struct LinearMap {
    columns: [u128; BITS],
    tables: Box<[[u128; 256]]>,
}

impl fmt::Debug for LinearMap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LinearMap").field("columns", &self.columns).finish_non_exhaustive()
    }
}

impl LinearMap {
    /// The map that takes bit i to `columns[i]`.
    pub fn new(columns: [u128; BITS]) -> Self {
        let image = |byte: usize, value: usize| {
            let bits = (0..8).filter(|bit| value >> bit & 1 == 1);
            bits.fold(0, |sum, bit| sum ^ columns[8 * byte + bit])
        };
        let table = |byte: usize| std::array::from_fn(|value| image(byte, value));
        Self { columns, tables: (0..BYTES).map(table).collect() }
    }

    /// The images of bits.
    pub fn columns(&self) -> &[u128; BITS] {
        &self.columns
    }

    /// The image of all bits of a number: 16 look-ups.
    pub fn apply(&self, value: u128) -> u128 {
        let bytes = value.to_le_bytes();
        self.tables.iter().zip(bytes).fold(0, |sum, (table, byte)| sum ^ table[usize::from(byte)])
    }

    /// The map back; none where two numbers have the same image.
    pub fn inverse(&self) -> Option<Self> {
        let span = Span::of(&self.columns);
        let mut columns = [0; BITS];
        for (bit, column) in columns.iter_mut().enumerate() {
            *column = span.solve(1 << bit)?;
        }
        Some(Self::new(columns))
    }
}

/// What vectors span, in echelon form.
#[derive(Debug, Clone)]
pub(crate) struct Span {
    /// For each bit: a vector that has it as its highest, and which of the given ones it is the sum of.
    rows: [Option<(u128, u128)>; BITS],
}

impl Span {
    pub fn of(vectors: &[u128; BITS]) -> Self {
        let mut span = Self { rows: [None; BITS] };
        for (number, vector) in vectors.iter().enumerate() {
            let (rest, sum) = span.reduce(*vector);
            if let Some(highest) = rest.checked_ilog2() {
                span.rows[highest as usize] = Some((rest, sum ^ 1 << number));
            }
        }
        span
    }

    /// Which of the vectors have this one as their sum; none if it is outside.
    pub fn solve(&self, vector: u128) -> Option<u128> {
        let (rest, sum) = self.reduce(vector);
        (rest == 0).then_some(sum)
    }

    /// What is left of a vector when those of the span are taken off, and which were.
    fn reduce(&self, mut vector: u128) -> (u128, u128) {
        let mut sum = 0;
        while let Some((row, of)) = vector.checked_ilog2().and_then(|highest| self.rows[highest as usize]) {
            vector ^= row;
            sum ^= of;
        }
        (vector, sum)
    }
}
