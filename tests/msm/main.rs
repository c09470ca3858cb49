//! Sums on every backend, against the CPU and against the definition.

#[path = "../common/mod.rs"]
mod common;

mod affine;
mod api;
mod checked;
mod decode;
mod devices;
mod explain;
mod grid;
mod halved;
mod joined;
mod points;
mod precompute;
mod sums;
