//! Polynomial expressions on every backend and on the CPU, against their trees.

#[path = "../common/mod.rs"]
mod common;

mod device;
mod errors;
mod random;
mod shapes;
mod tools;
