//! A ring of page-locked slots through which pageable host memory is copied.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, channel};

use rayon::prelude::*;
use rayon::{Scope, Yield};

use super::past_cache::{clear_past_cache, copy_past_cache};
use super::{Driver, EventHandle, Pinned};
use crate::Result;

/// Bytes of one slot: at 50 GB/s a copy of 80 µs, so that launch costs do not show.
pub(super) const SLOT_BYTES: usize = 4 << 20;
/// Slots: some being filled, one being sent, the rest to absorb unevenness.
const SLOTS: usize = 8;
/// Bytes that one task of a parallel host copy takes: large enough to pay for the task.
const COPY_GRAIN: usize = 256 << 10;
/// Bytes up to which one core is done before others have woken up.
const ALONE_BYTES: usize = 2 << 20;

#[derive(Debug)]
struct Slot {
    memory: Pinned,
    busy: Option<EventHandle>,
    /// Tasks copy to it; its event is still to come.
    filling: bool,
    /// Leading bytes that hold a secret.
    dirty: usize,
}

/// A slot's number, and the event after which the device has read it.
type Queued = (usize, Result<EventHandle>);

/// Queues the copy of a slot's first bytes to the device: the part of that number.
pub(super) type QueueCopy<'a> = dyn Fn(usize, Pinned, usize) -> Result<EventHandle> + Sync + 'a;

/// Page-locked slots used in turn; made at first use.
#[derive(Debug, Default)]
pub(super) struct Ring {
    slots: Vec<Slot>,
    next: usize,
}

impl Ring {
    /// The next slot, once the device is done with it; returns its index and memory.
    pub(super) fn acquire(&mut self, driver: &dyn Driver) -> Result<(usize, Pinned)> {
        if self.slots.len() < SLOTS {
            let memory = driver.pinned_allocate(SLOT_BYTES)?;
            self.slots.push(Slot { memory, busy: None, filling: false, dirty: 0 });
            return Ok((self.slots.len() - 1, memory));
        }
        let index = self.next % SLOTS;
        self.next += 1;
        self.wait(driver, index)?;
        Ok((index, self.slots[index].memory))
    }

    /// Sends host memory through the slots, part by part. All cores copy to several slots at a time, without waiting
    /// for one another at the end of each; whoever fills a slot queues its copy. Parts may go out of order.
    pub(super) fn send(&mut self, driver: &dyn Driver, from: &[u8], secret: bool, queue: &QueueCopy) -> Result<()> {
        let (sender, queued) = channel();
        let result = rayon::in_place_scope(|scope| {
            from.chunks(SLOT_BYTES).enumerate().try_for_each(|(number, part)| {
                let (index, memory) = self.acquire_filled(driver, &queued)?;
                let slot = &mut self.slots[index];
                slot.filling = true;
                slot.dirty = slot.dirty.max(if secret { part.len() } else { 0 });
                let sender = sender.clone();
                // SAFETY: the slot is at least a part long, and nobody else uses it until its event has passed.
                let to = unsafe { std::slice::from_raw_parts_mut(memory.pointer, part.len()) };
                fill(scope, to, part, move || {
                    // The receiver outlives the scope.
                    let _ = sender.send((index, queue(number, memory, part.len())));
                });
                Ok(())
            })
        });
        drop(sender);
        queued.into_iter().map(|queued| self.note(queued)).fold(result, Result::and)
    }

    /// As [`Self::acquire`], where tasks may still be filling the slot.
    fn acquire_filled(&mut self, driver: &dyn Driver, queued: &Receiver<Queued>) -> Result<(usize, Pinned)> {
        while self.slots.len() == SLOTS && self.slots[self.next % SLOTS].filling {
            if let Some(one) = receive(queued) {
                self.note(one)?;
            }
        }
        self.acquire(driver)
    }

    fn note(&mut self, (index, event): Queued) -> Result<()> {
        let slot = &mut self.slots[index];
        slot.filling = false;
        slot.busy = Some(event?);
        Ok(())
    }

