//! Describes matrices in a device's memory as kernels take them, and queues work within the device's queue limit.

use std::sync::Arc;
use std::time::Duration;

use super::element::ElementKind;
use super::layout::{ERROR_CONTEXT, View};
use crate::backend::{Abort, Arg, Buffer, Device, Stream, check_abort};
use crate::module_launcher::buffer_arg;
use crate::{Error, Result};

/// Describes a matrix in a device buffer: its memory, its layout and the kind of its entries.
#[derive(Clone, Copy)]
pub(super) struct DeviceView<'a> {
    pub buffer: &'a Buffer,
    pub view: View,
    pub kind: ElementKind,
}

impl DeviceView<'_> {
    /// Returns the kernel arguments of the matrix: the buffer, the index of the first entry, the row step and the
    /// column step.
    pub fn args(&self) -> Vec<Arg> {
        let View { first, row_step, column_step, .. } = self.view;
        let numbers = [first, row_step, column_step].map(|number| Arg::U64(number as u64));
        [&[buffer_arg(self.buffer)][..], &numbers].concat()
    }

    /// Returns the view of the half-open range `rows`, in the same memory.
    pub fn slice_rows(self, rows: std::ops::Range<usize>) -> Result<Self> {
        Ok(Self { view: self.view.block(rows, 0..self.view.columns)?, ..self })
    }

    /// Returns the bytes of an integer entry, 1 or 4, as a kernel argument.
    pub fn entry_bytes_arg(&self) -> Arg {
        Arg::U32(if self.kind == ElementKind::Byte { 1 } else { 4 })
    }
}

/// Queues `work`, which takes about `time` on the device. If an abort hook is set, first waits until the queue is short
/// enough for a prompt abort.
pub(super) fn enqueue_throttled(
    stream: &mut Stream,
    time: Duration,
    abort: Abort<'_>,
    work: impl FnOnce(&mut Stream) -> Result<()>,
) -> Result<()> {
    check_abort(abort)?;
    let device = stream.device().clone();
    let turn = device.acquire_queue_permit(stream, time, abort)?;
    work(stream)?;
    if let Some(turn) = turn {
        turn.release_on(Arc::new(stream.record_event()?));
    }
    Ok(())
}

/// Describes the matrix in `buffer` with the layout `view` and entries of `kind`.
///
/// # Errors
/// - [`Error::Invalid`]: `buffer` is on another device than `device`.
pub(super) fn device_view<'a>(
    device: &Device,
    buffer: &'a Buffer,
    view: View,
    kind: ElementKind,
) -> Result<DeviceView<'a>> {
    if device.owns(buffer) {
        return Ok(DeviceView { buffer, view, kind });
    }
    Err(Error::invalid(
        ERROR_CONTEXT,
        "device",
        format!("memory of {}", device.info().name),
        "memory of another device",
    ))
}
