//! Circuits that a seed makes, with any rotations, and witnesses that satisfy or break them.

mod circuit;
mod plan;
mod values;

pub use circuit::Generated;
pub use plan::{Bounds, Plan};
pub use values::Break;
