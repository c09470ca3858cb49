//! Transforms on devices: tables and passes queued on streams, results held back until all are there.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::Transform;
use super::passes::{Layout, Passes};
use crate::backend::{Abort, Buffer, Device, HostBuffer, Stream, Traffic};
use crate::field::{NttField, as_bytes, as_bytes_mut};
use crate::side_by_side::side_by_side;
use crate::{Error, Result};

/// Transforms vectors on all devices; the slices are written only after every result has arrived.
pub(super) fn transform_many<F: NttField>(
    devices: &[Arc<Device>],
    values: &mut [&mut [F]],
    transforms: &[Transform<F>],
    abort: Abort<'_>,
) -> Result<Traffic> {
    if values.is_empty() {
        return Ok(Traffic::default());
    }
    let inputs: Vec<&[F]> = values.iter().map(|slice| &**slice).collect();
    let parts = collect(transform_parts(devices, &inputs, transforms, abort))?;
    let traffic = parts.iter().fold(Traffic::default(), |sum, part| sum + part.traffic);
    let results = parts.into_iter().flat_map(|part| part.results);
    for (slice, result) in values.iter_mut().zip(results) {
        // SAFETY: `ntt_rows` leaves reduced elements in Montgomery form.
        result.move_to(unsafe { as_bytes_mut(slice) });
    }
    Ok(traffic)
}

/// An equal share of the vectors to each device. A device that fails stops the others.
fn transform_parts<F: NttField>(
    devices: &[Arc<Device>],
    inputs: &[&[F]],
    transforms: &[Transform<F>],
    abort: Abort<'_>,
) -> Vec<Result<Part>> {
    let share = inputs.len().div_ceil(devices.len());
    let failed = &AtomicBool::new(false);
    let shares = devices.iter().zip(inputs.chunks(share).zip(transforms.chunks(share)));
    side_by_side("ntt", shares, |(device, (inputs, transforms))| {
        let part = transform_on(device, inputs, transforms, abort, failed);
        failed.fetch_or(part.is_err(), Ordering::Relaxed);
        part
    })
}

/// All parts, or the error that matters most: parts that stop because another failed say that they were
/// aborted, and a caller that retries what was aborted must hear of the failure.
fn collect(parts: Vec<Result<Part>>) -> Result<Vec<Part>> {
    let (aborted, others): (Vec<_>, Vec<_>) = parts.into_iter().partition(|part| matches!(part, Err(Error::Aborted)));
    let done = others.into_iter().collect::<Result<Vec<_>>>()?;
    if aborted.is_empty() { Ok(done) } else { Err(Error::Aborted) }
}

/// One device's results, still in page-locked memory.
struct Part {
    results: Vec<HostBuffer>,
    traffic: Traffic,
}

/// Transforms on one device, two vectors in flight so that copies overlap kernels both ways.
fn transform_on<F: NttField>(
    device: &Arc<Device>,
    inputs: &[&[F]],
    transforms: &[Transform<F>],
    abort: Abort<'_>,
    failed: &AtomicBool,
) -> Result<Part> {
    let stop = || failed.load(Ordering::Relaxed) || abort.is_some_and(|abort| abort());
    let mut streams = [device.stream()?, device.stream()?];
    let mut in_flight: [Option<Queued>; 2] = [None, None];
    let mut results = Vec::with_capacity(inputs.len());
    for (number, (input, transform)) in inputs.iter().zip(transforms).enumerate() {
        let lane = number % 2;
        finish(&mut streams[lane], &mut in_flight[lane], &mut results, &stop)?;
        in_flight[lane] = Some(enqueue(&mut streams[lane], input, transform)?);
    }
    for lane in [inputs.len() % 2, (inputs.len() + 1) % 2] {
        finish(&mut streams[lane], &mut in_flight[lane], &mut results, &stop)?;
    }
    let traffic = streams.iter().fold(Traffic::default(), |sum, stream| sum + stream.traffic());
    Ok(Part { results, traffic })
}

/// A transform on its way, with the buffers that it uses.
struct Queued {
    result: HostBuffer,
    _buffers: [Option<Buffer>; 2],
}

fn finish(
    stream: &mut Stream,
    queued: &mut Option<Queued>,
    results: &mut Vec<HostBuffer>,
    stop: &(dyn Fn() -> bool + Send + Sync),
) -> Result<()> {
    if stop() {
        return Err(Error::Aborted);
    }
    if let Some(queued) = queued.take() {
        stream.wipe_staging();
        stream.wait(Some(stop))?;
        results.push(queued.result);
    }
    Ok(())
}

fn enqueue<F: NttField>(stream: &mut Stream, input: &[F], transform: &Transform<F>) -> Result<Queued> {
    let bytes = size_of_val(input);
    let passes = Passes::new(stream, transform, Layout { vectors: 1, stride: input.len() as u64 })?;
    let data = stream.allocate(bytes)?.secret();
    let other = passes.needs_other().then(|| stream.allocate(bytes)).transpose()?.map(Buffer::secret);
    let result = stream.host_buffer(bytes)?;
    stream.upload(&data, as_bytes(input))?;
    stream.mark_start()?;
    let in_other = passes.queue(stream, &data, other.as_ref())?;
    stream.mark_end()?;
    stream.fetch(&result, other.as_ref().filter(|_| in_other).unwrap_or(&data))?;
    Ok(Queued { result, _buffers: [Some(data), other] })
}
