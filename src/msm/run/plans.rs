//! Plans for a device's free memory.

use super::kept::Kept;
use super::work::Bases;
use crate::backend::{Device, usable};
use crate::curve::MsmCurve;
use crate::msm::bases::problem;
use crate::msm::options::Options;
use crate::msm::plan::{Need, Plan, Problem};
use crate::{Error, Result};

/// Choices of how devices share a sum and how vectors are joined round free memory down, by at most one part in so many. So
/// they stay the same where others take a little memory. Plans are for all memory that is free.
const ROUNDING: u64 = 16;

/// Plans that get as much memory as they like, and plans for so much free memory, or the bytes that they lack.
static PLANS: Kept<Problem, Plan> = Kept::new();
static SMALLER: Kept<(Problem, u64), std::result::Result<Plan, u64>> = Kept::new();

/// The plan for a device, within the caller's cap and the share of free memory that each of `need.at_once` sums has.
///
/// # Errors
/// The memory does not do, or the device does not say how much it has free.
pub(crate) fn plan_for<C: MsmCurve>(
    device: &Device,
    bases: &Bases<'_, C>,
    need: Need,
    options: &Options,
) -> Result<Plan> {
    let table = match bases {
        Bases::Host(_) => None,
        Bases::Device(table) => Some(*table),
    };
    let problem = problem::<C>(device, table, need, options);
    let available = available(device, need.at_once, options)?;
    let best = PLANS.find(problem, || Plan::new(problem));
    if best.bytes() <= available {
        return Ok(best);
    }
    SMALLER.find((problem, available), || Plan::fit(problem, available)).map_err(|requested| {
        let device = device.info().name.clone();
        Error::OutOfMemory { device, requested, available }
    })
}

/// Bytes that each of `at_once` multiplications may take on a device, within the caller's cap.
///
/// # Errors
/// The device does not say how much memory it has free.
pub(super) fn available(device: &Device, at_once: u32, options: &Options) -> Result<u64> {
    let free = usable(device.free_memory()? / u64::from(at_once));
    Ok(if options.memory == 0 { free } else { free.min(options.memory) })
}

/// Free memory as choices see it.
pub(super) fn rounded(free: u64) -> u64 {
    let granule = 1 << (free / ROUNDING).max(1).ilog2();
    free / granule * granule
}
