//! Transforms on devices: tables and passes queued on streams, results held back until all are there.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::plan::Plan;
use super::{Order, Transform};
use crate::backend::{Abort, Arg, Buffer, Device, HostBuffer, Stream, Traffic};
use crate::field::{NttField, as_bytes, as_bytes_mut};
use crate::program::{Program, mem};
use crate::side_by_side::side_by_side;
use crate::{Error, Result};

/// Work-items of a group of `ntt_pass` and `ntt_powers`.
const PASS_GROUP: u32 = 256;
const POWERS_GROUP: u32 = 128;

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
        // SAFETY: `ntt_pass` leaves reduced elements in Montgomery form.
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
    _buffers: Vec<Buffer>,
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
    let plan = Plan::new(transform.log_n)?;
    let bytes = size_of_val(input);
    let (from, to) = (stream.allocate(bytes)?.secret(), stream.allocate(bytes)?.secret());
    let result = stream.host_buffer(bytes)?;
    stream.upload(&from, as_bytes(input))?;
    stream.mark_start()?;
    let tables = Tables::new(stream, &plan, transform)?;
    let (source, target) = run_passes(stream, &plan, &tables, transform, from, to)?;
    stream.mark_end()?;
    stream.fetch(&result, &source)?;
    let mut buffers = tables.into_buffers();
    buffers.extend([source, target]);
    Ok(Queued { result, _buffers: buffers })
}

/// Runs all passes from one buffer to the other and back; the first of the returned holds the result.
fn run_passes<F: NttField>(
    stream: &mut Stream,
    plan: &Plan,
    tables: &Tables,
    transform: &Transform<F>,
    mut from: Buffer,
    mut to: Buffer,
) -> Result<(Buffer, Buffer)> {
    let program = Program::find("ntt", F::NAME)?;
    let items = u64::from(plan.groups()) * u64::from(PASS_GROUP);
    for pass in &plan.passes {
        let numbers = [plan.log_n, pass.log_done, pass.radix_log].map(Arg::U32);
        let mut args = vec![mem(&from), mem(&to)];
        args.extend(numbers);
        args.extend([mem(&tables.roots), Arg::U32(plan.roots_log), mem(&tables.twiddles.0), mem(&tables.twiddles.1)]);
        args.extend([Arg::U32(plan.split), Arg::U32(flags(transform))]);
        let shift_in = tables.shift_in.as_ref().unwrap_or(&tables.twiddles);
        let shift_out = tables.shift_out.as_ref().unwrap_or(&tables.twiddles);
        args.extend([mem(&shift_in.0), mem(&shift_in.1), mem(&shift_out.0), mem(&shift_out.1)]);
        // SAFETY: the arguments are those of `ntt_pass`; vectors are 2^log_n long and tables as planned.
        unsafe { program.launch(stream, "ntt_pass", items, PASS_GROUP, &args)? };
        std::mem::swap(&mut from, &mut to);
    }
    Ok((from, to))
}

/// The flags of `ntt_pass`, as `cl/ntt.cl` numbers them.
fn flags<F: NttField>(transform: &Transform<F>) -> u32 {
    u32::from(transform.shift_in.is_some())
        | u32::from(transform.scale.is_some()) << 1
        | u32::from(transform.shift_out.is_some()) << 2
        | u32::from(transform.order == Order::BitReversed) << 3
}

/// Low and high powers of one element.
type Powers = (Buffer, Buffer);

/// Tables of powers made on the device, in Montgomery form.
struct Tables {
    roots: Buffer,
    twiddles: Powers,
    shift_in: Option<Powers>,
    /// Low powers are multiplied by the scale.
    shift_out: Option<Powers>,
    params: Buffer,
}

/// Positions in the parameter buffer.
const ONE: u32 = 0;
const OMEGA: u32 = 1;
const SHIFT_IN: u32 = 2;
const SHIFT_OUT: u32 = 3;
const SCALE: u32 = 4;

impl Tables {
    fn new<F: NttField>(stream: &mut Stream, plan: &Plan, transform: &Transform<F>) -> Result<Self> {
        let or_one = |value: Option<F>| value.unwrap_or(F::ONE);
        let values =
            [F::ONE, transform.omega, or_one(transform.shift_in), or_one(transform.shift_out), or_one(transform.scale)];
        let params = stream.allocate(size_of_val(&values))?;
        stream.upload(&params, as_bytes(&values))?;
        let maker = PowersMaker { program: Program::find("ntt", F::NAME)?, params: &params, element: size_of::<F>() };
        let roots = maker.table(stream, OMEGA, ONE, 1 << (plan.log_n - plan.roots_log), plan.roots_length())?;
        let twiddles = maker.powers(stream, plan, OMEGA, ONE)?;
        let shift_in = transform.shift_in.map(|_| maker.powers(stream, plan, SHIFT_IN, ONE)).transpose()?;
        let out = transform.shift_out.or(transform.scale);
        let shift_out = out.map(|_| maker.powers(stream, plan, SHIFT_OUT, SCALE)).transpose()?;
        Ok(Self { roots, twiddles, shift_in, shift_out, params })
    }

    fn into_buffers(self) -> Vec<Buffer> {
        let mut buffers = vec![self.roots, self.params];
        for (low, high) in [Some(self.twiddles), self.shift_in, self.shift_out].into_iter().flatten() {
            buffers.extend([low, high]);
        }
        buffers
    }
}

/// Launches `ntt_powers`.
struct PowersMaker<'a> {
    program: Program,
    params: &'a Buffer,
    element: usize,
}

impl PowersMaker<'_> {
    fn powers(&self, stream: &mut Stream, plan: &Plan, base: u32, start: u32) -> Result<Powers> {
        let low = self.table(stream, base, start, 1, plan.low_length())?;
        let high = self.table(stream, base, ONE, 1 << plan.split, plan.high_length())?;
        Ok((low, high))
    }

    /// `params[start] · params[base]^(i·step)` for i < length.
    fn table(&self, stream: &mut Stream, base: u32, start: u32, step: u32, length: u32) -> Result<Buffer> {
        let table = stream.allocate(length as usize * self.element)?;
        let [base, start, step, count] = [base, start, step, length].map(Arg::U32);
        let args = [mem(self.params), base, start, step, count, mem(&table)];
        // SAFETY: the arguments are those of `ntt_powers`, and the table is `length` elements long.
        unsafe { self.program.launch(stream, "ntt_powers", u64::from(length), POWERS_GROUP, &args)? };
        Ok(table)
    }
}
