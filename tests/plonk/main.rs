//! The device steps of a PLONKish proof on every backend, against their twins on the CPU and against definitions.

#[path = "../common/mod.rs"]
mod common;

mod combine;
mod divide;
mod evaluate;
mod permute;
mod pieces;
mod products;
mod rows;
mod shared;
