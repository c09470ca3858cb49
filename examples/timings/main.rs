//! Times MSM and NTT from host slices to host result, sparse matrices times vectors, the terms of a quotient and the steps
//! of a PLONKish proof on the device, and the rate of field products, on one backend.
//!
//! `PROOFWARP_BACKEND=cuda cargo run --release --features cuda --example timings -- --log 16..20`

mod cli;
#[path = "../groth16/device.rs"]
mod device;
#[path = "../groth16/exit.rs"]
mod exit;
mod expression;
#[path = "../../benches/common/inputs.rs"]
#[allow(dead_code, reason = "the benches use more of it")]
mod inputs;
mod ntt;
mod peers;
mod plonk;
#[path = "../../benches/common/variables.rs"]
#[allow(dead_code, reason = "the benches use more of it")]
mod variables;

use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use blstrs::{G1Affine, G2Affine, Scalar};
use ff::Field;
use group::{Curve, Group};
use halo2curves::bn256;
use proofwarp::backend::{Arg, Device, Stream};
use proofwarp::curve::MsmCurve;
use proofwarp::field::{NttField, as_bytes, as_bytes_mut};
use proofwarp::kernels;
use proofwarp::matrix::{self, Csr, CsrOnDevice, DeviceVectors, Kernel};
use proofwarp::module_launcher::KernelModule;
use proofwarp::{Accelerator, Report, msm};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use cli::Options;

type Failure = Box<dyn std::error::Error>;

fn main() -> ExitCode {
    let options = Options::checked(std::env::args_os()).unwrap_or_else(|error| error.exit());
    exit::code(run(&options))
}

