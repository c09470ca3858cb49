//! One call of an operation, and who is told what became of it.

use std::sync::{PoisonError, RwLock};
use std::time::Instant;

use super::entry::Entry;
use super::finished::Report;
use super::{file, telemetry};
use crate::Error;
use crate::backend::{BackendKind, DeviceInfo, Traffic};

/// One call, before it is known what runs it.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    pub operation: String,
    pub elements: usize,
}

impl Call {
    /// Makes the report of a call that gave a result, and tells everyone.
    pub fn done(
        self,
        backend: BackendKind,
        device: &str,
        start: Instant,
        traffic: Traffic,
        fallbacks: Vec<String>,
    ) -> Report {
        let Self { operation, elements } = self;
        let total = start.elapsed();
        let report = Report { operation, elements, backend, device: device.to_owned(), total, traffic, fallbacks };
        log::info!("{report}");
        telemetry::finished(&report);
        file::append(&Entry::Finished(&report));
        OBSERVERS.read().unwrap_or_else(PoisonError::into_inner).iter().for_each(|observer| observer(&report));
        report
    }

    /// Says why a device gives no result: the caller may well have a way around, and then nobody else would.
    pub fn failed(&self, device: &DeviceInfo, error: &Error) {
        let entry = Entry::Failed { operation: &self.operation, elements: self.elements, device, error };
        log::warn!("{}", entry.text());
        telemetry::failed(device, error);
        file::append(&entry);
    }
}

/// Runs a kernel of a caller's own over so many work-items, and tells everyone, as of an operation of this crate.
///
/// # Errors
/// What `work` says.
pub fn own_kernel(
    device: &DeviceInfo,
    name: &str,
    items: usize,
    work: impl FnOnce() -> crate::Result<Traffic>,
) -> crate::Result<()> {
    let call = Call { operation: format!("kernel {name}"), elements: items };
    let start = Instant::now();
    let _span = telemetry::operation(&call.operation, items);
    let traffic = work().inspect_err(|error| call.failed(device, error))?;
    call.done(device.backend, &device.name, start, traffic, Vec::new());
    Ok(())
}

type Observer = Box<dyn Fn(&Report) + Send + Sync>;

static OBSERVERS: RwLock<Vec<Observer>> = RwLock::new(Vec::new());

/// Calls `observer` with the report of every later operation of this process, on the thread that ran it and
/// before its result is returned; programs learn so what a framework's calls ran on.
pub fn observe(observer: impl Fn(&Report) + Send + Sync + 'static) {
    OBSERVERS.write().unwrap_or_else(PoisonError::into_inner).push(Box::new(observer));
}

/// Tells the log, and the file that `PROOFWARP_REPORT` names, of a failure that no operation noticed, such as a proof
/// that does not verify.
pub fn complain(line: &str) {
    log::error!("{line}");
    file::append(&Entry::Complaint(line));
}

/// Does work of a caller's own on the host, and tells everyone, as of an operation of this crate.
pub fn own_work<T>(name: &str, elements: usize, work: impl FnOnce() -> T) -> T {
    let (call, start) = (Call { operation: name.to_owned(), elements }, Instant::now());
    let value = work();
    call.done(BackendKind::Cpu, "host", start, Traffic::default(), Vec::new());
    value
}
