//! Describes what is multiplied: bases and vectors of scalars.

use super::kept::Choices;
use crate::msm::bases::Table;
use crate::msm::options::Options;
use crate::msm::plan::Grid;
use crate::msm::scalars::Scalars;

/// Locates the bases of one device.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Bases<'a, C> {
    /// In host memory, uploaded chunk by chunk.
    Host(&'a [C]),
    /// On the device, all of them.
    Device(&'a Table),
}

/// Holds the input of a multiplication: bases by device, spread as the mesh says, and the vectors of scalars.
#[derive(Clone, Copy)]
pub(crate) struct Work<'a, C> {
    pub bases: &'a [Bases<'a, C>],
    pub vectors: &'a [Scalars<'a>],
    pub grid: Grid,
    pub choices: &'a Choices,
    pub options: Options,
}
