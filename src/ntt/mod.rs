//! Computes number-theoretic transforms over the fields of [`crate::field`].
//!
//! ```
//! use ff::Field;
//! use proofwarp::{Accelerator, ntt::NttDomain};
//!
//! let domain = NttDomain::<blstrs::Scalar>::new(&Accelerator::from_env()?, 4)?;
//! let mut values = vec![blstrs::Scalar::ZERO; 16];
//! values[1] = blstrs::Scalar::ONE; // the polynomial x, by its coefficients
//! domain.forward(&mut values)?; // its values at 1, ω, ω² …
//! assert_eq!(values[2], domain.omega().square());
//! let report = domain.inverse(&mut values)?;
//! assert_eq!(values[1], blstrs::Scalar::ONE);
//! println!("{report}");
//! # Ok::<(), proofwarp::Error>(())
//! ```
//!
//! [`NttDomain`] transforms vectors in host memory and, queued on a stream, vectors that stay on a device.
//! [`ExtendedDomain`] evaluates on a larger coset without zeros. [`ShardedVector`] is one vector over several devices.
//! [`transform_many`] computes any sums Σ aᵢ·ω^(ij).

mod batch;
mod cpu;
mod device_api;
mod device_transform;
mod domain;
mod extended;
mod gpu;
mod host_pipeline;
mod limb_arithmetic;
mod multi_gpu;
mod multi_gpu_plan;
mod out_of_core;
mod pinned;
mod plan;
mod pointwise;
mod queue_passes;
mod rollback;
mod transform;
#[cfg(feature = "mpi")]
mod twiddle_transpose;
mod twiddles;

pub use batch::transform_many;
pub use domain::{Direction, NttDomain, NttOptions};
pub use extended::ExtendedDomain;
pub use multi_gpu::ShardedVector;
pub(crate) use pointwise::multiply_by_powers;
pub use queue_passes::VectorLayout;
pub use transform::{Order, TableSize, Transform};
#[cfg(feature = "mpi")]
pub(crate) use twiddle_transpose::{ColumnBlock, transform_each_on_cpu};
pub(crate) use twiddles::Powers;
