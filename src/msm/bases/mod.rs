//! Reads and checks bases, and uploads them to devices.

mod check;
mod decode;
mod host;
mod mapped;
mod mapped_file;
mod point_error;
mod points;
mod table;

pub(crate) use check::check;
pub use decode::decode;
pub(super) use host::HostBases;
pub use mapped::MappedFile;
pub use mapped_file::{FilePoints, PointName};
pub use points::{BasePoints, EncodedPoints, PointChecks};
pub(super) use table::{BaseTable, problem, resident};
