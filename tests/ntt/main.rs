//! Transforms on every backend, against the CPU and against the definition.

#[path = "../common/mod.rs"]
mod common;

mod api;
mod peers;
#[cfg(feature = "plonky3")]
mod plonky3;
mod sizes;
mod tables;
mod transforms;
