//! Permutes the columns of lookups, after θ, without a sort.
//!
//! A' has the values of A, with equal ones adjacent. S' has the value of a run where the run starts; the rest of S
//! fills the other rows. The order is fixed. Runs come by the first row of their value in S. The values of A that are
//! missing from S follow, by row. The rest of S is also by row. A proof with missing values does not verify. The caller
//! has to warn of them: see [`MissingValues`].

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicU32, Ordering};

use rayon::prelude::*;

use super::advice::{AdviceStage, RandomSource};
use super::blinding;
use super::circuit::ProofCurve;
use super::column_places_and_checks::{RowCounts, StridedColumns, check_place};
use super::columns_layout_and_key::{Column, ColumnId, ColumnView};
use super::compiled_circuit::WeightedSum;
use super::engine::memory::{FOR_LOOKUP, group_by_cost};
use super::engine::transfer::ensure_contiguous;
use super::engine::{Basis, Engine};
use super::proof_state::ProofState;
use super::step_launches::{allocate_columns, launch_groups};
use crate::backend::{Buffer, Stream};
use crate::checked_size::product;
use crate::field::{DeviceVector, NttField, as_bytes};
use crate::kernel_arguments::{In, Kernel, Out, Value};
use crate::kernels::plonk::{
    LookupLayout, PERMUTE_GROUP, PERMUTE_TILE, PROBE_TILE, PermuteInsert, PermuteList, PermuteProbe, PermuteScan,
    PermuteScatter, PermuteSum, PermuteSums, TOTALS,
};
use crate::secret_vec::SecretVec;
use crate::{Error, Result};

const STEP: &str = "permute";

/// Holds a proof after the challenge θ, with the permuted columns of its lookups.
#[derive(Debug)]
pub struct LookupStage<'a, C: ProofCurve> {
    pub(super) state: ProofState<'a, C>,
    /// Input A and table S of each lookup of each circuit, each compressed to one column by powers of θ.
    pub(super) compressed: Vec<[Column<C::Scalar>; 2]>,
}

impl<'a, C: ProofCurve> AdviceStage<'a, C> {
    /// Permutes the input and the table of each lookup of each circuit, compressed by `theta`. Returns the next stage,
    /// and commitments to A' and S' of each lookup, circuit by circuit. An input value that is not in its table is
    /// logged as a warning, and then the proof does not verify.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: an advice column has not been committed to.
    /// - [`Error::Aborted`]: the engine's hook aborted.
    /// - A forced backend failed: its error.
    pub fn commit_lookups(
        self,
        theta: C::Scalar,
        random: RandomSource<'_, C::Scalar>,
    ) -> Result<(LookupStage<'a, C>, Vec<C>)> {
        self.check_all_committed()?;
        let Self { mut state } = self;
        let (context, circuits) = (state.context, 0..state.columns.len());
        let mut compressed = Vec::new();
        for circuit in circuits.clone() {
            let pairs = compress_lookups(&state, circuit, theta)?;
            permute_lookups(&mut state, circuit, &pairs, random)?;
            compressed.extend(pairs);
        }
        state.challenges.push(theta);
        let count = context.circuit.layout.lookups;
        let names: Vec<_> = (0..count).flat_map(|number| [ColumnId::Input(number), ColumnId::Table(number)]).collect();
        let permuted = circuits.flat_map(|circuit| names.iter().map(move |name| (circuit, *name)));
        let permuted: Vec<_> = permuted.map(|(circuit, name)| state.own_column(circuit, name)).collect();
        let points = context.commit(Basis::Lagrange, &permuted)?;
        Ok((LookupStage { state, compressed }, points))
    }
}

/// Returns the input A and the table S of each lookup of the circuit with index `circuit`, compressed by `theta`.
fn compress_lookups<C: ProofCurve>(
    state: &ProofState<'_, C>,
    circuit: usize,
    theta: C::Scalar,
) -> Result<Vec<[Column<C::Scalar>; 2]>> {
    let (context, values) = (state.context, state.values(circuit));
    let compress = |sum: &WeightedSum<C::Scalar>| {
        context.engine.evaluate_weighted_sum(sum, &values, &sum.program_challenges(&state.challenges, theta))
    };
    let sums = context.circuit.compressed.iter();
    sums.map(|[inputs, tables]| Ok([compress(inputs)?, compress(tables)?])).collect()
}

