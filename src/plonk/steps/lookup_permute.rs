//! Computes A' and S' of all lookups, without a sort.
//!
//! A' has the values of A, with equal ones adjacent. S' has the value of a run where the run starts; the rest of S
//! fills the other rows. The order is fixed: runs by the first row of their value in S, then the values of A that are
//! missing from S, by row; the rest of S by row. A proof with missing values does not verify. The caller has to warn of
//! them: see [`MissingValues`].

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicU32, Ordering};

use rayon::prelude::*;

use crate::Result;
use crate::backend::{Arg, Buffer, Stream};
use crate::checked_size::product;
use crate::field::{as_bytes, DeviceVector, NttField};
use crate::module_launcher::buffer_arg;
use super::column_places_and_checks::{check_equal, check_place, RowCounts, StridedColumns};
use super::step_launches::{allocate_columns, launch};

const STEP: &str = "permute";
/// Work-items in a group. This and the next constants match `cl/plonk_lookup_permute.cl`.
const GROUP: u32 = 256;
const PROBE_TILE: u32 = 4 * GROUP;
const TILE: u32 = 8 * GROUP;
const TOTALS: usize = 4;
const SUMS: usize = 3;

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
    /// for [`super::blinding::enqueue`] to fill.
    pub columns: DeviceVector<F>,
    totals: Buffer,
}

