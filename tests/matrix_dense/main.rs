//! Dense matrices over every field on every backend and on the CPU, against the definition.

#[path = "../common/mod.rs"]
mod common;

mod alike;
mod errors;
mod faults;
mod products;
mod random;
mod shared;
mod tools;
mod vectors;
mod views;
#[cfg(feature = "plonky3")]
mod words;
