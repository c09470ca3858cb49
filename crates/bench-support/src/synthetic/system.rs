//! A random R1CS of the shape of Filecoin's, satisfied by construction, made by all cores.
//!
//! Every constraint brings one variable. Most variables are bits: free ones, and outputs of gates on bits. Packings of
//! bits make the long rows of A. Packings and products of linear combinations give the values of full size.
//!
//! Rows read variables among the last few thousand, and some free bits of any row. The number of a row and the seed
//! decide whether its variable is a free bit, and the bit's value. Chunks of rows therefore do not wait for each other.

use std::ops::Range;
use std::sync::Arc;

use blstrs::Scalar;
use ff::Field;
use proofwarp::matrix::Csr;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use super::rows::{Matrices, Piece, ROWS};
use crate::Failure;

/// Number of candidates for a nearby variable, 4096. A row picks one of the chunk's last variables of that kind.
const NEAR: usize = 4096;
/// Inverse of the share of far bits, 16: 1/FAR of the bits that rows read are free bits of any chunk.
const FAR: u32 = 16;
/// Lengths of packings, 32 to 256 bits. Each packing draws its length from this range.
const PACKED: Range<usize> = 32..257;
/// Non-zeros of A that a product has.
const PRODUCT: f64 = 3.0;
/// Mean non-zeros of A of a row that brings a bit.
const BIT: f64 = 1.5;

/// Shape and seed of a random system. Equal values make equal systems.
#[derive(Debug, Clone, Copy)]
pub struct Shape {
    /// Rows.
    pub constraints: usize,
    /// Inputs, the constant one first.
    pub inputs: usize,
    /// Mean length of a row of A.
    pub nonzeros: f64,
    /// Share of variables that are zero or one.
    pub bits: f64,
    /// Seed of all randomness.
    pub seed: u64,
}

/// A system with an assignment that satisfies it.
pub struct System {
    /// A, B and C.
    pub matrices: [Arc<Csr<Scalar>>; 3],
    /// Inputs, then one variable for each row.
    pub values: Vec<Scalar>,
    /// Number of inputs.
    pub inputs: usize,
}

/// Kind of a row's constraint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// A free bit: (1 − z)·z = 0.
    Free,
    /// x·y = z.
    And,
    /// 2x·y = x + y − z.
    Xor,
    /// Σ 2^i·bit = z.
    Packing,
    /// A linear combination times another.
    Product,
}

impl Shape {
    /// Makes the system and its assignment.
    ///
    /// # Errors
    /// Returns an error if the engine refuses the matrices.
    pub fn make(self) -> Result<System, Failure> {
        let mut rng = ChaCha8Rng::seed_from_u64(self.seed);
        let inputs: Vec<Scalar> =
            std::iter::once(Scalar::ONE).chain((1..self.inputs).map(|_| Scalar::random(&mut rng))).collect();
        let mut values: Vec<Scalar> = rayon::iter::repeat_n(Scalar::ZERO, self.inputs + self.constraints).collect();
        values[..self.inputs].copy_from_slice(&inputs);
        let chunks = values[self.inputs..].par_chunks_mut(ROWS).enumerate();
        let make = |(number, values)| Chunk::new(self, &inputs, number, values).rows();
        let pieces: Vec<[Piece; 3]> = chunks.map(make).collect();
        let matrices = Matrices(pieces).join(self.inputs + self.constraints)?;
        Ok(System { matrices, values, inputs: self.inputs })
    }

    /// Returns the share of rows that are packings: enough of them to raise the mean length of A's rows to `nonzeros`,
    /// but at most the rows that compute no bit.
    fn packings(&self) -> f64 {
        let mean = (PACKED.start + PACKED.end - 1) as f64 / 2.0;
        let full = 1.0 - self.bits;
        let without = BIT * self.bits + PRODUCT * full;
        ((self.nonzeros - without) / (mean - PRODUCT)).clamp(0.0, full)
    }

    /// Returns the kind of `row`, and a random bit. Both follow from the seed and `row` alone.
    fn kind(&self, row: usize) -> (Kind, bool) {
        let random = mix(self.seed ^ mix(row as u64));
        let place = (random >> 32) as f64 / (1u64 << 32) as f64;
        let kind = match place {
            _ if place < self.bits / 2.0 => Kind::Free,
            _ if place < self.bits * 0.75 => Kind::And,
            _ if place < self.bits => Kind::Xor,
            _ if place < self.bits + self.packings() => Kind::Packing,
            _ => Kind::Product,
        };
        (kind, random & 1 == 1)
    }
}

