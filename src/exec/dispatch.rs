//! Runs an operation on devices or on the CPU, and reports it.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Instant;

use super::context::{ExecCtx, StatsSum};
use super::panics::flatten_panic;
use crate::backend::{Abort, Device, DeviceInfo, HookGuard, StreamStats};
use crate::report::{OpScope, Report, enter_operation_span};
use crate::{Accelerator, Error, Result, fork_check, thread_pools};

/// Represents one call of an algorithm, which devices and the CPU can both run.
pub(crate) trait Operation {
    type Output;

    /// Returns the name and the size that the report shows.
    fn scope(&self) -> OpScope;

    /// Runs on `devices`, which are never empty. After an error or a panic, inputs are untouched.
    ///
    /// # Errors
    /// - Any error but [`Error::Aborted`] and [`Error::Invalid`] makes the CPU take over, unless a backend is forced.
    fn on_devices(&mut self, devices: &[Arc<Device>], ctx: ExecCtx<'_>) -> Result<Self::Output>;

    /// Returns whether the CPU can take over from a device that failed.
    fn has_cpu_path(&self) -> bool {
        true
    }

    /// Runs on the CPU.
    ///
    /// # Errors
    /// - Any error is the error of the call.
    fn on_cpu(&mut self, ctx: ExecCtx<'_>) -> Result<Self::Output>;
}

/// Runs `operation` on `devices`, or on the CPU if there are none. If the devices fail and `accelerator` forces no
/// backend, the CPU takes over. Returns the result and its report.
///
/// # Errors
/// - [`Error::Aborted`], [`Error::Invalid`]: the operation's error. The CPU does not take over.
/// - [`Error::Forked`]: the process was forked from one that had used the engine.
/// - [`Error::Device`]: the system starts no thread.
/// - The error of a forced backend, or of the CPU.
///
/// # Panics
/// Panics if `abort` panicked.
pub(crate) fn execute<O: Operation>(
    accelerator: &Accelerator,
    devices: &[Arc<Device>],
    operation: &mut O,
    abort: Abort<'_>,
) -> Result<(O::Output, Report)> {
    let guard = HookGuard::new(abort);
    let poll = || guard.is_stop_requested();
    let abort: Abort<'_> = if abort.is_some() { Some(&poll) } else { None };
    let scope = operation.scope();
    let _span = enter_operation_span(&scope.operation, scope.elements);
    let result = match (ReportedCall::begin(accelerator, scope), devices.first()) {
        (Err(error), _) => Err(error),
        (Ok(call), None) => call.run_on_cpu(operation, abort),
        (Ok(call), Some(device)) => {
            let stats = StatsSum::default();
            let ctx = ExecCtx::new(abort, &stats);
            let outcome = catch_unwind(AssertUnwindSafe(|| operation.on_devices(devices, ctx)));
            match flatten_panic(&call.scope.operation, outcome) {
                Ok(value) => Ok((value, call.finish(Some(device.info()), stats.total()))),
                Err(error) => call.fall_back(device.info(), error, operation, abort),
            }
        }
    };
    guard.finish();
    result
}

/// Measures one call of an operation, for its report.
struct ReportedCall<'a> {
    accelerator: &'a Accelerator,
    scope: OpScope,
    start: Instant,
    /// Reasons why better backends do not give the result.
    fallbacks: Vec<String>,
}

impl<'a> ReportedCall<'a> {
    /// Begins a call on `accelerator`, once the process may use the engine.
    fn begin(accelerator: &'a Accelerator, scope: OpScope) -> Result<Self> {
        fork_check::check()?;
        thread_pools::ensure_global_pool()?;
        Ok(Self { accelerator, scope, start: Instant::now(), fallbacks: accelerator.unavailable_reasons().to_vec() })
    }

    /// Reports the call, which gave a result on `device` or, if that is `None`, on the CPU.
    fn finish(self, device: Option<&DeviceInfo>, stats: StreamStats) -> Report {
        let (backend, name) = DeviceInfo::backend_and_name(device);
        self.scope.report_success(backend, name, self.start, stats, self.fallbacks)
    }

    /// Reports the `error` of `device`, and runs `operation` on the CPU unless the error is final.
    fn fall_back<O: Operation>(
        mut self,
        device: &DeviceInfo,
        error: Error,
        operation: &mut O,
        abort: Abort<'_>,
    ) -> Result<(O::Output, Report)> {
        self.scope.report_device_failure(device, &error);
        let is_final = matches!(error, Error::Aborted | Error::Invalid { .. });
        if is_final || self.accelerator.forced().is_some() || !operation.has_cpu_path() {
            return Err(error);
        }
        self.fallbacks.push(error.to_string());
        self.run_on_cpu(operation, abort)
    }

    fn run_on_cpu<O: Operation>(self, operation: &mut O, abort: Abort<'_>) -> Result<(O::Output, Report)> {
        let value = operation.on_cpu(ExecCtx::unreported(abort))?;
        Ok((value, self.finish(None, StreamStats::default())))
    }
}
