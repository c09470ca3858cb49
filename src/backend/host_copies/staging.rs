//! A ring of pinned slots through which pageable host memory is copied.

use std::collections::VecDeque;

use super::parallel_nontemporal_copy::{CopyTasks, copy_nontemporal, par_zero_nontemporal};
use crate::Result;
use crate::backend::{Driver, EventHandle, PinnedAlloc};
use crate::rayon_waits::in_place_scope;

/// Bytes of one staging slot, 4 MiB. The copy of a slot takes 80 µs at 50 GB/s, long enough to hide launch costs.
pub(crate) const SLOT_BYTES: usize = 4 << 20;
/// Maximum number of slots, 8: some being filled, one being sent, the rest to absorb unevenness.
const SLOTS: usize = 8;
/// Number of slots that the device fills before the host empties the first of them, 3. It is less than [`SLOTS`], so
/// that the next slot is never one of these.
const DOWNLOAD_DEPTH: usize = 3;

#[derive(Debug)]
struct StagingSlot {
    memory: PinnedAlloc,
    busy: Option<EventHandle>,
    /// Whether host tasks still copy to or from the slot, or are about to. An upload's event is recorded only after
    /// that.
    copied: bool,
    /// Number of leading bytes that hold a secret.
    dirty: usize,
}

impl StagingSlot {
    fn is_idle(&self, driver: &dyn Driver) -> bool {
        // SAFETY: the event was recorded by this driver and is live. The wait for it reports a failure.
        let passed = |event| unsafe { driver.event_query(event) }.unwrap_or(false);
        !self.copied && self.busy.is_none_or(passed)
    }
}

/// Holds the index of a slot that host tasks have copied. For an upload it also holds the event after which the
/// device has read the slot.
type CopiedSlot = (usize, Result<Option<EventHandle>>);

/// Queues a copy between pinned host memory and device memory at the given byte offset. Returns an event behind the
/// copy.
pub(crate) type EnqueueCopyFn<'a> = dyn Fn(PinnedAlloc, usize) -> Result<EventHandle> + Sync + 'a;

/// Holds the pinned slots through which a stream copies pageable host memory. Slots are used in turn and allocated at
/// first use.
#[derive(Debug, Default)]
pub(crate) struct StagingRing {
    slots: Vec<StagingSlot>,
    /// Indices of the slots, the least recently taken first.
    turns: VecDeque<usize>,
}

impl StagingRing {
    /// Copies `from` to the device through the slots, part by part. All cores copy to several slots at a time,
    /// without waiting for one another at the end of each. The thread that finishes a slot calls `queue` to queue its
    /// copy to the device. Parts may be queued out of order. If `secret` is set, the slots are marked for clearing.
    pub(crate) fn upload(
        &mut self,
        driver: &dyn Driver,
        from: &[u8],
        secret: bool,
        queue: &EnqueueCopyFn,
    ) -> Result<()> {
        let copies = CopyTasks::new();
        let result = in_place_scope(|scope| {
            from.chunks(SLOT_BYTES).enumerate().try_for_each(|(number, part)| {
                let (index, slot) = self.acquire_slot(driver, (part.len(), secret), &copies)?;
                // SAFETY: the slot is at least a part long, and nothing else uses it until its event has passed.
                let to = unsafe { std::slice::from_raw_parts_mut(slot.pointer, slot.bytes) };
                let end = move || (index, queue(slot, number * SLOT_BYTES).map(Some));
                self.slots[index].copied = true;
                copies.spawn_copy(scope, (to, part, copy_nontemporal), end);
                Ok(())
            })
        });
        self.finish_copies(copies, result)
    }

