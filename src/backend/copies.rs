//! Copies of host memory by all cores: one core cannot feed the host link.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};

use rayon::prelude::*;
use rayon::{Scope, Yield};

use super::past_cache::clear_past_cache;
use crate::waiting::spread;
use crate::{Error, Result};

/// Bytes that one task of a parallel host copy takes: large enough to pay for the task.
const COPY_GRAIN: usize = 256 << 10;
/// Bytes up to which one core is done before others have woken up.
const ALONE_BYTES: usize = 512 << 10;

/// A copy between slices of equal length.
pub(super) type CopyFn = fn(&mut [u8], &[u8]);

/// What comes of parts that tasks copy while others are on their way.
#[derive(Debug)]
pub(super) struct Copies<T> {
    sender: Sender<T>,
    receiver: Receiver<T>,
}

impl<T: Send> Copies<T> {
    pub fn new() -> Self {
        let (sender, receiver) = channel();
        Self { sender, receiver }
    }

    /// Has tasks copy a part; the last of them says what came of it by `end`. Few bytes are copied at once.
    pub fn spawn<'s>(
        &self,
        scope: &Scope<'s>,
        (to, from, copy): (&'s mut [u8], &'s [u8], CopyFn),
        end: impl Fn() -> T + Send + Sync + 's,
    ) where
        T: 's,
    {
        let sender = self.sender.clone();
        // A receiver that is gone has stopped listening.
        let end = move || drop(sender.send(end()));
        if to.len() <= ALONE_BYTES {
            copy(to, from);
            return end();
        }
        let last = Arc::new((AtomicUsize::new(to.len().div_ceil(COPY_GRAIN)), end));
        for (to, from) in to.chunks_mut(COPY_GRAIN).zip(from.chunks(COPY_GRAIN)) {
            let last = last.clone();
            scope.spawn(move |_| {
                copy(to, from);
                let (left, end) = &*last;
                if left.fetch_sub(1, Ordering::AcqRel) == 1 {
                    end();
                }
            });
        }
    }

    /// What came of a part that has been copied, of those that were spawned. A core of the pool does other work
    /// meanwhile, which may be a task's.
    pub fn next(&self) -> Result<T> {
        loop {
            match rayon::yield_now() {
                // `self` has a sender, so that it waits for one.
                None => return self.receiver.recv().map_err(|_| Error::lost("copy")),
                Some(Yield::Executed) => {}
                Some(Yield::Idle) => std::thread::yield_now(),
            }
            if let Ok(one) = self.receiver.try_recv() {
                return Ok(one);
            }
        }
    }

    /// What came of the rest, once nothing is spawned any more.
    pub fn rest(self) -> impl Iterator<Item = T> {
        drop(self.sender);
        self.receiver.into_iter()
    }
}

/// Copies between slices of equal length with all cores.
pub(crate) fn parallel_copy(to: &mut [u8], from: &[u8]) {
    debug_assert_eq!(to.len(), from.len());
    if to.len() <= ALONE_BYTES {
        return to.copy_from_slice(from);
    }
    let parts = to.par_chunks_mut(COPY_GRAIN).zip(from.par_chunks(COPY_GRAIN));
    spread(|| parts.for_each(|(to, from)| to.copy_from_slice(from)));
}

/// The same, and clears the source while it is in the cache.
pub(super) fn parallel_move(to: &mut [u8], from: &mut [u8]) {
    debug_assert_eq!(to.len(), from.len());
    let one = |(to, from): (&mut [u8], &mut [u8])| {
        to.copy_from_slice(from);
        from.fill(0);
    };
    if to.len() <= ALONE_BYTES {
        return one((to, from));
    }
    spread(|| to.par_chunks_mut(COPY_GRAIN).zip(from.par_chunks_mut(COPY_GRAIN)).for_each(one));
}

/// Clears slices with all cores, past their caches.
pub(crate) fn clear_all_past_cache(slices: Vec<&mut [u8]>) {
    let bytes: usize = slices.iter().map(|bytes| bytes.len()).sum();
    if bytes <= ALONE_BYTES {
        slices.into_iter().for_each(clear_past_cache);
    } else {
        let parts = slices.into_par_iter().flat_map(|bytes| bytes.par_chunks_mut(COPY_GRAIN));
        spread(|| parts.for_each(clear_past_cache));
    }
}
