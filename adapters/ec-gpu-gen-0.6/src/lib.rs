//! Drop-in for the crate `ec-gpu-gen` 0.6.0, by which neptune 11 hashes on devices: Filecoin's trees and columns of PC2.
//!
//! ```toml
//! [patch.crates-io]
//! ec-gpu-gen-0_6 = { package = "ec-gpu-gen", path = "proofwarp/adapters/ec-gpu-gen-0.6" }
//! ```
//!
//! Everything is the drop-in's for 0.7.1. Its [`multiexp_cpu::DensityTracker::extend`] takes the other density by
//! reference, as in 0.7.1, or by value, as in 0.6.0.

pub use current::*;
