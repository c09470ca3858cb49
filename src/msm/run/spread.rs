//! Chooses how devices share bases and vectors.

use std::sync::Arc;

use super::kept::Key;
use super::plans::{available, rounded};
use super::work::{Bases, Work};
use crate::Result;
use crate::backend::Device;
use crate::curve::MsmCurve;
use crate::msm::bases::{Table, problem, resident};
use crate::msm::options::Options;
use crate::msm::plan::{Grid, Need, Plan, Problem, Split, Windows, cheapest, divisors};

/// Returns how bases are spread over the devices that keep them: as the caller says, or as is fastest by the model for
/// scalars of full length on the devices.
///
/// # Errors
/// Returns the error of a device that does not report its free memory.
pub(crate) fn grid<C: MsmCurve>(devices: &[Arc<Device>], points: usize, options: &Options) -> Result<Grid> {
    let alone = Grid::of_points(points, devices.len());
    // Copies of the bases exist for windows to share buckets.
    if options.precompute > 1 || points == 0 || devices.is_empty() {
        return Ok(alone);
    }
    if options.window_groups > 0 {
        return Ok(Grid::new(points, devices.len(), options.window_groups));
    }
    let free = least_available(&devices[..alone.devices], 1, options)?;
    let plan = |groups| {
        let grid = alone.in_groups_of(groups);
        let table = (grid.piece() * C::AFFINE_BYTES) as u64;
        let problem = resident::<C>(&devices[0], grid.piece().min(points), options);
        Plan::fit(Problem { own: Windows::Group(groups as u32), ..problem }, free.saturating_sub(table)).ok()
    };
    Ok(cheapest(divisors(alone.devices), plan).map_or(alone, |(groups, _)| alone.in_groups_of(groups)))
}

/// Returns how devices that hold the same piece of the bases share a vector: by points or by windows, whichever is
/// cheaper by the model. Few windows are hard to divide. All devices must cut scalars alike, so the one with the least
/// memory decides.
///
/// `need` is that of all devices together; `scalars` is the mesh of scalars on the devices.
///
/// # Errors
/// Returns the error of a device that does not report its free memory.
pub(crate) fn split<C: MsmCurve>(
    devices: &[Arc<Device>],
    work: &Work<'_, C>,
    need: Need,
    scalars: Option<Grid>,
) -> Result<Split> {
    let automatic = work.options.window_groups == 0;
    // Scalars from the host are uploaded once for each group, and copying them on the host bounds that upload.
    let held = if automatic && !need.on_device { 1 } else { work.grid.groups };
    let most = scalars.map_or(held, |scalars| common_divisor(held, scalars.groups));
    let devices = &devices[..work.bases.len().min(devices.len())];
    let (true, Some(Bases::Device(table))) = (most > 1, work.bases.first()) else {
        return Ok(Split::of_points(work.grid));
    };
    let free = least_available(devices, need.at_once, &work.options)?;
    let find = |free| {
        let key = (need, most, free);
        work.choices.splits.find(key, || cheapest_split(devices, work, table, key))
    };
    // A plan may need the memory that rounding took.
    Ok(find(rounded(free)).or_else(|| find(free)).unwrap_or_else(|| Split::of_points(work.grid)))
}

/// Returns the cheapest split that fits.
fn cheapest_split<C: MsmCurve>(
    devices: &[Arc<Device>],
    work: &Work<'_, C>,
    table: &Table,
    (need, most, free): Key,
) -> Option<Split> {
    let automatic = work.options.window_groups == 0;
    let plan = |groups| {
        let points = work.grid.in_groups_of(groups).piece().min(need.points);
        let need = Need { points, own: Windows::Group(groups as u32), ..need };
        Plan::fit(problem::<C>(&devices[0], Some(table), need, &work.options), free).ok()
    };
    let candidates = divisors(most).filter(|groups| automatic || *groups == most);
    cheapest(candidates, plan).map(|(groups, plan)| Split::agreed(work.grid, groups, &plan))
}

/// Returns the available bytes of the device with the least memory.
fn least_available(devices: &[Arc<Device>], at_once: u32, options: &Options) -> Result<u64> {
    devices.iter().try_fold(u64::MAX, |least, device| Ok(least.min(available(device, at_once, options)?)))
}

fn common_divisor(a: usize, b: usize) -> usize {
    if b == 0 { a } else { common_divisor(b, a % b) }
}
