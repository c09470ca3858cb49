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

mod cpu;
mod domain;
mod extended;
mod gpu;
mod multi_gpu;
mod plan;
mod transform;

pub use domain::{Direction, NttDomain, NttOptions, transform_many};
pub use extended::ExtendedDomain;
pub use gpu::VectorLayout;
pub(crate) use gpu::{Powers, multiply_by_powers};
pub use multi_gpu::ShardedVector;
#[cfg(feature = "mpi")]
pub(crate) use multi_gpu::{ColumnBlock, transform_each_on_cpu};
pub use transform::{Order, TableSize, Transform};
