//! One device's share of the work.

use std::sync::Arc;

use super::msm_input::{DeviceBases, MsmInput};
use crate::backend::{Buffer, Device, Event};
use crate::curve::MsmCurve;
use crate::exec::ExecCtx;
use crate::msm::plan::{Sharding, WindowAssignment, Workload};
use crate::msm::scalars::{DeviceScalars, ScalarForm, ScalarLocation, Scalars};
use crate::{Error, Result};

/// Locates one device's scalars of one vector.
#[derive(Clone, Copy)]
pub(super) enum ScalarSource<'a> {
    Host(&'a [[u8; 32]]),
    Device(DeviceScalarSlice<'a>),
}

/// Refers to `count` scalars in a buffer, from index `first` on. They are valid after the event `ready`, or already if
/// it is `None`.
#[derive(Debug, Clone, Copy)]
pub(super) struct DeviceScalarSlice<'a> {
    pub buffer: &'a Buffer,
    pub first: u32,
    pub count: usize,
    pub ready: Option<&'a Event>,
}

impl ScalarSource<'_> {
    fn len(&self) -> usize {
        match self {
            Self::Host(scalars) => scalars.len(),
            Self::Device(scalars) => scalars.count,
        }
    }
}

/// Holds one device's scalars of one vector, their form and their bit length.
#[derive(Clone, Copy)]
pub(super) struct ScalarVector<'a> {
    pub scalars: ScalarSource<'a>,
    pub form: ScalarForm,
    /// Maximum bits of a scalar.
    pub bits: u32,
}

/// Describes one device's multiplication of its bases by one vector, or by several of equal length.
#[derive(Clone, Copy)]
pub(super) struct DeviceTask<'a, C> {
    pub bases: DeviceBases<'a, C>,
    /// Index of the first base of the table that has a scalar.
    pub first_base: u32,
    pub vectors: &'a [ScalarVector<'a>],
    /// Whether the vectors are multiplied as one matrix, on one stream.
    pub joined: bool,
    /// Number of streams that compute. They take the vectors in turns, and one fills the device while another cannot.
    pub lanes: u32,
    /// Windows that the device computes.
    pub own: WindowAssignment,
}

impl<C> DeviceTask<'_, C> {
    pub(super) fn point_count(&self) -> usize {
        self.vectors.first().map_or(0, |vector| vector.scalars.len())
    }

    /// Returns the workload that the task's plan depends on, with `at_once` multiplications on the device. Its bit
    /// length is that of the longest scalars.
    pub(super) fn workload(&self, at_once: u32, ctx: ExecCtx<'_>) -> Workload {
        let on_device = self.vectors.iter().all(|vector| matches!(vector.scalars, ScalarSource::Device(..)));
        let bits = self.vectors.iter().map(|vector| vector.bits).max().unwrap_or(0);
        let (points, vectors) = (self.point_count(), self.vectors.len() as u32);
        let (joined, lanes, abortable, own) = (self.joined, self.lanes, ctx.is_abortable(), self.own);
        Workload { points, bits, on_device, vectors, joined, lanes, at_once, abortable, own }
    }

    /// Returns the number of vectors of a matrix: all of them if they are joined, else 1.
    pub(super) fn vectors_per_matrix(&self) -> usize {
        if self.joined { self.vectors.len().max(1) } else { 1 }
    }

    pub(super) fn has_host_input(&self) -> bool {
        let scalars = self.vectors.iter().any(|vector| matches!(vector.scalars, ScalarSource::Host(_)));
        scalars || matches!(self.bases, DeviceBases::Host(_))
    }
}

/// Returns the task of device number `number` in `work` for `vectors`, the device's parts of some scalar vectors. Each
/// whole vector has `scalars` scalars and is divided by `split`. Several vectors are multiplied as one matrix.
pub(super) fn device_task<'a, C: MsmCurve>(
    work: &MsmInput<'a, C>,
    number: usize,
    (scalars, split): (usize, &Sharding),
    vectors: &'a [ScalarVector<'a>],
) -> DeviceTask<'a, C> {
    // The position of the first point among those that the device holds.
    let (points, held) = (split.device_range(number, scalars), work.grid.device_range(number, scalars));
    let (bases, first_base) = (work.bases[number], points.start.saturating_sub(held.start) as u32);
    DeviceTask { bases, first_base, vectors, joined: vectors.len() > 1, lanes: 1, own: split.assignment(number) }
}

/// Returns the part of each scalar vector of `work` that device number `number` multiplies, in order of the vectors.
pub(super) fn device_vectors<'a, C: MsmCurve>(
    device: &Arc<Device>,
    number: usize,
    work: &'a MsmInput<'_, C>,
    splits: &[Sharding],
) -> Result<Vec<ScalarVector<'a>>> {
    work.vectors.iter().zip(splits).map(|vector| device_scalars(device, number, work, vector)).collect()
}

/// Returns the part of `vector` that device number `number` multiplies.
pub(super) fn device_scalars<'a, C: MsmCurve>(
    device: &Arc<Device>,
    number: usize,
    work: &MsmInput<'_, C>,
    (vector, split): (&Scalars<'a>, &Sharding),
) -> Result<ScalarVector<'a>> {
    let points = split.device_range(number, vector.len());
    let scalars = match vector.place {
        ScalarLocation::Host(scalars) => ScalarSource::Host(&scalars[points]),
        ScalarLocation::Devices(scalars) => {
            let buffer = device_shard(scalars, device, number, work)?;
            let skipped = points.start.saturating_sub(scalars.grid.device_range(number, vector.len()).start);
            let (first, ready) = ((scalars.first + skipped) as u32, scalars.ready.as_deref());
            ScalarSource::Device(DeviceScalarSlice { buffer, first, count: points.len(), ready })
        }
    };
    Ok(ScalarVector { scalars, form: vector.form, bits: vector.max_bit_length(C::SCALAR_BITS) })
}

/// Returns the buffer of `device`, device number `number`, with the scalars of its bases. Fails if the scalars are
/// spread otherwise than the bases.
fn device_shard<'a, C>(
    scalars: &'a DeviceScalars,
    device: &Arc<Device>,
    number: usize,
    work: &MsmInput<'_, C>,
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
