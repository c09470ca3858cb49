//! Times the stock ec-gpu-gen crate on request: `crates/bench-support/src/protocol.rs` says how it is asked, operations are
//! `msm_bls12_381_g1`, `msm_bls12_381_g2` and `ntt_bls12_381_fr`, from host slices to host result: the crate
//! keeps nothing on the device. Inputs are made before the clock starts, and kept.

use std::process::ExitCode;
use std::sync::Arc;

use bench_support::protocol::{Answer, HOST, Request, error_line, serve};
use bench_support::{Failure, exit, inputs};
use blstrs::{G1Affine, G2Affine, Scalar};
use ec_gpu_gen::threadpool::Worker;
use ff::{Field, PrimeField};
use group::Curve;
use group::prime::PrimeCurveAffine;

#[cfg_attr(any(feature = "cuda", feature = "opencl"), path = "gpu.rs")]
#[cfg_attr(not(any(feature = "cuda", feature = "opencl")), path = "cpu.rs")]
mod engine;

use engine::Engine;

type Repr = <Scalar as PrimeField>::Repr;

/// The inputs asked for last, and what they are.
struct Inputs<G> {
    bases: Arc<Vec<G>>,
    scalars: Arc<Vec<Repr>>,
    what: (String, u32),
}

impl<G: PrimeCurveAffine> Inputs<G>
where
    G::Curve: Curve<AffineRepr = G>,
{
    fn new() -> Self {
        Self { bases: Arc::default(), scalars: Arc::default(), what: (String::new(), 0) }
    }

    fn get(&mut self, request: &Request) -> (&Arc<Vec<G>>, &Arc<Vec<Repr>>) {
        let count = 1 << request.log_n;
        if self.bases.len() != count {
            self.bases = Arc::new(inputs::bases(count));
        }
        let what = (request.distribution.clone(), request.log_n);
        if self.what != what {
            self.scalars = Arc::new(inputs::scalars::<G>(&request.distribution, count));
            self.what = what;
        }
        (&self.bases, &self.scalars)
    }
}

fn ntt(engine: &mut Engine, worker: &Worker, request: &Request) -> Result<Answer, Failure> {
    let mut values = inputs::coefficients(1 << request.log_n);
    let omega = (request.log_n..Scalar::S).fold(Scalar::ROOT_OF_UNITY, |root, _| root.square());
    Answer::timed(request.iterations, || engine.ntt(worker, &mut values, &omega, request.log_n))
}

fn main() -> ExitCode {
    exit::code(env!("CARGO_CRATE_NAME"), run())
}

fn run() -> Result<(), Failure> {
    let worker = Worker::new();
    let mut engine = Engine::new().inspect_err(|error| println!("{}", error_line(error)))?;
    let (mut g1, mut g2) = (Inputs::<G1Affine>::new(), Inputs::<G2Affine>::new());
    let name = engine.name();
    serve(&name, |request| match (request.operation.as_str(), request.place.as_str()) {
        ("ntt_bls12_381_fr", HOST) => ntt(&mut engine, &worker, request),
        ("msm_bls12_381_g1", HOST) => {
            let (bases, scalars) = g1.get(request);
            Answer::timed(request.iterations, || engine.g1(&worker, bases, scalars))
        }
        ("msm_bls12_381_g2", HOST) => {
            let (bases, scalars) = g2.get(request);
            Answer::timed(request.iterations, || engine.g2(&worker, bases, scalars))
        }
        (operation, place) => Err(format!("no operation of the stock crate: {operation}, {place}").into()),
    })
}
