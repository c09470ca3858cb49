//! Times repeated work.

use std::time::Instant;

use crate::Failure;

/// Runs `work` once and then `runs` times. Returns the last result, the first run's time, and the median of the others' times, in ms.
///
/// # Errors
/// Returns the first error of `work`.
pub fn timed<T>(runs: u32, mut work: impl FnMut() -> Result<T, Failure>) -> Result<(T, f64, f64), Failure> {
    let mut once = || {
        let start = Instant::now();
        work().map(|result| (result, start.elapsed().as_secs_f64() * 1e3))
    };
    let (mut last, first) = once()?;
    let mut times = Vec::new();
    for _ in 0..runs {
        let (result, ms) = once()?;
        times.push(ms);
        last = result;
    }
    Ok((last, first, median(times)))
}

/// Returns the median of `times`, which has at least one.
pub fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}
