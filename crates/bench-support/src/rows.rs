//! Prints a row for each timed operation. `benches/beside.py` reads these rows.

use std::time::Duration;

use clap::Args;
use proofwarp::{Accelerator, Report};

use crate::backend::Backend;
use crate::timing::median;
use crate::{Failure, device, variables};

/// Options of all programs that print rows.
#[derive(Debug, Clone, Args)]
pub struct RowOptions {
    /// Binary logarithms of the sizes, FIRST..LAST (inclusive, in steps of two)
    #[arg(long, value_name = "LOG", default_value = "10..16", value_parser = sizes)]
    log: Sizes,
    /// Timed runs of each row, after one to warm up
    #[arg(long, value_name = "N", default_value_t = 5)]
    pub repeat: usize,
    /// Only operations whose name contains this
    #[arg(long, value_name = "NAME", default_value = "")]
    pub only: String,
    /// Most devices to use; 0 is all of them
    #[arg(long, value_name = "N", default_value_t = 0)]
    devices: usize,
    /// Where to run; any but `auto` is an error if it cannot do it all
    #[arg(long, value_enum, default_value = "auto")]
    pub backend: Backend,
}

/// Binary logarithms of sizes.
#[derive(Debug, Clone)]
struct Sizes(Vec<u32>);

fn sizes(text: &str) -> Result<Sizes, String> {
    variables::sizes(text).map(Sizes)
}

impl RowOptions {
    /// Returns the binary logarithms of the sizes.
    pub fn sizes(&self) -> &[u32] {
        &self.log.0
    }

    /// Returns whether the operation `name` is asked for.
    pub fn wants(&self, name: &str) -> bool {
        name.contains(&self.only)
    }

    /// Checks that the program has an operation that is asked for, among those of `names`.
    ///
    /// # Errors
    /// Returns an error if it has none.
    pub fn check(&self, names: &[&str]) -> Result<(), String> {
        check_filter("--only", &self.only, names)
    }

    /// Opens the devices, and announces them.
    ///
    /// # Errors
    /// Returns an error if the backend is not there.
    pub fn accelerator(&self) -> Result<Accelerator, Failure> {
        let all = Accelerator::from_env()?;
        let most = if self.devices == 0 { usize::MAX } else { self.devices };
        let accelerator = all.with_devices(all.devices().iter().take(most).cloned().collect());
        device::announce(&accelerator, device::asked_for_cpu(&accelerator));
        Ok(accelerator)
    }

    /// Runs once to warm up, then `repeat` times, and prints the run of median total time.
    ///
    /// # Errors
    /// Returns the first error of `run`.
    pub fn row(&self, log_n: u32, mut run: impl FnMut() -> Result<Report, Failure>) -> Result<(), Failure> {
        run()?;
        let mut reports = (0..self.repeat.max(1)).map(|_| run()).collect::<Result<Vec<_>, _>>()?;
        reports.sort_by_key(|report| report.total);
        let median = &reports[reports.len() / 2];
        let ms = |time: Duration| time.as_secs_f64() * 1e3;
        let traffic = &median.traffic;
        let [total, upload, kernels] = [median.total, traffic.upload, traffic.kernels].map(ms);
        say!("{:56} {log_n:5} {total:12.3} {upload:11.3} {kernels:11.3}", median.operation);
        Ok(())
    }

    /// Runs once to warm up, then `repeat` times, and returns the median of the results.
    ///
    /// # Errors
    /// Returns the first error of `run`.
    pub fn median(&self, mut run: impl FnMut() -> Result<f64, Failure>) -> Result<f64, Failure> {
        run()?;
        Ok(median((0..self.repeat.max(1)).map(|_| run()).collect::<Result<Vec<_>, _>>()?))
    }
}

/// Checks that the `filter` of `option` is part of one of `names`.
///
/// # Errors
/// Returns an error if it is part of none.
pub fn check_filter(option: &str, filter: &str, names: &[&str]) -> Result<(), String> {
    let found = names.iter().any(|name| name.contains(filter));
    if found { Ok(()) } else { Err(format!("{option}: expected part of one of {}, got {filter}", names.join("; "))) }
}

/// Returns the error for `option`, which needs a device.
pub fn no_device(option: &str) -> String {
    format!("{option}: expected a device, got none: see above for the reason")
}

/// Prints the head of the columns of [`RowOptions::row`].
pub fn print_header() {
    say!("operation                                                log n     total ms   upload ms  kernels ms");
}
