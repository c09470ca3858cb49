//! Runs operations: on the accelerator's devices, or on the CPU.
//!
//! Every algorithm describes a call as an [`Operation`]. [`execute`] is the only place that guards the abort hook,
//! captures panics, falls back to the CPU and reports.
//!
//! ```text
//! execute ─ abort hook guarded ┬ Operation::on_devices ── fan_out: a thread per device
//!                              ├ after a failure: Operation::on_cpu
//!                              └ Report
//! ```

mod context;
mod dispatch;
mod fan_out;
mod panics;
mod stream_pipeline;

pub(crate) use context::ExecCtx;
pub(crate) use dispatch::{Operation, execute};
pub(crate) use fan_out::fan_out;
pub(crate) use panics::flatten_panic;
pub(crate) use stream_pipeline::run_pipeline;
