//! Computes the numerators and denominators of the grand products of all permutation sets and lookups.

use rayon::prelude::*;

use crate::backend::{Buffer, Stream};
use crate::checked_size::product;
use crate::field::{DeviceVector, NttField};
use crate::kernel_arguments::{In, Out, Value};
use crate::kernels::plonk::{LookupFactors, PermutationFactors, RowLaunch};
use crate::ntt::Powers;
use crate::plonk::column_places_and_checks::{DeviceColumn, RowCounts};
use crate::plonk::step_launches::{LaunchBatch, launch_groups, split_into_launches, upload_params};
use crate::{Error, Result};

const STEP: &str = "factors";

/// Holds the challenges β and γ, which combine columns into the factors of lookup and permutation products.
#[derive(Debug, Clone, Copy)]
pub struct Challenges<F> {
    /// β.
    pub beta: F,
    /// γ.
    pub gamma: F,
}

/// Holds the permutation columns of one grand product. `C` is [`DeviceColumn`] on a device, a slice on the host.
#[derive(Debug, Clone)]
pub struct PermutationSet<C> {
    /// Each column's values v and its σ, both on the subgroup.
    pub columns: Vec<[C; 2]>,
    /// Index of the first column among the circuit's permutation columns. The column with index j there is mixed with
    /// δ^j.
    pub first: u64,
}

/// Holds the columns of a lookup, as values on the subgroup of order n.
#[derive(Debug, Clone, Copy)]
pub struct Lookup<C> {
    /// Compressed input A.
    pub input: C,
    /// Compressed table S.
    pub table: C,
    /// Permuted input A'.
    pub permuted_input: C,
    /// Permuted table S'.
    pub permuted_table: C,
}

impl<C: Copy> Lookup<C> {
    fn columns(&self) -> [C; 4] {
        [self.input, self.table, self.permuted_input, self.permuted_table]
    }
}

/// Holds the numerators and denominators of grand products: n rows for each permutation set, then n rows for each
/// lookup. Rows that the circuit does not use are zero.
#[derive(Debug)]
pub struct Factors<V> {
    /// Π (v + β·δ^j·ω^i + γ) of a set, (A + β)(S + γ) of a lookup.
    pub numerators: V,
    /// Π (v + β·σ + γ) of a set, (A' + β)(S' + γ) of a lookup.
    pub denominators: V,
}

impl<V> Factors<V> {
    /// Converts numerators and denominators by `form`.
    pub(super) fn map<T>(self, form: impl Fn(V) -> T) -> Factors<T> {
        Factors { numerators: form(self.numerators), denominators: form(self.denominators) }
    }
}

/// Returns β·δ^j for each column of `set`, where j is the column's number in the permutation.
fn beta_delta_powers<C, F: NttField>(set: &PermutationSet<C>, beta: F) -> impl Iterator<Item = F> {
    let first = beta * F::DELTA.pow_vartime([set.first]);
    std::iter::successors(Some(first), |shift| Some(*shift * F::DELTA)).take(set.columns.len())
}

