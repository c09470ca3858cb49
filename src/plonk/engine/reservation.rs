//! Reserves a device's memory for proofs and keys.

use std::time::{Duration, Instant};

use super::{Engine, MemoryEstimate, MemoryPlan};
use crate::Result;
use crate::backend::{MemoryBudget, check_abort};
use crate::plonk::circuit::ProofCurve;

/// Maximum time for which an engine waits for the memory of others, 30 s. Then it takes the smallest steps, since an
/// engine whose owner waits for this one would never be dropped.
const MAX_WAIT: Duration = Duration::from_secs(30);
/// Maximum time between two calls of a hook while an engine waits for memory, 2 ms.
const POLL: Duration = Duration::from_millis(2);

impl<C: ProofCurve> Engine<C> {
    /// Returns the number of bytes that the device has free for a proof, without those that other proofs have reserved.
    /// Returns `None` if the host does the work, or if the device does not say.
    ///
    /// # Errors
    /// - The backend is forced, and the driver's call failed: its error.
    pub fn free_memory(&self) -> Result<Option<u64>> {
        match self.accelerator.devices().first().map(|device| device.unreserved_memory()).transpose() {
            Err(error) if self.accelerator.forced().is_none() => {
                log::warn!("plonk: the device does not say what is free: {error}");
                Ok(None)
            }
            free => free,
        }
    }

    /// Returns the engine with a memory plan and with that plan's memory reserved, until the engine is dropped. The
    /// plan is `plan`, or else the one that `memory` has for the device's unreserved memory, with the key on the device
    /// if
    /// `key_stays`. Engines of one device that plan at once see each other's reservations. If too little is unreserved
    /// for the smallest steps, and `wait` is set, it waits up to 30 s for other engines of the device to be dropped.
    ///
    /// A reservation is a soft budget: before the proof takes more, free memory is reused, or returned to the driver.
    ///
    /// # Errors
    /// - [`Error::Aborted`]: the engine's hook aborted while it waited.
    /// - The backend is forced, and the driver's call failed: its error.
    pub fn reserve_memory(
        self,
        memory: &MemoryEstimate,
        key_stays: bool,
        plan: Option<MemoryPlan>,
        wait: bool,
    ) -> Result<Self> {
        let Some(device) = self.accelerator.devices().first() else {
            return Ok(self.with_memory_plan(plan.unwrap_or(MemoryPlan::ALL)));
        };
        // Passes that wait for each other need no second buffer.
        let in_place = device.info().caps.forward_progress;
        let start = Instant::now();
        loop {
            let may_wait = wait && plan.is_none() && start.elapsed() < MAX_WAIT;
            let reserved = device.reserve_memory(|free, others| {
                let plan = plan.unwrap_or_else(|| memory.plan(free, key_stays));
                let waits = may_wait && others && !memory.fits(free) && memory.fits(device.memory());
                (!waits).then(|| (plan, memory.planned_bytes(plan, in_place)))
            });
            match reserved {
                Ok(Some((plan, budget))) => return Ok(Self { plan, _budget: Some(budget), ..self }),
                Ok(None) => {
                    check_abort(self.abort_callback())?;
                    device.wait_for_budget_end(POLL);
                }
                Err(error) if self.accelerator.forced().is_none() => {
                    log::warn!("plonk: the device does not say what is free: {error}");
                    return Ok(self.with_memory_plan(plan.unwrap_or(MemoryPlan::ALL)));
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Reserves memory for a key's columns, until the result is dropped. Returns `None` if the device has no room for
    /// them beside a proof that takes `memory`, or does not say what is free.
    ///
    /// # Errors
    /// - The backend is forced, and the driver's call failed: its error.
    pub fn reserve_key(&self, memory: &MemoryEstimate) -> Result<Option<MemoryBudget>> {
        let bytes = memory.column.saturating_mul(memory.key as u64);
        let Some(device) = self.accelerator.devices().first() else { return Ok(None) };
        match device.reserve_memory(|free, _| memory.has_room_for_key(free).then_some(((), bytes))) {
            Err(error) if self.accelerator.forced().is_none() => {
                log::warn!("plonk: the device does not say what is free: {error}");
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
