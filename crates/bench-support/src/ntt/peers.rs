//! Times one transform over several devices that read each other's memory, against one device.

use std::time::{Duration, Instant};

use proofwarp::Accelerator;
use proofwarp::field::{DeviceVector, NttField};
use proofwarp::ntt::{Direction, NttDomain};

use crate::rows::RowOptions;
use crate::{Failure, inputs};

/// Transforms between two looks at the clock.
const CALLS: u32 = 8;

/// Every size on 1, 2, 4 … of the devices; a size that some cannot do says why.
pub fn all<F: NttField>(accelerator: &Accelerator, options: &RowOptions) -> Result<(), Failure> {
    if !options.wants(&format!("ntt {}", F::NAME)) {
        return Ok(());
    }
    say!("ntt {}, one vector, resident: median of {} runs of {CALLS}, ms", F::NAME, options.repeat.max(1));
    for &log_n in options.sizes() {
        let values: Vec<F> = inputs::coefficients(1 << log_n);
        let alone = on_one(accelerator, options, &values)?;
        say!("2^{log_n} as on one device alone          {}", list(&alone, &alone));
        let counts = (0..).map(|log| 1 << log).take_while(|count| *count <= accelerator.devices().len());
        for count in counts {
            let some = accelerator.with_devices(accelerator.devices()[..count].to_vec());
            if let Err(error) = over(&some, options, &values, &alone) {
                say!("2^{log_n} over {count} devices: {error}");
            }
        }
    }
    Ok(())
}

const DIRECTIONS: [Direction; 2] = [Direction::Forward, Direction::CosetInverse];

/// Times of the directions, and how many times as fast they are as others.
fn list(times: &[f64], others: &[f64]) -> String {
    let one = |((direction, time), other): ((&Direction, &f64), &f64)| {
        format!("{direction} {time:8.3} ({:.2} x)", other / time)
    };
    DIRECTIONS.iter().zip(times).zip(others).map(one).collect::<Vec<_>>().join(", ")
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// The transform as one device does it otherwise.
fn on_one<F: NttField>(accelerator: &Accelerator, options: &RowOptions, values: &[F]) -> Result<Vec<f64>, Failure> {
    let device = accelerator.devices().first().ok_or("no device")?;
    let domain = NttDomain::<F>::new(accelerator, values.len().trailing_zeros())?;
    let mut stream = device.stream()?;
    let mut vector = DeviceVector::upload(&mut stream, values)?;
    let mut time = |direction| {
        options.median(|| {
            let start = Instant::now();
            (0..CALLS).try_for_each(|_| domain.enqueue(direction, &mut stream, &mut vector))?;
            stream.synchronize(None)?;
            Ok(milliseconds(start.elapsed()) / f64::from(CALLS))
        })
    };
    DIRECTIONS.into_iter().map(&mut time).collect()
}

fn over<F: NttField>(
    accelerator: &Accelerator,
    options: &RowOptions,
    values: &[F],
    alone: &[f64],
) -> Result<(), Failure> {
    let (count, log_n) = (accelerator.devices().len(), values.len().trailing_zeros());
    let domain = NttDomain::<F>::new(accelerator, log_n)?;
    let mut vector = domain.allocate_sharded_vector()?;
    vector.upload(values)?;
    let mut time = |direction| {
        options.median(|| {
            let start = Instant::now();
            (0..CALLS).try_for_each(|_| domain.enqueue_on_peers(direction, &mut vector))?;
            vector.wait(None)?;
            Ok(milliseconds(start.elapsed()) / f64::from(CALLS))
        })
    };
    let times = DIRECTIONS.into_iter().map(&mut time).collect::<Result<Vec<_>, _>>()?;
    say!("2^{log_n} over {count} devices                  {}", list(&times, alone));
    let mut runs =
        (0..CALLS).map(|_| domain.time_on_peers(Direction::Forward, &mut vector)).collect::<Result<Vec<_>, _>>()?;
    runs.sort_by_key(|passes| passes.iter().sum::<Duration>());
    let passes: Vec<String> = runs[0].iter().map(|time| format!("{:.3}", milliseconds(*time))).collect();
    say!("    passes of forward, the host waiting for each, least of {CALLS} runs: {}", passes.join(", "));
    drop(vector);
    let mut result = values.to_vec();
    let total = options
        .median(|| Ok(milliseconds(domain.run_on_peers(Direction::Forward, values, &mut result, None)?.total)))?;
    say!("    from host memory to host memory {total:.3}");
    Ok(())
}
