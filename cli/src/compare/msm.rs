//! Compares MSMs with stock ec-gpu-gen, blst and halo2curves.

use std::sync::Arc;

use anyhow::{Result, ensure};
use bench_support::inputs;
use blstrs::{G1Affine, G1Projective, G2Affine, G2Projective};
use ec_gpu_gen::multiexp_cpu::{FullDensity, multiexp_cpu};
use ec_gpu_gen::threadpool::Worker;
use ff::PrimeField;
use group::prime::PrimeCurveAffine;
use halo2curves::bn256;
use halo2curves::msm::msm_best;
use proofwarp::curve::MsmCurve;
use proofwarp::field::NttField;
use proofwarp::msm::{Msm, ScalarForm, msm};

use super::measure::Session;
use super::stock_kernels::{self, Sum, leave_out};
use crate::cli::Curve;

/// Holds the name of another implementation, and its function that multiplies points by scalars and returns the sum.
struct Peer<C: MsmCurve>(&'static str, fn(&[C], &[C::Scalar]) -> C::Curve);

/// Measures MSMs on `curve`, at all sizes of `session`.
pub fn measure(session: &mut Session, curve: Curve) -> Result<()> {
    match curve {
        Curve::Bls12G1 => {
            let blst = Peer(BLST, |p, s| G1Projective::multi_exp(&curves(p), s));
            all_sizes::<G1Affine>(session, stock_kernels::sum(), &[blst])
        }
        Curve::Bls12G2 => {
            let blst = Peer(BLST, |p, s| G2Projective::multi_exp(&curves(p), s));
            all_sizes::<G2Affine>(session, stock_kernels::sum(), &[blst])
        }
        Curve::Bn254G1 => all_sizes::<bn256::G1Affine>(session, None, &[Peer(HALO2CURVES, |p, s| msm_best(s, p))]),
    }
}

const BLST: &str = "blst, by blstrs";
const HALO2CURVES: &str = "halo2curves";

fn curves<C: PrimeCurveAffine>(points: &[C]) -> Vec<C::Curve> {
    points.iter().map(PrimeCurveAffine::to_curve).collect()
}

fn all_sizes<C>(session: &mut Session, mut stock: Option<Sum<C>>, peers: &[Peer<C>]) -> Result<()>
where
    C: MsmCurve<Scalar: NttField, Curve: group::Curve<AffineRepr = C>>,
{
    let logs = session.logs.clone();
    let own = usize::from(session.has_device()) + usize::from(stock.is_some());
    session.expect(logs.len() * (2 + peers.len() + own));
    logs.into_iter().try_for_each(|log| one_size(session, &mut stock, peers, log))
}

fn one_size<C>(session: &mut Session, stock: &mut Option<Sum<C>>, peers: &[Peer<C>], log: u32) -> Result<()>
where
    C: MsmCurve<Scalar: NttField, Curve: group::Curve<AffineRepr = C>>,
{
    let points: Vec<C> = inputs::bases(1 << log);
    let scalars: Vec<C::Scalar> = inputs::elements(1 << log, u64::from(log));
    let operation = format!("msm {}", C::NAME);
    let accelerator = session.accelerator.clone();
    let name = |implementation: &'static str| (operation.as_str(), implementation, log);
    let mut sums = Vec::new();
    if session.has_device() {
        let kept = Msm::new(&accelerator, &points)?;
        let there = kept.upload_scalars(&canonical(&scalars), ScalarForm::Canonical)?;
        sums.push(session.ours(name("proofwarp, resident"), || Ok(kept.run(&there, None)?))?);
    }
    sums.push(session.ours(name("proofwarp, from the host"), || Ok(msm(&accelerator, &points, &scalars, None)?))?);
    let (stock_points, stock_scalars) = (Arc::new(points.clone()), Arc::new(reprs(&scalars)));
    if let Some(sum) = stock {
        match session.timed((&operation, &stock_kernels::name(), log), || sum(&stock_points, &stock_scalars)) {
            Ok(sum) => sums.push(sum),
            Err(error) => leave_out(session, stock, &error),
        }
    }
    sums.push(session.timed(name("ec-gpu-gen 0.7.1, CPU"), || {
        let (worker, bases) = (Worker::new(), (stock_points.clone(), 0));
        Ok(multiexp_cpu(&worker, bases, FullDensity, stock_scalars.clone()).wait()?)
    })?);
    for &Peer(peer, sum) in peers {
        sums.push(session.timed(name(peer), || Ok(sum(&points, &scalars)))?);
    }
    ensure!(sums.iter().all(|sum| *sum == sums[0]), "{operation} of 2^{log}: sums differ");
    session.checked(format!("{operation} of 2^{log}: {} equal sums", sums.len()));
    Ok(())
}

fn reprs<F: PrimeField>(scalars: &[F]) -> Vec<F::Repr> {
    scalars.iter().map(PrimeField::to_repr).collect()
}

fn canonical<F: PrimeField>(scalars: &[F]) -> Vec<[u8; 32]> {
    let number = |scalar: &F| std::array::from_fn(|byte| scalar.to_repr().as_ref()[byte]);
    scalars.iter().map(number).collect()
}
