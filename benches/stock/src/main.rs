//! Times the stock ec-gpu-gen crate on request.
//!
//! Reads lines `OPERATION LOG_N ITERATIONS` (operations `ntt`, `g1`, `g2`) and answers each with the
//! nanoseconds that the iterations took, from host slices to host result. The first line it prints names
//! what it runs on. Inputs are made before the clock starts, and kept.

use std::collections::HashMap;
use std::io::{BufRead, Write};
use std::sync::Arc;
use std::time::Instant;

use blstrs::{G1Affine, G2Affine, Scalar};
use ec_gpu_gen::threadpool::Worker;
use ff::{Field, PrimeField};
use group::prime::PrimeCurveAffine;
use group::{Curve, Group};

#[cfg_attr(any(feature = "cuda", feature = "opencl"), path = "gpu.rs")]
#[cfg_attr(not(any(feature = "cuda", feature = "opencl")), path = "cpu.rs")]
mod engine;

use engine::Engine;

type Failure = Box<dyn std::error::Error>;
type Repr = <Scalar as PrimeField>::Repr;

/// Bases and scalars of the largest size asked for so far, and their first 2^k.
struct Inputs<G> {
    bases: HashMap<u32, Arc<Vec<G>>>,
    scalars: HashMap<u32, Arc<Vec<Repr>>>,
}

impl<G: PrimeCurveAffine> Inputs<G>
where
    G::Curve: Curve<AffineRepr = G>,
{
    fn new() -> Self {
        Self { bases: HashMap::new(), scalars: HashMap::new() }
    }

    fn get(&mut self, log_n: u32) -> (Arc<Vec<G>>, Arc<Vec<Repr>>) {
        let bases = self.bases.entry(log_n).or_insert_with(|| Arc::new(bases(1 << log_n)));
        let scalars = self
            .scalars
            .entry(log_n)
            .or_insert_with(|| Arc::new(scalars(1 << log_n).iter().map(PrimeField::to_repr).collect()));
        (bases.clone(), scalars.clone())
    }
}

/// Successive multiples of the generator.
fn bases<G: PrimeCurveAffine>(count: usize) -> Vec<G>
where
    G::Curve: Curve<AffineRepr = G>,
{
    let next = |point: &G::Curve| Some(*point + G::generator());
    let points: Vec<G::Curve> = std::iter::successors(Some(G::Curve::generator()), next).take(count).collect();
    let mut affine = vec![G::identity(); count];
    G::Curve::batch_normalize(&points, &mut affine);
    affine
}

/// Powers of an element of full size, which are as good as random.
fn scalars(count: usize) -> Vec<Scalar> {
    let base = Scalar::ROOT_OF_UNITY + Scalar::from(5);
    std::iter::successors(Some(base), |power| Some(*power * base)).take(count).collect()
}

fn timed(iterations: u64, mut run: impl FnMut() -> Result<(), Failure>) -> Result<u128, Failure> {
    let start = Instant::now();
    for _ in 0..iterations {
        run()?;
    }
    Ok(start.elapsed().as_nanos())
}

fn main() -> Result<(), Failure> {
    let worker = Worker::new();
    let mut engine = Engine::new()?;
    let (mut g1, mut g2) = (Inputs::<G1Affine>::new(), Inputs::<G2Affine>::new());
    println!("{}", engine.name());
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        let [operation, log_n, iterations] = *line.split_whitespace().collect::<Vec<_>>() else {
            return Err(format!("expected OPERATION LOG_N ITERATIONS, got {line:?}").into());
        };
        let (log_n, iterations): (u32, u64) = (log_n.parse()?, iterations.parse()?);
        let nanoseconds = match operation {
            "ntt" => {
                let mut values = scalars(1 << log_n);
                let omega = (log_n..Scalar::S).fold(Scalar::ROOT_OF_UNITY, |root, _| root.square());
                timed(iterations, || engine.ntt(&worker, &mut values, &omega, log_n))?
            }
            "g1" => {
                let (bases, scalars) = g1.get(log_n);
                timed(iterations, || engine.g1(&worker, &bases, &scalars))?
            }
            "g2" => {
                let (bases, scalars) = g2.get(log_n);
                timed(iterations, || engine.g2(&worker, &bases, &scalars))?
            }
            other => return Err(format!("expected ntt, g1 or g2, got {other}").into()),
        };
        println!("{nanoseconds}");
        std::io::stdout().flush()?;
    }
    Ok(())
}