/// Permutes the lookups of the circuit with index `circuit`, pairs of a compressed input and table, and keeps the
/// results in `state`.
fn permute_lookups<C: ProofCurve>(
    state: &mut ProofState<'_, C>,
    circuit: usize,
    compressed: &[[Column<C::Scalar>; 2]],
    random: RandomSource<'_, C::Scalar>,
) -> Result<()> {
    let context = state.context;
    let pairs: Vec<_> = compressed.iter().map(|pair| pair.each_ref().map(Column::view)).collect();
    let permuted = context.engine.permute_lookups(&pairs, context.circuit.usable_rows(), random)?;
    for (number, ([input, table], missing)) in permuted.into_iter().enumerate() {
        if let Some(missing) = missing {
            warn_missing_values(circuit, (number, &context.circuit.lookups[number].name), missing);
        }
        state.set_column(circuit, ColumnId::Input(number), input);
        state.set_column(circuit, ColumnId::Table(number), table);
    }
    Ok(())
}

fn warn_missing_values(circuit: usize, (lookup, name): (usize, &str), MissingValues { first, rows }: MissingValues) {
    log::warn!(
        "circuit {circuit}, lookup {lookup} {name:?}: the values in row {first} are not in the table, {rows} rows in \
         all: the proof will not verify"
    );
}

/// Lists A' and S' of each lookup, and its missing values.
type PermutedPairs<F> = Vec<([Column<F>; 2], Option<MissingValues>)>;

