//! Describes what is multiplied: bases and vectors of scalars.

use super::decision_cache::PlanMemos;
use crate::msm::bases::BaseTable;
use crate::msm::options::MsmOptions;
use crate::msm::plan::DeviceMesh;
use crate::msm::scalars::Scalars;

/// Locates the bases of one device.
#[derive(Debug, Clone, Copy)]
pub(crate) enum DeviceBases<'a, C> {
    /// In host memory, uploaded chunk by chunk.
    Host(&'a [C]),
    /// On the device, all of them.
    Device(&'a BaseTable),
}

/// Holds the input of a multiplication: the bases of each device, spread by the mesh, and the vectors of scalars.
#[derive(Clone, Copy)]
pub(crate) struct MsmInput<'a, C> {
    pub bases: &'a [DeviceBases<'a, C>],
    pub vectors: &'a [Scalars<'a>],
    pub grid: DeviceMesh,
    pub choices: &'a PlanMemos,
    pub options: MsmOptions,
}