/// Mixes the bits of `number` by a step of SplitMix64 (Steele, Lea and Flood, 2014).
fn mix(number: u64) -> u64 {
    let mut bits = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    bits = (bits ^ bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ bits >> 31
}

/// Consecutive rows that one task makes. They read only inputs, the chunk's own variables, and free bits of any chunk.
struct Chunk<'a> {
    shape: Shape,
    inputs: &'a [Scalar],
    /// The first row.
    first: usize,
    values: &'a mut [Scalar],
    /// Places of the chunk's bits until now, of the free ones among them, and of values of full size.
    bits: Vec<u32>,
    free: Vec<u32>,
    full: Vec<u32>,
    rng: ChaCha8Rng,
    pieces: [Piece; 3],
}

/// A variable. The pair holds its column and its value.
type Variable = (u32, Scalar);

impl<'a> Chunk<'a> {
    fn new(shape: Shape, inputs: &'a [Scalar], number: usize, values: &'a mut [Scalar]) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(shape.seed);
        rng.set_stream(1 + number as u64);
        let (bits, free, full) = (Vec::new(), Vec::new(), Vec::new());
        Self { shape, inputs, first: number * ROWS, values, bits, free, full, rng, pieces: Default::default() }
    }

    fn rows(mut self) -> [Piece; 3] {
        for row in 0..self.values.len() {
            let (kind, bit) = self.shape.kind(self.first + row);
            self.values[row] = self.row(row, kind, bit);
            match kind {
                Kind::Packing | Kind::Product => self.full.push(row as u32),
                _ => self.bits.push(row as u32),
            }
            if kind == Kind::Free {
                self.free.push(row as u32);
            }
            self.pieces.iter_mut().for_each(Piece::end_row);
        }
        self.pieces
    }

    /// Writes `row` of `kind` and returns its variable's value, which is `bit` if the row is free.
    fn row(&mut self, row: usize, kind: Kind, bit: bool) -> Scalar {
        let column = self.column(row);
        match kind {
            Kind::Free => self.boolean(column, bit),
            Kind::And => self.and(column),
            Kind::Xor => self.xor(column),
            Kind::Packing => self.packing(column),
            Kind::Product => self.product(column),
        }
    }

    fn boolean(&mut self, column: u32, bit: bool) -> Scalar {
        self.terms(0, [(0, Piece::ONE), (column, Piece::MINUS_ONE)]);
        self.terms(1, [(column, Piece::ONE)]);
        Scalar::from(u64::from(bit))
    }

    fn and(&mut self, column: u32) -> Scalar {
        let ((x, a), (y, b)) = (self.bit(), self.free_bit());
        for (matrix, column) in [x, y, column].into_iter().enumerate() {
            self.terms(matrix, [(column, Piece::ONE)]);
        }
        a * b
    }

    fn xor(&mut self, column: u32) -> Scalar {
        let ((x, a), (y, b)) = (self.bit(), self.free_bit());
        self.terms(0, [(x, Piece::power(1))]);
        self.terms(1, [(y, Piece::ONE)]);
        self.terms(2, [(x, Piece::ONE), (y, Piece::ONE), (column, Piece::MINUS_ONE)]);
        a + b - (a * b).double()
    }

    fn packing(&mut self, column: u32) -> Scalar {
        let length = self.rng.gen_range(PACKED);
        let mut limbs = [0u64; 4];
        for i in 0..length {
            let (bit, value) = self.bit();
            self.terms(0, [(bit, Piece::power(i as u32))]);
            limbs[i / 64] |= u64::from(value == Scalar::ONE) << (i % 64);
        }
        self.terms(1, [(0, Piece::ONE)]);
        self.terms(2, [(column, Piece::ONE)]);
        let shift = Scalar::from(1 << 32).square();
        limbs.iter().rev().fold(Scalar::ZERO, |sum, limb| sum * shift + Scalar::from(*limb))
    }

    fn product(&mut self, column: u32) -> Scalar {
        let input = self.rng.gen_range(1..self.inputs.len());
        let (full, bits) = (self.full(), [self.bit(), self.bit(), self.free_bit()]);
        self.terms(0, [(input as u32, Piece::ONE), (bits[0].0, Piece::MINUS_ONE), (bits[1].0, Piece::power(3))]);
        self.terms(1, [(full.0, Piece::ONE), (bits[2].0, Piece::MINUS_ONE)]);
        self.terms(2, [(column, Piece::ONE)]);
        (self.inputs[input] - bits[0].1 + bits[1].1 * Scalar::from(8)) * (full.1 - bits[2].1)
    }

    /// Adds `terms`, columns and coefficients, to the current row of A, B or C: 0, 1 or 2 as `matrix`.
    fn terms<const N: usize>(&mut self, matrix: usize, terms: [(u32, u32); N]) {
        let piece = &mut self.pieces[matrix];
        for (column, coefficient) in terms {
            piece.term(column, coefficient);
        }
    }

    /// Returns the column of the variable at `place` in the chunk.
    fn column(&self, place: usize) -> u32 {
        (self.shape.inputs + self.first + place) as u32
    }

    /// Returns a bit, most often one nearby.
    fn bit(&mut self) -> Variable {
        match near(&self.bits, &mut self.rng) {
            Some(place) if self.rng.gen_range(0..FAR) > 0 => self.variable(place),
            _ => self.far_bit(),
        }
    }

    /// Returns a free bit, most often one nearby. Free bits occur in B anyway, and most variables in B are free bits.
    fn free_bit(&mut self) -> Variable {
        match near(&self.free, &mut self.rng) {
            Some(place) if self.rng.gen_range(0..FAR) > 0 => self.variable(place),
            _ => self.far_bit(),
        }
    }

    /// Returns a free bit of any chunk, or the constant one if none was found in 64 tries.
    fn far_bit(&mut self) -> Variable {
        const TRIES: usize = 64;
        for _ in 0..TRIES {
            let row = self.rng.gen_range(0..self.shape.constraints);
            if let (Kind::Free, bit) = self.shape.kind(row) {
                return ((self.shape.inputs + row) as u32, Scalar::from(u64::from(bit)));
            }
        }
        (0, Scalar::ONE)
    }

    /// Returns a value of full size nearby, or an input if there is none.
    fn full(&mut self) -> Variable {
        match near(&self.full, &mut self.rng) {
            Some(place) => self.variable(place),
            None => (1, self.inputs[1]),
        }
    }

    fn variable(&self, place: u32) -> Variable {
        (self.column(place as usize), self.values[place as usize])
    }
}

