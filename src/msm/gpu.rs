//! Multi-scalar multiplication on devices: points and windows spread over devices, each in chunks that fit.

use std::collections::VecDeque;
use std::sync::Arc;

use group::Group;

use super::grid::{Grid, Split, Splits, Windows};
use super::options::{DeviceScalars, Options, Place, Scalars};
use super::pipeline::{Job, OnDevice, Part, Pipeline, Vector};
use super::table::{Need, Table};
use super::together;
use crate::backend::{Abort, Buffer, Device, Stream, Traffic};
use crate::curve::MsmCurve;
use crate::side_by_side::side_by_side;
use crate::{Error, Result};

/// Vectors of a batch that are under way at once: enough that the host's part of one, and the last groups of
/// its kernels, hide behind another.
const IN_FLIGHT: usize = 3;

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
    pub splits: &'a Splits,
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
    let (grid, own) = (vector.grid(), Windows::Group(1));
    let (points, bits, at_once) = (vector.len(), vector.bits(C::SCALAR_BITS), at_once as u32);
    let (on_device, abortable) = (grid.is_some(), abort.is_some());
    let need = Need { points, bits, on_device, vectors: 1, lanes: 1, at_once, abortable, own };
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
    let at_once = IN_FLIGHT.min(work.vectors.len()).max(1);
    let mut running = VecDeque::new();
    let mut total = (Vec::new(), Traffic::default());
    let mut finish = |pipeline: Pipeline| {
        let (sum, traffic) = pipeline.finish::<C>(abort)?;
        total.0.push(sum);
        total.1 = total.1 + traffic;
        Ok::<_, Error>(())
    };
    for vector in work.vectors.iter().zip(splits) {
        if running.len() == at_once {
            running.pop_front().map_or(Ok(()), &mut finish)?;
        }
        running.push_back(start((device, None), number, work, vector, at_once, abort)?);
    }
    running.into_iter().try_for_each(finish)?;
    Ok(total)
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
    // The first of the points among those that the device holds.
    let (points, held) = (split.points(number, vector.len()), work.grid.held(number, vector.len()));
    let (bases, first_base) = (work.bases[number], points.start.saturating_sub(held.start) as u32);
    let job = Job { bases, first_base, vectors: &vectors, lanes: 1, own: split.own(number) };
    Pipeline::start((device, stream), job, &work.options, at_once as u32, abort)
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
