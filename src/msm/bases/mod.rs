//! Reads and checks bases, and uploads them to devices.

mod base_points;
mod check;
mod decode_on_device;
mod file_points;
mod host;
mod table;

pub use base_points::{BasePoints, EncodedPoints, PointChecks};
pub(crate) use check::check;
pub use decode_on_device::decode;
pub use file_points::{FilePoints, PointName};
pub(super) use host::HostBases;
pub(super) use table::{BaseTable, plan_input, resident_plan_input};
