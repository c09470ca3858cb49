//! One device's part of a request.

use std::sync::Arc;

use super::msm_request::{DeviceBases, MsmRequest};
use crate::backend::{Buffer, Device, Event};
use crate::curve::MsmCurve;
use crate::exec::ExecCtx;
use crate::msm::plan::{PlanInput, Sharding, WindowAssignment};
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

/// Refers to one device's part of one vector: its scalars, and the windows of these that it computes.
#[derive(Clone, Copy)]
pub(super) struct VectorShare<'a> {
    pub scalars: ScalarSource<'a>,
    pub form: ScalarForm,
    /// Maximum bits of a scalar.
    pub bits: u32,
    /// Index of the first base of the device's table that has a scalar.
    pub first_base: u32,
    pub own: WindowAssignment,
}

impl VectorShare<'_> {
    /// Returns whether this share and `other` can be one sparse matrix: they have equal bit lengths, bases and windows.
    /// A shorter vector would have unused windows.
    pub(super) fn can_join(&self, other: &Self) -> bool {
        let shape = |share: &Self| (share.bits, share.first_base, share.scalars.len(), share.own);
        shape(self) == shape(other)
    }
}

/// Refers to the work of one device: its parts of some vectors of a request. All parts have as many scalars.
pub(super) struct DeviceBatch<'a, C> {
    pub request: &'a MsmRequest<'a, C>,
    /// Number of the device.
    pub number: usize,
    pub vectors: &'a [VectorShare<'a>],
}

impl<'a, C: MsmCurve> DeviceBatch<'a, C> {
    pub(super) fn device(&self) -> &'a Arc<Device> {
        &self.request.devices[self.number]
    }

    pub(super) fn bases(&self) -> DeviceBases<'a, C> {
        self.request.bases[self.number]
    }

    /// Returns the index of the first base of the device's table that has a scalar.
    pub(super) fn first_base(&self) -> u32 {
        self.vectors.first().map_or(0, |vector| vector.first_base)
    }

    pub(super) fn point_count(&self) -> usize {
        self.vectors.first().map_or(0, |vector| vector.scalars.len())
    }

    pub(super) fn has_host_input(&self) -> bool {
        let scalars = self.vectors.iter().any(|vector| matches!(vector.scalars, ScalarSource::Host(_)));
        scalars || matches!(self.bases(), DeviceBases::Host(_))
    }

    /// Returns the plan input of the vectors, each of which is a matrix of its own. Their bit length is that of the
    /// longest scalars.
    pub(super) fn plan_input(&self, ctx: ExecCtx<'_>) -> PlanInput {
        let all = self.request.plan_input(self.number, self.point_count(), None);
        PlanInput {
            scalar_bits: self.vectors.iter().map(|vector| vector.bits).max().unwrap_or(0),
            scalars_resident: self.vectors.iter().all(|vector| matches!(vector.scalars, ScalarSource::Device(..))),
            vectors: self.vectors.len() as u32,
            abortable: ctx.is_abortable(),
            own: self.vectors.first().map_or(all.own, |vector| vector.own),
            ..all
        }
    }
}

/// Returns the part of `vector`, one of `request`, that device number `number` multiplies if devices share it by
/// `split`.
///
/// # Errors
/// - [`Error::Invalid`]: the scalars are spread over devices otherwise than the bases.
pub(super) fn vector_share<'a, C: MsmCurve>(
    request: &MsmRequest<'_, C>,
    number: usize,
    vector: &Scalars<'a>,
    split: &Sharding,
) -> Result<VectorShare<'a>> {
    let points = split.device_range(number, request.points);
    let scalars = match vector.place {
        ScalarLocation::Host(scalars) => ScalarSource::Host(&scalars[points.clone()]),
        ScalarLocation::Devices(scalars) => {
            let buffer = device_shard(request, number, scalars)?;
            let skipped = points.start.saturating_sub(scalars.grid.device_range(number, request.points).start);
            let (first, ready) = ((scalars.first + skipped) as u32, scalars.ready.as_deref());
            ScalarSource::Device(DeviceScalarSlice { buffer, first, count: points.len(), ready })
        }
    };
    let held = request.grid.device_range(number, request.points);
    Ok(VectorShare {
        scalars,
        form: vector.form,
        bits: vector.max_bit_length(C::SCALAR_BITS),
        first_base: points.start.saturating_sub(held.start) as u32,
        own: split.assignment(number),
    })
}

/// Returns the buffer of device number `number` with those of `scalars` whose bases it has. Fails if the scalars are
/// spread otherwise than the bases of `request`.
fn device_shard<'a, C>(request: &MsmRequest<'_, C>, number: usize, scalars: &'a DeviceScalars) -> Result<&'a Buffer> {
    let (shards, devices) = (scalars.shards.len(), request.bases.len());
    if !scalars.grid.matches(&request.grid) || shards != devices {
        let expected = format!("shared among {devices} devices as the bases are");
        return Err(Error::invalid("msm", "scalars", expected, format!("among {shards}")));
    }
    let device = &request.devices[number];
    match &scalars.shards[number] {
        (place, buffer) if Arc::ptr_eq(place, device) => Ok(buffer),
        (place, _) => {
            let expected = format!("on the device of their bases, {}", device.info().name);
            Err(Error::invalid("msm", "scalars", expected, format!("on another one, {}", place.info().name)))
        }
    }
}
