//! The multiplication and the transform, checked by closed forms, so that no rank needs more than its own slice.

use std::time::Instant;

use blstrs::{G1Affine, G1Projective, Scalar};
use ff::Field;
use group::Group;
use proofwarp::cluster::{Cluster, ClusterMsm, ClusterNtt, RankStats};
use proofwarp::ntt::Direction;
use serde::{Deserialize, Serialize};

use super::inputs::{multiples, powers, weighted_sum};
use super::options::Options;
use crate::Failure;
use crate::timing::median;

/// A step, its median time, and what each rank did in all of its calls.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Timed {
    pub step: String,
    /// Elements, the binary logarithm.
    pub log: u32,
    /// How many of them a call does: proofs of a batch.
    pub count: usize,
    pub first_seconds: f64,
    pub seconds: f64,
    pub ranks: Vec<Share>,
}

/// Holds the work of one rank in a call, on average, in seconds and bytes.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct Share {
    pub work: f64,
    pub waiting: f64,
    pub messages: f64,
    pub sent: f64,
}

/// Times calls, which all ranks begin at the same time.
pub fn timed<T>(
    cluster: &Cluster,
    what: (&str, u32, usize),
    calls: u32,
    mut call: impl FnMut() -> Result<T, Failure>,
) -> Result<(T, Timed), Failure> {
    timed_after(cluster, what, calls, || (), |()| call())
}

/// Times calls, each with an input that `ready` makes before and that is not timed.
fn timed_after<T, I>(
    cluster: &Cluster,
    (step, log, count): (&str, u32, usize),
    calls: u32,
    mut ready: impl FnMut() -> I,
    mut call: impl FnMut(I) -> Result<T, Failure>,
) -> Result<(T, Timed), Failure> {
    let mut value = None;
    let (mut times, mut before) = (Vec::new(), Vec::new());
    for number in 0..=calls {
        if number == 1 {
            before = ledgers(cluster);
        }
        // The result of the call before is freed first.
        drop(value.take());
        let input = ready();
        // Nobody is ahead.
        cluster.all_or_error(Ok(()))?;
        let start = Instant::now();
        value = Some(call(input)?);
        cluster.all_or_error(Ok(()))?;
        times.push(start.elapsed().as_secs_f64());
    }
    let share = |(after, before): (RankStats, RankStats)| {
        let done = after.since(&before);
        let [work, waiting, messages] =
            [done.work, done.waiting, done.messages].map(|t| t.as_secs_f64() / f64::from(calls));
        Share { work, waiting, messages, sent: done.sent as f64 / f64::from(calls) }
    };
    let ranks = ledgers(cluster).into_iter().zip(before).map(share).collect();
    let (first_seconds, seconds) = (times[0], median(times.split_off(1)));
    let timed = Timed { step: step.to_owned(), log, count, first_seconds, seconds, ranks };
    Ok((value.ok_or("no call")?, timed))
}

fn ledgers(cluster: &Cluster) -> Vec<RankStats> {
    cluster.gather_stats().into_iter().map(|line| line.ledger).collect()
}

/// Computes Σ xⁱ · (i + 1)g.
pub fn msm(cluster: &Cluster, options: &Options) -> Result<Vec<Timed>, Failure> {
    let (length, x) = (1usize << options.log_points, Scalar::from(0x1234_5678_9abc_def1).square());
    let msm = ClusterMsm::<G1Affine>::new(cluster, length, |range| Ok(multiples(range)))?;
    let scalars = powers(x, msm.local_range());
    let what = ("msm", options.log_points, 1);
    let (sum, timed) = timed(cluster, what, options.calls, || Ok(msm.run(&scalars, None)?.0))?;
    if sum != G1Projective::generator() * weighted_sum(x, length as u64) {
        return Err("the multiplication is wrong".into());
    }
    Ok(vec![timed])
}

/// The polynomial Σ xⁱ·Xⁱ, whose value at ωʲ is (xⁿ − 1)/(x·ωʲ − 1), and back.
pub fn ntt(cluster: &Cluster, options: &Options) -> Result<Vec<Timed>, Failure> {
    let (log, rank, x) = (options.log_elements, cluster.rank(), Scalar::from(3));
    let ntt = ClusterNtt::<Scalar>::new(cluster, log)?;
    let length = ntt.coefficients().length(rank);
    let classes = ntt.coefficients();
    let coefficient = |position| x.pow_vartime([classes.index(rank, position) as u64]);
    let mut slice = inputs_of(length, coefficient);
    let mut all = Vec::new();
    for (name, direction) in [("ntt", Direction::Forward), ("ntt of coset", Direction::CosetForward)] {
        let (inverse, shift) = match direction {
            Direction::CosetForward => (Direction::CosetInverse, ntt.domain().coset()),
            _ => (Direction::Inverse, Scalar::ONE),
        };
        let ready = || slice.clone();
        let (mut values, timed) = timed_after(cluster, (name, log, 1), options.calls, ready, |mut values| {
            ntt.run(direction, &mut values, None)?;
            Ok(values)
        })?;
        let (omega, y) = (ntt.domain().omega(), x * shift);
        let numerator = y.pow_vartime([1u64 << log]) - Scalar::ONE;
        let is_right = |position: usize| {
            let point = omega.pow_vartime([ntt.values().index(rank, position) as u64]);
            values[position] * (y * point - Scalar::ONE) == numerator
        };
        // Some hundred, all over the slice.
        let step = (values.len() / 128).max(1);
        if !(0..values.len()).step_by(step).all(is_right) {
            return Err("the transform is wrong".into());
        }
        ntt.run(inverse, &mut values, None)?;
        if values != slice {
            return Err("the inverse is wrong".into());
        }
        slice = values;
        all.push(timed);
    }
    Ok(all)
}

fn inputs_of(length: usize, element: impl Fn(usize) -> Scalar + Send + Sync) -> Vec<Scalar> {
    use rayon::prelude::*;
    (0..length).into_par_iter().map(element).collect()
}
