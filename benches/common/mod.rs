//! What the benches share: backends, sizes, the stock crate as the other side, and the table of ratios.

#[allow(dead_code, reason = "each bench is a program of its own and uses what it needs")]
pub mod inputs;
mod ratios;
mod stock;

use criterion::{BenchmarkGroup, Criterion, measurement::WallTime};
use proofwarp::{Accelerator, BackendKind};

pub use ratios::print_ratios;
pub use stock::Stock;

pub type Failure = Box<dyn std::error::Error>;

/// Every backend present, forced, and the CPU.
pub fn accelerators() -> Vec<(BackendKind, Accelerator)> {
    [BackendKind::Cuda, BackendKind::OpenCl, BackendKind::Cpu]
        .into_iter()
        .filter_map(|backend| match Accelerator::with_backend(backend) {
            Ok(accelerator) => Some((backend, accelerator)),
            Err(error) => {
                eprintln!("left out: {error}");
                None
            }
        })
        .collect()
}

/// Binary logarithms of the sizes: `PROOFWARP_BENCH_LOG=10..24` (inclusive, in steps of two), or up to
/// 2^16 without it, which a machine without a GPU does in minutes.
///
/// # Errors
/// The variable is not of that form.
pub fn sizes() -> Result<Vec<u32>, Failure> {
    let text = std::env::var("PROOFWARP_BENCH_LOG").unwrap_or_else(|_| "10..16".to_owned());
    let (first, last) = text.split_once("..").ok_or("PROOFWARP_BENCH_LOG: expected FIRST..LAST")?;
    Ok((first.parse()?..=last.parse()?).step_by(2).collect())
}

/// A group with samples few enough for calls of a second.
pub fn group<'c>(criterion: &'c mut Criterion, name: &str, log_n: u32) -> BenchmarkGroup<'c, WallTime> {
    let mut group = criterion.benchmark_group(format!("{name}/{log_n}"));
    group
        .sample_size(10)
        .warm_up_time(std::time::Duration::from_millis(500))
        .measurement_time(std::time::Duration::from_secs(2));
    group
}
