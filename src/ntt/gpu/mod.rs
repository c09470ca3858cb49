//! Transforms vectors in host memory on devices, all of them or none.

mod device_transforms_and_pointwise;
mod host_pipeline;
mod out_of_core;
mod pinned;
mod queue_passes;
mod twiddles;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rayon::prelude::*;

pub use queue_passes::VectorLayout;
pub(crate) use queue_passes::multiply_by_powers;
pub(super) use queue_passes::{Passes, inverse_of_vanishing, kernel_flags, launch, scale_periodically};
pub(crate) use twiddles::Powers;
pub(super) use twiddles::Twiddles;

use super::Transform;
use crate::backend::{Abort, Device};
use crate::exec::{ExecCtx, fan_out};
use crate::field::TransformField;
use crate::rayon_waits::install;
use crate::{Error, Result};
use host_pipeline::{TransformedVector, transform_on_device};

/// Transforms `values` in place by `transforms`, about equally many vectors on each of `devices`. If a device fails or
/// the hook aborts, all devices stop, and all vectors are unchanged.
pub(super) fn transform_many<F: TransformField>(
    devices: &[Arc<Device>],
    values: &mut [&mut [F]],
    transforms: &[Transform<F>],
    ctx: ExecCtx<'_>,
) -> Result<()> {
    if values.is_empty() {
        return Ok(());
    }
    let share = values.len().div_ceil(devices.len());
    let alone = values.len() <= share;
    let failed = &AtomicBool::new(false);
    let stop = || failed.load(Ordering::Relaxed) || ctx.check_abort().is_err();
    // A stream that cannot be stopped is waited for without polling.
    let stop: Abort<'_> = if alone && !ctx.is_abortable() { None } else { Some(&stop) };
    let shares = devices.iter().zip(values.chunks_mut(share).zip(transforms.chunks(share)));
    let parts = fan_out("ntt", shares, |(device, (values, transforms))| {
        let part = transform_on_device(device, values, transforms, ctx.with_abort(stop));
        failed.fetch_or(part.is_err(), Ordering::Relaxed);
        part
    });
    // An error drops the parts, which restores the vectors.
    let parts = collect_device_results(parts)?;
    install(|| parts.into_par_iter().flatten().for_each(TransformedVector::commit));
    Ok(())
}

/// Returns the results of all devices, or an error. A failure has priority over [`Error::Aborted`]. Devices that stop
/// because another failed report an abort. A caller that retries after an abort must see the failure.
fn collect_device_results<T>(parts: Vec<Result<T>>) -> Result<Vec<T>> {
    let (aborted, others): (Vec<_>, Vec<_>) = parts.into_iter().partition(|part| matches!(part, Err(Error::Aborted)));
    let done = others.into_iter().collect::<Result<Vec<_>>>()?;
    if aborted.is_empty() { Ok(done) } else { Err(Error::Aborted) }
}
