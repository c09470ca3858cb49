//! Shows warnings, such as that of a fallback to the CPU, on standard error.

use log::LevelFilter;
use proofwarp::Accelerator;

/// Shows log messages of `level` or worse until the process ends. A second call has no effect.
pub fn show(level: LevelFilter) {
    // The names of all crates of the project begin with that.
    let mut builder = env_logger::Builder::new();
    builder.filter_module("proofwarp", level).format_timestamp(None).format_target(false);
    // The first call's choice stays.
    let _ = builder.try_init();
}

/// Warns if `accelerator` has no device although the CPU was not asked for.
pub fn warn_without_device(accelerator: &Accelerator) {
    if accelerator.devices().is_empty() && accelerator.forced().is_none() {
        log::warn!("proofs are made on the CPU: {}", accelerator.unavailable_reasons().join("; "));
    }
}
