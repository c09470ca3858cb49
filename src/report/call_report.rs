//! Describes one call of an operation, and reports its outcome.

use std::sync::{PoisonError, RwLock};
use std::time::Instant;

use super::operation_report::Report;
use super::record_format::LogRecord;
use super::{file, tracing_spans};
use crate::Error;
use crate::backend::{BackendKind, DeviceInfo, StreamStats};

/// Describes one call, before its device is known.
#[derive(Debug, Clone)]
pub(crate) struct OpScope {
    pub operation: String,
    pub elements: usize,
}

impl OpScope {
    /// Returns the report of a call that gave a result, and sends it to the log, the tracing subscribers, the file and
    /// the observers.
    pub fn finish(
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
        tracing_spans::finished(&report);
        file::append(&LogRecord::Finished(&report));
        OBSERVERS.read().unwrap_or_else(PoisonError::into_inner).iter().for_each(|observer| observer(&report));
        report
    }

    /// Reports why a device gives no result: the caller may have a fallback, and then nothing else would report it.
    pub fn failed(&self, device: &DeviceInfo, error: &Error) {
        let entry = LogRecord::Failed { operation: &self.operation, elements: self.elements, device, error };
        log::warn!("{}", entry.text());
        tracing_spans::failed(device, error);
        file::append(&entry);
    }
}

/// Runs `work`, a caller's own kernel over `items` work-items, and reports it like an operation of this crate.
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
    let _span = tracing_spans::operation(&call.operation, items);
    let traffic = work().inspect_err(|error| call.failed(device, error))?;
    call.finish(device.backend, &device.name, start, traffic, Vec::new());
    Ok(())
}

type Observer = Box<dyn Fn(&Report) + Send + Sync>;

static OBSERVERS: RwLock<Vec<Observer>> = RwLock::new(Vec::new());

/// Calls `observer` with the report of every later operation of this process, on the thread that ran it and before its
/// result is returned. It tells programs the devices of a framework's calls.
pub fn observe(observer: impl Fn(&Report) + Send + Sync + 'static) {
    OBSERVERS.write().unwrap_or_else(PoisonError::into_inner).push(Box::new(observer));
}

/// Reports a failure that no operation noticed, such as a proof that does not verify, to the log and to the file that
/// `PROOFWARP_REPORT` names.
pub fn report_failure(line: &str) {
    log::error!("{line}");
    file::append(&LogRecord::Complaint(line));
}

/// Runs `work`, a caller's own work on the host, and reports it like an operation of this crate.
pub fn record_host_work<T>(name: &str, elements: usize, work: impl FnOnce() -> T) -> T {
    let (call, start) = (OpScope { operation: name.to_owned(), elements }, Instant::now());
    let value = work();
    call.finish(BackendKind::Cpu, "host", start, StreamStats::default(), Vec::new());
    value
}
