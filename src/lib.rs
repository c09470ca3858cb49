//! Multi-scalar multiplication, number-theoretic transforms, sparse matrices, polynomial expressions and sumcheck on CUDA,
//! OpenCL and the CPU.
//!
//! ```
//! use ff::Field;
//! use proofwarp::{Accelerator, ntt::NttDomain};
//!
//! let accelerator = Accelerator::from_env()?; // PROOFWARP_BACKEND=cuda|opencl|cpu forces one
//! let domain = NttDomain::<blstrs::Scalar>::new(&accelerator, 4)?;
//! let mut values = vec![blstrs::Scalar::ONE; 16];
//! let report = domain.forward(&mut values)?;
//! assert_eq!(values[0], blstrs::Scalar::from(16));
//! println!("{report}");
//! # Ok::<(), proofwarp::Error>(())
//! ```

pub mod accelerator;
pub mod backend;
pub mod curve;
mod error;
pub mod expression;
pub mod field;
pub mod groth16;
pub mod kernels;
pub mod matrix;
pub mod msm;
pub mod ntt;
pub mod plonk;
pub mod program;
pub mod report;
pub mod settings;
mod side_by_side;
pub mod sumcheck;
pub mod waiting;

pub use accelerator::Accelerator;
pub use backend::BackendKind;
pub use error::{Error, Result};
pub use report::Report;
