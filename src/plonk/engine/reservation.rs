//! Reserves a device's memory for proofs and keys.

use std::time::{Duration, Instant};

use super::{Engine, MemoryBound, MemoryEstimate, MemoryPlan};
use crate::Result;
use crate::backend::{MemoryBudget, check_abort};
use crate::plonk::circuit::ProofCurve;

/// Maximum time without the end of another reservation for which an engine waits, 30 s. Then it takes the smallest
/// steps, since an engine whose owner waits for this one would never be dropped.
const MAX_WAIT: Duration = Duration::from_secs(30);
/// Maximum time between two calls of a hook while an engine waits for memory, 2 ms.
const POLL: Duration = Duration::from_millis(2);

impl<C: ProofCurve> Engine<C> {
    /// Returns the number of bytes that the device has free for a proof, without those that other proofs have reserved.
    /// Returns `None` if the host does the work, or if the device does not report it.
    ///
    /// # Errors
    /// - The backend is forced, and the driver's call failed: its error.
    pub fn free_memory(&self) -> Result<Option<u64>> {
        match self.accelerator.devices().first().map(|device| device.unreserved_memory()).transpose() {
            Err(error) if self.accelerator.forced().is_none() => {
                log::warn!("plonk: the device does not report its free memory: {error}");
                Ok(None)
            }
            free => free,
        }
    }

    /// Reserves memory for the smallest steps of a proof that takes `memory`, for [`Self::reserve_memory`]. Waits for
    /// other engines of the device to be dropped if too little is unreserved, as long as a reservation ends every 30 s.
    /// Returns `None` if that did not help, if the device is too small for the proof, or if it does not report its free
    /// memory.
    ///
    /// # Errors
    /// - [`Error::Aborted`](crate::Error::Aborted): the engine's hook aborted.
    pub fn wait_for_memory(&self, memory: &MemoryEstimate) -> Result<Option<MemoryBudget>> {
        let Some(device) = self.accelerator.devices().first().filter(|device| memory.fits(device.memory())) else {
            return Ok(None);
        };
        let (mut start, mut ended) = (Instant::now(), device.ended_budget_count());
        loop {
            let smallest = |free, others: bool| (!others || memory.fits(free)).then(|| ((), memory.min_bytes()));
            match device.reserve_memory(smallest) {
                Ok(Some(((), budget))) => return Ok(Some(budget)),
                Ok(None) if start.elapsed() < MAX_WAIT => check_abort(self.abort_callback())?,
                _ => return Ok(None),
            }
            let now = device.wait_for_budget_end(ended, POLL);
            if now != ended {
                (start, ended) = (Instant::now(), now);
            }
        }
    }

    /// Returns the engine with a memory plan and with that plan's memory reserved, until the engine is dropped. The
    /// plan is `plan`, or else the one that `memory` has for the device's unreserved memory, with the key on the device
    /// if `key_stays`. The reservation `held` ends for it. Engines of one device that plan at once see each other's
    /// reservations.
    ///
    /// A reservation is a soft budget: before the proof takes more, free memory is reused, or returned to the driver.
    ///
    /// # Errors
    /// - The backend is forced, there is no `plan`, and the driver's call failed: its error.
    pub fn reserve_memory(
        self,
        memory: &MemoryEstimate,
        key_stays: bool,
        plan: Option<MemoryPlan>,
        held: Option<MemoryBudget>,
    ) -> Result<Self> {
        let Some(device) = self.accelerator.devices().first() else {
            return Ok(self.with_memory_plan(plan.unwrap_or(MemoryPlan::ALL)));
        };
        // Plans the MSMs now, and not while others wait to reserve memory.
        let unsplit = memory.bound_with_plan::<C>(device, MemoryPlan::ALL, key_stays);
        let held_bytes = held.as_ref().map_or(0, MemoryBudget::bytes);
        let planned = |free: u64, _: bool| {
            let bound = memory.bound_beside::<C>(device, free.saturating_add(held_bytes), key_stays);
            Some((bound, bound.proof))
        };
        let set = |bound: MemoryBound| Some((bound, device.set_memory_budget(bound.proof)));
        let reserved = match plan {
            Some(plan) => Ok(set(memory.bound_with_plan::<C>(device, plan, key_stays))),
            None => device.reserve_memory(planned),
        };
        let reserved = match reserved {
            Err(error) if self.accelerator.forced().is_none() => {
                log::warn!("plonk: the device does not report its free memory: {error}");
                set(unsplit)
            }
            reserved => reserved?,
        };
        drop(held);
        let Some((bound, budget)) = reserved else { return Ok(self.with_memory_plan(MemoryPlan::ALL)) };
        Ok(Self { plan: bound.plan, commitment_bytes: bound.commitment, _budget: Some(budget), ..self })
    }

    /// Reserves memory for a key's columns beside `held`, the reservation of its proof, until the result is dropped.
    /// Returns `None` if the device has no room for them beside a proof that takes `memory`, or does not report its free
    /// memory.
    ///
    /// # Errors
    /// - The backend is forced, and the driver's call failed: its error.
    pub fn reserve_key(&self, memory: &MemoryEstimate, held: Option<&MemoryBudget>) -> Result<Option<MemoryBudget>> {
        let held = held.map_or(0, MemoryBudget::bytes);
        let bytes = memory.column.saturating_mul(memory.key as u64);
        let Some(device) = self.accelerator.devices().first() else { return Ok(None) };
        match device.reserve_memory(|free, _| memory.has_room_for_key(free.saturating_add(held)).then_some(((), bytes)))
        {
            Err(error) if self.accelerator.forced().is_none() => {
                log::warn!("plonk: the device does not report its free memory: {error}");
                Ok(None)
            }
            reserved => Ok(reserved?.map(|((), budget)| budget)),
        }
    }

    /// Returns the engine's memory plan.
    pub fn memory_plan(&self) -> MemoryPlan {
        self.plan
    }
}
