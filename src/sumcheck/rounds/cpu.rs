//! Computes rounds on the host's cores, a block of rows at a time, by products of whole slices.
//!
//! Over columns of the base field, the first round's challenge folds them to the compute field.

use ff::Field;
use rayon::prelude::*;

use super::round_poly::Point;
use crate::rayon_waits::install;
use crate::secret_vec::SecretVec;
use crate::sumcheck::claim::{ProductTerm, RoundShape};
use crate::sumcheck::field::{ComputeField, SumcheckField};

/// Rows per block, 256: the blocks of a few columns fit a core's first-level cache.
const BLOCK: usize = 256;
/// Rows of a column that one task folds, 4096.
const FOLDED: usize = 1 << 12;
/// Number of rows, 1024, up to which one core works alone: waking other cores would not pay.
const MIN_PARALLEL_ROWS: usize = 1 << 10;

/// Represents a function that fills a slice with a column's elements from a given row on, converted to the compute
/// field.
type ColumnLoader<'a, W> = Box<dyn Fn(usize, &mut [W]) + Sync + Send + 'a>;

/// Holds a claim's columns in host memory between two rounds.
pub(crate) enum HostColumns<'a, W: ComputeField> {
    /// The caller's columns, until they are folded.
    Given(Vec<&'a [W]>),
    /// Columns still in the caller's basis, a loader each, and their number of rows. A block is converted to the
    /// compute basis each time it is read, which costs less than keeping all blocks converted.
    Brought(Vec<ColumnLoader<'a, W>>, usize),
    /// Columns in the prover's own memory, and the number of their first rows that are still in use.
    Own(Vec<SecretVec<W>>, usize),
}

impl<'a, W: ComputeField> HostColumns<'a, W> {
    /// Wraps the caller's `columns`. If they are in another basis than the compute field, blocks are converted when
    /// they are read.
    pub(crate) fn from_columns<F: SumcheckField<Compute = W>>(columns: &[&'a [F]]) -> Self {
        let there: Option<Vec<&[W]>> = columns.iter().map(|column| F::as_compute_field(column)).collect();
        there.map_or_else(|| Self::with_basis_change(columns), Self::Given)
    }

    fn with_basis_change<F: SumcheckField<Compute = W>>(columns: &[&'a [F]]) -> Self {
        let bring = |column: &&'a [F]| -> ColumnLoader<'a, W> {
            let column = *column;
            Box::new(|first, to| F::to_compute_field_all(&column[first..][..to.len()], to))
        };
        Self::Brought(columns.iter().map(bring).collect(), columns.first().map_or(0, |column| column.len()))
    }

    pub(crate) fn row_count(&self) -> usize {
        match self {
            Self::Given(columns) => columns.first().map_or(0, |column| column.len()),
            Self::Brought(_, rows) | Self::Own(_, rows) => *rows,
        }
    }

    /// Returns the first row: one element for each of the `columns` columns.
    pub(crate) fn first_row(&self, columns: usize) -> Vec<W> {
        let first = |number: usize| match self {
            Self::Given(columns) => columns[number][0],
            Self::Brought(columns, _) => load_rows(&columns[number], 0, 1).0[0],
            Self::Own(columns, _) => columns[number].0[0],
        };
        (0..columns).map(first).collect()
    }

    /// Binds the first variable to `challenge`, which halves the number of rows.
    pub(crate) fn fold(&mut self, challenge: W) {
        let half = self.row_count() / 2;
        let folded = match self {
            Self::Given(columns) => folded(columns, half, |column, first, piece| {
                piece.copy_from_slice(&column[first..][..piece.len()]);
                W::fold(piece, &column[half + first..], challenge);
            }),
            Self::Brought(columns, _) => folded(columns, half, |bring, first, piece| {
                bring(first, piece);
                W::fold(piece, &load_rows(bring, half + first, piece.len()).0, challenge);
            }),
            Self::Own(columns, rows) => {
                *rows = half;
                return columns.iter_mut().for_each(|column| fold(&mut column.0, half, challenge));
            }
        };
        *self = Self::Own(folded, half);
    }

    /// Returns the round polynomial's value at each point of `shape`, a sum over half the rows.
    pub(crate) fn evaluate_round(&self, shape: &RoundShape<W>) -> Vec<W> {
        let half = self.row_count() / 2;
        let add = |mut sums: Vec<W>, more: Vec<W>| {
            sums.iter_mut().zip(more).for_each(|(sum, more)| *sum += more);
            sums
        };
        let block = |room: &mut BlockScratch<W>, number: usize| {
            let first = number * BLOCK;
            RowBlock { rows: self, shape, first, length: BLOCK.min(half - first), half }.evaluate_block(room)
        };
        let (count, zero) = (half.div_ceil(BLOCK), || vec![W::ZERO; shape.points.len()]);
        if half <= MIN_PARALLEL_ROWS {
            let mut room = BlockScratch::new(self, shape, half.min(BLOCK));
            return (0..count).map(|number| block(&mut room, number)).fold(zero(), add);
        }
        let sums = (0..count).into_par_iter().map_init(|| BlockScratch::new(self, shape, BLOCK), block);
        install(|| sums.reduce(zero, add))
    }
}

/// Returns `count` elements of the column that `bring` loads, from row `first` on.
fn load_rows<W: ComputeField>(bring: &ColumnLoader<'_, W>, first: usize, count: usize) -> SecretVec<W> {
    let mut elements = SecretVec(vec![W::ZERO; count]);
    bring(first, &mut elements.0);
    elements
}

/// Returns columns of `half` rows in new memory. `write(column, first, piece)` fills `piece` with a column's rows from
/// row `first` on.
fn folded<C: Sync, W: ComputeField>(
    columns: &[C],
    half: usize,
    write: impl Fn(&C, usize, &mut [W]) + Sync,
) -> Vec<SecretVec<W>> {
    let all = || columns.iter().map(|column| SecretVec::par_from_fn(half, |first, piece| write(column, first, piece)));
    if half <= MIN_PARALLEL_ROWS { all().collect() } else { install(|| all().collect()) }
}

/// Folds `column` in place by `challenge`: its first `half` rows become the folded column.
fn fold<W: ComputeField>(column: &mut [W], half: usize, challenge: W) {
    let (low, high) = column.split_at_mut(half);
    let high = &high[..half];
    if half <= MIN_PARALLEL_ROWS {
        return W::fold(low, high, challenge);
    }
    let pairs = low.par_chunks_mut(FOLDED).zip(high.par_chunks(FOLDED));
    install(|| pairs.for_each(|(low, high)| W::fold(low, high, challenge)));
}

/// Holds the scratch memory of a block of rows. For each column it has both halves if they are converted, their
/// differences, and values at a point. Each vector has one element per row of the block.
struct BlockScratch<W: ComputeField> {
    brought: Vec<[SecretVec<W>; 2]>,
    differences: Vec<SecretVec<W>>,
    values: Vec<SecretVec<W>>,
    weights: SecretVec<W>,
    product: SecretVec<W>,
}

impl<W: ComputeField> BlockScratch<W> {
    fn new(columns: &HostColumns<'_, W>, shape: &RoundShape<W>, rows: usize) -> Self {
        let block = || SecretVec(vec![W::ZERO; rows]);
        let blocks = || (0..shape.columns).map(|_| block()).collect();
        let brought = match columns {
            HostColumns::Brought(columns, _) => columns.iter().map(|_| [block(), block()]).collect(),
            HostColumns::Given(_) | HostColumns::Own(..) => Vec::new(),
        };
        Self { brought, differences: blocks(), values: blocks(), weights: block(), product: block() }
    }
}

/// Pairs some rows of a column's first half with the rows at equal offsets in the second half.
type Halves<'a, W> = [&'a [W]; 2];

/// Selects a block of rows: `length` rows from row `first` on, in each half of the columns. A half has `half` rows.
struct RowBlock<'a, W: ComputeField> {
    rows: &'a HostColumns<'a, W>,
    shape: &'a RoundShape<W>,
    first: usize,
    length: usize,
    half: usize,
}

impl<W: ComputeField> RowBlock<'_, W> {
    /// Returns the block's rows in both halves of each column. Columns in another basis are converted into `room`.
    fn halves<'b>(&'b self, room: &'b mut [[SecretVec<W>; 2]]) -> Vec<Halves<'b, W>> {
        let starts = [self.first, self.half + self.first];
        match self.rows {
            HostColumns::Given(columns) => {
                columns.iter().map(|column| starts.map(|start| &column[start..][..self.length])).collect()
            }
            HostColumns::Own(columns, _) => {
                columns.iter().map(|column| starts.map(|start| &column.0[start..][..self.length])).collect()
            }
            HostColumns::Brought(columns, _) => {
                let bring = |(bring, [low, high]): (&ColumnLoader<'_, W>, &'b mut [SecretVec<W>; 2])| {
                    let halves = [&mut low.0[..self.length], &mut high.0[..self.length]];
                    halves.into_iter().zip(starts).for_each(|(half, start)| bring(start, half));
                    [&low.0[..self.length], &high.0[..self.length]]
                };
                columns.iter().zip(room).map(bring).collect()
            }
        }
    }

    fn evaluate_block(&self, room: &mut BlockScratch<W>) -> Vec<W> {
        let BlockScratch { brought, differences, values, weights, product } = room;
        let halves = self.halves(brought);
        if let Some(all) = &self.shape.weights {
            all.write_weights(all.level(self.half.ilog2()), self.first, &mut weights.0[..self.length]);
        }
        for ([low, high], differences) in halves.iter().zip(&mut *differences) {
            let pairs = low.iter().zip(*high);
            differences.0.iter_mut().zip(pairs).for_each(|(difference, (low, high))| *difference = *high - low);
        }
        let weights = self.shape.weights.as_ref().map(|_| &weights[..self.length]);
        let mut sum = |point: &Point| {
            if let Point::At(number @ 2..) = point {
                values_at(*number, &halves, differences, values);
            }
            let factor = |column: usize| match point {
                Point::At(0) => halves[column][0],
                Point::At(1) => halves[column][1],
                Point::At(_) => &values[column][..self.length],
                Point::Infinity => &differences[column][..self.length],
            };
            let terms = self.shape.terms.iter().filter(|term| self.shape.term_contributes(term, *point));
            let product = &mut product.0[..self.length];
            terms.map(|term| term.coefficient * sum_of_term(term, factor, weights, product)).sum()
        };
        self.shape.points.iter().map(&mut sum).collect()
    }
}

