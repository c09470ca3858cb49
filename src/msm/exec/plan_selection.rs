//! Plans for a device's free memory.

use super::decision_cache::PlanCache;
use super::msm_input::Bases;
use crate::backend::{Device, plannable_bytes};
use crate::curve::MsmCurve;
use crate::msm::bases::problem;
use crate::msm::options::MsmOptions;
use crate::msm::plan::{MsmPlan, PlanInput, Workload};
use crate::{Error, Result};

/// Free memory is rounded down by at most `1/ROUNDING` to choose how devices share a sum and how vectors are joined. So
/// the choices stay the same if other work takes a little memory. Plans are for all free memory.
const ROUNDING: u64 = 16;

/// Plans with unlimited memory; and plans for a given free memory, or else the bytes that the smallest plan needs.
static PLANS: PlanCache<PlanInput, MsmPlan> = PlanCache::new();
static SMALLER: PlanCache<(PlanInput, u64), std::result::Result<MsmPlan, u64>> = PlanCache::new();

/// Returns the plan for `device`, within the caller's cap and the share of free memory of each of `need.at_once` sums.
///
/// # Errors
/// - [`Error::OutOfMemory`]: the memory does not suffice.
/// - [`Error::Device`]: the device does not report its free memory.
pub(crate) fn plan_for<C: MsmCurve>(
    device: &Device,
    bases: &Bases<'_, C>,
    need: Workload,
    options: &MsmOptions,
) -> Result<MsmPlan> {
    let table = match bases {
        Bases::Host(_) => None,
        Bases::Device(table) => Some(*table),
    };
    let problem = problem::<C>(device, table, need, options);
    let available = available(device, need.at_once, options)?;
    let best = PLANS.find(problem, || MsmPlan::new(problem));
    if best.bytes() <= available {
        return Ok(best);
    }
    SMALLER.find((problem, available), || MsmPlan::fit(problem, available)).map_err(|requested| {
        let device = device.info().name.clone();
        Error::OutOfMemory { device, requested, available }
    })
}

/// Returns the bytes that each of `at_once` multiplications may take on `device`, within the caller's cap.
///
/// # Errors
/// - [`Error::Device`]: the device does not report its free memory.
pub(super) fn available(device: &Device, at_once: u32, options: &MsmOptions) -> Result<u64> {
    let free = plannable_bytes(device.free_memory()? / u64::from(at_once));
    Ok(if options.memory == 0 { free } else { free.min(options.memory) })
}

/// Returns free memory rounded down, as choices use it.
pub(super) fn quantize_memory(free: u64) -> u64 {
    let granule = 1 << (free / ROUNDING).max(1).ilog2();
    free / granule * granule
}
