//! Multi-scalar multiplication on devices: points and windows spread over devices, each in chunks that fit.

use std::sync::Arc;

use group::Group;

use super::grid::{Choices, Grid, Split};
use super::joined;
use super::options::{DeviceScalars, Options, Place, Scalars};
use super::pipeline::{Job, OnDevice, Part, Pipeline, Vector};
use super::table::{Need, Table};
use super::together;
use crate::backend::{Abort, Buffer, Device, Stream, Traffic};
use crate::curve::MsmCurve;
use crate::side_by_side::side_by_side;
use crate::{Error, Result};

/// Vectors of a batch that are under way at once, each for itself: enough that the host's part of one, and the last groups
/// of its kernels, hide behind another.
pub(super) const IN_FLIGHT: usize = 3;

/// Where one device finds its bases.
#[derive(Debug, Clone, Copy)]
pub(super) enum Bases<'a, C> {
    /// In host memory: uploaded chunk by chunk.
    Host(&'a [C]),
    /// On the device, all of them.
    Device(&'a Table),
}

/// What is multiplied: bases by device, spread as the grid says, and the vectors of scalars.
#[derive(Clone, Copy)]
pub(super) struct Work<'a, C> {
    pub bases: &'a [Bases<'a, C>],
    pub vectors: &'a [Scalars<'a>],
    pub grid: Grid,
    pub choices: &'a Choices,
    pub options: Options,
}

/// Sums of every vector over all devices; the host adds one point per device.
pub(super) fn msm<C: MsmCurve>(
    devices: &[Arc<Device>],
    work: Work<'_, C>,
    abort: Abort<'_>,
) -> Result<(Vec<C::Curve>, Traffic)> {
    let at_once = IN_FLIGHT.min(work.vectors.len()).max(1);
    let split = |vector| split(devices, &work, vector, at_once, abort);
    let splits: Vec<_> = work.vectors.iter().map(split).collect::<Result<_>>()?;
    let used = devices.iter().take(work.bases.len()).enumerate();
    let parts = side_by_side("msm", used, |(number, device)| on_device(device, number, (work, &splits), abort));
    let mut total = (vec![C::Curve::identity(); work.vectors.len()], Traffic::default());
    for part in parts {
        let (sums, traffic) = part?;
        total.0.iter_mut().zip(sums).for_each(|(total, sum)| *total += sum);
        total.1 = total.1 + traffic;
    }
    Ok(total)
}

/// How devices share a vector, some of which are under way at once.
pub(super) fn split<C: MsmCurve>(
    devices: &[Arc<Device>],
    work: &Work<'_, C>,
    vector: &Scalars<'_>,
    at_once: usize,
    abort: Abort<'_>,
) -> Result<Split> {
    let (grid, at_once) = (vector.grid(), at_once as u32);
    let (on_device, abortable) = (grid.is_some(), abort.is_some());
    let alone = Need::alone(vector.len(), vector.bits(C::SCALAR_BITS));
    let need = Need { on_device, at_once, abortable, ..alone };
    Split::of(devices, work, need, grid)
}

/// The share of a device in every vector, some of them under way at once.
fn on_device<C: MsmCurve>(
    device: &Arc<Device>,
    number: usize,
    (work, splits): (Work<'_, C>, &[Split]),
    abort: Abort<'_>,
) -> Result<(Vec<C::Curve>, Traffic)> {
    if matches!(work.bases[number], Bases::Host(_)) && work.vectors.len() > 1 {
        return together::on_device(device, number, (work, splits), abort);
    }
    joined::on_device(device, number, (work, splits), abort)
}

/// Starts one vector's share on a device, on a stream of the caller's if it has one, with the given part of its memory.
pub(super) fn start<C: MsmCurve>(
    (device, stream): (&Arc<Device>, Option<Stream>),
    number: usize,
    work: Work<'_, C>,
    (vector, split): (&Scalars<'_>, &Split),
    at_once: usize,
    abort: Abort<'_>,
) -> Result<Pipeline> {
    let vectors = [part(device, number, &work, (vector, split))?];
    let job = job(&work, number, (vector.len(), split), &vectors);
    Pipeline::start((device, stream), job, &work.options, at_once as u32, abort)
}

/// A device's share of vectors of so many scalars, which are split alike: one matrix.
pub(super) fn job<'a, C: MsmCurve>(
    work: &Work<'a, C>,
    number: usize,
    (scalars, split): (usize, &Split),
    vectors: &'a [Vector<'a>],
) -> Job<'a, C> {
    // The first of the points among those that the device holds.
    let (points, held) = (split.points(number, scalars), work.grid.held(number, scalars));
    let (bases, first_base) = (work.bases[number], points.start.saturating_sub(held.start) as u32);
    Job { bases, first_base, vectors, joined: vectors.len() > 1, lanes: 1, own: split.own(number) }
}

/// A device's share of every vector.
pub(super) fn parts<'a, C: MsmCurve>(
    device: &Arc<Device>,
    number: usize,
    work: &'a Work<'_, C>,
    splits: &[Split],
) -> Result<Vec<Vector<'a>>> {
    work.vectors.iter().zip(splits).map(|vector| part(device, number, work, vector)).collect()
}

/// A device's share of a vector.
pub(super) fn part<'a, C: MsmCurve>(
    device: &Arc<Device>,
    number: usize,
    work: &Work<'_, C>,
    (vector, split): (&Scalars<'a>, &Split),
) -> Result<Vector<'a>> {
    let points = split.points(number, vector.len());
    let scalars = match vector.place {
        Place::Host(scalars) => Part::Host(&scalars[points]),
        Place::Devices(scalars) => {
            let buffer = shard(scalars, device, number, work)?;
            let skipped = points.start.saturating_sub(scalars.grid.held(number, vector.len()).start);
            let (first, ready) = ((scalars.first + skipped) as u32, scalars.ready.as_deref());
            Part::Device(OnDevice { buffer, first, count: points.len(), ready })
        }
    };
    Ok(Vector { scalars, form: vector.form, bits: vector.bits(C::SCALAR_BITS) })
}

/// The scalars that belong to the bases of a device and are on that device.
fn shard<'a, C>(
    scalars: &'a DeviceScalars,
    device: &Arc<Device>,
    number: usize,
    work: &Work<'_, C>,
) -> Result<&'a Buffer> {
    let (shards, devices) = (scalars.shards.len(), work.bases.len());
    if !scalars.grid.matches(&work.grid) || shards != devices {
        let expected = format!("shared among {devices} devices as the bases are");
        return Err(Error::invalid("msm", "scalars", expected, format!("among {shards}")));
    }
    match &scalars.shards[number] {
        (place, buffer) if Arc::ptr_eq(place, device) => Ok(buffer),
        (place, _) => {
            let expected = format!("on the device of their bases, {}", device.info().name);
            Err(Error::invalid("msm", "scalars", expected, format!("on another one, {}", place.info().name)))
        }
    }
}
