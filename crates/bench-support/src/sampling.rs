//! Repeats a call as often as one number needs.

use std::time::{Duration, Instant};

use crate::protocol::Answer;
use crate::results::Outcome;
use crate::{Failure, variables};

/// Samples of which the median is taken; fewer, but at least [`FEWEST`], where they take long.
const SAMPLES: usize = 5;
const MIN_SAMPLES: usize = 3;

/// Short calls are repeated until a sample takes about as long.
const SAMPLE: Duration = Duration::from_millis(20);

/// The median time of a call, after one to warm up. `run` times that many calls together.
///
/// A first call that alone takes more than the time for one number (`PROOFWARP_BENCH_SECONDS`) is the only one.
///
/// # Errors
/// Those of a call.
pub fn median(mut run: impl FnMut(u64) -> Result<Answer, Failure>) -> Result<Outcome, Failure> {
    let (budget, start) = (seconds("PROOFWARP_BENCH_SECONDS", 2.0)?, Instant::now());
    let first = run(1)?;
    if first.time > budget {
        return Ok(outcome(vec![first.time], first.note));
    }
    let iterations = SAMPLE.as_nanos() / first.time.as_nanos().max(1);
    let iterations = iterations.clamp(1, 100) as u32;
    let (mut samples, mut note) = (Vec::new(), first.note);
    while samples.len() < SAMPLES && (samples.len() < MIN_SAMPLES || start.elapsed() < budget) {
        let answer = run(u64::from(iterations))?;
        samples.push(answer.time / iterations);
        note = answer.note;
    }
    Ok(outcome(samples, note))
}

fn outcome(mut samples: Vec<Duration>, note: String) -> Outcome {
    samples.sort_unstable();
    let nanoseconds = samples[samples.len() / 2].as_nanos() as u64;
    Outcome::Time { nanoseconds, samples: samples.len(), note }
}

/// Reads the seconds of `variable`, or returns `default`.
///
/// # Errors
/// It is no time.
pub fn seconds(variable: &str, default: f64) -> Result<Duration, Failure> {
    let Ok(text) = std::env::var(variable) else { return Ok(Duration::from_secs_f64(default)) };
    Ok(variables::seconds(&text).map_err(|error| format!("{variable}: {error}"))?)
}