/// Queues the computation of the factors of all grand products: one launch for the permutation `sets`, one for the
/// `lookups`.
///
/// Each row takes 4 multiplications per column of a set, 2 per set and 2 per lookup. It reads 64 bytes per column and
/// 128 per lookup, and writes 64 per grand product.
///
/// # Errors
/// - [`Error::Invalid`]: `rows.log_n` is above 30 or the field's two-adicity.
/// - [`Error::Invalid`]: `rows.usable` is not below n.
/// - [`Error::Invalid`]: a column exceeds its vector, or is on another device.
/// - [`Error::Invalid`]: the factors exceed the address space.
/// - [`Error::OutOfMemory`]: the device has too little memory.
/// - [`Error::Device`]: the driver failed.
pub fn enqueue<F: NttField>(
    stream: &mut Stream,
    rows: RowCounts,
    challenges: Challenges<F>,
    sets: &[PermutationSet<DeviceColumn<'_, F>>],
    lookups: &[Lookup<DeviceColumn<'_, F>>],
) -> Result<Factors<DeviceVector<F>>> {
    rows.check::<F>(STEP)?;
    let of_sets: Vec<_> = sets.iter().flat_map(|set| set.columns.iter().flatten()).copied().collect();
    let of_lookups: Vec<_> = lookups.iter().flat_map(Lookup::columns).collect();
    of_sets.iter().chain(&of_lookups).try_for_each(|column| column.check(stream, STEP, rows.n()))?;
    let length = product(STEP, "elements of the factors", &[sets.len() + lookups.len(), rows.n()])?;
    let [numerators, denominators] = [DeviceVector::scratch(stream, length)?, DeviceVector::scratch(stream, length)?];
    let factors = Factors { numerators, denominators };
    let shifts: Vec<F> = sets.iter().flat_map(|set| beta_delta_powers(set, challenges.beta)).collect();
    let to = FactorLaunch { rows, challenges, factors: &factors };
    for part in split_into_launches(&of_sets, 2, sets.iter().map(|set| set.columns.len())) {
        to.launch_sets(stream, &part, &shifts[part.items.clone()])?;
    }
    for part in split_into_launches(&of_lookups, 4, lookups.iter().map(|_| 1)) {
        to.launch_lookups(stream, &part, sets.len())?;
    }
    Ok(factors)
}

/// Holds the arguments that the launches for permutation sets and for lookups share.
struct FactorLaunch<'a, F> {
    rows: RowCounts,
    challenges: Challenges<F>,
    factors: &'a Factors<DeviceVector<F>>,
}

impl<F: NttField> FactorLaunch<'_, F> {
    /// Queues the launch `part` for permutation sets. `shifts` are β·δ^j of its columns.
    fn launch_sets(&self, stream: &mut Stream, part: &LaunchBatch<'_, F>, shifts: &[F]) -> Result<()> {
        let powers = Powers::new(stream, self.rows.omega::<F>(), self.rows.log_n)?;
        let (buffer, shape) = self.upload_params(stream, part, shifts, 0)?;
        let (launch, params) = (Value(&shape), In::new(&buffer));
        let (low, high, low_log) = (In::new(&powers.low), In::new(&powers.high), powers.low_log);
        let [numerators, denominators] = self.outputs();
        let [bank0, bank1, bank2, bank3, bank4, bank5, bank6, bank7] = part.bank_args(&buffer);
        #[rustfmt::skip]
        let factors = PermutationFactors {
            launch, params, low, high, low_log, numerators, denominators,
            bank0, bank1, bank2, bank3, bank4, bank5, bank6, bank7,
        };
        launch_groups::<F, _>(stream, part.output_count() * u64::from(shape.blocks), factors)
    }

    /// Queues the launch `part` for lookups. `first` is the number of grand products ahead.
    fn launch_lookups(&self, stream: &mut Stream, part: &LaunchBatch<'_, F>, first: usize) -> Result<()> {
        let (buffer, shape) = self.upload_params(stream, part, &[], first)?;
        let (launch, params) = (Value(&shape), In::new(&buffer));
        let [numerators, denominators] = self.outputs();
        let [bank0, bank1, bank2, bank3, bank4, bank5, bank6, bank7] = part.bank_args(&buffer);
        #[rustfmt::skip]
        let factors = LookupFactors {
            launch, params, numerators, denominators, bank0, bank1, bank2, bank3, bank4, bank5, bank6, bank7,
        };
        launch_groups::<F, _>(stream, part.output_count() * u64::from(shape.blocks), factors)
    }

    /// Uploads the parameters of the launch `part`: β, γ, then `elements`. `first` is the number of grand products
    /// ahead. Also returns the shape of the launch.
    fn upload_params(
        &self,
        stream: &mut Stream,
        part: &LaunchBatch<'_, F>,
        elements: &[F],
        first: usize,
    ) -> Result<(Buffer, RowLaunch)> {
        let Challenges { beta, gamma } = self.challenges;
        let words = part.encode_param_words(first, |_| 0);
        let (params, words_at) = upload_params(stream, &[&[beta, gamma], elements].concat(), &words)?;
        let [n, usable] = [self.rows.n(), self.rows.usable].map(|rows| rows as u32);
        Ok((params, part.row_launch(n, usable, words_at)))
    }

    /// Returns the numerators and the denominators as kernel arguments.
    fn outputs(&self) -> [Out<'_, F>; 2] {
        [&self.factors.numerators, &self.factors.denominators].map(|vector| Out::new(vector.buffer()))
    }
}

