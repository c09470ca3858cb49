//! One size of one operation, by both.

use std::error::Error;
use std::fmt;
use std::time::{Duration, Instant};

use ff::Field;
use group::Group;
use halo2_proofs::arithmetic::{best_fft, best_multiexp};
use pasta_curves::arithmetic::CurveAffine;
use proofwarp::curve::MsmCurve;
use proofwarp::field::NttField;
use proofwarp::msm::{Msm, msm};
use proofwarp::ntt::NttDomain;
use proofwarp::{Accelerator, BackendKind};
use rand_chacha::ChaCha8Rng;
use rand_core::SeedableRng;

pub type Failure = Box<dyn Error + Send + Sync>;

/// What both took.
pub struct Line {
    what: String,
    log_n: u32,
    backend: BackendKind,
    theirs: Duration,
    ours: Duration,
    /// With bases on the device.
    resident: Option<Duration>,
}

impl Line {
    pub const HEAD: &'static str = "| operation | log n | halo2_proofs, ms | proofwarp, ms | bases resident, ms | on | times |\n\
                                    |---|---|---|---|---|---|---|";
}

fn ms(time: Duration) -> String {
    format!("{:.2}", time.as_secs_f64() * 1e3)
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { what, log_n, backend, theirs, ours, resident } = self;
        let best = resident.unwrap_or(*ours).as_secs_f64();
        let (resident, times) = (resident.map_or("-".to_owned(), ms), theirs.as_secs_f64() / best);
        write!(f, "| {what} | {log_n} | {} | {} | {resident} | {backend} | {times:.1} |", ms(*theirs), ms(*ours))
    }
}

fn rng() -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(1)
}

/// The median time of some runs, after one that does not count, and the last result.
fn median<T>(runs: u32, mut run: impl FnMut() -> Result<T, Failure>) -> Result<(Duration, T), Failure> {
    let mut last = run()?;
    let mut times = Vec::new();
    for _ in 0..runs {
        let start = Instant::now();
        last = run()?;
        times.push(start.elapsed());
    }
    times.sort_unstable();
    Ok((times[times.len() / 2], last))
}

/// Different points, whatever their logarithms.
fn points<C: CurveAffine>(count: usize) -> Vec<C> {
    let mut rng = rng();
    let (start, step) = (C::Curve::random(&mut rng), C::Curve::random(&mut rng));
    let points: Vec<_> = std::iter::successors(Some(start), |point| Some(*point + step)).take(count).collect();
    let mut affine = vec![C::identity(); count];
    group::Curve::batch_normalize(&points, &mut affine);
    affine
}

/// A multiplication of 2^log_n points.
///
/// # Errors
/// The sums differ, or a forced backend failed.
pub fn multiplications<C>(accelerator: &Accelerator, log_n: u32, runs: u32) -> Result<Line, Failure>
where
    C: CurveAffine + MsmCurve,
    C::ScalarExt: NttField,
{
    let bases: Vec<C> = points(1 << log_n);
    let mut rng = rng();
    let scalars: Vec<_> = bases.iter().map(|_| C::ScalarExt::random(&mut rng)).collect();
    let (theirs, expected) = median(runs, || Ok(best_multiexp(&scalars, &bases)))?;
    let (ours, (sum, report)) = median(runs, || Ok(msm(accelerator, &bases, &scalars[..], None)?))?;
    let kept = Msm::new(accelerator, &bases)?;
    let (resident, (again, _)) = median(runs, || Ok(kept.run(&scalars[..], None)?))?;
    if sum != expected || again != expected {
        return Err(format!("msm over {}: the sums of 2^{log_n} differ", C::NAME).into());
    }
    let what = format!("MSM {}", C::NAME);
    Ok(Line { what, log_n, backend: report.backend, theirs, ours, resident: Some(resident) })
}

/// A transform of 2^log_n elements.
///
/// # Errors
/// The results differ, or a forced backend failed.
pub fn transforms<F: NttField>(accelerator: &Accelerator, log_n: u32, runs: u32) -> Result<Line, Failure> {
    let mut rng = rng();
    let coefficients: Vec<F> = (0..1 << log_n).map(|_| F::random(&mut rng)).collect();
    let domain = NttDomain::new(accelerator, log_n)?;
    let (mut expected, mut values) = (coefficients.clone(), coefficients.clone());
    // Transforms of transforms: whatever is transformed takes the same time, and both do it as often.
    let (theirs, ()) = median(runs, || {
        best_fft(&mut expected, domain.omega(), log_n);
        Ok(())
    })?;
    let (ours, report) = median(runs, || Ok(domain.forward(&mut values)?))?;
    if values != expected {
        return Err(format!("ntt over {}: the values of 2^{log_n} differ", F::NAME).into());
    }
    let what = format!("NTT {}", F::NAME);
    Ok(Line { what, log_n, backend: report.backend, theirs, ours, resident: None })
}

#[cfg(test)]
mod tests {
    use pasta_curves::{EpAffine, EqAffine, Fp, Fq};

    use super::*;

    /// Results are compared by the measurements themselves.
    #[test]
    fn both_agree() {
        let accelerator = Accelerator::from_env().expect("an accelerator");
        for log_n in [0, 1, 7, 10] {
            multiplications::<EpAffine>(&accelerator, log_n, 1).expect("sums agree");
            multiplications::<EqAffine>(&accelerator, log_n, 1).expect("sums agree");
            transforms::<Fp>(&accelerator, log_n, 1).expect("values agree");
            transforms::<Fq>(&accelerator, log_n, 1).expect("values agree");
        }
    }
}
