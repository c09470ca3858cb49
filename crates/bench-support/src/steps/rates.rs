//! Times products and inversions of field elements.

use std::sync::Arc;
use std::time::Instant;

use proofwarp::Accelerator;
use proofwarp::backend::{Arg, Device, Stream};
use proofwarp::kernels;
use proofwarp::module_launcher::KernelModule;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::Failure;
use crate::rows::RowOptions;

/// Field products a second, over vectors larger than the cache, counting only the work-items' products.
pub fn products(accelerator: &Accelerator, options: &RowOptions) -> Result<(), Failure> {
    let Some(device) = accelerator.devices().first() else { return Ok(()) };
    for (name, bytes) in [("bls12_381_fr", 32), ("bls12_381_fq", 48), ("bn254_fr", 32)] {
        if !options.wants(&format!("product {name}")) {
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
        say!("product {name:32} {:>10.2} G/s", f64::from(count) * f64::from(rounds) / seconds / 1e9);
    }
    Ok(())
}

/// Times an inversion for a group of 32, alone on the device and with as many groups on each compute unit as a
/// round of batched affine additions has there (`INVERSE_OCCUPANCY`): a chain of them, so that nothing else counts.
pub fn inversions(accelerator: &Accelerator, options: &RowOptions) -> Result<(), Failure> {
    let Some(device) = accelerator.devices().first() else { return Ok(()) };
    for (name, bytes) in [("bls12_381_fq", 48), ("bls12_381_fq2", 96), ("bn254_fq", 32)] {
        if !options.wants(&format!("inversion {name}")) {
            continue;
        }
        let many = if bytes > 48 { 8 } else { 16 } * device.info().compute_units;
        let [alone, together] = [1, many].map(|groups| inversion_time(device, options, (name, bytes), groups));
        say!("inversion {name:30} {:>10.2} us alone, {:.2} with {many} groups", alone? * 1e6, together? * 1e6);
    }
    Ok(())
}

/// Returns the seconds of one of the inversions that `groups` groups do in a row, the least of some runs.
fn inversion_time(
    device: &Arc<Device>,
    options: &RowOptions,
    (name, bytes): (&str, usize),
    groups: u32,
) -> Result<f64, Failure> {
    let (count, rounds) = (32 * groups, 256u32);
    let program = KernelModule::find(&kernels::test_kernels::VECTOR, name)?;
    let mut stream = device.stream()?;
    let buffers = [stream.allocate(count as usize * bytes)?, stream.allocate(count as usize * bytes)?];
    // Elements are below any modulus, since their highest bytes are small.
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
    options: &RowOptions,
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
