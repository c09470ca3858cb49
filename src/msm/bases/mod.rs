//! Where bases come from, and where they lie.

mod check;
mod decode;
mod encoded;
mod fault;
mod file;
mod held;
mod table;

pub(crate) use check::check;
pub use decode::decode;
pub use encoded::{EncodedPoints, Expected, Points};
pub use file::{FilePoints, MappedFile, PointName};
pub(super) use held::Held;
pub(super) use table::{Table, problem, resident};
