//! Whether bellperson proved on a GPU: only its log says so.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use log::{Level, LevelFilter, Log, Metadata, Record, SetLoggerError};

/// Kernels that were made ready, and calls that went to the CPU instead.
static KERNELS: AtomicUsize = AtomicUsize::new(0);
static FALLBACKS: AtomicUsize = AtomicUsize::new(0);

struct Listener;

impl Log for Listener {
    fn enabled(&self, metadata: &Metadata) -> bool {
        metadata.level() <= Level::Info
    }

    fn log(&self, record: &Record) {
        let text = record.args().to_string();
        if text.starts_with("GPU ") && text.ends_with("kernel instantiated!") {
            KERNELS.fetch_add(1, Relaxed);
        }
        if text.contains("Falling back to CPU") || text.starts_with("Cannot instantiate GPU") {
            FALLBACKS.fetch_add(1, Relaxed);
            eprintln!("stock: {text}");
        }
    }

    fn flush(&self) {}
}

/// Starts to listen.
///
/// # Errors
/// There is a logger already.
pub fn install() -> Result<(), SetLoggerError> {
    log::set_logger(&Listener)?;
    log::set_max_level(LevelFilter::Info);
    Ok(())
}

/// What the proofs since then ran on.
pub fn ran_on() -> String {
    match (KERNELS.load(Relaxed), FALLBACKS.load(Relaxed)) {
        (0, _) => "cpu".to_owned(),
        (_, 0) => format!("gpu ({})", device()),
        (_, fallbacks) => format!("gpu ({}), but the cpu in {fallbacks} calls", device()),
    }
}

#[cfg(any(feature = "cuda", feature = "opencl"))]
fn device() -> String {
    let devices = ec_gpu_gen::rust_gpu_tools::Device::all();
    devices.iter().map(|device| device.name()).collect::<Vec<_>>().join(", ")
}

#[cfg(not(any(feature = "cuda", feature = "opencl")))]
fn device() -> String {
    String::new()
}
