//! Leaves results in vectors in host memory, or restores the vectors.

use crate::Result;
use crate::backend::{Abort, Buffer, PinnedBuffer, Stream, StreamStats, parallel_copy};
use crate::field::{NttField, SecretVec, as_bytes, as_bytes_mut};

/// Holds the transformed vectors of one device, and the statistics of its streams.
pub(super) struct DeviceOutcome<'a, F: NttField> {
    pub done: Vec<TransformedVector<'a, F>>,
    pub traffic: StreamStats,
}

/// Holds a vector in host memory and its computed transform. If it is dropped without [`Self::commit`], the vector
/// keeps or regains its old elements.
pub(super) enum TransformedVector<'a, F: NttField> {
    /// The vector has the result; the guard's buffer has the old elements.
    InPlace(RollbackGuard<'a, F>),
    /// The vector has its old elements; the pinned buffer has the result.
    Fetched(&'a mut [F], PinnedBuffer),
    /// The vector has its old elements; the second vector has the result.
    Beside(&'a mut [F], SecretVec<F>),
}

impl<F: NttField> TransformedVector<'_, F> {
    /// Leaves the result in the vector, and discards the old elements.
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

/// Holds a vector that a result is fetched into, and a copy of its old elements. It restores the old elements when
/// dropped, unless it was committed.
pub(super) struct RollbackGuard<'a, F: NttField> {
    slice: &'a mut [F],
    kept: PinnedBuffer,
    committed: bool,
}

impl<'a, F: NttField> RollbackGuard<'a, F> {
    /// Copies `result` from the device to `slice`. `kept` is a copy of the old elements of `slice`, which are restored
    /// if the copy fails or `stop` aborts it.
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
