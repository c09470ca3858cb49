//! A ring of page-locked slots through which pageable host memory is copied.

use rayon::prelude::*;

use super::{Driver, EventHandle, Pinned};
use crate::Result;

/// Bytes of one slot: at 50 GB/s a copy of 80 µs, so that launch costs do not show.
pub(super) const SLOT_BYTES: usize = 4 << 20;
/// Slots: one being filled, one being sent, two to absorb unevenness.
const SLOTS: usize = 4;
/// Bytes that one task of a parallel host copy takes: large enough to pay for the task.
const COPY_GRAIN: usize = 256 << 10;
/// Bytes up to which one core is done before others have woken up.
const ALONE_BYTES: usize = 2 << 20;

#[derive(Debug)]
struct Slot {
    memory: Pinned,
    busy: Option<EventHandle>,
    /// Leading bytes that hold a secret.
    dirty: usize,
}

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
            self.slots.push(Slot { memory, busy: None, dirty: 0 });
            return Ok((self.slots.len() - 1, memory));
        }
        let index = self.next % SLOTS;
        self.next += 1;
        self.wait(driver, index)?;
        Ok((index, self.slots[index].memory))
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

    /// Clears what was secret. The stream must have run empty.
    pub(super) fn wipe(&mut self, driver: &dyn Driver) {
        for index in 0..self.slots.len() {
            let _ = self.wait(driver, index);
            let slot = &mut self.slots[index];
            // SAFETY: `dirty` is at most the slot's size, and the device is done with it.
            let bytes = unsafe { std::slice::from_raw_parts_mut(slot.memory.pointer, slot.dirty) };
            parallel_clear(bytes);
            slot.dirty = 0;
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
