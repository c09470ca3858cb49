//! How numbers are taken: a call to warm up, then the median of some.

use std::time::{Duration, Instant};

use anyhow::Result;
use proofwarp::{Accelerator, Report};

use super::results::{Comparison, Measurement, Phases};
use crate::cli::Common;
use crate::progress::Progress;

/// A comparison under way.
pub struct Session {
    pub accelerator: Accelerator,
    pub logs: Vec<u32>,
    repeats: u32,
    progress: Progress,
    comparison: Comparison,
}

/// Calls that take longer are timed once.
const LONG: Duration = Duration::from_secs(20);

impl Session {
    /// With the process's accelerator.
    ///
    /// # Errors
    /// A setting is malformed, or a forced backend is not there.
    pub fn new(what: &str, options: &Common) -> Result<Self> {
        let accelerator = Accelerator::from_env()?;
        let words: Vec<String> = std::env::args().skip(1).collect();
        let comparison = Comparison {
            what: what.to_owned(),
            command: format!("proofwarp {}", words.join(" ")),
            environment: environment(&accelerator),
            measurements: Vec::new(),
            left_out: left_out(&accelerator),
            checked: Vec::new(),
        };
        comparison.environment.iter().for_each(|(name, value)| eprintln!("{name}: {value}"));
        let logs = options.log.0.clone();
        Ok(Self { accelerator, logs, repeats: options.repeats, progress: Progress::new(0), comparison })
    }

    /// Whether there is a device to keep things on.
    pub fn has_device(&self) -> bool {
        !self.accelerator.devices().is_empty()
    }

    /// What a call that gives a report took, and what it gave.
    pub fn ours<T>(&mut self, name: (&str, &str, u32), mut call: impl FnMut() -> Result<(T, Report)>) -> Result<T> {
        let mut report = None;
        let value = self.timed(name, || {
            let (value, of_call) = call()?;
            report = Some(of_call);
            Ok(value)
        })?;
        let phases = report.filter(|report| report.traffic.launches > 0).map(|report| {
            let ms = |time: Duration| time.as_secs_f64() * 1e3;
            let traffic = report.traffic;
            Phases { upload: ms(traffic.upload), kernels: ms(traffic.kernels), download: ms(traffic.download) }
        });
        if let Some(last) = self.comparison.measurements.last_mut() {
            last.phases = phases;
        }
        Ok(value)
    }

    /// What a call took, and what it gave.
    pub fn timed<T>(
        &mut self,
        (operation, implementation, log): (&str, &str, u32),
        mut call: impl FnMut() -> Result<T>,
    ) -> Result<T> {
        let repeats = self.repeats;
        let work = || {
            let start = Instant::now();
            let mut value = call()?;
            let repeats = if start.elapsed() > LONG { 1 } else { repeats };
            let mut times = Vec::new();
            for _ in 0..repeats {
                let start = Instant::now();
                value = call()?;
                times.push(start.elapsed().as_secs_f64() * 1e3);
            }
            times.sort_by(f64::total_cmp);
            anyhow::Ok((value, times[times.len() / 2]))
        };
        let (value, milliseconds) = self.progress.step(&format!("{operation}, 2^{log}: {implementation}"), work)?;
        let [operation, implementation] = [operation, implementation].map(str::to_owned);
        let measurement = Measurement { operation, implementation, log, milliseconds, phases: None };
        self.comparison.measurements.push(measurement);
        Ok(value)
    }

    /// So many more numbers are to come.
    pub fn expect(&self, numbers: usize) {
        self.progress.more(numbers as u64);
    }

    /// Notes what was checked.
    pub fn checked(&mut self, what: impl Into<String>) {
        self.comparison.checked.push(what.into());
    }

    /// Notes what is not measured, once.
    pub fn leave_out(&mut self, what: impl Into<String>) {
        let what = what.into();
        if !self.comparison.left_out.contains(&what) {
            self.comparison.left_out.push(what);
        }
    }

    /// What was measured.
    pub fn finish(self) -> Comparison {
        self.comparison
    }
}

fn environment(accelerator: &Accelerator) -> Vec<(String, String)> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let mut found = vec![
        ("proofwarp".to_owned(), env!("CARGO_PKG_VERSION").to_owned()),
        ("host".to_owned(), format!("{cores} cores, {} {}", std::env::consts::OS, std::env::consts::ARCH)),
        ("stock".to_owned(), format!("bellperson 0.27.0, ec-gpu-gen 0.7.1 ({})", STOCK)),
    ];
    let device = |device: &std::sync::Arc<proofwarp::Device>| {
        let info = device.info();
        let memory = crate::table::bytes(info.memory);
        ("device".to_owned(), format!("{} ({}), {memory}", info.name, info.backend))
    };
    found.extend(accelerator.devices().iter().map(device));
    let settings = std::env::vars().filter(|(name, _)| name.starts_with("PROOFWARP_") || name == "BELLMAN_NO_GPU");
    found.extend(settings);
    found
}

/// Where stock runs in this build.
pub const STOCK: &str = if cfg!(feature = "stock-cuda") {
    "its CUDA kernels"
} else if cfg!(feature = "stock-opencl") {
    "its OpenCL kernels"
} else {
    "the CPU's code"
};

fn left_out(accelerator: &Accelerator) -> Vec<String> {
    let mut found = Vec::new();
    if !cfg!(feature = "stock-cuda") && !cfg!(feature = "stock-opencl") {
        found.push("stock's own kernels: built without the features stock-cuda and stock-opencl".to_owned());
    }
    if accelerator.devices().is_empty() && accelerator.forced().is_none() {
        found.extend(accelerator.absent().iter().cloned());
    }
    found
}
