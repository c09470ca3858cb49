//! Polynomial expressions over columns with rotations, as the constraints of PLONKish proofs are.

mod tree;

pub use tree::{Expression, Query};
