//! Operations on columns, one by one: on every device and on the CPU, against their definitions.

#![allow(clippy::cast_possible_wrap, clippy::needless_range_loop, missing_docs)]

#[path = "../common/mod.rs"]
mod common;

mod errors;
mod operations;
mod reference;
mod tools;
