//! Copies host memory with all cores: one core cannot saturate the host link.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};

use rayon::prelude::*;
use rayon::{Scope, Yield};

use super::nontemporal::zero_nontemporal;
use crate::blocking::install;
use crate::{Error, Result};

/// Bytes that each task of a parallel host copy takes, 256 KiB: enough to outweigh the cost of a task.
const COPY_GRAIN: usize = 256 << 10;
/// Maximum bytes that one core copies alone, 512 KiB: such a copy ends before other cores wake up.
const SERIAL_COPY_MAX: usize = 512 << 10;

/// Copies the second slice to the first, which has equal length.
pub(super) type CopyFn = fn(&mut [u8], &[u8]);

/// Tracks copies of host memory that run as rayon tasks, and collects one result per copy.
#[derive(Debug)]
pub(super) struct CopyTasks<T> {
    sender: Sender<T>,
    receiver: Receiver<T>,
}

impl<T: Send> CopyTasks<T> {
    pub fn new() -> Self {
        let (sender, receiver) = channel();
        Self { sender, receiver }
    }

    /// Spawns tasks in `scope` that copy `from` to `to` with the function `copy`. The task that finishes last calls
    /// `end` and sends its result. Copies of up to `SERIAL_COPY_MAX` bytes run on the calling thread.
    pub fn spawn_copy<'s>(
        &self,
        scope: &Scope<'s>,
        (to, from, copy): (&'s mut [u8], &'s [u8], CopyFn),
        end: impl Fn() -> T + Send + Sync + 's,
    ) where
        T: 's,
    {
        let sender = self.sender.clone();
        // A dropped receiver needs no result.
        let end = move || drop(sender.send(end()));
        if to.len() <= SERIAL_COPY_MAX {
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

    /// Waits until a spawned copy has finished, and returns the result of its `end` function. Copies may finish in
    /// any order. A thread of rayon's pool runs other jobs meanwhile, possibly one of these tasks.
    pub fn wait_next_result(&self) -> Result<T> {
        loop {
            match rayon::yield_now() {
                // `self` has a sender, so this waits for a result.
                None => return self.receiver.recv().map_err(|_| Error::internal("copy")),
                Some(Yield::Executed) => {}
                Some(Yield::Idle) => std::thread::yield_now(),
            }
            if let Ok(one) = self.receiver.try_recv() {
                return Ok(one);
            }
        }
    }

    /// Returns an iterator that waits for the results of all copies that [`Self::next`] has not returned. No more
    /// copies can be spawned.
    pub fn remaining_results(self) -> impl Iterator<Item = T> {
        drop(self.sender);
        self.receiver.into_iter()
    }
}

/// Copies `from` to `to`, of equal length, with all cores.
pub(crate) fn parallel_copy(to: &mut [u8], from: &[u8]) {
    debug_assert_eq!(to.len(), from.len());
    if to.len() <= SERIAL_COPY_MAX {
        return to.copy_from_slice(from);
    }
    let parts = to.par_chunks_mut(COPY_GRAIN).zip(from.par_chunks(COPY_GRAIN));
    install(|| parts.for_each(|(to, from)| to.copy_from_slice(from)));
}

/// Copies `from` to `to`, of equal length, with all cores, and clears `from` while it is in the cache.
pub(super) fn par_move_and_zeroize(to: &mut [u8], from: &mut [u8]) {
    debug_assert_eq!(to.len(), from.len());
    let one = |(to, from): (&mut [u8], &mut [u8])| {
        to.copy_from_slice(from);
        from.fill(0);
    };
    if to.len() <= SERIAL_COPY_MAX {
        return one((to, from));
    }
    install(|| to.par_chunks_mut(COPY_GRAIN).zip(from.par_chunks_mut(COPY_GRAIN)).for_each(one));
}

/// Sets all bytes of `slices` to zero with all cores, by nontemporal stores.
pub(crate) fn par_zero_nontemporal(slices: Vec<&mut [u8]>) {
    let bytes: usize = slices.iter().map(|bytes| bytes.len()).sum();
    if bytes <= SERIAL_COPY_MAX {
        slices.into_iter().for_each(zero_nontemporal);
    } else {
        let parts = slices.into_par_iter().flat_map(|bytes| bytes.par_chunks_mut(COPY_GRAIN));
        install(|| parts.for_each(zero_nontemporal));
    }
}
