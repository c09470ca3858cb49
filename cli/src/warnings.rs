//! Shows the library's warnings, such as that of a fallback to the CPU, on standard error.

use log::LevelFilter;

/// Shows log messages of `level` or worse until the process ends. A second call has no effect.
pub fn show(level: LevelFilter) {
    let mut builder = env_logger::Builder::new();
    builder.filter_module("proofwarp", level).filter_module("proofwarp_circom", level);
    // The first call's choice stays.
    let _ = builder.format_timestamp(None).format_target(false).try_init();
}
