//! Chooses how devices share bases and vectors.

use std::sync::Arc;

use super::decision_cache::PlanKey;
use super::msm_input::{DeviceBases, MsmInput};
use super::plan_selection::{available_bytes, quantize_memory};
use crate::Result;
use crate::backend::Device;
use crate::curve::MsmCurve;
use crate::msm::bases::{BaseTable, plan_input, resident_plan_input};
use crate::msm::options::MsmOptions;
use crate::msm::plan::{DeviceMesh, MsmPlan, PlanInput, Sharding, WindowAssignment, Workload, argmin_cost, divisors};

/// Returns the mesh by which `points` bases are spread over `devices`. It is that of the caller's `options`, or else
/// the fastest by the model for full-length scalars on the devices.
///
/// # Errors
/// - [`crate::Error::Device`]: a device does not report its free memory.
pub(crate) fn choose_mesh<C: MsmCurve>(
    devices: &[Arc<Device>],
    points: usize,
    options: &MsmOptions,
) -> Result<DeviceMesh> {
    let alone = DeviceMesh::by_points(points, devices.len());
    // Copies of the bases exist for windows to share buckets.
    if options.precompute > 1 || points == 0 || devices.is_empty() {
        return Ok(alone);
    }
    if options.window_groups > 0 {
        return Ok(DeviceMesh::new(points, devices.len(), options.window_groups));
    }
    let free = min_available(&devices[..alone.devices], 1, options)?;
    let plan = |groups| {
        let mesh = alone.with_groups(groups);
        let table = (mesh.points_per_piece() * C::AFFINE_BYTES) as u64;
        let problem = resident_plan_input::<C>(&devices[0], mesh.points_per_piece().min(points), options);
        MsmPlan::fit(
            PlanInput { own: WindowAssignment::WindowGroup(groups as u32), ..problem },
            free.saturating_sub(table),
        )
        .ok()
    };
    Ok(argmin_cost(divisors(alone.devices), plan).map_or(alone, |(groups, _)| alone.with_groups(groups)))
}

/// Returns how devices that hold the same piece of the bases share a vector: by points or by windows, whichever is
/// cheaper by the model. Few windows are hard to divide. All devices must cut scalars into equal windows, so the device
/// with the least memory decides.
///
/// `need` is the workload of all devices together. `scalars` is the mesh of scalars that are on the devices, `None` if
/// they are on the host.
///
/// # Errors
/// - [`crate::Error::Device`]: a device does not report its free memory.
pub(crate) fn choose_sharding<C: MsmCurve>(
    devices: &[Arc<Device>],
    work: &MsmInput<'_, C>,
    need: Workload,
    scalars: Option<DeviceMesh>,
) -> Result<Sharding> {
    let automatic = work.options.window_groups == 0;
    // Scalars from the host are uploaded once for each group, and copying them on the host bounds that upload.
    let held = if automatic && !need.on_device { 1 } else { work.grid.groups };
    let most = scalars.map_or(held, |scalars| common_divisor(held, scalars.groups));
    let devices = &devices[..work.bases.len().min(devices.len())];
    let (true, Some(DeviceBases::Device(table))) = (most > 1, work.bases.first()) else {
        return Ok(Sharding::of_points(work.grid));
    };
    let free = min_available(devices, need.at_once, &work.options)?;
    let find = |free| {
        let key = (need, most, free);
        work.choices.splits.get_or_insert_with(key, || cheapest_split(devices, work, table, key))
    };
    // A plan may need the memory that rounding took.
    Ok(find(quantize_memory(free)).or_else(|| find(free)).unwrap_or_else(|| Sharding::of_points(work.grid)))
}

/// Returns the sharding that is cheapest by the model, with up to `most` groups of windows and `free` bytes on a
/// device. Returns `None` if none fits.
fn cheapest_split<C: MsmCurve>(
    devices: &[Arc<Device>],
    work: &MsmInput<'_, C>,
    table: &BaseTable,
    (need, most, free): PlanKey,
) -> Option<Sharding> {
    let automatic = work.options.window_groups == 0;
    let plan = |groups| {
        let points = work.grid.with_groups(groups).points_per_piece().min(need.points);
        let need = Workload { points, own: WindowAssignment::WindowGroup(groups as u32), ..need };
        MsmPlan::fit(plan_input::<C>(&devices[0], Some(table), need, &work.options), free).ok()
    };
    let candidates = divisors(most).filter(|groups| automatic || *groups == most);
    argmin_cost(candidates, plan).map(|(groups, plan)| Sharding::by_windows(work.grid, groups, &plan))
}

/// Returns the bytes that each of `at_once` multiplications may take on the device with the least memory.
fn min_available(devices: &[Arc<Device>], at_once: u32, options: &MsmOptions) -> Result<u64> {
    devices.iter().try_fold(u64::MAX, |least, device| Ok(least.min(available_bytes(device, at_once, options)?)))
}

fn common_divisor(a: usize, b: usize) -> usize {
    if b == 0 { a } else { common_divisor(b, a % b) }
}