/// Returns one of the last [`NEAR`] of `places`, or `None` if `places` is empty.
fn near(places: &[u32], rng: &mut ChaCha8Rng) -> Option<u32> {
    let count = places.len().min(NEAR);
    (count > 0).then(|| places[places.len() - 1 - rng.gen_range(0..count)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn systems_have_the_shape_that_is_asked_for() {
        let shape = Shape { constraints: 100_000, inputs: 16, nonzeros: 3.0, bits: 0.95, seed: 3 };
        let system = shape.make().expect("system");
        assert_eq!(system.values.len(), 100_016);
        let small = system.values.iter().filter(|value| **value == Scalar::ZERO || **value == Scalar::ONE).count();
        assert!((94_000..96_500).contains(&small), "{small} bits");
        let mean = |number: usize| system.matrices[number].nonzeros() as f64 / 1e5;
        assert!((2.8..3.2).contains(&mean(0)), "{} non-zeros in a row of A", mean(0));
        assert!((0.9..2.0).contains(&mean(1)) && (0.9..2.0).contains(&mean(2)), "{} in B, {} in C", mean(1), mean(2));
        let longest = (0..100_000).map(|row| system.matrices[0].row(row).count()).max();
        assert_eq!(longest, Some(PACKED.end - 1));
    }

    #[test]
    fn extreme_shapes_can_be_made() {
        for (bits, nonzeros) in [(0.0, 1.0), (1.0, 300.0), (0.0, 300.0)] {
            let shape = Shape { constraints: 992, inputs: 2, nonzeros, bits, seed: 1 };
            assert_eq!(shape.make().expect("system").matrices[2].rows(), 992);
        }
    }
}
