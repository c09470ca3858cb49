//! Rounds on the host's cores: a block of rows at a time, by products of whole slices.

use rayon::prelude::*;

use super::claim::Term;
use super::field::{SumcheckField, WorkField};
use super::message::Point;
use super::shape::Shape;
use crate::field::SecretVec;
use crate::waiting::spread;

/// Rows of a block: what a few columns of them take fits a core's first cache.
const BLOCK: usize = 256;
/// Rows that are folded by one core at a time.
const FOLDED: usize = 1 << 12;
/// So many rows are not worth waking other cores for.
const FEW: usize = 1 << 10;

/// Columns between two rounds.
pub(super) enum Rows<'a, W: WorkField> {
    /// Of the caller, as long as nothing is folded.
    Given(Vec<&'a [W]>),
    /// Of our own, of which the first so many rows count.
    Own(Vec<SecretVec<W>>, usize),
}

impl<'a, W: WorkField> Rows<'a, W> {
    /// Columns of the host, converted if need be.
    pub fn of<F: SumcheckField<Work = W>>(columns: &[&'a [F]]) -> Self {
        let there: Option<Vec<&[W]>> = columns.iter().map(|column| F::as_work(column)).collect();
        there.map_or_else(|| Self::converted(columns), Self::Given)
    }

    fn converted<F: SumcheckField<Work = W>>(columns: &[&[F]]) -> Self {
        // Memory that is new is touched by all cores.
        let convert = |column: &&[F]| {
            SecretVec(column.par_iter().with_min_len(FOLDED).map(|element| element.to_work()).collect())
        };
        let rows = columns.first().map_or(0, |column| column.len());
        Self::Own(spread(|| columns.iter().map(convert).collect()), rows)
    }

    pub fn rows(&self) -> usize {
        match self {
            Self::Given(columns) => columns.first().map_or(0, |column| column.len()),
            Self::Own(_, rows) => *rows,
        }
    }

    fn column(&self, number: usize) -> &[W] {
        match self {
            Self::Given(columns) => columns[number],
            Self::Own(columns, rows) => &columns[number][..*rows],
        }
    }

    /// All columns' first row.
    pub fn first_row(&self, columns: usize) -> Vec<W> {
        (0..columns).map(|number| self.column(number)[0]).collect()
    }

    /// Binds the first variable.
    pub fn fold(&mut self, challenge: W) {
        let half = self.rows() / 2;
        if let Self::Given(columns) = self {
            let folded: Vec<SecretVec<W>> = columns.iter().map(|column| copied(&column[..half])).collect();
            let high: Vec<&[W]> = columns.iter().map(|column| &column[half..]).collect();
            *self = Self::Own(fold_all(folded, &high, challenge), half);
        } else if let Self::Own(columns, rows) = self {
            *rows = half;
            for column in columns {
                let (low, high) = column.0.split_at_mut(half);
                fold(low, &high[..half], challenge);
            }
        }
    }

    /// Sums over half the rows, a value for each of the shape's points.
    pub fn sums(&self, shape: &Shape<W>) -> Vec<W> {
        let half = self.rows() / 2;
        let add = |mut sums: Vec<W>, more: Vec<W>| {
            sums.iter_mut().zip(more).for_each(|(sum, more)| *sum += more);
            sums
        };
        let block = |room: &mut Room<W>, number: usize| {
            let first = number * BLOCK;
            Block { rows: self, shape, first, length: BLOCK.min(half - first), half }.sums(room)
        };
        let (count, zero) = (half.div_ceil(BLOCK), || vec![W::ZERO; shape.points.len()]);
        if half <= FEW {
            let mut room = Room::new(shape, half.min(BLOCK));
            return (0..count).map(|number| block(&mut room, number)).fold(zero(), add);
        }
        let sums = (0..count).into_par_iter().map_init(|| Room::new(shape, BLOCK), block);
        spread(|| sums.reduce(zero, add))
    }
}

/// A copy, in memory that is touched by all cores where that is worth it.
fn copied<W: WorkField>(rows: &[W]) -> SecretVec<W> {
    if rows.len() <= FEW {
        return SecretVec(rows.to_vec());
    }
    SecretVec(spread(|| rows.par_iter().with_min_len(FOLDED).copied().collect()))
}

fn fold_all<W: WorkField>(mut low: Vec<SecretVec<W>>, high: &[&[W]], challenge: W) -> Vec<SecretVec<W>> {
    low.iter_mut().zip(high).for_each(|(low, high)| fold(&mut low.0, high, challenge));
    low
}

fn fold<W: WorkField>(low: &mut [W], high: &[W], challenge: W) {
    if low.len() <= FEW {
        return W::fold(low, high, challenge);
    }
    let pairs = low.par_chunks_mut(FOLDED).zip(high.par_chunks(FOLDED));
    spread(|| pairs.for_each(|(low, high)| W::fold(low, high, challenge)));
}

/// A block's memory, so many elements for each column as a block has rows: differences of both halves, and values at a point.
struct Room<W: WorkField> {
    differences: Vec<SecretVec<W>>,
    values: Vec<SecretVec<W>>,
    weights: SecretVec<W>,
    product: SecretVec<W>,
}

impl<W: WorkField> Room<W> {
    fn new(shape: &Shape<W>, rows: usize) -> Self {
        let block = || SecretVec(vec![W::ZERO; rows]);
        let blocks = || (0..shape.columns).map(|_| block()).collect();
        Self { differences: blocks(), values: blocks(), weights: block(), product: block() }
    }
}

/// Some rows of the first half, and those of the other half that belong to them.
struct Block<'a, W: WorkField> {
    rows: &'a Rows<'a, W>,
    shape: &'a Shape<W>,
    first: usize,
    length: usize,
    half: usize,
}