fn run(options: &Options) -> Result<(), Failure> {
    let sizes = &options.log.0;
    let accelerator = Accelerator::from_env()?;
    let most = if options.devices == 0 { usize::MAX } else { options.devices };
    let accelerator = accelerator.with_devices(accelerator.devices().iter().take(most).cloned().collect());
    device::announce(&accelerator, device::asked_for_cpu(&accelerator));
    options.check_devices(accelerator.devices().len())?;
    if options.peers {
        peers::all::<Scalar>(&accelerator, options, sizes)?;
        return peers::all::<bn256::Fr>(&accelerator, options, sizes);
    }
    println!("operation                                                log n     total ms   upload ms  kernels ms");
    products(&accelerator, options)?;
    inversions(&accelerator, options)?;
    for &log_n in sizes {
        ntt::rows::<Scalar>(&accelerator, options, log_n)?;
        ntt::rows::<bn256::Fr>(&accelerator, options, log_n)?;
    }
    matrices::<Scalar>(&accelerator, options, sizes)?;
    matrices::<bn256::Fr>(&accelerator, options, sizes)?;
    for &log_n in sizes {
        expression::rows::<Scalar>(&accelerator, options, log_n)?;
        expression::rows::<bn256::Fr>(&accelerator, options, log_n)?;
        plonk::rows::<Scalar>(&accelerator, options, log_n)?;
        plonk::rows::<bn256::Fr>(&accelerator, options, log_n)?;
    }
    for &log_n in sizes {
        msms::<G1Affine>(&accelerator, options, log_n)?;
        msms::<G2Affine>(&accelerator, options, log_n)?;
        msms::<bn256::G1Affine>(&accelerator, options, log_n)?;
        msms::<bn256::G2Affine>(&accelerator, options, log_n)?;
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
    println!("{:56} {log_n:5} {total:12.3} {upload:11.3} {kernels:11.3}", median.operation);
    Ok(())
}

fn msms<C: MsmCurve>(accelerator: &Accelerator, options: &Options, log_n: u32) -> Result<(), Failure>
where
    C::Curve: Curve<AffineRepr = C>,
{
    if !format!("msm {}", C::NAME).contains(&options.only) {
        return Ok(());
    }
    let bases = inputs::bases::<C>(1 << log_n);
    let distributions = inputs::DISTRIBUTIONS.into_iter().filter(|name| name.contains(&options.scalars));
    let inputs: Vec<_> = distributions.map(|name| (name, inputs::scalars::<C>(name, 1 << log_n))).collect();
    for (plan_name, plan) in options.plans() {
        let wants_resident = options.from.is_empty() || !"host".contains(&options.from);
        let resident = wants_resident.then(|| msm::Msm::with_options(accelerator, &bases, plan)).transpose()?;
        if let (true, Some(resident)) = (options.explain, &resident) {
            println!("{}", resident.explain(None)?);
        }
        for (name, scalars) in &inputs {
            let what = format!("{name}{plan_name}");
            msm_rows(accelerator, options, log_n, (&what, plan), (&bases, resident.as_ref(), scalars))?;
        }
    }
    Ok(())
}

/// Σ scalarᵢ · logarithmᵢ times the generator.
fn expected_sum<C: MsmCurve>(scalars: &inputs::Scalars) -> C::Curve {
    let product = |(i, scalar): (usize, &[u8; 32])| {
        let words = scalar.as_chunks::<8>().0.iter().rev().map(|word| C::Scalar::from(u64::from_le_bytes(*word)));
        let shift = C::Scalar::from(1 << 32).square();
        words.fold(C::Scalar::ZERO, |sum, word| sum * shift + word) * inputs::logarithm::<C::Scalar>(i)
    };
    C::Curve::generator() * scalars.par_iter().enumerate().map(product).sum::<C::Scalar>()
}

/// One distribution and plan, from every place that was asked for.
fn msm_rows<C: MsmCurve>(
    accelerator: &Accelerator,
    options: &Options,
    log_n: u32,
    (what, plan): (&str, msm::MsmOptions),
    (bases, resident, scalars): (&[C], Option<&msm::Msm<'_, C>>, &inputs::Scalars),
) -> Result<(), Failure> {
    let wants = |from: &str| from.contains(&options.from);
    let expected = options.check.then(|| expected_sum::<C>(scalars));
    let checked = |(sum, report): (C::Curve, Report)| match expected {
        Some(expected) if sum != expected => Err(format!("a wrong sum: {report}")),
        _ => Ok(report),
    };
    let named = |report: Report, from| Report { operation: format!("{} {what}, {from}", report.operation), ..report };
    if wants("host") {
        let plan = msm::MsmOptions { precompute: 0, ..plan };
        let run = || msm::msm_with_options(accelerator, bases, scalars, plan, None);
        row(options, log_n, || Ok(named(checked(run()?)?, "host")))?;
    }
    let Some(resident) = resident else { return Ok(()) };
    let batch = |scalars: msm::Scalars<'_>, name| {
        let vectors = vec![scalars; options.batch as usize];
        let run = || {
            let mut report = resident.run_batch(&vectors, None)?.1;
            report.total /= options.batch;
            report.traffic.kernels /= options.batch;
            Ok(named(report, name))
        };
        if options.batch > 1 { row(options, log_n, run) } else { Ok(()) }
    };
    if wants("bases") {
        row(options, log_n, || Ok(named(checked(resident.run(scalars, None)?)?, "bases")))?;
        batch(scalars.into(), "batch, bases")?;
    }
    if wants("resident") && !accelerator.devices().is_empty() {
        let scalars = resident.upload_scalars(scalars, msm::ScalarForm::Canonical)?;
        row(options, log_n, || Ok(named(checked(resident.run(&scalars, None)?)?, "resident")))?;
        batch((&scalars).into(), "batch")?;
    }
    Ok(())
}

/// Bytes a second that an H200 copies at: what the floor of a product of a matrix is reckoned by.
const FLOOR_RATE: f64 = 4.29e12;

/// A row of a matrix of so many columns, by its number.
type Row<F> = fn(usize, usize) -> Vec<(usize, F)>;

/// Matrices such as an R1CS has, resident, by every kernel: the model's choice first.
fn matrices<F: NttField>(accelerator: &Accelerator, options: &Options, sizes: &[u32]) -> Result<(), Failure> {
    let Some(device) = accelerator.devices().first() else { return Ok(()) };
    if !format!("csr {}", F::NAME).contains(&options.only) {
        return Ok(());
    }
    println!("matrix times vector                              log rows   kernels ms        GB/s    of floor");
    let shapes: [(&str, Row<F>); 5] = [
        ("1 a row, near", |row, columns| near_row(row, columns, 1)),
        ("2 a row, near", |row, columns| near_row(row, columns, 2)),
        ("12 a row, near", |row, columns| near_row(row, columns, 12)),
        ("3 a row", |row, columns| r1cs_row(row, columns, 0)),
        ("3 a row, some 1000", |row, columns| r1cs_row(row, columns, 1000)),
    ];
    for (log_rows, (name, shape)) in sizes.iter().flat_map(|log_rows| shapes.map(|shape| (*log_rows, shape))) {
        let csr = Csr::from_rows(1 << log_rows, (0..1 << log_rows).map(|row| shape(row, 1 << log_rows)))?;
        let kernels = [Kernel::Scalar, Kernel::Vector, Kernel::Balanced];
        for kernel in std::iter::once(None).chain(kernels.map(Some)) {
            let matrix_options = matrix::SparseOptions { kernel, ..Default::default() };
            let matrix = CsrOnDevice::new(device, &csr, matrix_options)?;
            if options.explain && kernel.is_none() {
                println!("{}", matrix.explain());
            }
            let seconds = product_time(options, &matrix, &csr)?;
            let (bytes, kernel_name) = (matrix.explain().least_bytes as f64, matrix.explain().kernel);
            let what =
                format!("csr {}, {name}, {kernel_name}{}", F::NAME, if kernel.is_none() { " (chosen)" } else { "" });
            let (rate, floor) = (bytes / seconds, seconds * FLOOR_RATE / bytes);
            println!("{what:56} {log_rows:>2} {:12.4} {:11.1} {floor:9.2} x", seconds * 1e3, rate / 1e9);
        }
    }
    Ok(())
}

/// Ones next to each other, as in chains such as MiMC's.
fn near_row<F: NttField>(row: usize, columns: usize, length: usize) -> Vec<(usize, F)> {
    (row..row + length).map(|column| (column % columns, F::ONE)).collect()
}

/// One to five non-zeros, three of four of them ±1 and some powers of two, some of the column of ones, half of the
/// others near; every 1024th row has so many more.
fn r1cs_row<F: NttField>(row: usize, columns: usize, long: usize) -> Vec<(usize, F)> {
    let mut rng = ChaCha8Rng::seed_from_u64(row as u64);
    let more = if row % 1024 == 512 { long } else { 0 };
    let entry = |_| {
        let column = match rng.gen_range(0..8) {
            0 => 0,
            1..=4 => (row + rng.gen_range(0..256)) % columns,
            _ => rng.gen_range(0..columns),
        };
        let power = if rng.gen_range(0..4) == 0 { F::from(2 << rng.gen_range(0..30)) } else { F::ONE };
        (column, if rng.r#gen() { power } else { -power })
    };
    (0..1 + row % 5 + more).map(entry).collect()
}

/// Seconds of the kernels of a product, the median of some.
fn product_time<F: NttField>(options: &Options, matrix: &CsrOnDevice<F>, csr: &Csr<F>) -> Result<f64, Failure> {
    let x = inputs::coefficients::<F>(csr.columns());
    let mut stream = matrix.device().stream()?;
    let buffers = [stream.allocate(size_of_val(x.as_slice()))?, stream.allocate(csr.rows() * size_of::<F>())?];
    let [from, to] = [&buffers[0], &buffers[1]].map(DeviceVectors::one);
    stream.upload(&buffers[0], as_bytes(&x))?;
    let mut times = Vec::new();
    for _ in 0..=options.repeat.max(1) {
        let before = stream.stats().kernels.as_secs_f64();
        stream.begin_timing()?;
        matrix.enqueue(&mut stream, from, to, 1)?;
        stream.end_timing()?;
        stream.synchronize(None)?;
        times.push(stream.stats().kernels.as_secs_f64() - before);
    }
    if options.check {
        let mut y = vec![F::ZERO; csr.rows()];
        // SAFETY: the kernels leave reduced elements in Montgomery form.
        stream.download(unsafe { as_bytes_mut(&mut y) }, &buffers[1])?;
        let sum = |row| csr.row(row).map(|(column, value)| value * x[column]).sum::<F>();
        if !y.par_iter().enumerate().all(|(row, y)| *y == sum(row)) {
            return Err(format!("a wrong product: {}", matrix.explain()).into());
        }
    }
    // The first was to warm up.
    times.remove(0);
    times.sort_by(f64::total_cmp);
    Ok(times[times.len() / 2])
}

/// Field products a second, over vectors larger than the cache, counting only the work-items' products.
fn products(accelerator: &Accelerator, options: &Options) -> Result<(), Failure> {
    let Some(device) = accelerator.devices().first() else { return Ok(()) };
    for (name, bytes) in [("bls12_381_fr", 32), ("bls12_381_fq", 48), ("bn254_fr", 32)] {
        if !format!("product {name}").contains(&options.only) {
            continue;
        }
        let (count, rounds) = (1u32 << 18, 1024u32);
        let program = KernelModule::find(&kernels::test_kernels::VECTOR, name)?;
        let mut stream = device.stream()?;
        let buffers = [stream.allocate(count as usize * bytes)?, stream.allocate(count as usize * bytes)?];
        stream.zero(&buffers[0])?;
        let [a, out] = [&buffers[0], &buffers[1]].map(|buffer| Arg::Memory(buffer.handle()));
        let seconds = least_seconds(options, &mut stream, |stream| {
            let args = [Arg::U32(count), Arg::U32(rounds), a, out];
            // SAFETY: the arguments are those of `vector_mul_chain`; both vectors hold `count` elements.
            unsafe { program.launch(stream, "vector_mul_chain", u64::from(count), 128, &args) }
        })?;
        println!("product {name:32} {:>10.2} G/s", f64::from(count) * f64::from(rounds) / seconds / 1e9);
    }
    Ok(())
}

/// What an inversion for a group of 32 takes, alone on the device and with as many groups on each compute unit as a
/// round of batched affine additions has there (`INVERSE_OCCUPANCY`): a chain of them, so that nothing else counts.
fn inversions(accelerator: &Accelerator, options: &Options) -> Result<(), Failure> {
    let Some(device) = accelerator.devices().first() else { return Ok(()) };
    for (name, bytes) in [("bls12_381_fq", 48), ("bls12_381_fq2", 96), ("bn254_fq", 32)] {
        if !format!("inversion {name}").contains(&options.only) {
            continue;
        }
        let many = if bytes > 48 { 8 } else { 16 } * device.info().compute_units;
        let [alone, together] = [1, many].map(|groups| inversion_time(device, options, (name, bytes), groups));
        println!("inversion {name:30} {:>10.2} us alone, {:.2} with {many} groups", alone? * 1e6, together? * 1e6);
    }
    Ok(())
}

/// Seconds of one of the inversions that so many groups do in a row, the least of some runs.
fn inversion_time(
    device: &Arc<Device>,
    options: &Options,
    (name, bytes): (&str, usize),
    groups: u32,
) -> Result<f64, Failure> {
    let (count, rounds) = (32 * groups, 256u32);
    let program = KernelModule::find(&kernels::test_kernels::VECTOR, name)?;
    let mut stream = device.stream()?;
    let buffers = [stream.allocate(count as usize * bytes)?, stream.allocate(count as usize * bytes)?];
    // Below any modulus: every byte of an element but its highest.
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let elements = (0..count as usize * bytes).map(|i| if i % 16 == 15 { 1 } else { rng.r#gen() });
    stream.upload(&buffers[0], &elements.collect::<Vec<u8>>())?;
    let [a, out] = [&buffers[0], &buffers[1]].map(|buffer| Arg::Memory(buffer.handle()));
    let seconds = least_seconds(options, &mut stream, |stream| {
        let args = [Arg::U32(count), Arg::U32(rounds), a, out];
        // SAFETY: the arguments are those of `vector_invert_groups`; both vectors hold `count` elements.
        unsafe { program.launch(stream, "vector_invert_groups", u64::from(count), 32, &args) }
    })?;
    Ok(seconds / f64::from(rounds))
}

/// The least that what is queued takes, by the host's clock, of a run to warm up and those that count.
fn least_seconds(
    options: &Options,
    stream: &mut Stream,
    mut queue: impl FnMut(&mut Stream) -> proofwarp::Result<()>,
) -> Result<f64, Failure> {
    let mut seconds = f64::MAX;
    for _ in 0..=options.repeat {
        stream.synchronize(None)?;
        let start = Instant::now();
        queue(stream)?;
        stream.synchronize(None)?;
        seconds = seconds.min(start.elapsed().as_secs_f64());
    }
    Ok(seconds)
}
