//! Reports the devices and times of operations to the log, to observers, and to the file that `PROOFWARP_REPORT` names.
//! With the feature `tracing` it also reports to the subscribers of that crate.
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

mod file;
mod operation_report;
mod operation_scope;
mod record_format;
mod tracing_spans;

pub use operation_report::Report;
pub(crate) use operation_scope::OpScope;
pub use operation_scope::{observe, record_host_work, record_kernel, report_failure};
pub(crate) use tracing_spans::enter_operation_span;