impl<W: WorkField> Block<'_, W> {
    fn low(&self, column: usize) -> &[W] {
        &self.rows.column(column)[self.first..][..self.length]
    }

    fn high(&self, column: usize) -> &[W] {
        &self.rows.column(column)[self.half + self.first..][..self.length]
    }

    fn sums(&self, room: &mut Room<W>) -> Vec<W> {
        if let Some(weights) = &self.shape.weights {
            weights.write(weights.level(self.half.ilog2()), self.first, &mut room.weights.0[..self.length]);
        }
        for (column, differences) in room.differences.iter_mut().enumerate() {
            let pairs = self.low(column).iter().zip(self.high(column));
            differences.0.iter_mut().zip(pairs).for_each(|(difference, (low, high))| *difference = *high - low);
        }
        self.shape.points.iter().map(|point| self.sum(room, *point)).collect()
    }

    fn sum(&self, room: &mut Room<W>, point: Point) -> W {
        if let Point::At(number @ 2..) = point {
            for (column, values) in room.values.iter_mut().enumerate() {
                let pairs = self.low(column).iter().zip(&room.differences[column].0);
                values.0.iter_mut().zip(pairs).for_each(|(value, (low, difference))| {
                    *value = *low + difference.times_number(number);
                });
            }
        }
        let terms = self.shape.terms.iter().filter(|term| self.shape.counts(term, point));
        let Room { differences, values, weights, product } = room;
        let factor = |column: usize| match point {
            Point::At(0) => self.low(column),
            Point::At(1) => self.high(column),
            Point::At(_) => &values[column][..self.length],
            Point::Infinity => &differences[column][..self.length],
        };
        let weights = self.shape.weights.as_ref().map(|_| &weights[..self.length]);
        terms.map(|term| term.coefficient * sum_of_term(term, factor, weights, &mut product.0[..self.length])).sum()
    }
}

/// Σ of the products of factors, and of weights if there are any. The last factor is multiplied only for the sum.
fn sum_of_term<'a, W: WorkField>(
    term: &Term<W>,
    factor: impl Fn(usize) -> &'a [W],
    weights: Option<&'a [W]>,
    product: &mut [W],
) -> W {
    let factors: Vec<&[W]> = weights.into_iter().chain(term.columns.iter().map(|column| factor(*column))).collect();
    match &factors[..] {
        [] => W::ZERO,
        [only] => only.iter().sum(),
        [a, b] => W::sum_of_products(a, b),
        [first, between @ .., last] => {
            product.copy_from_slice(first);
            for factor in between {
                W::multiply(product, factor);
            }
            W::sum_of_products(product, last)
        }
    }
}
