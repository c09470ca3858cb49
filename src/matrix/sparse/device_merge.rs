//! Finds changes of a matrix on a device, computes their differences, and merges them into the matrix.

use super::csr::check_limit;
use super::csr_on_device::{CsrOnDevice, csr_module};
use super::explain_and_options::{SparseExplanation, SparseOptions};
use super::kernel_and_tiles::{Format, Kernel, LIMIT, Statistics, Tiles};
use crate::backend::{Buffer, PinnedBuffer, Stream};
use crate::exec::ExecCtx;
use crate::field::{NttField, as_bytes};
use crate::kernel_arguments::{In, Out, Value};
use crate::kernels::csr::{ChangesPointers, ChangesScan, DeltaLookup, DeltaMerge, DeltaParams};
use crate::kernels::field_sources::SCAN_GROUP;
use crate::{Error, Result};

/// Divisor of the number of non-zeros: a merged matrix has spare memory for 1/SPARE more. Later merges then reuse the
/// memory of earlier ones, because an allocation by the driver takes longer than a merge.
const SPARE: usize = 8;

/// Holds changes of one matrix in device memory. It has the positions of their entries in the matrix, and the
/// differences to these entries.
#[derive(Debug)]
pub(in crate::matrix) struct Changes {
    pub count: u32,
    pub rows: u32,
    /// Numbers of the changed rows, the index of the first change of each row and the number of all, then the column of
    /// each change.
    pub places: Buffer,
    /// Difference that each change makes to its entry.
    pub values: Buffer,
    marks: Buffer,
}

/// Holds changes to upload, sorted by (row, column), at most one per entry.
pub(in crate::matrix) struct HostChanges<'a, F> {
    /// Rows with changes, in ascending order.
    pub rows: &'a [u32],
    /// Index of the first change of each row, then the number of all changes.
    pub starts: &'a [u32],
    /// Column of each change. The highest bit is set if the value replaces the entry, and clear if it is added.
    pub columns: &'a [u32],
    pub values: &'a [F],
}

impl<F: NttField> CsrOnDevice<F> {
    /// Uploads `changes`, locates their entries in this matrix and computes the differences. It takes O(d·log n) for d
    /// changes and n non-zeros. In each row of the matrix, columns must be in ascending order without repetition.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: there are more than 2^31 changes.
    /// - [`Error::Aborted`]: the hook aborts.
    /// - [`Error::OutOfMemory`], [`Error::Device`]: the device has too little memory, or its driver fails.
    pub(in crate::matrix) fn locate_changes(&self, changes: &HostChanges<'_, F>, ctx: ExecCtx<'_>) -> Result<Changes> {
        check_limit("changes", changes.columns.len())?;
        let mut stream = self.device().stream()?;
        let (count, rows) = (changes.columns.len() as u32, changes.rows.len() as u32);
        let words = [changes.rows, changes.starts, changes.columns].concat();
        let places = stream.allocate(4 * words.len())?.mark_secret();
        stream.upload_abortable(&places, 0, bytemuck::cast_slice(&words), ctx.abort())?;
        let values = stream.allocate(size_of_val(changes.values))?.mark_secret();
        stream.upload_abortable(&values, 0, as_bytes(changes.values), ctx.abort())?;
        let groups = count.div_ceil(SCAN_GROUP);
        let marks = stream.allocate(4 * (3 * count as usize + groups as usize + 1))?;
        let changes = Changes { count, rows, places, values, marks };
        self.enqueue_lookup(&mut stream, &changes)?;
        let scan = ChangesScan { count, groups, marks: Out::new(&changes.marks) };
        csr_module::<F>()?.run(&mut stream, SCAN_GROUP.into(), scan)?;
        ctx.synchronize(&mut stream)?;
        Ok(changes)
    }

    /// Queues the location of `changes` and the computation of their differences.
    fn enqueue_lookup(&self, stream: &mut Stream, changes: &Changes) -> Result<()> {
        let params = self.delta_params(changes);
        let (entries, indices, dictionary) = self.nonzero_args();
        let lookup = DeltaLookup::<F> {
            params: Value(&params),
            changes: In::new(&changes.places),
            values: Out::new(&changes.values),
            marks: Out::new(&changes.marks),
            pointers: In::new(self.row_pointers()),
            entries,
            indices,
            dictionary,
        };
        csr_module::<F>()?.run(stream, changes.count.into(), lookup)
    }

    fn delta_params(&self, changes: &Changes) -> DeltaParams {
        let Format { column_bits, index_bits } = self.format();
        let Changes { count, rows, .. } = *changes;
        DeltaParams { count, rows, nonzeros: self.nonzeros() as u32, column_bits, index_bits }
    }

