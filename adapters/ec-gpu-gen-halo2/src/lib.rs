//! Drop-in replacement for the variant of `ec-gpu-gen` 0.4 that DelphinusLab's halo2-gpu-specific calls, implemented
//! with proofwarp.
//!
//! A program that proves with that fork of halo2 switches it on in its `Cargo.toml`:
//!
//! ```toml
//! [patch."https://github.com/lanbones/ec-gpu"]
//! ec-gpu-gen = { path = "proofwarp/adapters/ec-gpu-gen-halo2" }
//! ```
//!
//! Elements, points and kernels are those of BN254, in types of any crate. They are recognised by their memory; others
//! are refused with an error ([`EcError`]).
//!
//! Kernels that the fork launches by name are proofwarp's. They run in order on one stream per device, and reading a
//! buffer waits for them. All rounds of a transform but the last do nothing; the last one transforms. Bases of
//! multiplications that come again stay on the device. Buffers are zero when created, and are cleared before their
//! memory is used again.
//!
//! [`proofwarp::Accelerator`] chooses the devices: CUDA, then OpenCL, or what `PROOFWARP_BACKEND` forces. If there are
//! none, [`rust_gpu_tools::Device::all`] has one device, the host's cores, and the log says why at warn. If the forced
//! backend is missing, creating a program for that one device returns an error that says so.
//!
//! | what | where |
//! |---|---|
//! | devices, programs, buffers, kernels by name | [`rust_gpu_tools`] |
//! | transforms of vectors in host memory | [`fft`] |
//! | multi-scalar multiplications over bases in host memory | [`multiexp`] |
//! | types and functions that do nothing | [`SourceBuilder`], [`generate`], [`threadpool`] |

#![deny(unreachable_pub)]

mod base_cache;
mod error;
mod fallback;
pub mod fft;
pub mod multiexp;
mod program;
pub mod rust_gpu_tools;
mod source;
pub mod threadpool;
mod type_check;

pub use error::{EcError, EcResult};
pub use source::{SourceBuilder, generate};
