//! Transforms of vectors in host memory on devices: all of them or none.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rayon::prelude::*;

use super::Transform;
use super::lanes::transform_on;
use crate::backend::{Abort, Buffer, Device, HostBuffer, Stream, Traffic, parallel_copy};
use crate::field::{NttField, SecretVec, as_bytes, as_bytes_mut};
use crate::side_by_side::side_by_side;
use crate::waiting::spread;
use crate::{Error, Result};

/// Transforms vectors on all devices, an equal share each. A device that fails stops the others.
pub(super) fn transform_many<F: NttField>(
    devices: &[Arc<Device>],
    values: &mut [&mut [F]],
    transforms: &[Transform<F>],
    abort: Abort<'_>,
) -> Result<Traffic> {
    if values.is_empty() {
        return Ok(Traffic::default());
    }
    let share = values.len().div_ceil(devices.len());
    let alone = values.len() <= share;
    let failed = &AtomicBool::new(false);
    let stop = || failed.load(Ordering::Relaxed) || abort.is_some_and(|abort| abort());
    // A stream that nobody can stop is waited for without looking at it time and again.
    let stop: Abort<'_> = if alone && abort.is_none() { None } else { Some(&stop) };
    let shares = devices.iter().zip(values.chunks_mut(share).zip(transforms.chunks(share)));
    let parts = side_by_side("ntt", shares, |(device, (values, transforms))| {
        let part = transform_on(device, values, transforms, stop);
        failed.fetch_or(part.is_err(), Ordering::Relaxed);
        part
    });
    // Dropped on an error, vectors are as they were.
    let parts = collect(parts)?;
    let traffic = parts.iter().fold(Traffic::default(), |sum, part| sum + part.traffic);
    spread(|| parts.into_par_iter().flat_map(|part| part.done).for_each(Transformed::commit));
    Ok(traffic)
}

/// All parts, or the error that matters most: parts that stop because another failed say that they were
/// aborted, and a caller that retries what was aborted must hear of the failure.
fn collect<T>(parts: Vec<Result<T>>) -> Result<Vec<T>> {
    let (aborted, others): (Vec<_>, Vec<_>) = parts.into_iter().partition(|part| matches!(part, Err(Error::Aborted)));
    let done = others.into_iter().collect::<Result<Vec<_>>>()?;
    if aborted.is_empty() { Ok(done) } else { Err(Error::Aborted) }
}

/// What one device has done.
pub(super) struct Part<'a, F: NttField> {
    pub done: Vec<Transformed<'a, F>>,
    pub traffic: Traffic,
}

/// A vector that has been transformed. Dropped before [`Self::commit`], it is as it was.
pub(super) enum Transformed<'a, F: NttField> {
    /// It has the result, and the buffer what it was.
    InPlace(Overwritten<'a, F>),
    /// The result is still in the buffer.
    Fetched(&'a mut [F], HostBuffer),
    /// The result is still in the other vector.
    Beside(&'a mut [F], SecretVec<F>),
}

impl<F: NttField> Transformed<'_, F> {
    /// Leaves the result in the vector.
    pub fn commit(self) {
        // SAFETY: `ntt_rows` leaves reduced elements in Montgomery form.
        unsafe {
            match self {
                Self::InPlace(vector) => vector.commit(),
                Self::Fetched(slice, result) => result.move_to(as_bytes_mut(slice)),
                Self::Beside(slice, result) => parallel_copy(as_bytes_mut(slice), as_bytes(&result)),
            }
        }
    }
}

/// A vector that a result is fetched into, and what it was; it gets that back when dropped.
pub(super) struct Overwritten<'a, F: NttField> {
    slice: &'a mut [F],
    kept: HostBuffer,
    committed: bool,
}

impl<'a, F: NttField> Overwritten<'a, F> {
    /// Fetches a result into the slice that `kept` is a copy of.
    pub fn fetch(
        stream: &mut Stream,
        result: &Buffer,
        (slice, kept): (&'a mut [F], HostBuffer),
        stop: Abort<'_>,
    ) -> Result<Self> {
        let vector = Self { slice, kept, committed: false };
        // SAFETY: `ntt_rows` leaves reduced elements in Montgomery form.
        stream.download_unless(unsafe { as_bytes_mut(vector.slice) }, result, stop)?;
        Ok(vector)
    }

    fn commit(mut self) {
        self.committed = true;
    }
}

impl<F: NttField> Drop for Overwritten<'_, F> {
    fn drop(&mut self) {
        if !self.committed {
            // SAFETY: what comes back are the vector's own elements.
            parallel_copy(unsafe { as_bytes_mut(self.slice) }, self.kept.bytes_of());
        }
    }
}
