//! The part of the stock crate's module `cuda` that its users name.

pub mod utils;