/// Computes the factors of all grand products on the host. They equal those of [`enqueue`].
///
/// # Errors
/// - [`Error::Invalid`]: `rows.log_n` is above 30 or the field's two-adicity.
/// - [`Error::Invalid`]: `rows.usable` is not below n.
/// - [`Error::Invalid`]: a column does not have n elements.
/// - [`Error::Invalid`]: the factors exceed the address space.
pub fn on_cpu<F: NttField>(
    rows: RowCounts,
    challenges: Challenges<F>,
    sets: &[PermutationSet<&[F]>],
    lookups: &[Lookup<&[F]>],
) -> Result<Factors<Vec<F>>> {
    rows.check::<F>(STEP)?;
    let of_sets = sets.iter().flat_map(|set| set.columns.iter().flatten()).map(|column| column.len());
    let of_lookups = lookups.iter().flat_map(Lookup::columns).map(<[F]>::len);
    of_sets.chain(of_lookups).try_for_each(|length| Error::check_eq(STEP, "length of a column", rows.n(), length))?;
    let length = (sets.len() + lookups.len())
        .checked_mul(rows.n())
        .ok_or_else(|| Error::invalid(STEP, "number of products", "fewer than memory has", sets.len()))?;
    let mut factors = Factors { numerators: vec![F::ZERO; length], denominators: vec![F::ZERO; length] };
    let columns = factors.numerators.chunks_mut(rows.n()).zip(factors.denominators.chunks_mut(rows.n()));
    for (number, (numerators, denominators)) in columns.enumerate() {
        let to = (&mut numerators[..rows.usable], &mut denominators[..rows.usable]);
        match sets.get(number) {
            Some(set) => set_factors_on_cpu(rows, challenges, set, to),
            None => lookup_factors_on_cpu(challenges, &lookups[number - sets.len()], to),
        }
    }
    Ok(factors)
}

/// Number of rows that one CPU task handles, 1024.
const TASK: usize = 1 << 10;

fn set_factors_on_cpu<F: NttField>(
    rows: RowCounts,
    Challenges { beta, gamma }: Challenges<F>,
    set: &PermutationSet<&[F]>,
    (numerators, denominators): (&mut [F], &mut [F]),
) {
    let (omega, shifts) = (rows.omega::<F>(), beta_delta_powers(set, beta).collect::<Vec<_>>());
    let tasks = numerators.par_chunks_mut(TASK).zip(denominators.par_chunks_mut(TASK)).enumerate();
    tasks.for_each(|(task, (numerators, denominators))| {
        let mut place = omega.pow_vartime([(task * TASK) as u64]);
        for (k, (numerator, denominator)) in numerators.iter_mut().zip(denominators).enumerate() {
            let row = task * TASK + k;
            let terms = || set.columns.iter().map(|[values, sigmas]| (values[row] + gamma, sigmas[row]));
            *numerator = terms().zip(&shifts).map(|((value, _), shift)| value + *shift * place).product();
            *denominator = terms().map(|(value, sigma)| value + beta * sigma).product();
            place *= omega;
        }
    });
}

fn lookup_factors_on_cpu<F: NttField>(
    Challenges { beta, gamma }: Challenges<F>,
    lookup: &Lookup<&[F]>,
    (numerators, denominators): (&mut [F], &mut [F]),
) {
    let [input, table, permuted, beside] = lookup.columns();
    let pairs = numerators.par_iter_mut().zip(denominators);
    pairs.enumerate().for_each(|(row, (numerator, denominator))| {
        *numerator = (input[row] + beta) * (table[row] + gamma);
        *denominator = (permuted[row] + beta) * (beside[row] + gamma);
    });
}
