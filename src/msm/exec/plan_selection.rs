//! Plans for a device's free memory.

use super::decision_cache::PlanCache;
use crate::backend::{Device, plannable_bytes};
use crate::msm::options::MsmOptions;
use crate::msm::plan::{MsmPlan, PlanInput};
use crate::{Error, Result};

/// Free memory is rounded down by at most `1/ROUNDING` for choosing how devices share a sum and how many vectors are
/// one matrix. So the choices stay the same if other work takes a little memory. Plans are for all free memory.
const ROUNDING: u64 = 16;

/// Caches the fastest plans with unlimited memory.
static PLANS: PlanCache<PlanInput, MsmPlan> = PlanCache::new();
/// Caches plans for a number of free bytes, or else the bytes that the smallest plan needs.
static SMALLER: PlanCache<(PlanInput, u64), std::result::Result<MsmPlan, u64>> = PlanCache::new();

/// Returns the fastest plan for `input` on `device` that fits. Each of `input.at_once` multiplications may take an equal
/// share of the free memory, at most `options.memory` bytes.
///
/// # Errors
/// - [`Error::OutOfMemory`]: the memory does not suffice.
/// - [`Error::Device`]: the device does not report its free memory.
pub(crate) fn plan_for(device: &Device, input: PlanInput, options: &MsmOptions) -> Result<MsmPlan> {
    let available = available_bytes(device, input.at_once, options)?;
    plan_within(input, available).map_err(|requested| {
        let device = device.info().name.clone();
        Error::OutOfMemory { device, requested, available }
    })
}

/// Returns the fastest plan for `input` that fits into `available` bytes. If none fits, returns the bytes that the
/// smallest plan needs.
pub(super) fn plan_within(input: PlanInput, available: u64) -> std::result::Result<MsmPlan, u64> {
    let best = PLANS.get_or_insert_with(input, || MsmPlan::new(input));
    if best.workspace_bytes() <= available {
        return Ok(best);
    }
    SMALLER.get_or_insert_with((input, available), || MsmPlan::fit(input, available))
}

/// Returns the bytes that each of `at_once` multiplications may take on `device`, at most `options.memory`.
///
/// # Errors
/// - [`Error::Device`]: the device does not report its free memory.
pub(super) fn available_bytes(device: &Device, at_once: u32, options: &MsmOptions) -> Result<u64> {
    let free = plannable_bytes(device.free_memory()? / u64::from(at_once));
    Ok(if options.memory == 0 { free } else { free.min(options.memory) })
}

/// Returns `free` bytes rounded down, by at most `1/ROUNDING` of them.
pub(super) fn quantize_memory(free: u64) -> u64 {
    let granule = 1 << (free / ROUNDING).max(1).ilog2();
    free / granule * granule
}
