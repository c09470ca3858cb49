//! Describes what a caller asks for: devices, bases, vectors of scalars and options.

use std::ops::Range;
use std::sync::Arc;

use super::decision_cache::PlanMemos;
use crate::backend::Device;
use crate::curve::MsmCurve;
use crate::msm::bases::{BaseTable, plan_input};
use crate::msm::options::MsmOptions;
use crate::msm::plan::{DeviceMesh, PlanInput};
use crate::msm::scalars::Scalars;

/// Locates the bases of one device.
#[derive(Debug, Clone, Copy)]
pub(crate) enum DeviceBases<'a, C> {
    /// In host memory, uploaded chunk by chunk.
    Host(&'a [C]),
    /// On the device, all of them.
    Device(&'a BaseTable),
}

impl<'a, C> DeviceBases<'a, C> {
    /// Returns the table of bases that are on the device, `None` if they are in host memory.
    pub(super) fn table(&self) -> Option<&'a BaseTable> {
        match self {
            Self::Host(_) => None,
            Self::Device(table) => Some(table),
        }
    }
}

/// Describes a multiplication of the same bases by each of several vectors.
#[derive(Clone, Copy)]
pub(crate) struct MsmRequest<'a, C> {
    pub devices: &'a [Arc<Device>],
    /// The bases of each device in use, spread by `grid`.
    pub bases: &'a [DeviceBases<'a, C>],
    pub grid: DeviceMesh,
    /// Number of bases, and of scalars of each vector.
    pub points: usize,
    pub vectors: &'a [Scalars<'a>],
    pub options: MsmOptions,
    pub memos: &'a PlanMemos,
}

impl<C: MsmCurve> MsmRequest<'_, C> {
    /// Returns the numbers of the devices in use: those that have bases.
    pub(crate) fn device_numbers(&self) -> Range<usize> {
        0..self.bases.len().min(self.devices.len())
    }

    /// Returns the plan input of device number `number`, which is in use, for `points` of `scalars`. If these are
    /// `None`, the input is for scalars of full length on the device.
    pub(crate) fn plan_input(&self, number: usize, points: usize, scalars: Option<&Scalars<'_>>) -> PlanInput {
        let input = plan_input::<C>(&self.devices[number], self.bases[number].table(), points, &self.options);
        scalars.map_or(input, |scalars| PlanInput {
            scalar_bits: scalars.max_bit_length(C::SCALAR_BITS),
            scalars_resident: scalars.device_mesh().is_some(),
            ..input
        })
    }
}
