//! Leaves results in vectors in host memory, or restores the vectors.

use crate::Result;
use crate::backend::{Abort, Buffer, PinnedBuffer, Stream, StreamStats, parallel_copy};
use crate::field::{NttField, SecretVec, as_bytes, as_bytes_mut};

/// Holds the results and the traffic of one device.
pub(super) struct DeviceOutcome<'a, F: NttField> {
    pub done: Vec<TransformedVector<'a, F>>,
    pub traffic: StreamStats,
}

/// Holds a vector that has been transformed. If it is dropped before [`Self::commit`], the vector is as it was.
pub(super) enum TransformedVector<'a, F: NttField> {
    /// The vector has the result; the buffer has the vector's old elements.
    InPlace(RollbackGuard<'a, F>),
    /// The result is still in the buffer.
    Fetched(&'a mut [F], PinnedBuffer),
    /// The result is still in the other vector.
    Beside(&'a mut [F], SecretVec<F>),
}

impl<F: NttField> TransformedVector<'_, F> {
    /// Leaves the result in the vector.
    pub fn commit(self) {
        // SAFETY: `ntt_row_pass` leaves reduced elements in Montgomery form.
        unsafe {
            match self {
                Self::InPlace(vector) => vector.commit(),
                Self::Fetched(slice, result) => result.drain_into(as_bytes_mut(slice)),
                Self::Beside(slice, result) => parallel_copy(as_bytes_mut(slice), as_bytes(&result)),
            }
        }
    }
}

/// Holds a vector that a result is fetched into, and its old elements. It restores them when dropped.
pub(super) struct RollbackGuard<'a, F: NttField> {
    slice: &'a mut [F],
    kept: PinnedBuffer,
    committed: bool,
}

impl<'a, F: NttField> RollbackGuard<'a, F> {
    /// Fetches `result` into the slice, of which `kept` is a copy.
    pub fn fetch(
        stream: &mut Stream,
        result: &Buffer,
        (slice, kept): (&'a mut [F], PinnedBuffer),
        stop: Abort<'_>,
    ) -> Result<Self> {
        let vector = Self { slice, kept, committed: false };
        // SAFETY: `ntt_row_pass` leaves reduced elements in Montgomery form.
        stream.download_abortable(unsafe { as_bytes_mut(vector.slice) }, result, stop)?;
        Ok(vector)
    }

    fn commit(mut self) {
        self.committed = true;
    }
}

impl<F: NttField> Drop for RollbackGuard<'_, F> {
    fn drop(&mut self) {
        if !self.committed {
            // SAFETY: the restored bytes are the vector's own elements.
            parallel_copy(unsafe { as_bytes_mut(self.slice) }, self.kept.as_slice());
        }
    }
}
