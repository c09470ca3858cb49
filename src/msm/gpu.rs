//! Multi-scalar multiplication on devices: points spread over devices, each in chunks that fit.

use std::sync::Arc;

use super::enqueue::{Accumulator, enqueue};
use super::plan::Plan;
use crate::backend::{Abort, Device, Traffic};
use crate::curve::MsmCurve;
use crate::program::Program;
use crate::{Error, Result};

/// Most points of a chunk: bounds the wait after an abort, and 32-bit indices of entries.
const MAX_CHUNK: usize = 1 << 21;
/// Below this many points per device a further device costs more than it gains.
const MIN_SHARE: usize = 1 << 15;

/// Sums over all devices; the host adds one point per device.
pub(super) fn msm<C: MsmCurve>(
    devices: &[Arc<Device>],
    bases: &[C],
    scalars: &[[u8; 32]],
    abort: Abort<'_>,
) -> Result<(C::Curve, Traffic)> {
    use group::Group;
    if bases.is_empty() {
        return Ok((C::Curve::identity(), Traffic::default()));
    }
    let used = bases.len().div_ceil(MIN_SHARE).min(devices.len());
    let share = bases.len().div_ceil(used);
    let parts: Vec<Result<(C::Curve, Traffic)>> = std::thread::scope(|scope| {
        let threads: Vec<_> = devices
            .iter()
            .zip(bases.chunks(share).zip(scalars.chunks(share)))
            .map(|(device, (bases, scalars))| scope.spawn(move || msm_on(device, bases, scalars, abort)))
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap_or_else(|_| Err(panicked()))).collect()
    });
    let mut total = (C::Curve::identity(), Traffic::default());
    for part in parts {
        let (sum, traffic) = part?;
        total = (total.0 + sum, total.1 + traffic);
    }
    Ok(total)
}

fn panicked() -> Error {
    Error::device("host", "msm", "a worker thread panicked")
}

/// The sum on one device, chunk by chunk on alternating streams, so that uploads overlap kernels.
fn msm_on<C: MsmCurve>(
    device: &Arc<Device>,
    bases: &[C],
    scalars: &[[u8; 32]],
    abort: Abort<'_>,
) -> Result<(C::Curve, Traffic)> {
    let chunk = chunk_points::<C>(device, bases.len())?;
    let program = Program::find("msm", C::NAME)?;
    let mut streams = [device.stream()?, device.stream()?];
    let mut lanes: [Option<Accumulator>; 2] = [None, None];
    for (number, (bases, scalars)) in bases.chunks(chunk).zip(scalars.chunks(chunk)).enumerate() {
        if abort.is_some_and(|abort| abort()) {
            return Err(Error::Aborted);
        }
        let stream = &mut streams[number % 2];
        let lane = &mut lanes[number % 2];
        if lane.is_some() {
            stream.wait(abort)?;
        }
        let plan = Plan::new(bases.len() as u32, C::SCALAR_BITS);
        *lane = Some(enqueue(stream, program, &plan, bases, scalars, lane.take())?);
    }
    use group::Group;
    let mut sum = C::Curve::identity();
    for (stream, lane) in streams.iter_mut().zip(&lanes) {
        if let Some(lane) = lane {
            stream.wait(abort)?;
            sum += C::from_device(&lane.jacobian());
        }
    }
    Ok((sum, streams[0].traffic() + streams[1].traffic()))
}

/// Points of a chunk, so that two of them are on the device at once.
fn chunk_points<C: MsmCurve>(device: &Device, points: usize) -> Result<usize> {
    let free = device.free_memory()?;
    let mut chunk = points.min(MAX_CHUNK);
    loop {
        let lanes = if chunk < points { 2 } else { 1 };
        let needed = lanes * Plan::new(chunk as u32, C::SCALAR_BITS).bytes(C::AFFINE_BYTES as u64);
        if needed <= free {
            return Ok(chunk);
        }
        if chunk <= 1 << 8 {
            return Err(Error::OutOfMemory { device: device.info().name.clone(), requested: needed, available: free });
        }
        chunk = chunk.div_ceil(2);
    }
}
