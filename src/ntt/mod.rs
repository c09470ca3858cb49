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
//! [`ExtendedDomain`] evaluates on a larger coset without zeros. [`PeerVector`] is one vector over several devices.
//! [`transform_many`] computes any sums Σ aᵢ·ω^(ij).

#[cfg(feature = "mpi")]
mod between;
mod cpu;
mod domain;
mod elements;
mod extended;
mod gpu;
mod lanes;
mod limbs;
mod many;
mod outcome;
mod passes;
mod peer_passes;
mod peers;
mod pinned;
mod plan;
mod queue;
mod streamed;
mod tables;
mod transform;
mod vectors;

#[cfg(feature = "mpi")]
pub(crate) use between::{Columns, transform_each_on_cpu};
pub use domain::{Direction, NttDomain, Options};
pub(crate) use elements::multiply_by_powers;
pub use extended::ExtendedDomain;
pub use many::transform_many;
pub use passes::Layout;
pub use peers::PeerVector;
pub(crate) use tables::Powers;
pub use transform::{Order, TableSize, Transform};
