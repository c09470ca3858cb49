//! Times what a process that makes one proof pays first: from its start to a key's points on the device, and to a first sum.
//!
//! Writes points of BLS12-381 in the form of bellperson's parameter files, starts itself anew to read them, and copies as many
//! bytes to the device. The file is in the page cache. Every sum is checked.

use std::fs::{File, Metadata};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use bench_support::synthetic::Progression;
use bench_support::{Failure, progress};
use blstrs::{G1Affine, G1Projective, Scalar};
use clap::Parser;
use ff::Field;
use group::Group;
use proofwarp::Accelerator;
use proofwarp::msm::{BasePoints, FilePoints, MappedFile, Msm, MsmOptions, PointChecks, Scalars};

/// Points of the first sum, 65,536: it takes a few milliseconds, most of them for loading kernels.
const SUMMED: usize = 1 << 16;
/// Cold processes, and copies, 5 each: the page cache and the driver settle at the first.
const ROUNDS: usize = 5;

/// Times a cold process from its start to the first sum with a key's points.
#[derive(Parser)]
struct Options {
    /// Logarithm of the number of points; 2^26 are 6.4 GB.
    #[arg(long, default_value_t = 20)]
    log_points: u32,
    /// Folder of the file, which is removed at the end.
    #[arg(long, default_value = ".")]
    folder: PathBuf,
    /// Reads this file, as the cold process does; used by the program itself.
    #[arg(long, hide = true)]
    cold: Option<PathBuf>,
    /// Time of the cold process' start, in microseconds since 1970.
    #[arg(long, hide = true, default_value_t = 0)]
    start: u64,
}

fn main() -> Result<(), Failure> {
    let options = Options::parse();
    match &options.cold {
        Some(path) => cold(path, options.log_points, options.start),
        None => compare(&options),
    }
}

fn compare(options: &Options) -> Result<(), Failure> {
    let count = 1 << options.log_points;
    let points = progress::step("points", || logarithms().points::<G1Affine>(count))?;
    let path = options.folder.join("cold_start.points");
    progress::step("file", || write(&path, &points))?;
    let rounds = (0..ROUNDS).try_for_each(|_| run_cold(&path, options.log_points));
    std::fs::remove_file(&path)?;
    rounds?;
    let accelerator = Accelerator::from_env()?;
    let device = accelerator.devices().first().ok_or("no device")?;
    let mut stream = device.stream()?;
    let memory = stream.allocate(size_of_val(&points[..]))?;
    println!("on {}: {} bytes", device.info().name, memory.bytes());
    // SAFETY: a point is two coordinates of six 64-bit integers, without padding.
    let bytes = unsafe { std::slice::from_raw_parts(points.as_ptr().cast::<u8>(), size_of_val(&points[..])) };
    for _ in 0..ROUNDS {
        let start = Instant::now();
        stream.upload(&memory, bytes)?;
        stream.synchronize(None)?;
        println!("copied in {:.0} ms", milliseconds(start.elapsed()));
    }
    Ok(())
}

fn write(path: &Path, points: &[G1Affine]) -> Result<(), Failure> {
    let mut file = BufWriter::new(File::create(path)?);
    points.iter().try_for_each(|point| file.write_all(point.to_uncompressed().as_ref()))?;
    Ok(file.flush()?)
}

fn run_cold(path: &Path, log_points: u32) -> Result<(), Failure> {
    let mut command = Command::new(std::env::current_exe()?);
    command.arg("--log-points").arg(log_points.to_string()).arg("--cold").arg(path);
    let start = now()?.as_micros() as u64;
    let status = command.arg("--start").arg(start.to_string()).status()?;
    let whole = milliseconds(now()?) - start as f64 / 1e3;
    println!("the process ended after {whole:.0} ms");
    if status.success() { Ok(()) } else { Err(format!("the cold process: {status}").into()) }
}

fn cold(path: &Path, log_points: u32, start: u64) -> Result<(), Failure> {
    let since = || Ok::<_, Failure>(milliseconds(now()?) - start as f64 / 1e3);
    let begun = since()?;
    let accelerator = Accelerator::from_env()?;
    let device = since()?;
    // SAFETY: nothing writes to the file before this process ends.
    let file = Arc::new(unsafe { MappedFile::new(File::open(path)?, path.to_owned(), is_same)? });
    let expected = PointChecks { in_subgroup: false, not_infinity: true };
    let name = |_: &Path, _: &str, number: usize, _: usize| format!("point {number}");
    let points = |count| FilePoints { file: file.clone(), start: 0, count, expected, query: "points", name };
    let options = MsmOptions::default();
    let _key = Msm::<G1Affine>::shared(&accelerator, BasePoints::encoded(points(1 << log_points))?, options)?;
    let key = since()?;
    let count = SUMMED.min(1 << log_points);
    let scalars: Vec<Scalar> = (0..count as u64).map(|number| Scalar::from(number).square()).collect();
    let first = Msm::<G1Affine>::shared(&accelerator, BasePoints::encoded(points(count))?, options)?;
    let (sum, report) = first.run(Scalars::elements(&scalars), None)?;
    let summed = since()?;
    println!(
        "process {begun:.0} ms, device {device:.0}, points on it {key:.0}, first sum {summed:.0} on {}",
        report.device
    );
    let logarithm = scalars.iter().enumerate().map(|(number, scalar)| logarithms().at(number) * scalar).sum::<Scalar>();
    if sum == G1Projective::generator() * logarithm { Ok(()) } else { Err("another sum than expected".into()) }
}

/// Returns the points' logarithms: 5 + 3i.
fn logarithms() -> Progression {
    Progression::Multiples { first: Scalar::from(5), step: Scalar::from(3) }
}

fn is_same(one: &Metadata, other: &Metadata) -> bool {
    one.len() == other.len() && one.modified().ok() == other.modified().ok()
}

fn now() -> Result<Duration, Failure> {
    Ok(SystemTime::now().duration_since(UNIX_EPOCH)?)
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