impl<C: ProofCurve> Engine<C> {
    /// Computes A' and S', and describes missing values, of each of `lookups`, a pair of the compressed input A
    /// and table S. Elements from `random` fill the rows from `usable` on: those of A', then those of S', lookup by
    /// lookup.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: a column does not have n elements.
    /// - [`Error::Aborted`]: the engine's hook aborted.
    /// - A forced backend failed: its error.
    fn permute_lookups(
        &self,
        lookups: &[[ColumnView<'_, C::Scalar>; 2]],
        usable: usize,
        random: &mut dyn FnMut() -> C::Scalar,
    ) -> Result<PermutedPairs<C::Scalar>> {
        let groups = group_by_cost(lookups.iter().map(|_| FOR_LOOKUP), self.plan.max_columns);
        let permuted = groups.into_iter().map(|group| self.permute_lookup_group(&lookups[group], usable, random));
        Ok(permuted.collect::<Result<Vec<_>>>()?.into_iter().flatten().collect())
    }

    fn permute_lookup_group(
        &self,
        lookups: &[[ColumnView<'_, C::Scalar>; 2]],
        usable: usize,
        random: &mut dyn FnMut() -> C::Scalar,
    ) -> Result<PermutedPairs<C::Scalar>> {
        let n = self.n();
        let (rows_used, place) =
            (RowCounts { log_n: self.domain.log_n(), usable }, StridedColumns::packed(n, 2 * lookups.len()));
        let blinding = blinding::draw_random_elements(place.count * (n - usable), random);
        let (columns, missing) = self.run_step(
            "permute",
            place.count,
            |stream| {
                let [inputs, tables] = [0, 1].map(|k| lookups.iter().map(|pair| pair[k]).collect::<Vec<_>>());
                let (inputs, inputs_at) = ensure_contiguous(stream, n, &inputs)?;
                let (tables, tables_at) = ensure_contiguous(stream, n, &tables)?;
                let from = ((&*inputs.vector, inputs_at), (&*tables.vector, tables_at));
                let mut permuted = enqueue(stream, rows_used, from.0, from.1)?;
                blinding::enqueue(stream, n, &mut permuted.columns, place, usable..n, &blinding)?;
                let missing = permuted.download_missing_values(stream)?;
                Ok((self.collect_columns(stream, permuted.columns)?, missing))
            },
            |_| {
                let mut all = SecretVec(Vec::with_capacity(place.count * n));
                let mut missing = Vec::with_capacity(lookups.len());
                for [input, table] in lookups {
                    let (columns, lost) =
                        on_cpu(rows_used, &self.fetch_to_host(*input)?, &self.fetch_to_host(*table)?)?;
                    columns.map(SecretVec).iter().for_each(|column| all.0.extend_from_slice(column));
                    missing.push(lost);
                }
                blinding::on_cpu(n, &mut all, place, usable..n, &blinding)?;
                Ok((self.split_host_columns(&all), missing))
            },
        )?;
        let mut columns = columns.into_iter();
        let pairs = std::iter::from_fn(|| columns.next().zip(columns.next()));
        Ok(pairs.map(<[_; 2]>::from).zip(missing).collect())
    }
}

/// Describes the rows of a lookup's input A whose values are missing from its table S.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MissingValues {
    /// Number of rows of A whose values are missing from S.
    pub rows: usize,
    /// Index of the first row of A whose value is missing from S.
    pub first: usize,
}

/// Holds the permuted columns of lookups on a device, and the numbers of their missing values.
#[derive(Debug)]
pub struct PermutedColumns<F> {
    /// A' and S' of the first lookup, then those of the next, n rows each. Rows that the circuit does not use are zero,
    /// for [`blinding::enqueue`] to fill.
    pub columns: DeviceVector<F>,
    totals: Buffer,
}

impl<F: NttField> PermutedColumns<F> {
    /// Waits for the permutation. Returns the missing values of each lookup, in order, or `None` for a lookup without
    /// any.
    ///
    /// # Errors
    /// - [`Error::Device`]: the driver failed.
    pub fn download_missing_values(&self, stream: &mut Stream) -> Result<Vec<Option<MissingValues>>> {
        let mut words = vec![0u32; self.totals.bytes() / 4];
        stream.download(bytemuck::cast_slice_mut(&mut words), &self.totals)?;
        let of =
            |total: &[u32]| (total[2] > 0).then(|| MissingValues { rows: total[2] as usize, first: total[3] as usize });
        Ok(words.chunks_exact(TOTALS as usize).map(of).collect())
    }
}

/// Refers to columns by a device vector and their place in it.
type StridedView<'a, F> = (&'a DeviceVector<F>, StridedColumns);

/// Queues the permutation of all lookups. `inputs` are the compressed inputs A, and `tables` the compressed tables S, a
/// column for each lookup.
///
/// It takes six launches. Each row takes two hashes, and some 430 bytes that are read or written. More than half of
/// these bytes are in sectors of 32 bytes, at places that depend on hashes and the tables' order.
///
/// # Errors
/// - [`Error::Invalid`]: `rows.log_n` is above 30 or the field's two-adicity.
/// - [`Error::Invalid`]: `rows.usable` is not below n.
/// - [`Error::Invalid`]: there are not as many tables as inputs.
/// - [`Error::Invalid`]: a column exceeds its vector, or is on another device.
/// - [`Error::OutOfMemory`]: the device has too little memory.
/// - [`Error::Device`]: the driver failed.
pub fn enqueue<F: NttField>(
    stream: &mut Stream,
    rows: RowCounts,
    inputs: StridedView<'_, F>,
    tables: StridedView<'_, F>,
) -> Result<PermutedColumns<F>> {
    rows.check::<F>(STEP)?;
    Error::check_eq(STEP, "number of tables", inputs.1.count, tables.1.count)?;
    check_place(stream, STEP, inputs.0, inputs.1, rows.n())?;
    check_place(stream, STEP, tables.0, tables.1, rows.n())?;
    let columns = allocate_columns(stream, product(STEP, "columns of the lookups", &[2, inputs.1.count])?, rows.n())?;
    let scratch = PermuteBuffers::new(stream, rows, inputs.1.count)?;
    let job = PermutePass { rows, inputs, tables, scratch: &scratch };
    job.enqueue_count(stream)?;
    job.enqueue_scan(stream)?;
    job.enqueue_scatter(stream, &columns)?;
    Ok(PermutedColumns { columns, totals: scratch.totals })
}

/// Holds the kernels' buffers, named as in `cl/plonk_lookup_permute.cl`.
struct PermuteBuffers {
    slots: Buffer,
    slots_log: u32,
    counts: Buffer,
    lost: Buffer,
    sums: Buffer,
    starts: Buffer,
    rows: Buffer,
    left: Buffer,
    missing: Buffer,
    totals: Buffer,
}

impl PermuteBuffers {
    fn new(stream: &mut Stream, rows: RowCounts, lookups: usize) -> Result<Self> {
        let slots_log = (2 * rows.usable).max(2).next_power_of_two().ilog2();
        let tiles = rows.usable.div_ceil(PERMUTE_TILE as usize);
        let words = |count: usize| stream.scratch(product(STEP, "bytes for the lookups", &[count, 4, lookups])?);
        let scratch = Self {
            slots: words(1 << slots_log)?,
            slots_log,
            counts: words(rows.usable)?,
            lost: words(rows.usable)?,
            sums: words(size_of::<PermuteSums>() / 4 * tiles)?,
            starts: words(rows.usable)?,
            rows: words(rows.usable)?,
            left: words(rows.usable)?,
            missing: words(rows.usable)?,
            totals: words(TOTALS as usize)?,
        };
        for buffer in [&scratch.slots, &scratch.counts].into_iter().filter(|buffer| buffer.bytes() > 0) {
            stream.zero(buffer)?;
        }
        Ok(scratch)
    }
}

struct PermutePass<'a, F> {
    rows: RowCounts,
    inputs: StridedView<'a, F>,
    tables: StridedView<'a, F>,
    scratch: &'a PermuteBuffers,
}

/// Returns a random seed for the hash of values, so that an attacker cannot make values collide. The permutation does
/// not depend on the seed.
fn random_hash_seed() -> u64 {
    RandomState::new().hash_one(STEP)
}

impl<F: NttField> PermutePass<'_, F> {
    fn usable_row_count(&self) -> u32 {
        self.rows.usable as u32
    }

