//! Chooses how devices share bases and vectors.

use std::sync::Arc;

use super::decision_cache::PlanKey;
use super::msm_request::{DeviceBases, MsmRequest};
use super::plan_selection::{available_bytes, quantize_memory};
use crate::Result;
use crate::backend::Device;
use crate::curve::MsmCurve;
use crate::exec::ExecCtx;
use crate::msm::bases::resident_plan_input;
use crate::msm::options::MsmOptions;
use crate::msm::plan::{DeviceMesh, MsmPlan, PlanInput, Sharding, WindowAssignment, argmin_cost, divisors};
use crate::msm::scalars::Scalars;

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
/// The devices compute `at_once` multiplications at a time. `scalars` are `None` if any on the devices will do.
///
/// # Errors
/// - [`crate::Error::Device`]: a device does not report its free memory.
pub(crate) fn choose_sharding<C: MsmCurve>(
    request: &MsmRequest<'_, C>,
    scalars: Option<&Scalars<'_>>,
    at_once: u32,
    ctx: ExecCtx<'_>,
) -> Result<Sharding> {
    let most = max_window_groups(request, scalars);
    let (true, Some(DeviceBases::Device(_))) = (most > 1, request.bases.first()) else {
        return Ok(Sharding::of_points(request.grid));
    };
    let (devices, abortable) = (&request.devices[request.device_numbers()], ctx.is_abortable());
    let input = PlanInput { at_once, abortable, ..request.plan_input(0, request.points, scalars) };
    let free = min_available(devices, at_once, &request.options)?;
    let find = |free| {
        let key = PlanKey { input, count: most, free };
        request.memos.splits.get_or_insert_with(key, || cheapest_split(request, &key))
    };
    // A plan may need the memory that rounding took.
    Ok(find(quantize_memory(free)).or_else(|| find(free)).unwrap_or_else(|| Sharding::of_points(request.grid)))
}

/// Returns the maximum number of window groups for `scalars`.
fn max_window_groups<C>(request: &MsmRequest<'_, C>, scalars: Option<&Scalars<'_>>) -> usize {
    let groups = request.grid.groups;
    match scalars.map(Scalars::device_mesh) {
        Some(Some(mesh)) => common_divisor(groups, mesh.groups),
        // Scalars from the host are uploaded once for each group, and copying them on the host bounds that upload.
        Some(None) if request.options.window_groups == 0 => 1,
        _ => groups,
    }
}

/// Returns the sharding that is cheapest by the model, with up to `key.count` groups of windows and `key.free` bytes on
/// a device. Returns `None` if none fits.
fn cheapest_split<C>(request: &MsmRequest<'_, C>, key: &PlanKey) -> Option<Sharding> {
    let automatic = request.options.window_groups == 0;
    let plan = |groups| {
        let points = request.grid.with_groups(groups).points_per_piece().min(request.points);
        let own = WindowAssignment::WindowGroup(groups as u32);
        MsmPlan::fit(PlanInput { points, own, ..key.input }, key.free).ok()
    };
    let candidates = divisors(key.count).filter(|groups| automatic || *groups == key.count);
    argmin_cost(candidates, plan).map(|(groups, plan)| Sharding::by_windows(request.grid, groups, &plan))
}

/// Returns the bytes that each of `at_once` multiplications may take on the device with the least memory.
fn min_available(devices: &[Arc<Device>], at_once: u32, options: &MsmOptions) -> Result<u64> {
    devices.iter().try_fold(u64::MAX, |least, device| Ok(least.min(available_bytes(device, at_once, options)?)))
}

fn common_divisor(a: usize, b: usize) -> usize {
    if b == 0 { a } else { common_divisor(b, a % b) }
}