/// Writes to `values` the columns' values at the element of `number`, low + number·difference. `number` must be above
/// 1.
fn values_at<W: ComputeField>(
    number: u32,
    halves: &[Halves<'_, W>],
    differences: &[SecretVec<W>],
    values: &mut [SecretVec<W>],
) {
    for (([low, _], differences), values) in halves.iter().zip(differences).zip(values) {
        values.0.copy_from_slice(&differences.0);
        // Horner's scheme takes the bits of `number` below the highest, in loops that have no branches.
        for bit in (0..number.ilog2()).rev() {
            let more: &[W] = if number >> bit & 1 == 1 { &differences.0 } else { &[] };
            values.0.iter_mut().for_each(|value| *value = value.times_element_two());
            add(&mut values.0, more);
        }
        add(&mut values.0, low);
    }
}

/// Adds `b[i]` to `a[i]`, up to the shorter length.
fn add<W: ComputeField>(a: &mut [W], b: &[W]) {
    a.iter_mut().zip(b).for_each(|(a, b)| *a += b);
}

/// Returns the sum over rows of the product of a term's factors, and of `weights` if there are any. `factor` returns
/// the rows of a column. The last factor is multiplied only within the sum. `product` is scratch memory.
fn sum_of_term<'a, W: ComputeField>(
    term: &ProductTerm<W>,
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

/// Number of pairs of rows that one task computes with, 4096.
const ROWS: usize = 1 << 12;
/// Length of [`Values`], 8. It exceeds the number of points at which a product is evaluated.
const MAX_POINTS: usize = 8;

/// Holds a value over the base field for each point. Entries beyond the number of points are unused.
type Values<F> = [<F as SumcheckField>::Base; MAX_POINTS];

/// Borrows the caller's columns over the base field of F.
pub(crate) struct BaseRows<'a, F: SumcheckField>(Vec<&'a [F::Base]>);

