//! Sums on every backend, against the CPU and against the definition.

#[path = "../common/mod.rs"]
mod common;
#[path = "../common/faulty.rs"]
mod faulty;

mod affine;
mod api;
mod checked;
mod decode;
mod devices;
mod explain;
mod faults;
mod grid;
mod halved;
mod joined;
mod points;
mod precompute;
mod sums;
