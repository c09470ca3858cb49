//! Drop-in for the crate `ec-gpu-gen` 0.7.1: the same public interface, with proofwarp behind it.
//!
//! A program that proves with bellperson gets it by one line in its `Cargo.toml`:
//!
//! ```toml
//! [patch.crates-io]
//! ec-gpu-gen = { path = "proofwarp/adapters/ec-gpu-gen" }
//! ```
//!
//! If a `Cargo.lock` names an older version, `cargo update -p ec-gpu-gen --precise 0.7.1` lets cargo take it; otherwise
//! cargo only warns that the patch was not used.
//!
//! [`proofwarp::Accelerator`] chooses the devices, and `EC_GPU_FRAMEWORK=cuda|opencl` narrows the choice. If there is
//! no device, [`rust_gpu_tools::Device::all`] is empty, the log says why, once, and the kernels' constructors return an
//! error. Callers then take their own path to [`fft_cpu`] and [`multiexp_cpu`].
//!
//! `PROOFWARP_BACKEND=cuda|opencl|cpu` forces a backend, and callers cannot miss its failure:
//! - If it has no device here, or a setting is malformed, [`rust_gpu_tools::Device::all`] panics with the reason, since
//!   it cannot return an error.
//! - If it failed in a call, [`multiexp_cpu::multiexp_cpu`] returns that error to the thread that continues on the CPU,
//!   and [`fft_cpu`]'s functions panic with it.
//!
//! There are transforms over the scalars of blstrs, and with the feature `pasta` over the fields of pasta_curves 0.5.
//! Multi-exponentiations take the points of blstrs.
//!
//! Unlike the stock crate, a call that fails or is aborted leaves its inputs unchanged. It needs no kernels from
//! [`generate`], which is only for crates that append their own kernels.

#![deny(unreachable_pub)]

mod error;
#[cfg(any(feature = "cuda", feature = "opencl"))]
pub mod fft;
pub mod fft_cpu;
mod forced_backend;
#[cfg(any(feature = "cuda", feature = "opencl"))]
pub mod multiexp;
pub mod multiexp_cpu;
mod nested_pools;
#[cfg(any(feature = "cuda", feature = "opencl"))]
mod program;
#[cfg(any(feature = "cuda", feature = "opencl"))]
pub mod rust_gpu_tools;
mod scope;
mod source;
pub mod threadpool;
mod threads;
mod type_dispatch;

pub use error::{EcError, EcResult};
pub use source::{SourceBuilder, generate};
