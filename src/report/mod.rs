//! Reports the devices and times of operations to the log, to observers, to the file that `PROOFWARP_REPORT` names,
//! and, with the feature `tracing`, to the subscribers of that crate.
//!
//! ```
//! use std::sync::atomic::{AtomicUsize, Ordering};
//!
//! use proofwarp::{Accelerator, ntt::NttDomain, report::observe};
//!
//! static OPERATIONS: AtomicUsize = AtomicUsize::new(0);
//! observe(|report| {
//!     println!("{} on {} took {:?}", report.operation, report.backend, report.total);
//!     OPERATIONS.fetch_add(1, Ordering::Relaxed);
//! });
//! let domain = NttDomain::<blstrs::Scalar>::new(&Accelerator::from_env()?, 4)?;
//! domain.forward(&mut [blstrs::Scalar::from(1); 16])?;
//! assert!(OPERATIONS.load(Ordering::Relaxed) > 0);
//! # Ok::<(), proofwarp::Error>(())
//! ```

mod call;
mod entry;
mod file;
mod finished;
mod telemetry;

pub(crate) use call::Call;
pub use call::{complain, observe, own_kernel, own_work};
pub use finished::Report;
pub(crate) use telemetry::operation;
