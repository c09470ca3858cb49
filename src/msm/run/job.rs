//! One device's share of the work.

use std::sync::Arc;

use super::work::{Bases, Work};
use crate::backend::{Abort, Buffer, Device, Mark};
use crate::curve::MsmCurve;
use crate::msm::plan::{Need, Split, Windows};
use crate::msm::scalars::{DeviceScalars, Form, Place, Scalars};
use crate::{Error, Result};

/// Locates one device's scalars of one vector.
#[derive(Clone, Copy)]
pub(super) enum Part<'a> {
    Host(&'a [[u8; 32]]),
    Device(OnDevice<'a>),
}

/// Refers to `count` scalars in a buffer, from number `first` on, valid after the event `ready`.
#[derive(Debug, Clone, Copy)]
pub(super) struct OnDevice<'a> {
    pub buffer: &'a Buffer,
    pub first: u32,
    pub count: usize,
    pub ready: Option<&'a Mark>,
}

impl Part<'_> {
    fn len(&self) -> usize {
        match self {
            Self::Host(scalars) => scalars.len(),
            Self::Device(scalars) => scalars.count,
        }
    }
}

/// Holds one device's scalars of one vector, their form and their bit length.
#[derive(Clone, Copy)]
pub(super) struct Vector<'a> {
    pub scalars: Part<'a>,
    pub form: Form,
    /// Bits of the scalars.
    pub bits: u32,
}

/// Describes one device's multiplication: bases by one vector, or by several of equal length.
#[derive(Clone, Copy)]
pub(super) struct Job<'a, C> {
    pub bases: Bases<'a, C>,
    /// The first base of the table that has a scalar.
    pub first_base: u32,
    pub vectors: &'a [Vector<'a>],
    /// Whether the vectors are multiplied as one matrix, in one lane.
    pub joined: bool,
    /// Streams that compute. They take the vectors in turns, and one fills the device while another cannot.
    pub lanes: u32,
    /// Windows that the device computes.
    pub own: Windows,
}

impl<C> Job<'_, C> {
    pub fn points(&self) -> usize {
        self.vectors.first().map_or(0, |vector| vector.scalars.len())
    }

    /// Returns the need that the job's plan depends on. Windows are those of the longest scalars.
    pub fn need(&self, at_once: u32, abort: Abort<'_>) -> Need {
        let on_device = self.vectors.iter().all(|vector| matches!(vector.scalars, Part::Device(..)));
        let bits = self.vectors.iter().map(|vector| vector.bits).max().unwrap_or(0);
        let (points, vectors) = (self.points(), self.vectors.len() as u32);
        let (joined, lanes, abortable, own) = (self.joined, self.lanes, abort.is_some(), self.own);
        Need { points, bits, on_device, vectors, joined, lanes, at_once, abortable, own }
    }

    /// Returns the number of vectors of a matrix.
    pub fn of_a_matrix(&self) -> usize {
        if self.joined { self.vectors.len().max(1) } else { 1 }
    }

    pub fn is_from_host(&self) -> bool {
        let scalars = self.vectors.iter().any(|vector| matches!(vector.scalars, Part::Host(_)));
        scalars || matches!(self.bases, Bases::Host(_))
    }
}

/// Returns a device's share of `vectors` of equal length that are split alike: one matrix.
pub(super) fn job<'a, C: MsmCurve>(
    work: &Work<'a, C>,
    number: usize,
    (scalars, split): (usize, &Split),
    vectors: &'a [Vector<'a>],
) -> Job<'a, C> {
    // The position of the first point among those that the device holds.
    let (points, held) = (split.points(number, scalars), work.grid.held(number, scalars));
    let (bases, first_base) = (work.bases[number], points.start.saturating_sub(held.start) as u32);
    Job { bases, first_base, vectors, joined: vectors.len() > 1, lanes: 1, own: split.own(number) }
}

/// Returns a device's share of every vector.
pub(super) fn parts<'a, C: MsmCurve>(
    device: &Arc<Device>,
    number: usize,
    work: &'a Work<'_, C>,
    splits: &[Split],
) -> Result<Vec<Vector<'a>>> {
    work.vectors.iter().zip(splits).map(|vector| part(device, number, work, vector)).collect()
}

/// Returns a device's share of `vector`.
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

/// Returns the scalars that belong to the bases of `device` and are on it.
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
