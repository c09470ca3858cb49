//! Differences on a device, and products of base and delta queued together.

use std::sync::Arc;

use super::delta::Delta;
use crate::Result;
use crate::backend::{Abort, Arg, Buffer, Device, Traffic};
use crate::field::{NttField, as_bytes, as_bytes_mut};
use crate::kernels::Family;
use crate::matrix::{CsrOnDevice, DeviceVectors};
use crate::program::{Program, mem};

/// Work-items of a group, `GEMV_GROUP` of `cl/gemv.cl`.
const GROUP: u32 = 128;

/// Differences in a device's memory.
#[derive(Debug)]
pub(super) struct DeltaOnDevice {
    rows: u32,
    /// Rows, starts, columns and values.
    buffers: [Buffer; 4],
}

impl DeltaOnDevice {
    /// Uploads differences and waits for that.
    pub fn new<F: NttField>(device: &Arc<Device>, delta: &Delta<F>, abort: Abort<'_>) -> Result<Self> {
        let mut stream = device.stream()?;
        let mut upload = |bytes: &[u8]| {
            let buffer = stream.allocate(bytes.len())?.secret();
            stream.upload_unless(&buffer, 0, bytes, abort).map(|()| buffer)
        };
        let [rows, starts, columns] =
            [&delta.rows, &delta.starts, &delta.columns].map(|words| bytemuck::cast_slice(words));
        let buffers = [upload(rows)?, upload(starts)?, upload(columns)?, upload(as_bytes(&delta.values))?];
        stream.wait(abort)?;
        Ok(Self { rows: delta.rows.len() as u32, buffers })
    }
}

/// y = (A + D)·x: the base's kernels, then the delta's, on one stream; y is written when all is there.
pub(super) fn multiply<F: NttField>(
    base: &CsrOnDevice<F>,
    delta: &DeltaOnDevice,
    x: &[F],
    y: &mut [F],
    abort: Abort<'_>,
) -> Result<Traffic> {
    let mut stream = base.device().stream()?;
    let bytes = size_of_val(y);
    let of_x = stream.allocate(size_of_val(x))?.secret();
    let of_y = stream.allocate(bytes)?.secret();
    let result = stream.host_buffer(bytes)?;
    stream.upload_unless(&of_x, 0, as_bytes(x), abort)?;
    stream.mark_start()?;
    base.enqueue(&mut stream, DeviceVectors::one(&of_x), DeviceVectors::one(&of_y), 1)?;
    if delta.rows > 0 {
        let args =
            [&[Arg::U32(delta.rows)][..], &delta.buffers.each_ref().map(mem), &[mem(&of_x), mem(&of_y)]].concat();
        let program = Program::of(Family::Gemm, F::NAME)?;
        // SAFETY: the arguments are those of the kernel; rows and columns are those of the base, whose vectors these are,
        // and no row is there twice. The delta is borrowed until all has run.
        unsafe { program.launch(&mut stream, "gemv_differences", delta.rows.into(), GROUP, &args)? };
    }
    stream.mark_end()?;
    if bytes > 0 {
        stream.fetch(&result, &of_y)?;
    }
    stream.wait(abort)?;
    // SAFETY: the kernels leave reduced elements in Montgomery form.
    result.move_to(unsafe { as_bytes_mut(y) });
    Ok(stream.traffic())
}
