//! Computes multi-scalar multiplications Σ scalarᵢ · baseᵢ over the curves of [`crate::curve`].
//!
//! ```
//! use group::{Curve, Group};
//! use proofwarp::{Accelerator, msm::Msm};
//!
//! let accelerator = Accelerator::from_env()?;
//! let g = blstrs::G1Projective::generator();
//! let bases = [g.to_affine(), g.double().to_affine()];
//! let msm = Msm::new(&accelerator, &bases)?; // the bases stay on the devices
//! for (scalars, expected) in [([3, 4], 11), ([5, 0], 5)] {
//!     let (sum, report) = msm.run(&scalars.map(blstrs::Scalar::from), None)?;
//!     assert_eq!(sum, g * blstrs::Scalar::from(expected));
//!     println!("{report}");
//! }
//! # Ok::<(), proofwarp::Error>(())
//! ```
//!
//! [`msm()`] and [`msm_with_options`] take host slices. [`Msm`] holds bases on the devices for many calls. Its scalars
//! are on the host or on the devices, in any [`ScalarForm`]. Its calls take one vector of scalars or a batch. They wait
//! for the result or return a [`PendingMsm`].
//!
//! Three modules do the work. `bases` reads, checks and uploads points. `plan` divides a multiplication into windows,
//! chunks and shares; it uses no device. `exec` queues the kernels. The other files are the interface.

mod bases;
mod exec;
mod explain;
mod msm_operation;
mod one_shot;
mod options;
mod plan;
mod resident_bases;
mod scalars;

pub use crate::mapped_file::MappedFile;
pub(crate) use bases::check;
pub use bases::{BasePoints, EncodedPoints, FilePoints, PointChecks, PointName, decode};
pub(crate) use exec::resident_batch_bytes;
pub use explain::MsmExplanation;
pub use one_shot::{msm, msm_with_options};
pub use options::MsmOptions;
pub(crate) use plan::IN_FLIGHT;
pub(crate) use plan::balanced_len;
pub(crate) use resident_bases::QueuedMsm;
pub use resident_bases::{Msm, PendingMsm};
pub(crate) use scalars::split_scalars;
pub use scalars::{DeviceScalars, ScalarForm, Scalars};
