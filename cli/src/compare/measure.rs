//! Takes numbers: a call to warm up, then the median of some calls.

use std::time::{Duration, Instant, SystemTime};

use anyhow::Result;
use proofwarp::{Accelerator, Report};

use super::results::{Comparison, Measurement, Phase};
use crate::cli::ReportOptions;
use crate::output::say;
use crate::progress::Progress;

/// Takes the measurements of a comparison, and holds their results.
pub struct Session {
    pub accelerator: Accelerator,
    pub logs: Vec<u32>,
    repeats: u32,
    progress: Progress,
    comparison: Comparison,
}

/// Tells what proofwarp is compared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Peers {
    /// The stock crates that this program is linked with.
    Crates,
    /// Other programs.
    Programs,
}

/// Names a measurement: operation, implementation, binary logarithm of the size.
pub type Name<'a> = (&'a str, &'a str, u32);

/// Maximum time of a warm-up call that is followed by repeated calls, 20 s. Slower calls are timed once.
const LONG: Duration = Duration::from_secs(20);

impl Session {
    /// Starts the session of the comparison `what` with `peers` at sizes 2^`logs`, on what the environment selects.
    ///
    /// # Errors
    /// Returns an error if a setting is malformed, or if a forced backend is not available.
    pub fn new(what: &str, peers: Peers, options: &ReportOptions, logs: Vec<u32>) -> Result<Self> {
        let accelerator = Accelerator::from_env()?;
        let words: Vec<String> = std::env::args().skip(1).collect();
        let comparison = Comparison {
            what: what.to_owned(),
            command: format!("proofwarp {}", words.join(" ")),
            date: today(),
            environment: environment(&accelerator, peers),
            measurements: Vec::new(),
            left_out: left_out(&accelerator, peers),
            checked: Vec::new(),
        };
        comparison.environment.iter().for_each(|(name, value)| say(format_args!("{name}: {value}")));
        Ok(Self { accelerator, logs, repeats: options.repeats, progress: Progress::new(0), comparison })
    }

    /// Returns whether there is a device, in whose memory data can stay between calls.
    pub fn has_device(&self) -> bool {
        !self.accelerator.devices().is_empty()
    }

    /// Measures `call`, which returns a report, and returns the value of its last run.
    pub fn ours<T>(&mut self, name: Name<'_>, mut call: impl FnMut() -> Result<(T, Report)>) -> Result<T> {
        self.phased(name, || call().map(|(value, report)| (value, phases(&report))))
    }

    /// Measures `call` without phases, and returns the value of its last run.
    pub fn timed<T>(&mut self, name: Name<'_>, mut call: impl FnMut() -> Result<T>) -> Result<T> {
        self.phased(name, || call().map(|value| (value, Vec::new())))
    }

    /// Measures `call`, which returns the times of its phases, and returns the value of its last run.
    pub fn phased<T>(
        &mut self,
        (operation, implementation, log): Name<'_>,
        call: impl FnMut() -> Result<(T, Vec<Phase>)>,
    ) -> Result<T> {
        let repeats = self.repeats;
        let what = format!("{operation}, 2^{log}: {implementation}");
        let (value, milliseconds, phases) = self.progress.step(&what, || median(repeats, call))?;
        let [operation, implementation] = [operation, implementation].map(str::to_owned);
        self.comparison.measurements.push(Measurement { operation, implementation, log, milliseconds, phases });
        Ok(value)
    }

    /// Runs the preparatory `work`, which is not measured, and shows it as step `what`.
    pub fn preparing<T>(&self, what: &str, work: impl FnOnce() -> T) -> T {
        self.progress.more(1);
        self.progress.step(what, work)
    }

    /// Adds `numbers` to the number of measurements that the progress display expects.
    pub fn expect(&self, numbers: usize) {
        self.progress.more(numbers as u64);
    }

    /// Records that the check `what` has passed.
    pub fn checked(&mut self, what: impl Into<String>) {
        self.comparison.checked.push(what.into());
    }

