//! Times the steps of a PLONKish proof between transforms and multiplications, on columns that are on the device. The
//! circuit has degree 5, 12 advice, 14 fixed and 13 permutation columns, and 3 lookups, as in halo2. Openings are by
//! SHPLONK.

use std::ops::Range;
use std::sync::Arc;

use proofwarp::Accelerator;
use proofwarp::backend::{Device, Stream};
use proofwarp::field::{DeviceVector, NttField, as_bytes};
use proofwarp::plonk::steps::blinding::{self, UNIFORM_BYTES};
use proofwarp::plonk::steps::combine::{self, LinearCombination};
use proofwarp::plonk::steps::evaluate::{self, EvaluationQuery};
use proofwarp::plonk::steps::product_factors::{self, Challenges, Factors, Lookup, PermutationSet};
use proofwarp::plonk::steps::quotient_pieces::Cosets;
use proofwarp::plonk::steps::{DeviceColumn, RowCounts, StridedColumns, divide, lookup_permute, products};
use rand::{Rng, RngCore, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::Options;
use crate::timing::median;
use crate::{Failure, inputs};

const LOOKUPS: usize = 3;
/// Columns of each kind, which the arena holds in this order.
const ADVICE: Range<usize> = 0..12;
const FIXED: Range<usize> = 12..26;
const SIGMA: Range<usize> = 26..39;
/// Grand products of the sets.
const SETS: Range<usize> = 39..44;
const PERMUTED_INPUTS: Range<usize> = 44..47;
const PERMUTED_TABLES: Range<usize> = 47..50;
/// Columns that hold the grand products of the lookups.
const LOOKED_UP: Range<usize> = 50..53;
/// Number of columns: a random polynomial and the quotient stand behind them.
const COUNT: usize = LOOKED_UP.end + 2;
/// Columns of a set, for degree 5, and pieces of the quotient.
const OF_SET: usize = 3;
const PIECES: usize = 4;
/// Advice columns that gates read in the next row too.
const ROTATED: Range<usize> = 2..8;
/// Rows that do not count.
const BLINDING: usize = 6;
/// Lengths of the chains that the grand products form.
const CHAINS: [usize; 4] = [SETS.end - SETS.start, 1, 1, 1];

/// Numbers of points: x, ωx, x/ω and x·ω^-BLINDING.
const HERE: usize = 0;
const NEXT: usize = 1;
const BACK: usize = 2;
const LAST: usize = 3;

/// A polynomial's number and that of the point, of all that are evaluated.
fn queries() -> Vec<(usize, usize)> {
    let at = |numbers: Range<usize>, point: usize| numbers.map(move |number| (number, point));
    let all = (0..COUNT).map(|number| (number, HERE));
    let next = at(ROTATED, NEXT).chain(at(SETS, NEXT)).chain(at(LOOKED_UP, NEXT));
    all.chain(next).chain(at(PERMUTED_INPUTS, BACK)).chain(at(SETS.start..SETS.end - 1, LAST)).collect()
}

/// Polynomials of each set of points, and how many points that has.
fn openings() -> [(Vec<usize>, usize); 4] {
    let last = SETS.end - 1;
    let two: Vec<_> = ROTATED.chain(last..SETS.end).chain(LOOKED_UP).collect();
    let (three, back): (Vec<_>, Vec<_>) = ((SETS.start..last).collect(), PERMUTED_INPUTS.collect());
    let others = [&two, &three, &back].map(Clone::clone).concat();
    let one = (0..COUNT).filter(|number| !others.contains(number)).collect();
    [(one, 1), (two, 2), (three, 3), (back, 2)]
}

/// A row for each step.
pub fn rows<F: NttField>(accelerator: &Accelerator, options: &Options, log_n: u32) -> Result<(), Failure> {
    let Some(device) = accelerator.devices().first() else { return Ok(()) };
    if !options.rows.wants(&format!("plonk {}", F::NAME)) {
        return Ok(());
    }
    let timed = Timed::<F>::new(device, options, log_n)?;
    timed.permute()?;
    timed.factors()?;
    timed.products()?;
    timed.blinding()?;
    timed.uniform()?;
    timed.pieces()?;
    timed.evaluate()?;
    timed.combine()?;
    timed.combine_few()?;
    timed.divide()
}

/// Holds the name of a row, and the products and bytes moved that the step counts for each row of the columns.
struct Counted {
    name: &'static str,
    products: usize,
    bytes: usize,
}

/// Columns on the device, and what is the same of them on the host.
struct Timed<'a, F> {
    device: Arc<Device>,
    options: &'a Options,
    rows: RowCounts,
    /// Column k of the arena is these turned by k.
    values: Vec<F>,
    arena: DeviceVector<F>,
    /// Compressed A and S of the lookups, one after the other.
    inputs: Vec<F>,
    tables: Vec<F>,
    lookups: [DeviceVector<F>; 2],
    points: Vec<F>,
}

