//! Prints the time of steps.

use std::io::Write;
use std::time::Instant;

use anyhow::Result;

/// Runs `work`, and prints its name and its time.
pub fn timed<T>(name: &str, work: impl FnOnce() -> Result<T>) -> Result<T> {
    let start = Instant::now();
    let result = work();
    let outcome = if result.is_ok() { "done" } else { "failed" };
    println!("{name:<24}{:>9.3} s  {outcome}", start.elapsed().as_secs_f64());
    std::io::stdout().flush()?;
    result
}