    /// Records that something was left out, and the reason.
    pub fn leave_out(&mut self, reason: String) {
        self.comparison.left_out.push(reason);
    }

    /// Records the `value` of a property of the environment.
    pub fn environment(&mut self, name: &str, value: String) {
        self.comparison.environment.push((name.to_owned(), value));
    }

    /// Ends the session, and returns its results.
    pub fn finish(self) -> Comparison {
        self.comparison
    }
}

/// Runs `call` once to warm up, and then `repeats` times. Returns the last value, the median time in milliseconds, and
/// the phases of the call with that time.
fn median<T>(repeats: u32, mut call: impl FnMut() -> Result<(T, Vec<Phase>)>) -> Result<(T, f64, Vec<Phase>)> {
    let start = Instant::now();
    let (mut value, _) = call()?;
    let repeats = if start.elapsed() > LONG { 1 } else { repeats };
    let mut calls = Vec::new();
    for _ in 0..repeats {
        let start = Instant::now();
        let (of_call, phases) = call()?;
        calls.push((start.elapsed().as_secs_f64() * 1e3, phases));
        value = of_call;
    }
    calls.sort_by(|one, other| one.0.total_cmp(&other.0));
    let (milliseconds, phases) = calls.swap_remove(calls.len() / 2);
    Ok((value, milliseconds, phases))
}

/// Returns the phases of a call from its `report`, or none if no kernel was launched. Uploads run concurrently with
/// kernels, so the phases together may take longer than the call.
fn phases(report: &Report) -> Vec<Phase> {
    let traffic = &report.traffic;
    if traffic.launches == 0 {
        return Vec::new();
    }
    let parts = [("upload", traffic.upload), ("kernels", traffic.kernels), ("download", traffic.download)];
    let rest = report.total.saturating_sub(parts.iter().map(|(_, time)| *time).sum());
    parts.into_iter().chain([("the rest", rest)]).map(|(name, time)| Phase::new(name, time)).collect()
}

/// Returns the day in UTC, as year-month-day.
fn today() -> String {
    humantime::format_rfc3339_seconds(SystemTime::now())
        .to_string()
        .chars()
        .take_while(|letter| *letter != 'T')
        .collect()
}

fn environment(accelerator: &Accelerator, peers: Peers) -> Vec<(String, String)> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let mut found = vec![
        ("proofwarp".to_owned(), env!("CARGO_PKG_VERSION").to_owned()),
        ("host".to_owned(), format!("{cores} cores, {} {}", std::env::consts::OS, std::env::consts::ARCH)),
    ];
    if peers == Peers::Crates {
        found.push(("stock".to_owned(), format!("bellperson 0.27.0, ec-gpu-gen 0.7.1 ({STOCK}), halo2-axiom 0.5.3")));
    }
    let device = |device: &std::sync::Arc<proofwarp::Device>| {
        let info = device.info();
        let memory = bench_support::table::bytes(info.memory);
        ("device".to_owned(), format!("{} ({}), {memory}", info.name, info.backend))
    };
    found.extend(accelerator.devices().iter().map(device));
    let settings = std::env::vars().filter(|(name, _)| name.starts_with("PROOFWARP_") || name == "BELLMAN_NO_GPU");
    found.extend(settings);
    found
}

/// Names the code that the stock crates run in this build.
pub const STOCK: &str = if cfg!(feature = "stock-cuda") {
    "its CUDA kernels"
} else if cfg!(feature = "stock-opencl") {
    "its OpenCL kernels"
} else {
    "the CPU's code"
};

fn left_out(accelerator: &Accelerator, peers: Peers) -> Vec<String> {
    let mut found = Vec::new();
    if peers == Peers::Crates && !cfg!(feature = "stock-cuda") && !cfg!(feature = "stock-opencl") {
        found.push("stock's own kernels: built without the features stock-cuda and stock-opencl".to_owned());
    }
    if accelerator.devices().is_empty() && accelerator.forced().is_none() {
        found.extend(accelerator.unavailable_reasons().iter().cloned());
    }
    found
}
