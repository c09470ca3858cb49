//! Changes of a matrix on a device: their places, what they add, and the matrix with them made.

use super::csr::LIMIT;
use super::device::CsrOnDevice;
use super::explain::Explanation;
use super::options::Options;
use super::plan::{Format, Kernel, Statistics, Tiles};
use crate::backend::{Abort, Arg, Buffer, Stream};
use crate::field::{NttField, as_bytes};
use crate::kernels::Family;
use crate::program::{Program, mem};
use crate::{Error, Result};

/// Work-items of a group, `SCAN_GROUP` of `cl/scan.cl`.
const GROUP: u32 = 256;

/// Changes in a device's memory, with the places that they have in one matrix, and the differences that they make to it.
#[derive(Debug)]
pub(in crate::matrix) struct Changes {
    pub count: u32,
    pub rows: u32,
    /// Rows, where each of them starts, and columns.
    pub places: Buffer,
    /// Differences.
    pub values: Buffer,
    marks: Buffer,
}

/// Changes as they are uploaded, in order of rows and columns, each place once.
pub(in crate::matrix) struct ChangesOnHost<'a, F> {
    /// The rows that have some, and where each of them starts, and the number of all.
    pub rows: &'a [u32],
    pub starts: &'a [u32],
    /// Columns, with the highest bit set where the value replaces what there is.
    pub columns: &'a [u32],
    pub values: &'a [F],
}

impl<F: NttField> CsrOnDevice<F> {
    /// Uploads changes and finds what they are to this matrix: O(d·log n) for d of them. Rows have their columns in order, each once.
    ///
    /// # Errors
    /// The device has too little memory, or failed, or the hook aborted.
    pub(in crate::matrix) fn find(&self, changes: &ChangesOnHost<'_, F>, abort: Abort<'_>) -> Result<Changes> {
        let mut stream = self.device().stream()?;
        let (count, rows) = (changes.columns.len() as u32, changes.rows.len() as u32);
        let words = [changes.rows, changes.starts, changes.columns].concat();
        let places = stream.allocate(4 * words.len())?.secret();
        stream.upload_unless(&places, 0, bytemuck::cast_slice(&words), abort)?;
        let values = stream.allocate(size_of_val(changes.values))?.secret();
        stream.upload_unless(&values, 0, as_bytes(changes.values), abort)?;
        let groups = count.div_ceil(GROUP);
        let marks = stream.allocate(4 * (3 * count as usize + groups as usize + 1))?;
        let changes = Changes { count, rows, places, values, marks };
        let args = [changes.args(), vec![mem(self.row_pointers())], self.matrix_args()].concat();
        // SAFETY: the arguments are those of the kernel; rows and columns were found to be the matrix' own, and there is room
        // for what is known of each change.
        unsafe { program::<F>()?.launch(&mut stream, "changes_find", count.into(), GROUP, &args)? };
        let args = [Arg::U32(count), Arg::U32(groups), mem(&changes.marks)];
        // SAFETY: the arguments are those of the kernel, and there is a sum for each group and one for all.
        unsafe { program::<F>()?.launch(&mut stream, "changes_scan", GROUP.into(), GROUP, &args)? };
        stream.wait(abort)?;
        Ok(changes)
    }

    /// The matrix with changes made that were found in this one, statistics and kernel new: O(n + d·log n + rows) on the device, and a
    /// pass over the rows' lengths on the host. Coefficients lie in the order of non-zeros.
    ///
    /// # Errors
    /// There are more than 2^31 non-zeros, or the device has too little memory, or failed.
    pub(in crate::matrix) fn merged(&self, changes: &Changes, options: Options) -> Result<Self> {
        let mut stream = self.device().stream()?;
        let (rows, nonzeros) = (self.rows() as usize, self.nonzeros());
        let most = nonzeros + changes.count as usize;
        if most > LIMIT {
            return Err(Error::invalid("csr", "non-zeros", format!("at most {LIMIT}"), most));
        }
        let row_pointers = stream.allocate(4 * (rows + 1))?;
        let entries = stream.allocate(4 * most)?.secret();
        let dictionary = stream.allocate((most + 2) * size_of::<F>())?.secret();
        let sizes = [Arg::U32(rows as u32), Arg::U32(nonzeros as u32), mem(self.row_pointers())];
        let made = [&row_pointers, &entries, &dictionary].map(mem);
        let args = [&changes.args()[..], &sizes, &self.matrix_args(), &made].concat();
        let items = (most + rows + 1) as u64;
        // SAFETY: the arguments are those of the kernel; the places are those in this matrix, and there is room for all non-zeros
        // of both.
        unsafe { program::<F>()?.launch(&mut stream, "changes_merge", items, GROUP, &args)? };
        let pointers = pointers_of(&mut stream, &row_pointers, rows)?;
        let explanation = explained::<F>(&pointers, self.explain().columns, options);
        let tiles = (explanation.kernel == Kernel::Balanced).then(|| Tiles::new(&pointers));
        Self::with_parts(stream, explanation, [row_pointers, entries, dictionary], tiles)
    }
}

impl Changes {
    /// As kernels take them.
    fn args(&self) -> Vec<Arg> {
        let numbers = [self.count, self.rows].map(Arg::U32);
        [&numbers[..], &[&self.places, &self.values, &self.marks].map(mem)].concat()
    }
}

fn program<F: NttField>() -> Result<Program> {
    Program::of(Family::Csr, F::NAME)
}

/// Waits for row pointers, and brings them to the host.
fn pointers_of(stream: &mut Stream, row_pointers: &Buffer, rows: usize) -> Result<Vec<u32>> {
    let mut pointers = vec![0; rows + 1];
    stream.download(bytemuck::cast_slice_mut(&mut pointers), row_pointers)?;
    Ok(pointers)
}

/// Of a matrix with its coefficients in place.
fn explained<F: NttField>(pointers: &[u32], columns: usize, options: Options) -> Explanation {
    let statistics = Statistics::of(pointers);
    let nonzeros = statistics.nonzeros as usize;
    Explanation::of::<F>(statistics, Format::in_place(), (columns, nonzeros + 2, 0), options)
}
