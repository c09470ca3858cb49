//! Finds changes on a device, and queues products of base and differences together.

use super::change::{Action, Change};
use crate::Result;
use crate::backend::{Abort, Arg, StreamStats};
use crate::field::{NttField, SecretVec, as_bytes, as_bytes_mut};
use crate::kernels::Family;
use crate::matrix::sparse::device_merge::{Changes, HostChanges};
use crate::matrix::{CsrOnDevice, DeviceVectors};
use crate::module_launcher::{KernelModule, buffer_arg};

/// Number of work-items per work-group. Equals `GEMV_GROUP` of `cl/gemv.cl`.
const GROUP: u32 = 128;
/// Highest bit of a column index. It is set if the value replaces the entry, and clear if it is added.
const REPLACES: u32 = 1 << 31;

/// Uploads `changes`, which are sorted by (row, column), and locates their entries in `base`.
pub(super) fn locate_changes<F: NttField>(
    base: &CsrOnDevice<F>,
    changes: &[Change<F>],
    abort: Abort<'_>,
) -> Result<Changes> {
    let (mut rows, mut starts, mut columns) = (Vec::new(), Vec::new(), Vec::with_capacity(changes.len()));
    let mut values = SecretVec(Vec::with_capacity(changes.len()));
    for change in changes {
        if rows.last() != Some(&(change.row as u32)) {
            rows.push(change.row as u32);
            starts.push(columns.len() as u32);
        }
        let (value, bit) = match change.action {
            Action::Set(value) => (value, REPLACES),
            Action::Add(value) => (value, 0),
        };
        columns.push(change.column as u32 | bit);
        values.0.push(value);
    }
    starts.push(columns.len() as u32);
    base.locate_changes(&HostChanges { rows: &rows, starts: &starts, columns: &columns, values: &values }, abort)
}

/// Computes y = (A + D)·x on a device, where `base` holds A and `delta` the differences D. Without `delta`, D is 0.
/// Writes `y` only after the whole result has arrived.
pub(super) fn multiply<F: NttField>(
    base: &CsrOnDevice<F>,
    delta: Option<&Changes>,
    x: &[F],
    y: &mut [F],
    abort: Abort<'_>,
) -> Result<StreamStats> {
    let mut stream = base.device().stream()?;
    let bytes = size_of_val(y);
    let of_x = stream.allocate(size_of_val(x))?.mark_secret();
    let of_y = stream.allocate(bytes)?.mark_secret();
    let mut result = stream.allocate_pinned(bytes)?;
    stream.upload_abortable(&of_x, 0, as_bytes(x), abort)?;
    stream.begin_timing()?;
    base.enqueue(&mut stream, DeviceVectors::one(&of_x), DeviceVectors::one(&of_y), 1)?;
    if let Some(delta) = delta {
        let buffers = [&delta.places, &delta.values, &of_x, &of_y].map(buffer_arg);
        let args = [&[Arg::U32(delta.rows)][..], &buffers].concat();
        let program = KernelModule::for_family(Family::Gemm, F::NAME)?;
        // SAFETY: the arguments match the kernel; rows and columns are those of the base, whose vectors these are, and
        // no row occurs twice. The delta is borrowed until all kernels have run.
        unsafe { program.launch(&mut stream, "gemv_differences", delta.rows.into(), GROUP, &args)? };
    }
    stream.end_timing()?;
    if bytes > 0 {
        stream.copy_to_pinned(&mut result, &of_y)?;
    }
    stream.synchronize(abort)?;
    // SAFETY: the kernels leave reduced elements in Montgomery form.
    result.drain_into(unsafe { as_bytes_mut(y) });
    Ok(stream.stats())
}