    /// Returns the number of lookups.
    fn lookups(&self) -> u64 {
        self.inputs.1.count as u64
    }

    /// Describes the columns, and a launch for `rows` rows of each lookup whose work-groups take `tile` of these each.
    fn layout(&self, seed: u64, rows: u32, tile: u32) -> LookupLayout {
        LookupLayout {
            seed,
            inputs_first: self.inputs.1.first as u64,
            inputs_stride: self.inputs.1.stride as u64,
            tables_first: self.tables.1.first as u64,
            tables_stride: self.tables.1.stride as u64,
            n: self.rows.n() as u32,
            usable: self.usable_row_count(),
            blocks: rows.div_ceil(tile),
            slots_log: self.scratch.slots_log,
        }
    }

    /// Queues `kernel` for all lookups, with `blocks` work-groups each.
    fn launch(&self, stream: &mut Stream, blocks: u32, kernel: impl Kernel) -> Result<()> {
        launch_groups::<F, _>(stream, self.lookups() * u64::from(blocks), kernel)
    }

    /// Queues the construction of a hash table of S for each lookup. Then queues counts of how often A has each value
    /// of S.
    fn enqueue_count(&self, stream: &mut Stream) -> Result<()> {
        let PermuteBuffers { slots, counts, lost, .. } = self.scratch;
        let (seed, usable) = (random_hash_seed(), self.usable_row_count());
        let (inputs, tables) = (In::<F>::new(self.inputs.0.buffer()), In::<F>::new(self.tables.0.buffer()));
        let rows = self.layout(seed, usable, PERMUTE_GROUP);
        let insert = PermuteInsert { layout: Value(&rows), tables, slots: Out::new(slots) };
        self.launch(stream, rows.blocks, insert)?;
        let tiles = self.layout(seed, usable, PROBE_TILE);
        let (slots, counts, lost) = (In::new(slots), Out::new(counts), Out::new(lost));
        self.launch(stream, tiles.blocks, PermuteProbe { layout: Value(&tiles), inputs, tables, slots, counts, lost })
    }

    /// Queues the construction of three lists for each lookup. They hold the runs of equal values, the rows of S that
    /// start no run, and the rows of A with missing values.
    fn enqueue_scan(&self, stream: &mut Stream) -> Result<()> {
        let PermuteBuffers { counts, lost, sums, starts, rows, left, missing, totals, .. } = self.scratch;
        let (counts, lost) = (In::new(counts), In::new(lost));
        let [starts, rows, left, missing, totals] = [starts, rows, left, missing, totals].map(Out::new);
        let layout = self.layout(0, self.usable_row_count(), PERMUTE_TILE);
        let (usable, tiles) = (layout.usable, layout.blocks);
        self.launch(stream, tiles, PermuteSum { usable, tiles, counts, lost, sums: Out::new(sums) })?;
        self.launch(stream, 1, PermuteScan { tiles, sums: Out::new(sums), totals })?;
        let (layout, sums) = (Value(&layout), In::new(sums));
        self.launch(stream, tiles, PermuteList { layout, counts, lost, sums, starts, rows, left, missing, totals })
    }

