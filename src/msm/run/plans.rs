//! Plans for a device's free memory.

use super::kept::Kept;
use super::work::Bases;
use crate::backend::{Device, usable};
use crate::curve::MsmCurve;
use crate::msm::bases::problem;
use crate::msm::options::Options;
use crate::msm::plan::{Need, Plan, Problem};
use crate::{Error, Result};

/// How devices share a sum and vectors are joined is chosen for free memory rounded down by at most one part in so many, so
/// that what little others take does not bring new choices. Plans are for all that there is.
const ROUNDING: u64 = 16;

/// Plans for as much memory as they like, and for so much free memory where they do not get that; or the bytes that are
/// needed.
static PLANS: Kept<Problem, Plan> = Kept::new();
static SMALLER: Kept<(Problem, u64), std::result::Result<Plan, u64>> = Kept::new();

/// The plan for so many points and scalars of so many bits on a device, within the caller's cap and a part of what the
/// device has free.
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

/// Bytes of a device for each of so many multiplications at a time, within the caller's cap.
pub(super) fn available(device: &Device, at_once: u32, options: &Options) -> Result<u64> {
    let free = usable(device.free_memory()? / u64::from(at_once));
    Ok(if options.memory == 0 { free } else { free.min(options.memory) })
}

/// Free memory by which choices are made.
pub(super) fn rounded(free: u64) -> u64 {
    let granule = 1 << (free / ROUNDING).max(1).ilog2();
    free / granule * granule
}
