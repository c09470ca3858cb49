//! Drop-in for the flavour of `ec-gpu-gen` 0.4 that DelphinusLab's halo2-gpu-specific calls, with proofwarp behind it.
//!
//! A program that proves with that fork of halo2 gets it by a line in its `Cargo.toml`:
//!
//! ```toml
//! [patch."https://github.com/lanbones/ec-gpu"]
//! ec-gpu-gen = { path = "proofwarp/adapters/ec-gpu-gen-halo2" }
//! ```
//!
//! Elements, points and kernels are those of BN254, in the types of whatever crate: they are recognised by their memory, and
//! others are refused with an error ([`EcError`]).
//!
//! Kernels that the fork launches by name are proofwarp's. They run in order on one stream a device, and are waited for where
//! somebody reads a buffer. Rounds of a transform but for the last do nothing; the last transforms. Bases of multiplications that
//! come again stay on the device. Buffers are zeros when they are made, and cleared before anybody else gets their memory.
//!
//! Which devices are used is [`proofwarp::Accelerator`]'s choice: CUDA, then OpenCL, or what `PROOFWARP_BACKEND` forces. Where
//! there is none, [`rust_gpu_tools::Device::all`] has one device, the host's cores, and the log says why at warn. Where the backend
//! that is forced is not there, making a program for the one device is the error that says so.
//!
//! | what | where |
//! |---|---|
//! | devices, programs, buffers, kernels by name | [`rust_gpu_tools`] |
//! | transforms of vectors in host memory | [`fft`] |
//! | multiplications over bases in host memory | [`multiexp`] |
//! | what only types are needed of | [`SourceBuilder`], [`generate`], [`threadpool`] |

mod bases;
mod error;
mod fallback;
pub mod fft;
mod known;
pub mod multiexp;
mod program;
pub mod rust_gpu_tools;
mod source;
pub mod threadpool;

pub use error::{EcError, EcResult};
pub use source::{SourceBuilder, generate};
