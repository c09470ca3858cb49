//! Sumcheck of random claims, in a program of its own: beside the other tests a device on PoCL gave another sum from 2026-11-26 on, the
//! reason of which is not known.
#![allow(missing_docs)]

mod common;
#[path = "sumcheck/random.rs"]
mod random;
#[path = "sumcheck/tools.rs"]
#[allow(dead_code, reason = "the other tests use the rest")]
mod tools;
