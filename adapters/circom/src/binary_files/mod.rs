//! Reads files of sections, which zkeys and witnesses are.

pub(crate) mod fields;
pub(crate) mod file_bytes;
pub(crate) mod sections;