/// A table whose second half is padding, and inputs of its values, half of them not assigned.
fn lookup<F: NttField>(n: usize, seed: u64) -> [Vec<F>; 2] {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let table: Vec<F> = (0..n).map(|row| F::from(if row < n / 2 { row as u64 } else { 0 })).collect();
    let input = |_| if rng.r#gen() { F::ZERO } else { table[rng.gen_range(0..n / 2)] };
    [(0..n).map(input).collect(), table]
}

type Arguments<C> = (Vec<PermutationSet<C>>, Vec<Lookup<C>>);

/// Sets and lookups, by a column's number and by a lookup's compressed input and table.
fn arguments<C: Copy>(column: impl Fn(usize) -> C, compressed: impl Fn(usize) -> [C; 2]) -> Arguments<C> {
    let columns: Vec<[C; 2]> = ADVICE.chain(FIXED).zip(SIGMA).map(|(k, sigma)| [column(k), column(sigma)]).collect();
    let set = |(number, columns): (usize, &[[C; 2]])| PermutationSet {
        columns: columns.to_vec(),
        first: (OF_SET * number) as u64,
    };
    let lookup = |k: usize| {
        let [input, table] = compressed(k);
        let [permuted_input, permuted_table] = [PERMUTED_INPUTS, PERMUTED_TABLES].map(|of| column(of.start + k));
        Lookup { input, table, permuted_input, permuted_table }
    };
    (columns.chunks(OF_SET).enumerate().map(set).collect(), (0..LOOKUPS).map(lookup).collect())
}

/// Downloads and joins all elements of `vectors`.
fn joined<F: NttField>(stream: &mut Stream, vectors: &[DeviceVector<F>]) -> proofwarp::Result<Vec<F>> {
    let mut all = Vec::new();
    for vector in vectors {
        let start = all.len();
        all.resize(start + vector.len(), F::ZERO);
        vector.download(stream, &mut all[start..])?;
    }
    Ok(all)
}

impl<'a, F: NttField> Timed<'a, F> {
    fn new(device: &Arc<Device>, options: &'a Options, log_n: u32) -> Result<Self, Failure> {
        let rows = RowCounts { log_n, usable: (1usize << log_n).saturating_sub(BLINDING) };
        let values = inputs::coefficients::<F>(rows.n());
        let mut stream = device.stream()?;
        let arena = DeviceVector::allocate(&mut stream, COUNT * rows.n())?;
        for number in 0..COUNT {
            let (tail, head) = as_bytes(&values).split_at(number % rows.n() * size_of::<F>());
            let start = number * size_of_val(values.as_slice());
            stream.upload_at(arena.buffer(), start, head)?;
            stream.upload_at(arena.buffer(), start + head.len(), tail)?;
        }
        let [inputs, tables] = [0, 1].map(|which| {
            (0..LOOKUPS as u64).flat_map(|seed| lookup::<F>(rows.n(), seed)[which].clone()).collect::<Vec<F>>()
        });
        let lookups = [DeviceVector::upload(&mut stream, &inputs)?, DeviceVector::upload(&mut stream, &tables)?];
        let x = -F::MULTIPLICATIVE_GENERATOR;
        let omega = rows.omega::<F>();
        let back = omega.pow_vartime([(rows.n() - 1) as u64]);
        let points = vec![x, x * omega, x * back, x * back.pow_vartime([BLINDING as u64])];
        stream.synchronize(None)?;
        Ok(Self { device: device.clone(), options, rows, values, arena, inputs, tables, lookups, points })
    }