    /// Queues the writes of A' and S' to `columns`.
    fn enqueue_scatter(&self, stream: &mut Stream, columns: &DeviceVector<F>) -> Result<()> {
        let PermuteBuffers { starts, rows, left, missing, totals, .. } = self.scratch;
        let (inputs, tables) = (In::<F>::new(self.inputs.0.buffer()), In::<F>::new(self.tables.0.buffer()));
        let [starts, rows, left, missing, totals] = [starts, rows, left, missing, totals].map(In::new);
        let shape = self.layout(0, self.rows.n() as u32, PERMUTE_GROUP);
        let (layout, out) = (Value(&shape), Out::new(columns.buffer()));
        let scatter = PermuteScatter { layout, inputs, tables, starts, rows, left, missing, totals, out };
        self.launch(stream, shape.blocks, scatter)
    }
}

/// Computes A' and S' of one lookup on the host, n rows each. Also returns its missing values, or `None` if there are
/// none. Results equal those of [`enqueue`].
///
/// # Errors
/// - [`Error::Invalid`]: `rows.log_n` is above 30 or the field's two-adicity.
/// - [`Error::Invalid`]: `rows.usable` is not below n.
/// - [`Error::Invalid`]: a column does not have n elements.
pub fn on_cpu<F: NttField>(rows: RowCounts, input: &[F], table: &[F]) -> Result<([Vec<F>; 2], Option<MissingValues>)> {
    rows.check::<F>(STEP)?;
    Error::check_eq(STEP, "length of the input", rows.n(), input.len())?;
    Error::check_eq(STEP, "length of the table", rows.n(), table.len())?;
    let (input, table) = (&input[..rows.usable], &table[..rows.usable]);
    let (counts, missing) = count_matches_on_cpu(input, table);
    let mut columns = [vec![F::ZERO; rows.n()], vec![F::ZERO; rows.n()]];
    let [permuted, beside] = &mut columns;
    let mut left = (0..table.len()).filter(|row| counts[*row] == 0).map(|row| table[row]);
    let mut next = 0;
    let mut put = |value: F, first: Option<F>| {
        permuted[next] = value;
        beside[next] = first.or_else(|| left.next()).unwrap_or(F::ZERO);
        next += 1;
    };
    for (value, count) in table.iter().zip(&counts).filter(|(_, count)| **count > 0) {
        put(*value, Some(*value));
        (1..*count).for_each(|_| put(*value, None));
    }
    for row in &missing {
        put(input[*row], None);
    }
    Ok((columns, missing.first().map(|first| MissingValues { rows: missing.len(), first: *first })))
}

/// Counts how often `input` has each value of `table`. The count is at the index of the value's first row in `table`.
/// Counts at other rows are 0. Also returns the rows of `input` whose values are missing from `table`, in ascending
/// order.
fn count_matches_on_cpu<F: NttField>(input: &[F], table: &[F]) -> (Vec<u32>, Vec<usize>) {
    let mut first_rows = HashMap::<&[u8], u32>::with_capacity(table.len());
    for (row, value) in table.iter().enumerate() {
        first_rows.entry(as_bytes(std::slice::from_ref(value))).or_insert(row as u32);
    }
    let counts: Vec<AtomicU32> = table.iter().map(|_| AtomicU32::new(0)).collect();
    let is_missing = |value: &F| match first_rows.get(as_bytes(std::slice::from_ref(value))) {
        Some(row) => {
            counts[*row as usize].fetch_add(1, Ordering::Relaxed);
            false
        }
        None => true,
    };
    let missing = input.par_iter().enumerate().filter(|(_, value)| is_missing(value)).map(|(row, _)| row).collect();
    (counts.into_iter().map(AtomicU32::into_inner).collect(), missing)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_differ() {
        let seeds: std::collections::HashSet<u64> = (0..100).map(|_| random_hash_seed()).collect();
        assert_eq!(seeds.len(), 100);
    }
}
