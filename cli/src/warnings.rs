//! Shows warnings, such as that of a fallback to the CPU, and what OpenCL compiles, on standard error.

use log::LevelFilter;
use proofwarp::Accelerator;

/// Log target of the lines about compilations of OpenCL kernels.
const COMPILATIONS: &str = "proofwarp::compile";

/// Shows log messages of `level` or worse until the process ends. If these include warnings, shows compilations too. A
/// second call has no effect.
pub fn show(level: LevelFilter) {
    let compilations = if level >= LevelFilter::Warn { LevelFilter::Info } else { level };
    // The names of all crates of the project begin with that.
    start(&[("proofwarp", level), (COMPILATIONS, compilations)]);
}

/// Shows what OpenCL compiles, which may take minutes, and no other log messages, until the process ends. A second call
/// has no effect.
pub fn show_compilations() {
    start(&[(COMPILATIONS, LevelFilter::Info)]);
}

fn start(levels: &[(&str, LevelFilter)]) {
    let mut builder = env_logger::Builder::new();
    for (module, level) in levels {
        builder.filter_module(module, *level);
    }
    // The first call's choice stays.
    let _ = builder.format_timestamp(None).format_target(false).try_init();
}

/// Warns if `accelerator` has no device although the CPU was not asked for.
pub fn warn_without_device(accelerator: &Accelerator) {
    if accelerator.devices().is_empty() && accelerator.forced().is_none() {
        log::warn!("proofs are made on the CPU: {}", accelerator.unavailable_reasons().join("; "));
    }
}
