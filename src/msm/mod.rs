//! Multi-scalar multiplication Σ scalarᵢ · baseᵢ over the curves of [`crate::curve`].
//!
//! [`msm()`] and [`msm_with_options`] take host slices. [`Msm`] holds bases on the devices for many calls; its scalars lie
//! on the host or on the devices, in any [`Form`], and its calls come in batches or do not wait.
//!
//! Three rooms do the work. `bases` reads, checks and uploads points. `plan` cuts a multiplication into windows, chunks and
//! shares; it knows no device. `run` queues the kernels. The files beside them are the interface.

mod bases;
mod cpu;
mod explain;
mod once;
mod options;
mod plan;
mod queued;
mod request;
mod resident;
mod run;
mod scalars;

pub(crate) use bases::check;
pub use bases::{EncodedPoints, Expected, FilePoints, MappedFile, PointName, Points, decode};
pub use explain::Explanation;
pub use once::{msm, msm_with_options};
pub use options::Options;
pub(crate) use plan::even;
pub(crate) use queued::Queued;
pub use resident::{Msm, Running};
pub use scalars::{DeviceScalars, Form, Scalars};
