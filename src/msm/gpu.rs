//! Multi-scalar multiplication on devices: points spread over devices, each in chunks that fit.

use std::sync::Arc;

use group::Group;

use super::enqueue::Enqueue;
use super::plan::{Plan, Problem};
use crate::backend::{Abort, Buffer, Device, Mark, Stream, Traffic};
use crate::curve::MsmCurve;
use crate::program::Program;
use crate::{Error, Result};

/// Below this many points per device a further device costs more than it gains.
const MIN_SHARE: usize = 1 << 15;

/// Where one device finds its bases.
#[derive(Clone, Copy)]
pub(super) enum Bases<'a, C> {
    /// In host memory: uploaded chunk by chunk.
    Host(&'a [C]),
    /// On the device, all of them.
    Device(&'a Buffer),
}

/// Points of each device when `points` are spread over so many.
pub(super) fn share(points: usize, devices: usize) -> usize {
    let used = points.div_ceil(MIN_SHARE).clamp(1, devices.max(1));
    points.div_ceil(used).max(1)
}

/// Sums over all devices, the k-th taking the k-th of `bases` and its share of the scalars; the host adds
/// one point per device.
pub(super) fn msm<C: MsmCurve>(
    devices: &[Arc<Device>],
    bases: &[Bases<'_, C>],
    scalars: &[[u8; 32]],
    share: usize,
    abort: Abort<'_>,
) -> Result<(C::Curve, Traffic)> {
    if let (Some(device), [bases]) = (devices.first(), bases) {
        // A thread of its own would cost as much as a small sum.
        return Pipeline::run(device, *bases, scalars, abort);
    }
    let parts: Vec<Result<(C::Curve, Traffic)>> = std::thread::scope(|scope| {
        let threads: Vec<_> = devices
            .iter()
            .zip(bases.iter().zip(scalars.chunks(share)))
            .map(|(device, (&bases, scalars))| scope.spawn(move || Pipeline::run(device, bases, scalars, abort)))
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap_or_else(|_| Err(Error::panicked("msm")))).collect()
    });
    let mut total = (C::Curve::identity(), Traffic::default());
    for part in parts {
        let (sum, traffic) = part?;
        total = (total.0 + sum, total.1 + traffic);
    }
    Ok(total)
}

/// Inputs of a chunk on the device, and the point after which they are free for the next but one.
struct Slot {
    scalars: Buffer,
    bases: Option<Buffer>,
    done: Option<Mark>,
}

/// One device's sum: one stream copies inputs, the other computes; two slots let them overlap.
///
/// Dropped from top to bottom: streams run empty before buffers go back to their pools.
struct Pipeline {
    compute: Stream,
    upload: Stream,
    buckets: Buffer,
    slots: Vec<Slot>,
    program: Program,
    plan: Plan,
    point_bytes: usize,
}

impl Pipeline {
    fn run<C: MsmCurve>(
        device: &Arc<Device>,
        bases: Bases<'_, C>,
        scalars: &[[u8; 32]],
        abort: Abort<'_>,
    ) -> Result<(C::Curve, Traffic)> {
        if scalars.is_empty() {
            return Ok((C::Curve::identity(), Traffic::default()));
        }
        let mut pipeline = Self::new::<C>(device, matches!(bases, Bases::Device(_)), scalars.len())?;
        let chunk = pipeline.plan.chunk;
        for (number, scalars) in scalars.chunks(chunk).enumerate() {
            pipeline.add_chunk(number, bases, scalars, abort)?;
        }
        pipeline.finish::<C>(abort)
    }

    fn new<C: MsmCurve>(device: &Arc<Device>, resident: bool, points: usize) -> Result<Self> {
        let affine_bytes = C::AFFINE_BYTES as u64;
        let compute_units = device.info().compute_units;
        let problem = Problem { points, scalar_bits: C::SCALAR_BITS, affine_bytes, resident, compute_units };
        let free = device.free_memory()?;
        let plan = Plan::fit(problem, free).map_err(|requested| {
            let device = device.info().name.clone();
            Error::OutOfMemory { device, requested, available: free }
        })?;
        let program = Program::find("msm", C::NAME)?;
        let point_bytes = 2 * C::AFFINE_BYTES;
        let (upload, mut compute) = (device.stream()?, device.stream()?);
        let buckets = Enqueue { stream: &mut compute, program, plan, point_bytes }.buckets()?;
        let mut pipeline = Self { compute, upload, buckets, slots: Vec::new(), program, plan, point_bytes };
        let slots = points.div_ceil(plan.chunk).min(2);
        for _ in 0..slots {
            let scalars = pipeline.upload.allocate(32 * plan.chunk)?.secret();
            let bases = match resident {
                true => None,
                false => Some(pipeline.upload.allocate(C::AFFINE_BYTES * plan.chunk)?),
            };
            pipeline.slots.push(Slot { scalars, bases, done: None });
        }
        Ok(pipeline)
    }

    /// Queues a chunk: its scalars are transposed while its bases are still on their way.
    fn add_chunk<C: MsmCurve>(
        &mut self,
        number: usize,
        bases: Bases<'_, C>,
        scalars: &[[u8; 32]],
        abort: Abort<'_>,
    ) -> Result<()> {
        let index = number % self.slots.len();
        let slot = &mut self.slots[index];
        match &slot.done {
            Some(done) => self.compute.wait_until(done, abort)?,
            None if abort.is_some_and(|abort| abort()) => return Err(Error::Aborted),
            None => (),
        }
        self.upload.upload(&slot.scalars, scalars.as_flattened())?;
        self.compute.wait_for(&self.upload.mark()?)?;
        self.compute.mark_start()?;
        let start = number * self.plan.chunk;
        let first = if matches!(bases, Bases::Device(_)) { start as u32 } else { 0 };
        let (program, plan, point_bytes) = (self.program, self.plan, self.point_bytes);
        let mut enqueue = Enqueue { stream: &mut self.compute, program, plan, point_bytes };
        for band in plan.bands() {
            let matrix = enqueue.transpose(&slot.scalars, scalars.len(), first, band)?;
            let on_device = match (bases, &slot.bases) {
                (Bases::Host(bases), Some(buffer)) => {
                    if band.from == 0 {
                        enqueue.stream.mark_end()?;
                        self.upload.upload(buffer, &C::to_device(&bases[start..start + scalars.len()]))?;
                        enqueue.stream.wait_for(&self.upload.mark()?)?;
                        enqueue.stream.mark_start()?;
                    }
                    buffer
                }
                (Bases::Device(buffer), _) => buffer,
                (Bases::Host(_), None) => return Err(Error::device("host", "msm", "a slot without room for bases")),
            };
            enqueue.accumulate(&matrix, on_device, &self.buckets)?;
        }
        enqueue.stream.mark_end()?;
        slot.done = Some(self.compute.mark()?);
        Ok(())
    }

    fn finish<C: MsmCurve>(mut self, abort: Abort<'_>) -> Result<(C::Curve, Traffic)> {
        let (program, plan, point_bytes) = (self.program, self.plan, self.point_bytes);
        self.compute.mark_start()?;
        let mut enqueue = Enqueue { stream: &mut self.compute, program, plan, point_bytes };
        let sums = enqueue.reduce(&self.buckets)?;
        self.compute.wait(abort)?;
        let mut jacobian = vec![0; sums.bytes()];
        sums.move_to(&mut jacobian);
        let total = combine::<C>(&plan, &jacobian);
        Ok((total, self.upload.traffic() + self.compute.traffic()))
    }
}

/// The weighted sum of what the reduction leaves, by Horner's rule over the bits of the weights. One core of
/// the host does this chain of doublings several times as fast as a work-item of a device.
fn combine<C: MsmCurve>(plan: &Plan, jacobian: &[u8]) -> C::Curve {
    let point_bytes = jacobian.len() / plan.sums() as usize;
    let mut by_weight: Vec<Option<C::Curve>> = vec![None; (plan.c * plan.sets) as usize];
    for (sum, point) in (0..plan.sums()).zip(jacobian.chunks_exact(point_bytes)) {
        let (point, place) = (C::from_device(point), &mut by_weight[plan.weight(sum) as usize]);
        *place = Some(place.map_or(point, |other| other + point));
    }
    by_weight.iter().rev().fold(C::Curve::identity(), |total, point| match point {
        Some(point) => total.double() + point,
        None => total.double(),
    })
}