impl<F: NttField> PermutedColumns<F> {
    /// Waits for the permutation. Returns the missing values of each lookup, in order, or `None` for a lookup without
    /// any.
    ///
    /// # Errors
    /// - [`Error::Device`](crate::Error::Device): the driver failed.
    pub fn download_missing_values(&self, stream: &mut Stream) -> Result<Vec<Option<MissingValues>>> {
        let mut words = vec![0u32; self.totals.bytes() / 4];
        stream.download(bytemuck::cast_slice_mut(&mut words), &self.totals)?;
        let of =
            |total: &[u32]| (total[2] > 0).then(|| MissingValues { rows: total[2] as usize, first: total[3] as usize });
        Ok(words.chunks_exact(TOTALS).map(of).collect())
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
/// - [`Error::Invalid`](crate::Error::Invalid): `rows.log_n` is above 30 or the field's two-adicity.
/// - [`Error::Invalid`](crate::Error::Invalid): `rows.usable` is not below n.
/// - [`Error::Invalid`](crate::Error::Invalid): there are not as many tables as inputs.
/// - [`Error::Invalid`](crate::Error::Invalid): a column exceeds its vector, or is on another device.
/// - [`Error::OutOfMemory`](crate::Error::OutOfMemory): the device has too little memory.
/// - [`Error::Device`](crate::Error::Device): the driver failed.
pub fn enqueue<F: NttField>(
    stream: &mut Stream,
    rows: RowCounts,
    inputs: StridedView<'_, F>,
    tables: StridedView<'_, F>,
) -> Result<PermutedColumns<F>> {
    rows.check::<F>(STEP)?;
    check_equal(STEP, "number of tables", inputs.1.count, tables.1.count)?;
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
        let tiles = rows.usable.div_ceil(TILE as usize);
        let words = |count: usize| stream.scratch(product(STEP, "bytes for the lookups", &[count, 4, lookups])?);
        let scratch = Self {
            slots: words(1 << slots_log)?,
            slots_log,
            counts: words(rows.usable)?,
            lost: words(rows.usable)?,
            sums: words(SUMS * tiles)?,
            starts: words(rows.usable)?,
            rows: words(rows.usable)?,
            left: words(rows.usable)?,
            missing: words(rows.usable)?,
            totals: words(TOTALS)?,
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

fn column_args<F: NttField>((vector, place): StridedView<'_, F>) -> [Arg; 3] {
    [buffer_arg(vector.buffer()), Arg::U64(place.first as u64), Arg::U64(place.stride as u64)]
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

    /// Returns the number of work-groups for each lookup, if each takes `tile` of `rows` rows. Also returns the size of
    /// a launch for all lookups: the number of groups, and of work-items in a group.
    fn launch_size(&self, rows: u32, tile: u32) -> (u32, (u64, u32)) {
        let blocks = rows.div_ceil(tile);
        (blocks, (self.inputs.1.count as u64 * u64::from(blocks), GROUP))
    }

    /// Queues the construction of a hash table of S for each lookup. Then queues counts of how often A has each value
    /// of S.
    fn enqueue_count(&self, stream: &mut Stream) -> Result<()> {
        let PermuteBuffers { slots, slots_log, counts, lost, .. } = self.scratch;
        let seed = Arg::U64(random_hash_seed());
        let (blocks, groups) = self.launch_size(self.usable_row_count(), GROUP);
        let slots = [buffer_arg(slots), Arg::U32(*slots_log)];
        let args =
            [&[self.usable_row_count(), blocks].map(Arg::U32)[..], &[seed], &column_args(self.tables), &slots].concat();
        // SAFETY: the arguments match the kernel; columns have more than `usable` rows, and each lookup has
        // 2^`slots_log` slots, at least twice as many as rows.
        unsafe { launch::<F>(stream, "plonk_permute_insert", groups, &args)? };
        let (blocks, groups) = self.launch_size(self.usable_row_count(), PROBE_TILE);
        let first = [
            &[self.usable_row_count(), blocks].map(Arg::U32)[..],
            &[seed],
            &column_args(self.inputs),
            &column_args(self.tables),
        ]
        .concat();
        let args = [&first[..], &slots, &[buffer_arg(counts), buffer_arg(lost)]].concat();
        // SAFETY: as above; each row has a count and a flag.
        unsafe { launch::<F>(stream, "plonk_permute_probe", groups, &args) }
    }

    /// Queues the construction of three lists for each lookup. They hold the runs of equal values, the rows of S that
    /// start no run, and the rows of A with missing values.
    fn enqueue_scan(&self, stream: &mut Stream) -> Result<()> {
        let PermuteBuffers { counts, lost, sums, starts, rows, left, missing, totals, .. } = self.scratch;
        let (tiles, groups) = self.launch_size(self.usable_row_count(), TILE);
        let first = [
            Arg::U32(self.usable_row_count()),
            Arg::U32(tiles),
            buffer_arg(counts),
            buffer_arg(lost),
            buffer_arg(sums),
        ];
        let of_tiles = [Arg::U32(tiles), buffer_arg(sums), buffer_arg(totals)];
        let lists = [&first[..], &[starts, rows, left, missing, totals].map(buffer_arg)].concat();
        let lookups = (self.inputs.1.count as u64, GROUP);
        // SAFETY: the arguments match the kernels; each tile has its sums, and all lists have space for each row.
        unsafe {
            launch::<F>(stream, "plonk_permute_sum", groups, &first)?;
            launch::<F>(stream, "plonk_permute_scan", lookups, &of_tiles)?;
            launch::<F>(stream, "plonk_permute_list", groups, &lists)
        }
    }

    fn enqueue_scatter(&self, stream: &mut Stream, columns: &DeviceVector<F>) -> Result<()> {
        let PermuteBuffers { starts, rows, left, missing, totals, .. } = self.scratch;
        let n = self.rows.n() as u32;
        let (blocks, groups) = self.launch_size(n, GROUP);
        let numbers = [n, self.usable_row_count(), blocks].map(Arg::U32);
        let lists = [starts, rows, left, missing, totals].map(buffer_arg);
        let args = [
            &numbers[..],
            &column_args(self.inputs),
            &column_args(self.tables),
            &lists,
            &[buffer_arg(columns.buffer())],
        ]
        .concat();
        // SAFETY: the arguments match the kernel; lists name rows that the circuit uses, and each lookup has two
        // columns of n rows.
        unsafe { launch::<F>(stream, "plonk_permute_scatter", groups, &args) }
    }
}

/// Computes A' and S' of one lookup on the host, n rows each. Also returns its missing values, or `None` if there are
/// none. Results equal those of [`enqueue`].
///
/// # Errors
/// - [`Error::Invalid`](crate::Error::Invalid): `rows.log_n` is above 30 or the field's two-adicity.
/// - [`Error::Invalid`](crate::Error::Invalid): `rows.usable` is not below n.
/// - [`Error::Invalid`](crate::Error::Invalid): a column does not have n elements.
pub fn on_cpu<F: NttField>(rows: RowCounts, input: &[F], table: &[F]) -> Result<([Vec<F>; 2], Option<MissingValues>)> {
    rows.check::<F>(STEP)?;
    check_equal(STEP, "length of the input", rows.n(), input.len())?;
    check_equal(STEP, "length of the table", rows.n(), table.len())?;
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
