//! Times transforms of host slices, page-locked memory and device memory, over one device and all of them.

use std::sync::Arc;
use std::time::Instant;

use proofwarp::Accelerator;
use proofwarp::backend::Device;
use proofwarp::field::{DeviceVector, HostVector, NttField};
use proofwarp::ntt::{Direction, NttDomain};

use super::Options;
use crate::{Failure, inputs};

/// A row for every place of the vectors that is asked for, `--batch` of them in a call.
pub fn rows<F: NttField>(accelerator: &Accelerator, options: &Options, log_n: u32) -> Result<(), Failure> {
    if !options.rows.wants(&format!("ntt {}", F::NAME)) {
        return Ok(());
    }
    let values: Vec<F> = inputs::coefficients(1 << log_n);
    let domain = NttDomain::<F>::new(accelerator, log_n)?;
    if "host".contains(&options.from) {
        host(options, &domain, &values)?;
        pinned(accelerator, options, &domain)?;
    }
    if "resident".contains(&options.from) {
        resident(accelerator, options, &domain, &values)?;
        on_all_devices(accelerator, options, &domain, &values)?;
    }
    Ok(())
}

fn host<F: NttField>(options: &Options, domain: &NttDomain<F>, values: &[F]) -> Result<(), Failure> {
    let mut vectors = vec![values.to_vec(); options.batch as usize];
    options.rows.row(domain.log_n(), || {
        let mut slices: Vec<&mut [F]> = vectors.iter_mut().map(Vec::as_mut_slice).collect();
        let mut report = domain.run(Direction::Forward, &mut slices, None)?;
        report.total /= options.batch;
        Ok(report)
    })
}

fn pinned<F: NttField>(accelerator: &Accelerator, options: &Options, domain: &NttDomain<F>) -> Result<(), Failure> {
    let Some(device) = accelerator.devices().first() else { return Ok(()) };
    let stream = device.stream()?;
    let make = |_| HostVector::<F>::new(&stream, 1 << domain.log_n());
    let from = (0..options.batch).map(make).collect::<Result<Vec<_>, _>>()?;
    let mut to = (0..options.batch).map(make).collect::<Result<Vec<_>, _>>()?;
    options.rows.row(domain.log_n(), || {
        let mut pairs: Vec<_> = from.iter().zip(to.iter_mut()).collect();
        let mut report = domain.run_pinned(Direction::Forward, &mut pairs, None)?;
        report.total /= options.batch;
        Ok(report)
    })
}

fn print(name: &str, log_n: u32, time: f64) {
    say!("{name:56} {log_n:5} {:12} {:11} {time:11.4}", "", "");
}

/// Transforms of every direction on the first device; the time of one by events.
fn resident<F: NttField>(
    accelerator: &Accelerator,
    options: &Options,
    domain: &NttDomain<F>,
    values: &[F],
) -> Result<(), Failure> {
    const CALLS: u32 = 8;
    let Some(device) = accelerator.devices().first() else { return Ok(()) };
    let mut stream = device.stream()?;
    let mut vectors = DeviceVector::upload(&mut stream, &values.repeat(options.batch as usize))?;
    for direction in [Direction::Forward, Direction::Inverse, Direction::CosetForward, Direction::CosetInverse] {
        let time = options.rows.median(|| {
            let before = stream.stats().kernels;
            stream.begin_timing()?;
            (0..CALLS).try_for_each(|_| domain.enqueue(direction, &mut stream, &mut vectors))?;
            stream.end_timing()?;
            stream.synchronize(None)?;
            let calls = stream.stats().kernels.saturating_sub(before);
            Ok(calls.as_secs_f64() * 1e3 / f64::from(CALLS * options.batch))
        })?;
        print(&format!("ntt {} {direction}, resident", F::NAME), domain.log_n(), time);
    }
    Ok(())
}

/// `batch` vectors on each of all devices at once, by the host's clock; the time of one.
fn on_all_devices<F: NttField>(
    accelerator: &Accelerator,
    options: &Options,
    domain: &NttDomain<F>,
    values: &[F],
) -> Result<(), Failure> {
    const CALLS: u32 = 16;
    let devices = accelerator.devices();
    if devices.len() < 2 {
        return Ok(());
    }
    for count in [1, devices.len()] {
        let time = options.rows.median(|| {
            let used = &devices[..count];
            let slowest = std::thread::scope(|scope| {
                let threads: Vec<_> = used
                    .iter()
                    .map(|device| {
                        scope.spawn(|| on_one(device, domain, values, options.batch, CALLS).map_err(|e| e.to_string()))
                    })
                    .collect();
                let times =
                    threads.into_iter().map(|thread| thread.join().map_err(|_| "a thread panicked".to_owned())?);
                times.collect::<Result<Vec<_>, String>>()
            })?;
            let slowest = slowest.into_iter().fold(0.0, f64::max);
            Ok(slowest / f64::from(CALLS * options.batch) / count as f64)
        })?;
        print(&format!("ntt {} forward, resident, {count} devices", F::NAME), domain.log_n(), time);
    }
    Ok(())
}

/// Milliseconds from the first of some calls to the end of the last.
fn on_one<F: NttField>(
    device: &Arc<Device>,
    domain: &NttDomain<F>,
    values: &[F],
    batch: u32,
    calls: u32,
) -> Result<f64, Failure> {
    let mut stream = device.stream()?;
    let mut vectors = DeviceVector::upload(&mut stream, &values.repeat(batch as usize))?;
    domain.enqueue(Direction::Forward, &mut stream, &mut vectors)?;
    stream.synchronize(None)?;
    let start = Instant::now();
    (0..calls).try_for_each(|_| domain.enqueue(Direction::Forward, &mut stream, &mut vectors))?;
    stream.synchronize(None)?;
    Ok(start.elapsed().as_secs_f64() * 1e3)
}
