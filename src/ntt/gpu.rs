//! Transforms of vectors in host memory on devices: all of them or none.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::Transform;
use super::lanes::transform_on;
use crate::backend::{Abort, Device, HostBuffer, Traffic, parallel_swap};
use crate::field::{NttField, as_bytes_mut};
use crate::side_by_side::side_by_side;
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
    // Dropped on an error, what has been exchanged goes back.
    let parts = collect(parts)?;
    let traffic = parts.iter().fold(Traffic::default(), |sum, part| sum + part.traffic);
    parts.into_iter().flat_map(|part| part.exchanged).for_each(Exchanged::commit);
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
    pub exchanged: Vec<Exchanged<'a, F>>,
    pub traffic: Traffic,
}

/// Where a result lies before its vector gets it, and what the vector was lies afterwards.
pub(super) enum Store<F: NttField> {
    Pinned(HostBuffer),
    Plain(Vec<F>),
}

/// A vector whose first `bytes` bytes have changed places with those of its result: so results go into vectors while
/// later ones are still on their way, and all goes back if one of them fails. Undone when dropped.
pub(super) struct Exchanged<'a, F: NttField> {
    slice: &'a mut [F],
    store: Store<F>,
    bytes: usize,
}

impl<'a, F: NttField> Exchanged<'a, F> {
    /// Nothing exchanged yet.
    pub fn new(slice: &'a mut [F], store: Store<F>) -> Self {
        Self { slice, store, bytes: 0 }
    }

    /// Exchanges up to `end`; what lies before it has arrived.
    pub fn advance(&mut self, end: usize) {
        self.exchange(self.bytes, end);
        self.bytes = end;
    }

    /// Exchanges all that is left.
    pub fn advance_to_the_end(&mut self) {
        self.advance(size_of_val(self.slice));
    }

    /// Leaves the result in the vector.
    pub fn commit(mut self) {
        self.bytes = 0;
    }

    fn exchange(&mut self, start: usize, end: usize) {
        // SAFETY: `ntt_rows` leaves reduced elements in Montgomery form, and the other way go the vector's own.
        let ours = unsafe { as_bytes_mut(self.slice) };
        let ours = &mut ours[start..end];
        match &mut self.store {
            Store::Pinned(buffer) => buffer.exchange(start, ours),
            Store::Plain(values) => {
                // SAFETY: both sides are elements.
                let theirs = unsafe { as_bytes_mut(values) };
                parallel_swap(ours, &mut theirs[start..end]);
            }
        }
    }
}

impl<F: NttField> Drop for Exchanged<'_, F> {
    fn drop(&mut self) {
        self.exchange(0, self.bytes);
    }
}
