//! What operations ran on, and who is told.

use std::fmt;
use std::sync::{Once, PoisonError, RwLock};
use std::time::{Duration, Instant};

use crate::Error;
use crate::backend::{BackendKind, DeviceInfo, Traffic};
use crate::settings::Settings;

/// What an operation ran on, how long it took and what it moved.
#[derive(Debug, Clone)]
pub struct Report {
    /// The operation, such as `msm bls12_381_g1`.
    pub operation: String,
    /// Elements worked on.
    pub elements: usize,
    /// The backend that gave the result.
    pub backend: BackendKind,
    /// The device's name.
    pub device: String,
    /// Wall time of the whole call.
    pub total: Duration,
    /// Transfers and kernels; zero on the CPU.
    pub traffic: Traffic,
    /// Why backends tried before did not give the result.
    pub fallbacks: Vec<String>,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let t = &self.traffic;
        write!(
            f,
            "{} of {} on {} ({}): {:.3?}, upload {:.3?} ({} B), kernels {:.3?}, download {:.3?} ({} B)",
            self.operation,
            self.elements,
            self.backend,
            self.device,
            self.total,
            t.upload,
            t.bytes_up,
            t.kernels,
            t.download,
            t.bytes_down
        )?;
        if !t.compile.is_zero() {
            write!(f, ", compilation {:.3?}", t.compile)?;
        }
        self.fallbacks.iter().try_for_each(|reason| write!(f, "; fell back: {reason}"))
    }
}

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
        append_to_file(&report);
        OBSERVERS.read().unwrap_or_else(PoisonError::into_inner).iter().for_each(|observer| observer(&report));
        report
    }

    /// Says why a device gives no result: the caller may well have a way around, and then nobody else would.
    pub fn failed(&self, device: &DeviceInfo, error: &Error) {
        let Self { operation, elements } = self;
        let reason = error.to_string().replace('\n', " ");
        let line = format!("{operation} of {elements} on {} ({}): no result: {reason}", device.backend, device.name);
        log::warn!("{line}");
        append_to_file(&line);
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
    let traffic = work().inspect_err(|error| call.failed(device, error))?;
    call.done(device.backend, &device.name, start, traffic, Vec::new());
    Ok(())
}

/// Does work of a caller's own on the host, and tells everyone, as of an operation of this crate.
pub fn own_work<T>(name: &str, elements: usize, work: impl FnOnce() -> T) -> T {
    let (call, start) = (Call { operation: name.to_owned(), elements }, Instant::now());
    let value = work();
    call.done(BackendKind::Cpu, "host", start, Traffic::default(), Vec::new());
    value
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
    append_to_file(&line.replace('\n', " "));
}

/// Appends a line to the file that `PROOFWARP_REPORT` names: programs without a logger, and those that
/// watch another program, read there what ran.
fn append_to_file(line: &impl fmt::Display) {
    use std::io::Write;
    static COMPLAINT: Once = Once::new();
    // Malformed settings are an error of the accelerator's: nothing runs that could be reported.
    let Some(path) = Settings::get().ok().and_then(|settings| settings.report.as_ref()) else { return };
    let open = std::fs::OpenOptions::new().create(true).append(true).open(path);
    // One write a line, so that lines of several processes do not mix.
    if let Err(error) = open.and_then(|mut file| file.write_all(format!("{line}\n").as_bytes())) {
        COMPLAINT.call_once(|| log::warn!("PROOFWARP_REPORT: cannot write {}: {error}", path.display()));
    }
}
