//! The names that most programs use.
//!
//! ```
//! use proofwarp::prelude::*;
//!
//! let accelerator = Accelerator::from_env()?;
//! println!("{} devices", accelerator.devices().len());
//! # Ok::<(), proofwarp::Error>(())
//! ```

pub use crate::field::DeviceVector;
pub use crate::groth16::{Circuit, Parameters, Proof, ProvingKeyOnDevice, Witness, prove};
pub use crate::matrix::{Csr, SparseMatrix};
pub use crate::msm::{DeviceScalars, Msm, Scalars, msm};
pub use crate::ntt::{Direction, ExtendedDomain, NttDomain};
pub use crate::{Abort, Accelerator, BackendKind, Error, Report, Result};