impl<'a, F: SumcheckField> BaseRows<'a, F> {
    pub(crate) fn new(columns: Vec<&'a [F::Base]>) -> Self {
        Self(columns)
    }

    fn row_count(&self) -> usize {
        self.0.first().map_or(0, |column| column.len())
    }

    /// Returns the columns, converted to the compute field of F.
    pub(crate) fn lifted(&self) -> HostColumns<'a, F::Compute> {
        self.map_rows(self.row_count(), |column, row| F::from_base(column[row]).to_compute_field())
    }

    /// Binds the first variable to `challenge`, and returns the folded columns in the compute field of F.
    pub(crate) fn folded(&self, challenge: F::Compute) -> HostColumns<'a, F::Compute> {
        let half = self.row_count() / 2;
        self.map_rows(half, |column, row| {
            let (low, high) = (column[row], column[half + row]);
            F::from_base(low).to_compute_field() + F::times_base(challenge, high - low)
        })
    }

    fn map_rows(
        &self,
        rows: usize,
        value: impl Fn(&[F::Base], usize) -> F::Compute + Sync,
    ) -> HostColumns<'a, F::Compute> {
        let column = |column: &&[F::Base]| {
            SecretVec::par_from_fn(rows, |first, piece| {
                piece.iter_mut().enumerate().for_each(|(row, to)| *to = value(column, first + row));
            })
        };
        HostColumns::Own(install(|| self.0.iter().map(column).collect()), rows)
    }

    /// Returns the product of all columns, summed over half the rows, at each point of `shape`.
    pub(crate) fn evaluate_round(&self, shape: &RoundShape<F::Compute>) -> Vec<F::Compute> {
        let (half, points) = (self.row_count() / 2, &shape.points);
        let part = |number: usize| {
            let rows = number * ROWS..half.min((number + 1) * ROWS);
            rows.fold(zeros(), |sums, row| add_products(sums, self.products(row, points)))
        };
        let sums = install(|| (0..half.div_ceil(ROWS)).into_par_iter().map(part).reduce(zeros, add_products));
        sums[..points.len()].iter().map(|sum| F::from_base(*sum).to_compute_field()).collect()
    }

    /// Returns the product of all columns at each of `points`, for the pair of rows `row` and `row` + half.
    fn products(&self, row: usize, points: &[Point]) -> Values<F> {
        let half = self.row_count() / 2;
        let mut products = [F::Base::ONE; MAX_POINTS];
        for column in &self.0 {
            let (low, difference) = (column[row], column[half + row] - column[row]);
            let mut values = [low; MAX_POINTS];
            (1..points.len()).for_each(|number| values[number] = values[number - 1] + difference);
            for (product, point) in products.iter_mut().zip(points) {
                *product *= match point {
                    Point::At(number) => values[*number as usize % MAX_POINTS],
                    Point::Infinity => difference,
                };
            }
        }
        products
    }
}

fn zeros<B: Field>() -> [B; MAX_POINTS] {
    [B::ZERO; MAX_POINTS]
}

fn add_products<B: Field>(mut sums: [B; MAX_POINTS], more: [B; MAX_POINTS]) -> [B; MAX_POINTS] {
    sums.iter_mut().zip(more).for_each(|(sum, more)| *sum += more);
    sums
}