    /// Returns a new matrix with `changes` applied, which were located in this one. It has its own statistics and
    /// kernel, and a coefficient for each non-zero. It takes O(n + d·log n + rows) on the device, and a pass over the
    /// lengths of rows on the host.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: non-zeros and changes together exceed 2^31.
    /// - [`Error::OutOfMemory`], [`Error::Device`]: the device has too little memory, or its driver fails.
    pub(in crate::matrix) fn merged(&self, changes: &Changes, options: SparseOptions) -> Result<Self> {
        let mut stream = self.device().stream()?;
        let most = self.nonzeros() + changes.count as usize;
        if most > LIMIT {
            return Err(Error::invalid("csr", "non-zeros", format!("at most {LIMIT}"), most));
        }
        let (row_pointers, pointers) = self.merged_pointers(&mut stream, changes)?;
        let there = stream.record_event()?;
        let spare_capacity = merged_capacity(most, self.capacity());
        let [entries, dictionary] =
            allocate_nonzeros::<F>(&stream, spare_capacity).or_else(|_| allocate_nonzeros::<F>(&stream, most))?;
        self.enqueue_merge(&mut stream, changes, [&entries, &dictionary])?;
        // The work below takes as long as the kernel.
        stream.synchronize_event(&there, None)?;
        let words = pointers.as_slice().as_chunks().0;
        let pointers: Vec<u32> = words.iter().map(|word| u32::from_ne_bytes(*word)).collect();
        let explanation = explain_merged::<F>(&pointers, self.explain().columns, options);
        let tiles = (explanation.kernel == Kernel::Balanced).then(|| Tiles::new(&pointers));
        Self::with_parts(stream, explanation, [row_pointers, entries, dictionary], tiles)
    }

    /// Queues the merge of `changes` into the columns and coefficients of a new matrix.
    fn enqueue_merge(
        &self,
        stream: &mut Stream,
        changes: &Changes,
        [new_columns, coefficients]: [&Buffer; 2],
    ) -> Result<()> {
        let params = self.delta_params(changes);
        let (entries, indices, dictionary) = self.nonzero_args();
        let merge = DeltaMerge::<F> {
            params: Value(&params),
            changes: In::new(&changes.places),
            values: In::new(&changes.values),
            marks: Out::new(&changes.marks),
            entries,
            indices,
            dictionary,
            new_columns: Out::new(new_columns),
            coefficients: Out::new(coefficients),
        };
        csr_module::<F>()?.run(stream, u64::from(params.nonzeros) + u64::from(params.count), merge)
    }

    /// Queues the computation of the row pointers after `changes`, and their copy to the host. Returns them on the
    /// device and on the host.
    fn merged_pointers(&self, stream: &mut Stream, changes: &Changes) -> Result<(Buffer, PinnedBuffer)> {
        let bytes = 4 * (self.rows() as usize + 1);
        let (row_pointers, mut on_host) = (stream.allocate(bytes)?, stream.allocate_pinned(bytes)?);
        let pointers = ChangesPointers {
            count: changes.count,
            rows: changes.rows,
            changes: In::new(&changes.places),
            marks: Out::new(&changes.marks),
            all_rows: self.rows(),
            pointers: In::new(self.row_pointers()),
            new_pointers: Out::new(&row_pointers),
        };
        csr_module::<F>()?.run(stream, u64::from(self.rows()) + 1, pointers)?;
        stream.copy_to_pinned(&mut on_host, &row_pointers)?;
        Ok((row_pointers, on_host))
    }
}

/// Returns the number of non-zeros for which a merged matrix gets memory. It has at most `most` non-zeros, and the old
/// matrix has memory for `before`. The result is `before` if that is at least `most` and below twice as much. Otherwise
/// it is `most` and 1/[`SPARE`] more, up to [`LIMIT`].
fn merged_capacity(most: usize, before: usize) -> usize {
    if (most..2 * most.max(1)).contains(&before) { before } else { (most + most / SPARE).min(LIMIT) }
}

/// Allocates the device buffers of columns and of coefficients for `nonzeros` non-zeros. The latter also has room for
/// the coefficients 1 and −1.
fn allocate_nonzeros<F>(stream: &Stream, nonzeros: usize) -> Result<[Buffer; 2]> {
    let entries = stream.allocate(4 * nonzeros)?.mark_secret();
    Ok([entries, stream.allocate((nonzeros + 2) * size_of::<F>())?.mark_secret()])
}

/// Explains a merged matrix with the row pointers `pointers`, which has its coefficients in the order of non-zeros.
fn explain_merged<F: NttField>(pointers: &[u32], columns: usize, options: SparseOptions) -> SparseExplanation {
    let statistics = Statistics::from_row_pointers(pointers);
    let nonzeros = statistics.nonzeros as usize;
    SparseExplanation::from_statistics::<F>(
        statistics,
        Format::with_ordered_coefficients(),
        (columns, nonzeros + 2, 0),
        options,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn room_stays_until_it_is_too_little() {
        let mut rooms = vec![merged_capacity(800, 0)];
        for most in [810, 850, 900] {
            rooms.push(merged_capacity(most, rooms[rooms.len() - 1]));
        }
        assert_eq!(rooms, [900, 900, 900, 900]);
        assert_eq!(
            (merged_capacity(901, 900), merged_capacity(400, 900), merged_capacity(0, 0), merged_capacity(LIMIT, 0)),
            (1013, 450, 0, LIMIT)
        );
    }
}
