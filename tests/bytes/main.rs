//! Multiplications and transforms over bytes, from types of other crates.

#[path = "../common/mod.rs"]
mod common;

mod ark;
mod input;
mod pasta;
