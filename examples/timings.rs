//! Times MSM and NTT from host slices to host result, and the rate of field products, on one backend.
//!
//! `PROOFWARP_BACKEND=cuda cargo run --release --features cuda --example timings -- --log 16..20`

use std::time::{Duration, Instant};

use blstrs::{G1Affine, G2Affine, Scalar};
use clap::Parser;
use ff::Field;
use group::{Curve, Group};
use halo2curves::bn256;
use proofwarp::backend::Arg;
use proofwarp::curve::MsmCurve;
use proofwarp::field::NttField;
use proofwarp::ntt::NttDomain;
use proofwarp::program::Program;
use proofwarp::{Accelerator, Report, msm};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

/// Times operations on the backend that `PROOFWARP_BACKEND` forces; every row is a median.
#[derive(Parser)]
struct Options {
    /// Binary logarithms of the sizes, FIRST..LAST (inclusive).
    #[arg(long, default_value = "10..16")]
    log: String,
    /// Timed runs of each row, after one to warm up.
    #[arg(long, default_value_t = 5)]
    repeat: usize,
    /// Only operations whose name contains this.
    #[arg(long, default_value = "")]
    only: String,
}

type Failure = Box<dyn std::error::Error>;

fn main() -> Result<(), Failure> {
    let options = Options::parse();
    let (first, last) = options.log.split_once("..").ok_or("--log takes FIRST..LAST")?;
    let sizes: Vec<u32> = (first.parse()?..=last.trim_start_matches('=').parse()?).step_by(2).collect();
    let accelerator = Accelerator::from_env()?;
    for device in accelerator.devices() {
        println!("{} {}", device.info().backend, device.info().name);
    }
    println!("operation                        log n     total ms   upload ms  kernels ms");
    products(&accelerator, &options)?;
    for &log_n in &sizes {
        ntt::<Scalar>(&accelerator, &options, log_n)?;
        ntt::<bn256::Fr>(&accelerator, &options, log_n)?;
    }
    for &log_n in &sizes {
        msms::<G1Affine>(&accelerator, &options, log_n)?;
        msms::<G2Affine>(&accelerator, &options, log_n)?;
        msms::<bn256::G1Affine>(&accelerator, &options, log_n)?;
        msms::<bn256::G2Affine>(&accelerator, &options, log_n)?;
    }
    Ok(())
}

/// Runs once to warm up, then `repeat` times, and prints the run of median total time.
fn row(options: &Options, log_n: u32, mut run: impl FnMut() -> Result<Report, Failure>) -> Result<(), Failure> {
    run()?;
    let mut reports = (0..options.repeat.max(1)).map(|_| run()).collect::<Result<Vec<_>, _>>()?;
    reports.sort_by_key(|report| report.total);
    let median = &reports[reports.len() / 2];
    let ms = |time: Duration| time.as_secs_f64() * 1e3;
    let traffic = &median.traffic;
    let [total, upload, kernels] = [median.total, traffic.upload, traffic.kernels].map(ms);
    println!("{:32} {log_n:5} {total:12.3} {upload:11.3} {kernels:11.3}", median.operation);
    Ok(())
}

fn ntt<F: NttField>(accelerator: &Accelerator, options: &Options, log_n: u32) -> Result<(), Failure> {
    if !format!("ntt {}", F::NAME).contains(&options.only) {
        return Ok(());
    }
    let mut values: Vec<F> = (0..1u64 << log_n).into_par_iter().map(|i| F::from(i + 1).square() + F::ROOT_OF_UNITY).collect();
    let domain = NttDomain::<F>::new(log_n)?;
    row(options, log_n, || Ok(domain.forward(accelerator, &mut values)?))
}

fn msms<C: MsmCurve>(accelerator: &Accelerator, options: &Options, log_n: u32) -> Result<(), Failure>
where
    C::Curve: Curve<AffineRepr = C>,
{
    if !format!("msm {}", C::NAME).contains(&options.only) {
        return Ok(());
    }
    let bases = bases::<C>(1 << log_n);
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    for (name, scalars) in distributions::<C>(1 << log_n, &mut rng) {
        let named = |report: Report| Report { operation: format!("{} {name}", report.operation), ..report };
        row(options, log_n, || Ok(named(msm::msm(accelerator, &bases, &scalars, None)?.1)))?;
    }
    Ok(())
}

/// Multiples of the generator from a random start, made in parallel runs.
fn bases<C: MsmCurve>(count: usize) -> Vec<C>
where
    C::Curve: Curve<AffineRepr = C>,
{
    let run = |start: u64| {
        let mut point = C::Curve::generator() * C::Scalar::from(start);
        let points: Vec<C::Curve> = std::iter::repeat_with(|| { point += C::generator(); point }).take(1 << 10).collect();
        let mut affine = vec![C::identity(); points.len()];
        C::Curve::batch_normalize(&points, &mut affine);
        affine
    };
    let runs = count.div_ceil(1 << 10) as u64;
    (0..runs).into_par_iter().flat_map_iter(|k| run((k + 1) << 20)).collect::<Vec<C>>()[..count].to_vec()
}

/// Named scalar vectors, canonical bytes.
fn distributions<C: MsmCurve>(count: usize, rng: &mut ChaCha8Rng) -> Vec<(&'static str, Vec<[u8; 32]>)> {
    use rand::Rng;
    let bytes = |scalar: C::Scalar| {
        let mut bytes = [0; 32];
        bytes.copy_from_slice(ff::PrimeField::to_repr(&scalar).as_ref());
        bytes
    };
    let random: Vec<[u8; 32]> = (0..count).map(|_| bytes(C::Scalar::random(&mut *rng))).collect();
    let bits = (0..count).map(|_| bytes(C::Scalar::from(rng.gen_range(0..2u64)))).collect();
    let equal = vec![random[0]; count];
    vec![("random", random), ("0 or 1", bits), ("all equal", equal)]
}

/// Field products a second, over vectors larger than the cache, counting only the work-items' products.
fn products(accelerator: &Accelerator, options: &Options) -> Result<(), Failure> {
    let Some(device) = accelerator.devices().first() else { return Ok(()) };
    for (name, bytes) in [("bls12_381_fr", 32), ("bls12_381_fq", 48), ("bn254_fr", 32)] {
        if !format!("product {name}").contains(&options.only) {
            continue;
        }
        let (count, rounds) = (1u32 << 18, 1024u32);
        let program = Program::find("vector", name)?;
        let mut stream = device.stream()?;
        let buffers = [stream.allocate(count as usize * bytes)?, stream.allocate(count as usize * bytes)?];
        stream.zero(&buffers[0])?;
        let [a, out] = [&buffers[0], &buffers[1]].map(|buffer| Arg::Memory(buffer.handle()));
        let mut seconds = f64::MAX;
        for _ in 0..=options.repeat {
            stream.wait(None)?;
            let start = Instant::now();
            let args = [Arg::U32(count), Arg::U32(rounds), a, out];
            // SAFETY: the arguments are those of `vector_mul_chain`; both vectors hold `count` elements.
            unsafe { program.launch(&mut stream, "vector_mul_chain", u64::from(count), 128, &args)? };
            stream.wait(None)?;
            seconds = seconds.min(start.elapsed().as_secs_f64());
        }
        println!("product {name:24} {:>10.2} G/s", f64::from(count) * f64::from(rounds) / seconds / 1e9);
    }
    Ok(())
}
