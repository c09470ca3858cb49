//! Reads and checks bases, and uploads them to devices.

mod check;
mod decode;
mod encoded;
mod fault;
mod file;
mod held;
mod mapped;
mod table;

pub(crate) use check::check;
pub use decode::decode;
pub use encoded::{EncodedPoints, Expected, Points};
pub use file::{FilePoints, PointName};
pub(super) use held::Held;
pub use mapped::MappedFile;
pub(super) use table::{Table, problem, resident};