    fn n(&self) -> usize {
        self.rows.n()
    }

    fn on_device(&self, number: usize) -> DeviceColumn<'_, F> {
        DeviceColumn::new(&self.arena, number * self.n())
    }

    /// All columns on the host, where they are checked.
    fn on_host(&self) -> Vec<Vec<F>> {
        let turned = |number: usize| {
            let (tail, head) = self.values.split_at(number % self.n());
            [head, tail].concat()
        };
        (0..COUNT).map(turned).collect()
    }

    /// Runs a step on new inputs, once to warm up and then as often as asked for, and prints the median.
    fn row<V>(
        &self,
        counted: Counted,
        inputs: impl Fn(&mut Stream) -> proofwarp::Result<V>,
        queue: impl Fn(&mut Stream, V) -> proofwarp::Result<Vec<DeviceVector<F>>>,
        on_cpu: impl Fn() -> proofwarp::Result<Vec<F>>,
    ) -> Result<(), Failure> {
        let mut stream = self.device.stream()?;
        let mut times = Vec::new();
        for run in 0..=self.options.rows.repeat.max(1) {
            let inputs = inputs(&mut stream)?;
            stream.synchronize(None)?;
            let before = stream.stats().kernels.as_secs_f64();
            stream.begin_timing()?;
            let outputs = queue(&mut stream, inputs)?;
            stream.end_timing()?;
            stream.synchronize(None)?;
            times.push(stream.stats().kernels.as_secs_f64() - before);
            if self.options.check && run == 0 && on_cpu()? != joined(&mut stream, &outputs)? {
                return Err(format!("{}: other elements than on the CPU", counted.name).into());
            }
        }
        // The first was to warm up.
        times.remove(0);
        self.print(&counted, median(times));
        Ok(())
    }

    fn print(&self, counted: &Counted, seconds: f64) {
        let what = format!("plonk {}, {}", F::NAME, counted.name);
        let rate = |each: usize| each as f64 * self.n() as f64 / seconds / 1e9;
        let [products, bytes] = [counted.products, counted.bytes].map(rate);
        let (log_n, ms) = (self.rows.log_n, seconds * 1e3);
        say!("{what:56} {log_n:>2} {ms:12.4} ms {products:8.2} G products/s {bytes:8.1} GB/s");
    }

    fn permute(&self) -> Result<(), Failure> {
        let name = "permute, 3 lookups";
        let [inputs, tables] = &self.lookups;
        let place = StridedColumns::packed(self.n(), LOOKUPS);
        let on_cpu = || {
            let columns = self.inputs.chunks(self.n()).zip(self.tables.chunks(self.n()));
            let permuted =
                columns.map(|(input, table)| Ok(lookup_permute::on_cpu(self.rows, input, table)?.0.concat()));
            Ok(permuted.collect::<proofwarp::Result<Vec<_>>>()?.concat())
        };
        self.row(
            Counted { name, products: 0, bytes: 430 * LOOKUPS },
            |_| Ok(()),
            |stream, ()| {
                Ok(vec![lookup_permute::enqueue(stream, self.rows, (inputs, place), (tables, place))?.columns])
            },
            on_cpu,
        )
    }

    fn challenges(&self) -> Challenges<F> {
        Challenges { beta: self.points[LAST], gamma: self.points[BACK] }
    }

    fn queue_factors(&self, stream: &mut Stream) -> proofwarp::Result<Factors<DeviceVector<F>>> {
        let compressed = |k: usize| [0, 1].map(|which| DeviceColumn::new(&self.lookups[which], k * self.n()));
        let (sets, lookups) = arguments(|number| self.on_device(number), compressed);
        product_factors::enqueue(stream, self.rows, self.challenges(), &sets, &lookups)
    }

    fn factors_on_cpu(&self) -> proofwarp::Result<Factors<Vec<F>>> {
        let columns = self.on_host();
        let compressed = |k: usize| [&self.inputs, &self.tables].map(|list| &list[k * self.n()..][..self.n()]);
        let (sets, lookups) = arguments(|number| columns[number].as_slice(), compressed);
        product_factors::on_cpu(self.rows, self.challenges(), &sets, &lookups)
    }

    fn factors(&self) -> Result<(), Failure> {
        let (columns, sets, name) = (SIGMA.len(), SETS.len(), "factors of 5 sets and 3 lookups");
        let products = 4 * columns + 2 * sets + 2 * LOOKUPS;
        let bytes = 64 * columns + 128 * LOOKUPS + 64 * (sets + LOOKUPS);
        self.row(
            Counted { name, products, bytes },
            |_| Ok(()),
            |stream, ()| {
                let Factors { numerators, denominators } = self.queue_factors(stream)?;
                Ok(vec![numerators, denominators])
            },
            || {
                let Factors { numerators, denominators } = self.factors_on_cpu()?;
                Ok([numerators, denominators].concat())
            },
        )
    }

    fn products(&self) -> Result<(), Failure> {
        let count: usize = CHAINS.iter().sum();
        self.row(
            Counted { name: "8 grand products", products: 19 * count / 2, bytes: 256 * count },
            |stream| self.queue_factors(stream),
            |stream, factors| Ok(vec![products::enqueue(stream, self.rows, &factors, &CHAINS)?]),
            || products::on_cpu(self.rows, &self.factors_on_cpu()?, &CHAINS),
        )
    }

    /// The last rows of advice.
    fn blinding(&self) -> Result<(), Failure> {
        let (place, blinding) = (StridedColumns::packed(self.n(), ADVICE.len()), self.rows.usable..self.n());
        let values = inputs::coefficients::<F>(place.count * blinding.len());
        self.row(
            Counted { name: "blinding rows of 12 columns", products: 0, bytes: 0 },
            |stream| DeviceVector::upload(stream, &self.on_host()[ADVICE].concat()),
            |stream, mut columns| {
                blinding::enqueue(stream, self.n(), &mut columns, place, blinding.clone(), &values)?;
                Ok(vec![columns])
            },
            || {
                let mut columns = self.on_host()[ADVICE].concat();
                blinding::on_cpu(self.n(), &mut columns, place, blinding.clone(), &values)?;
                Ok(columns)
            },
        )
    }

    fn uniform(&self) -> Result<(), Failure> {
        let mut bytes = vec![0; UNIFORM_BYTES * self.n()];
        ChaCha8Rng::seed_from_u64(9).fill_bytes(&mut bytes);
        self.row(
            Counted { name: "random polynomial, with its upload", products: 2, bytes: 96 + UNIFORM_BYTES },
            |_| Ok(()),
            |stream, ()| Ok(vec![blinding::enqueue_uniform(stream, &bytes)?]),
            || blinding::uniform_on_cpu(&bytes),
        )
    }

    fn pieces(&self) -> Result<(), Failure> {
        let cosets = Cosets::new(self.rows.log_n, PIECES.ilog2(), F::MULTIPLICATIVE_GENERATOR, PIECES)?;
        let place = StridedColumns::packed(self.n(), PIECES);
        let parts = self.on_host()[..PIECES].concat();
        self.row(
            Counted { name: "4 pieces", products: PIECES * PIECES + 2 * PIECES + 2, bytes: 64 * PIECES },
            |stream| DeviceVector::upload(stream, &parts),
            |stream, mut parts| {
                cosets.enqueue(stream, &mut parts, place)?;
                Ok(vec![parts])
            },
            || {
                let mut parts = parts.clone();
                cosets.on_cpu(&mut parts.chunks_mut(self.n()).collect::<Vec<_>>())?;
                Ok(parts)
            },
        )
    }

    fn evaluate(&self) -> Result<(), Failure> {
        let queries = queries();
        let name = "evaluations, 76 of 55 polynomials";
        self.row(
            Counted { name, products: queries.len() * 107 / 100, bytes: 32 * queries.len() },
            |_| Ok(()),
            |stream, ()| {
                let query = |&(number, point): &_| EvaluationQuery { polynomial: self.on_device(number), point };
                let queries: Vec<_> = queries.iter().map(query).collect();
                Ok(vec![evaluate::enqueue(stream, self.n(), &queries, &self.points)?])
            },
            || {
                let columns = self.on_host();
                let query =
                    |&(number, point): &(usize, _)| EvaluationQuery { polynomial: columns[number].as_slice(), point };
                evaluate::on_cpu(&queries.iter().map(query).collect::<Vec<_>>(), &self.points)
            },
        )
    }

    /// Sums of multiples of columns by their numbers, each less as many coefficients as said.
    fn sums<C>(&self, kinds: &[(Vec<usize>, usize)], column: impl Fn(usize) -> C) -> Vec<LinearCombination<C, F>> {
        let term = |number: &usize| (column(*number), self.values[number % self.n()]);
        let of = |(numbers, minus): &(Vec<usize>, usize)| LinearCombination {
            terms: numbers.iter().map(term).collect(),
            minus: self.points[..*minus].to_vec(),
        };
        kinds.iter().map(of).collect()
    }

    fn combine_kinds(&self, name: &'static str, kinds: &[(Vec<usize>, usize)]) -> Result<(), Failure> {
        let terms: usize = kinds.iter().map(|(numbers, _)| numbers.len()).sum();
        self.row(
            Counted { name, products: terms, bytes: 32 * (terms + kinds.len()) },
            |_| Ok(()),
            |stream, ()| {
                Ok(vec![combine::enqueue(stream, self.n(), &self.sums(kinds, |number| self.on_device(number)))?])
            },
            || {
                let columns = self.on_host();
                combine::on_cpu(self.n(), &self.sums(kinds, |number| columns[number].as_slice()))
            },
        )
    }

    fn combine(&self) -> Result<(), Failure> {
        self.combine_kinds("4 sums of 55 polynomials", &openings())
    }

    /// The quotient of its pieces, and what SHPLONK opens: the quotients' sum, and the last polynomial.
    fn combine_few(&self) -> Result<(), Failure> {
        let kinds = [PIECES, 4, 5].map(|terms| ((0..terms).collect(), 0));
        self.combine_kinds("3 sums of 13 polynomials", &kinds)
    }

    fn divide(&self) -> Result<(), Failure> {
        let roots: Vec<Vec<F>> = openings().iter().map(|(_, points)| self.points[..*points].to_vec()).collect();
        let (place, divisions) =
            (StridedColumns::packed(self.n(), roots.len()), roots.iter().map(Vec::len).sum::<usize>());
        let polynomials = self.on_host()[..roots.len()].concat();
        self.row(
            Counted { name: "8 divisions of 4 polynomials", products: 19 * divisions / 4, bytes: 96 * divisions },
            |stream| DeviceVector::upload(stream, &polynomials),
            |stream, mut polynomials| {
                divide::enqueue(stream, self.n(), &mut polynomials, place, &roots)?;
                Ok(vec![polynomials])
            },
            || {
                let mut polynomials = polynomials.clone();
                divide::on_cpu(&mut polynomials.chunks_mut(self.n()).collect::<Vec<_>>(), &roots)?;
                Ok(polynomials)
            },
        )
    }
}
