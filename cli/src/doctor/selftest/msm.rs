//! Computes Σ sₖ·(k·G), which is (Σ k·sₖ)·G.

use ff::{Field, PrimeField};
use group::{Curve, Group};
use proofwarp::curve::MsmCurve;
use proofwarp::field::NttField;
use proofwarp::msm::{Msm, ScalarForm};
use proofwarp::{Accelerator, Result};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

use super::{Answer, timed};

/// Returns the points k·G for k = 1, 2, …, `count`.
fn multiples<C: MsmCurve<Curve: Curve<AffineRepr = C>>>(count: usize) -> Vec<C> {
    let g = C::generator();
    let sums: Vec<C::Curve> = std::iter::successors(Some(g.to_curve()), |sum| Some(*sum + g)).take(count).collect();
    let mut points = vec![C::identity(); count];
    C::Curve::batch_normalize(&sums, &mut points);
    points
}

pub fn test<C>(accelerator: &Accelerator, log: u32) -> Result<Answer>
where
    C: MsmCurve<Scalar: NttField, Curve: Curve<AffineRepr = C>>,
{
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let bases = multiples::<C>(1 << log);
    let scalars: Vec<C::Scalar> = bases.iter().map(|_| C::Scalar::random(&mut rng)).collect();
    let numbers = (1..).map(<C::Scalar as From<u64>>::from);
    let known = C::Curve::generator() * numbers.zip(&scalars).map(|(k, scalar)| k * scalar).sum::<C::Scalar>();

    let msm = Msm::new(accelerator, &bases)?;
    let (sum, report) = msm.run(&scalars, None)?;
    let is_right = sum == known;
    if accelerator.devices().is_empty() {
        let time = report.total;
        return Ok(Answer { report, time, is_right });
    }
    let canonical: Vec<[u8; 32]> = scalars.iter().map(canonical).collect();
    let there = msm.upload_scalars(&canonical, ScalarForm::Canonical)?;
    msm.run(&there, None)?;
    let ((again, report), time) = timed(|| msm.run(&there, None))?;
    Ok(Answer { report, time, is_right: is_right && again == known })
}

fn canonical<F: PrimeField>(scalar: &F) -> [u8; 32] {
    let mut bytes = [0; 32];
    bytes.copy_from_slice(scalar.to_repr().as_ref());
    bytes
}
