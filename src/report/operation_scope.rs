//! Describes one call of an operation, and reports its outcome.

use std::sync::{PoisonError, RwLock};
use std::time::Instant;

use super::operation_report::Report;
use super::record_format::LogRecord;
use super::{file, tracing_spans};
use crate::Error;
use crate::backend::{BackendKind, DeviceInfo, StreamStats};

/// Describes one call of an operation, before its device is known.
#[derive(Debug, Clone)]
pub(crate) struct OpScope {
    pub operation: String,
    pub elements: usize,
}

impl OpScope {
    /// Reports a call that began at `start` and gave a result on `device`, and returns the report. The log, the tracing
    /// subscribers, the file that `PROOFWARP_REPORT` names, and the observers get it.
    pub(crate) fn report_success(
        self,
        backend: BackendKind,
        device: &str,
        start: Instant,
        traffic: StreamStats,
        fallbacks: Vec<String>,
    ) -> Report {
        let Self { operation, elements } = self;
        let total = start.elapsed();
        let report = Report { operation, elements, backend, device: device.to_owned(), total, traffic, fallbacks };
        log::info!("{report}");
        tracing_spans::emit_finished_event(&report);
        file::append_record(&LogRecord::Finished(&report));
        OBSERVERS.read().unwrap_or_else(PoisonError::into_inner).iter().for_each(|observer| observer(&report));
        report
    }

    /// Reports that `device` gave no result because of `error`. The caller may fall back to another device, and then
    /// nothing else would report the failure.
    pub(crate) fn report_device_failure(&self, device: &DeviceInfo, error: &Error) {
        let entry = LogRecord::Failed { operation: &self.operation, elements: self.elements, device, error };
        log::warn!("{}", entry.format_line());
        tracing_spans::emit_failed_event(device, error);
        file::append_record(&entry);
    }
}

/// Runs `work`, which launches a caller's own kernel `name` over `items` work-items on `device`. Reports it like an
/// operation of this crate.
///
/// # Errors
/// - The error of `work`: `work` failed.
pub fn record_kernel(
    device: &DeviceInfo,
    name: &str,
    items: usize,
    work: impl FnOnce() -> crate::Result<StreamStats>,
) -> crate::Result<()> {
    let call = OpScope { operation: format!("kernel {name}"), elements: items };
    let start = Instant::now();
    let _span = tracing_spans::enter_operation_span(&call.operation, items);
    let traffic = work().inspect_err(|error| call.report_device_failure(device, error))?;
    call.report_success(device.backend, &device.name, start, traffic, Vec::new());
    Ok(())
}

type Observer = Box<dyn Fn(&Report) + Send + Sync>;

static OBSERVERS: RwLock<Vec<Observer>> = RwLock::new(Vec::new());

/// Registers `observer`, which is called with the report of every later operation of this process. The operation's
/// thread calls it before the operation returns. Programs can learn from it which devices a framework's calls use.
pub fn observe(observer: impl Fn(&Report) + Send + Sync + 'static) {
    OBSERVERS.write().unwrap_or_else(PoisonError::into_inner).push(Box::new(observer));
}

/// Writes `line` to the log, as an error, and to the file that `PROOFWARP_REPORT` names. It is for failures that no
/// operation noticed, such as a proof that does not verify.
pub fn report_failure(line: &str) {
    log::error!("{line}");
    file::append_record(&LogRecord::Complaint(line));
}

/// Runs `work`, a caller's own computation on the CPU, and returns its result. Reports it like an operation `name` of
/// this crate on `elements` elements.
pub fn record_host_work<T>(name: &str, elements: usize, work: impl FnOnce() -> T) -> T {
    let (call, start) = (OpScope { operation: name.to_owned(), elements }, Instant::now());
    let value = work();
    let (backend, host) = DeviceInfo::backend_and_name(None);
    call.report_success(backend, host, start, StreamStats::default(), Vec::new());
    value
}
