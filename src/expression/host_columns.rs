//! Runs programs on host slices by a device. Each group's columns are uploaded to one vector, one group after the
//! other.

use std::sync::Arc;

use super::cpu::Inputs;
use super::enqueue::DeviceColumn;
use super::program::Program;
use crate::Result;
use crate::backend::{Device, Stream};
use crate::checked_size::product;
use crate::exec::ExecCtx;
use crate::field::{DeviceVector, HostVector, NttField, as_bytes};

/// Evaluates `program` on `device` for host slices. Writes `outputs` once all results are back on the host; after an
/// error they are unchanged.
pub(super) fn evaluate<F: NttField>(
    device: &Arc<Device>,
    program: &Program<F>,
    inputs: Inputs<'_, F>,
    outputs: &mut [&mut [F]],
    ctx: ExecCtx<'_>,
) -> Result<()> {
    let rows = inputs.coset.row_count();
    let mut stream = device.stream()?;
    let there = DeviceVector::allocate_uninit(
        &stream,
        product("expression", "elements of the outputs", &[outputs.len(), rows])?,
    )?;
    upload_columns(&mut stream, &there, outputs.iter().map(|output| &**output), ctx)?;
    let most = program.groups().iter().map(|group| group.columns().len()).max().unwrap_or(0);
    let arena =
        DeviceVector::allocate_uninit(&stream, product("expression", "elements of a group's columns", &[most, rows])?)?;
    let results: Vec<_> = consecutive_columns(&there, rows, outputs.len());
    for (number, group) in program.groups().iter().enumerate() {
        upload_columns(&mut stream, &arena, group.columns().iter().map(|column| inputs.columns[*column]), ctx)?;
        let columns = consecutive_columns(&arena, rows, group.columns().len());
        stream.begin_timing()?;
        program.enqueue_group(&mut stream, number, &columns, inputs.challenges, inputs.coset, &results)?;
        stream.end_timing()?;
    }
    let mut back = HostVector::<F>::new(&stream, there.len())?;
    if !there.is_empty() {
        stream.copy_to_pinned(back.buffer_mut(), there.buffer())?;
    }
    ctx.synchronize(&mut stream)?;
    ctx.check_abort()?;
    outputs.iter_mut().zip(back.chunks(rows)).for_each(|(output, result)| output.copy_from_slice(result));
    ctx.record([&stream]);
    Ok(())
}

/// Returns `count` columns of `rows` elements, which follow one another in `vector` from its start on.
fn consecutive_columns<F>(vector: &DeviceVector<F>, rows: usize, count: usize) -> Vec<DeviceColumn<'_, F>> {
    (0..count).map(|number| DeviceColumn { vector, first: number * rows }).collect()
}

/// Uploads `columns`, one after another, to `vector` from its start on.
fn upload_columns<'c, F: NttField>(
    stream: &mut Stream,
    vector: &DeviceVector<F>,
    columns: impl Iterator<Item = &'c [F]>,
    ctx: ExecCtx<'_>,
) -> Result<()> {
    for (number, column) in columns.enumerate() {
        stream.upload_abortable(vector.buffer(), number * size_of_val(column), as_bytes(column), ctx.abort())?;
    }
    Ok(())
}