    /// Copies device memory through the slots to `parts`. Each part is a slice of host memory, of at most
    /// `SLOT_BYTES`, and a byte offset on the device, which `queue` takes. All cores copy from several slots at a
    /// time, while the device fills others. After an error some parts may have been written.
    pub(crate) fn download<'a>(
        &mut self,
        driver: &dyn Driver,
        parts: impl Iterator<Item = (&'a mut [u8], usize)>,
        secret: bool,
        queue: &EnqueueCopyFn,
    ) -> Result<()> {
        let copies = CopyTasks::new();
        let result = in_place_scope(|scope| {
            let mut coming = VecDeque::new();
            let empty = |ring: &mut Self, (index, slot, part): (usize, PinnedAlloc, &'a mut [u8])| {
                ring.synchronize_slot(driver, index)?;
                // SAFETY: the device has written the slot's first bytes, and nothing writes there until tasks have read
                // them.
                let from = unsafe { std::slice::from_raw_parts(slot.pointer, slot.bytes) };
                copies.spawn_copy(scope, (part, from, <[u8]>::copy_from_slice), move || (index, Ok(None)));
                Ok(())
            };
            for (part, offset) in parts {
                if coming.len() == DOWNLOAD_DEPTH {
                    coming.pop_front().map_or(Ok(()), |oldest| empty(self, oldest))?;
                }
                let (index, slot) = self.acquire_slot(driver, (part.len(), secret), &copies)?;
                self.slots[index].busy = Some(queue(slot, offset)?);
                self.slots[index].copied = true;
                coming.push_back((index, slot, part));
            }
            coming.into_iter().try_for_each(|one| empty(self, one))
        });
        self.finish_copies(copies, result)
    }

    /// Waits until host tasks and the device no longer use the next slot. Returns its index and its first `bytes`,
    /// and marks these for clearing if `secret` is set.
    fn acquire_slot(
        &mut self,
        driver: &dyn Driver,
        (bytes, secret): (usize, bool),
        copies: &CopyTasks<CopiedSlot>,
    ) -> Result<(usize, PinnedAlloc)> {
        let index = self.next_slot(driver)?;
        while self.slots[index].copied {
            self.record_finished_copy(copies.wait_next_result()?)?;
        }
        self.synchronize_slot(driver, index)?;
        let slot = &mut self.slots[index];
        slot.dirty = slot.dirty.max(if secret { bytes } else { 0 });
        Ok((index, PinnedAlloc { bytes, ..slot.memory }))
    }

    /// Returns the index of the least recently taken slot. If that slot is in use, allocates and returns a new one,
    /// up to [`SLOTS`] in total. Page-locking takes longer than small copies, so work that manages with one slot gets
    /// no more.
    fn next_slot(&mut self, driver: &dyn Driver) -> Result<usize> {
        let oldest = self.turns.front().filter(|oldest| self.slots[**oldest].is_idle(driver));
        let index = if oldest.is_some() || self.slots.len() == SLOTS {
            self.turns.pop_front().unwrap_or(0)
        } else {
            let memory = driver.pinned_allocate(SLOT_BYTES)?;
            self.slots.push(StagingSlot { memory, busy: None, copied: false, dirty: 0 });
            self.slots.len() - 1
        };
        self.turns.push_back(index);
        Ok(index)
    }

    /// Waits for all of `copies`. Returns the error of `result`, or else the first error of a copy.
    fn finish_copies(&mut self, copies: CopyTasks<CopiedSlot>, result: Result<()>) -> Result<()> {
        let result =
            copies.remaining_results().map(|copied| self.record_finished_copy(copied)).fold(result, Result::and);
        // After an error no task may have been spawned for some slots.
        self.slots.iter_mut().for_each(|slot| slot.copied = false);
        result
    }

    fn record_finished_copy(&mut self, (index, event): CopiedSlot) -> Result<()> {
        let slot = &mut self.slots[index];
        slot.copied = false;
        slot.busy = event?;
        Ok(())
    }

    /// Waits until the device no longer uses slot `index`.
    fn synchronize_slot(&mut self, driver: &dyn Driver, index: usize) -> Result<()> {
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

    /// Waits until the device no longer uses the slots, and clears the secrets in them.
    pub(crate) fn zeroize(&mut self, driver: &dyn Driver) {
        for index in 0..self.slots.len() {
            let _ = self.synchronize_slot(driver, index);
        }
        let secrets = self.slots.iter_mut().map(|slot| {
            let bytes = std::mem::take(&mut slot.dirty);
            // SAFETY: `dirty` is at most the slot's size, and the device is done with it.
            unsafe { std::slice::from_raw_parts_mut(slot.memory.pointer.cast(), bytes) }
        });
        par_zero_nontemporal(secrets.collect());
    }

    /// Clears and frees all slots. The stream must have run empty.
    pub(crate) fn free_slots(&mut self, driver: &dyn Driver) {
        self.zeroize(driver);
        self.turns.clear();
        for slot in self.slots.drain(..) {
            // SAFETY: the device is done with the slot (`zeroize` waited) and it is not used again.
            unsafe { driver.pinned_free(slot.memory) };
        }
    }
}