    /// Notes the event after which the slot is free again, and how much of it is secret.
    pub(super) fn busy_until(&mut self, index: usize, event: EventHandle, secret_bytes: usize) {
        let slot = &mut self.slots[index];
        slot.busy = Some(event);
        slot.dirty = slot.dirty.max(secret_bytes);
    }

    /// Waits until the device is done with a slot.
    pub(super) fn wait(&mut self, driver: &dyn Driver, index: usize) -> Result<()> {
        match self.slots[index].busy.take() {
            // SAFETY: the event was recorded by this driver and is freed only here.
            Some(event) => unsafe {
                let result = driver.event_synchronize(event);
                driver.event_free(event);
                result
            },
            None => Ok(()),
        }
    }

    /// Clears what was secret, once the device is done with it.
    pub(super) fn wipe(&mut self, driver: &dyn Driver) {
        for index in 0..self.slots.len() {
            let _ = self.wait(driver, index);
        }
        let secrets = self.slots.iter_mut().map(|slot| {
            let bytes = std::mem::take(&mut slot.dirty);
            // SAFETY: `dirty` is at most the slot's size, and the device is done with it.
            unsafe { std::slice::from_raw_parts_mut(slot.memory.pointer, bytes) }
        });
        let secrets: Vec<_> = secrets.filter(|bytes| !bytes.is_empty()).collect();
        match secrets.iter().map(|bytes| bytes.len()).sum::<usize>() {
            0..=ALONE_BYTES => secrets.into_iter().for_each(clear_past_cache),
            _ => secrets.into_par_iter().flat_map(|bytes| bytes.par_chunks_mut(COPY_GRAIN)).for_each(clear_past_cache),
        }
    }

    /// Frees everything. The stream must have run empty.
    pub(super) fn free(&mut self, driver: &dyn Driver) {
        self.wipe(driver);
        for slot in self.slots.drain(..) {
            // SAFETY: the device is done with the slot (wipe waited) and it is not used again.
            unsafe { driver.pinned_free(slot.memory) };
        }
    }
}

/// Spawns tasks that copy a part; the last of them says that it is there. Few bytes are copied at once.
fn fill<'s>(scope: &Scope<'s>, to: &'s mut [u8], from: &'s [u8], filled: impl Fn() + Send + Sync + 's) {
    if to.len() <= ALONE_BYTES {
        copy_past_cache(to, from);
        return filled();
    }
    let last = Arc::new((AtomicUsize::new(to.len().div_ceil(COPY_GRAIN)), filled));
    for (to, from) in to.chunks_mut(COPY_GRAIN).zip(from.chunks(COPY_GRAIN)) {
        let last = last.clone();
        scope.spawn(move |_| {
            copy_past_cache(to, from);
            let (left, filled) = &*last;
            if left.fetch_sub(1, Ordering::AcqRel) == 1 {
                filled();
            }
        });
    }
}

/// The next message. A core of the pool does other work meanwhile, which may be the sender's.
fn receive<T>(from: &Receiver<T>) -> Option<T> {
    match rayon::yield_now() {
        None => from.recv().ok(),
        Some(Yield::Executed) => from.try_recv().ok(),
        Some(Yield::Idle) => {
            std::thread::yield_now();
            from.try_recv().ok()
        }
    }
}

/// Copies between host slices of equal length with all cores: one core cannot feed the host link.
pub(super) fn parallel_copy(to: &mut [u8], from: &[u8]) {
    debug_assert_eq!(to.len(), from.len());
    if to.len() <= ALONE_BYTES {
        return to.copy_from_slice(from);
    }
    to.par_chunks_mut(COPY_GRAIN).zip(from.par_chunks(COPY_GRAIN)).for_each(|(to, from)| to.copy_from_slice(from));
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
    to.par_chunks_mut(COPY_GRAIN).zip(from.par_chunks_mut(COPY_GRAIN)).for_each(one);
}

/// Clears with all cores.
pub(super) fn parallel_clear(bytes: &mut [u8]) {
    if bytes.len() <= ALONE_BYTES {
        return bytes.fill(0);
    }
    bytes.par_chunks_mut(COPY_GRAIN).for_each(|chunk| chunk.fill(0));
}
