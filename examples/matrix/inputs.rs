//! Random inputs, the same in every run, and times.

use std::time::Instant;

use ff::{Field, PrimeField};
use proofwarp::Report;
use rand::{RngCore, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use crate::{Failure, Outcome};

/// Entries that one core makes from a seed.
const PART: usize = 1 << 12;

/// Entries, each by a generator.
pub fn random<T: Clone + Default + Send>(
    count: usize,
    seed: u64,
    entry: impl Fn(&mut ChaCha8Rng) -> T + Sync,
) -> Vec<T> {
    let mut entries = vec![T::default(); count];
    entries.par_chunks_mut(PART).enumerate().for_each(|(number, part)| {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        rng.set_stream(number as u64);
        part.fill_with(|| entry(&mut rng));
    });
    entries
}

pub fn elements<F: Field>(count: usize, seed: u64) -> Vec<F> {
    random(count, seed, |rng| F::random(rng))
}

pub fn bytes(count: usize, seed: u64) -> Vec<i8> {
    random(count, seed, |rng| rng.next_u32() as i8)
}

/// Rounds of Freivalds' check that a wrong product passes with a probability of 2^-100 at most.
pub fn rounds<F: PrimeField>() -> u32 {
    100u32.div_ceil(F::NUM_BITS - 1)
}

/// Does something several times: the last result, the first one's time, and the median of the others' times, in ms.
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

/// Of at least one number.
pub fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

/// A line of the table.
pub fn outcome(way: String, report: Option<&Report>, (first_ms, median_ms): (f64, f64), checked: String) -> Outcome {
    let ran_on = report.map_or_else(String::new, |report| format!("{} ({})", report.device, report.backend));
    let kernels_ms = report.map_or(0.0, |report| report.traffic.kernels.as_secs_f64() * 1e3);
    Outcome { way, ran_on, first_ms, median_ms, kernels_ms, checked }
}
