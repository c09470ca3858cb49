//! One device's share of a multi-scalar multiplication under way.

use std::sync::Arc;

use group::Group;

use super::enqueue::{Digits, Enqueue};
use super::gpu::Bases;
use super::options::{Form, Options, too_long};
use super::plan::Plan;
use super::table::{problem, streamed_problem};
use crate::backend::{Abort, Buffer, Device, HostBuffer, Mark, Stream, Traffic};
use crate::curve::MsmCurve;
use crate::program::Program;
use crate::{Error, Result};

/// One device's scalars of one vector.
#[derive(Debug, Clone, Copy)]
pub(super) enum Part<'a> {
    Host(&'a [[u8; 32]]),
    Device(OnDevice<'a>),
}

/// Scalars in a buffer, `count` from number `first` on, once the mark has been passed.
#[derive(Debug, Clone, Copy)]
pub(super) struct OnDevice<'a> {
    pub buffer: &'a Buffer,
    pub first: u32,
    pub count: usize,
    pub ready: Option<&'a Mark>,
}

impl Part<'_> {
    fn len(&self) -> usize {
        match self {
            Self::Host(scalars) => scalars.len(),
            Self::Device(scalars) => scalars.count,
        }
    }
}

/// What one device multiplies.
#[derive(Debug, Clone, Copy)]
pub(super) struct Job<'a, C> {
    pub bases: Bases<'a, C>,
    pub scalars: Part<'a>,
    pub form: Form,
    /// Bits of the scalars.
    pub bits: u32,
}

/// Inputs of a chunk that came from the host, and the point after which their place is free for the next but
/// one.
struct Slot {
    scalars: Option<Buffer>,
    bases: Option<Buffer>,
    done: Option<Mark>,
}

/// What the kernels leave for the host.
struct Results {
    sums: HostBuffer,
    too_long: HostBuffer,
}

/// One device's sum: one stream copies inputs, the other computes; two slots let them overlap.
///
/// Dropped from top to bottom: streams run empty before buffers go back to their pools.
pub(super) struct Pipeline {
    compute: Stream,
    upload: Stream,
    buckets: Buffer,
    too_long: Buffer,
    slots: Vec<Slot>,
    results: Option<Results>,
    program: Program,
    plan: Plan,
    bits: u32,
    point_bytes: usize,
}

/// What a plan depends on in scalars.
#[derive(Debug, Clone, Copy)]
pub(super) struct Need {
    pub points: usize,
    pub bits: u32,
    pub on_device: bool,
}

/// The plan for so many points and scalars of so many bits on a device, within the caller's cap and a part of what the
/// device has free.
pub(super) fn plan_for<C: MsmCurve>(
    device: &Device,
    bases: &Bases<'_, C>,
    scalars: Need,
    options: &Options,
    parts: u64,
) -> Result<Plan> {
    let Need { points, bits, on_device } = scalars;
    let problem = match bases {
        Bases::Host(_) => streamed_problem::<C>(device, points, bits, options),
        Bases::Device(table) => problem::<C>(device, table, points, bits, on_device, options),
    };
    let free = device.free_memory()? / parts;
    let available = if options.memory == 0 { free } else { free.min(options.memory) };
    Plan::fit(problem, available).map_err(|requested| {
        let device = device.info().name.clone();
        Error::OutOfMemory { device, requested, available }
    })
}

impl Pipeline {
    /// Queues everything up to the copy of the result. Returns once host memory has been read; waits for the
    /// device only where a chunk needs the place of an earlier one.
    pub fn start<C: MsmCurve>(
        device: &Arc<Device>,
        job: Job<'_, C>,
        options: &Options,
        parts: u64,
        abort: Abort<'_>,
    ) -> Result<Self> {
        let on_device = matches!(job.scalars, Part::Device(..));
        let need = Need { points: job.scalars.len(), bits: job.bits, on_device };
        let plan = plan_for(device, &job.bases, need, options, parts)?;
        let mut pipeline = Self::new(device, &job, plan)?;
        if let Part::Device(OnDevice { ready: Some(ready), .. }) = job.scalars {
            pipeline.compute.wait_for(ready)?;
        }
        let points = job.scalars.len();
        for (number, start) in (0..points).step_by(plan.chunk).enumerate() {
            pipeline.add_chunk(number, start..points.min(start + plan.chunk), &job, abort)?;
        }
        pipeline.reduce()?;
        Ok(pipeline)
    }

    fn new<C: MsmCurve>(device: &Arc<Device>, job: &Job<'_, C>, plan: Plan) -> Result<Self> {
        let (program, point_bytes) = (Program::find("msm", C::NAME)?, 2 * C::AFFINE_BYTES);
        let (upload, mut compute) = (device.stream()?, device.stream()?);
        let buckets = Enqueue { stream: &mut compute, program, plan, point_bytes }.buckets()?;
        let too_long = compute.allocate(4)?;
        compute.zero(&too_long)?;
        let mut slots = Vec::new();
        for _ in 0..job.scalars.len().div_ceil(plan.chunk).min(2) {
            let scalars = match job.scalars {
                Part::Host(_) => Some(upload.allocate(32 * plan.chunk)?.secret()),
                Part::Device(..) => None,
            };
            let bases = match job.bases {
                Bases::Host(_) => Some(upload.allocate(C::AFFINE_BYTES * plan.chunk)?),
                Bases::Device(_) => None,
            };
            slots.push(Slot { scalars, bases, done: None });
        }
        let (results, bits) = (None, job.bits);
        Ok(Self { compute, upload, buckets, too_long, slots, results, program, plan, bits, point_bytes })
    }

    /// Queues a chunk: its scalars are transposed while its bases are still on their way.
    fn add_chunk<C: MsmCurve>(
        &mut self,
        number: usize,
        range: std::ops::Range<usize>,
        job: &Job<'_, C>,
        abort: Abort<'_>,
    ) -> Result<()> {
        self.wait_for_slot(number, abort)?;
        let index = number % self.slots.len();
        let slot = &mut self.slots[index];
        let (scalars, start) = match (job.scalars, &slot.scalars) {
            (Part::Host(scalars), Some(buffer)) => {
                self.upload.upload(buffer, scalars[range.clone()].as_flattened())?;
                self.compute.wait_for(&self.upload.mark()?)?;
                (buffer, 0)
            }
            (Part::Device(scalars), _) => (scalars.buffer, scalars.first + range.start as u32),
            (Part::Host(_), None) => return Err(no_room("scalars")),
        };
        let (base, stride) = match job.bases {
            Bases::Host(_) => (0, 0),
            Bases::Device(table) => (range.start as u32, table.points as u32),
        };
        let digits =
            Digits { scalars, count: range.len(), start, base, stride, form: job.form, too_long: &self.too_long };
        self.compute.mark_start()?;
        let (program, plan, point_bytes) = (self.program, self.plan, self.point_bytes);
        let mut enqueue = Enqueue { stream: &mut self.compute, program, plan, point_bytes };
        for band in plan.bands() {
            let matrix = enqueue.transpose(&digits, band)?;
            let bases = match (job.bases, &slot.bases) {
                (Bases::Host(bases), Some(buffer)) => {
                    if band.from == 0 {
                        enqueue.stream.mark_end()?;
                        self.upload.upload(buffer, &C::to_device(&bases[range.clone()]))?;
                        enqueue.stream.wait_for(&self.upload.mark()?)?;
                        enqueue.stream.mark_start()?;
                    }
                    buffer
                }
                (Bases::Device(table), _) => &table.buffer,
                (Bases::Host(_), None) => return Err(no_room("bases")),
            };
            enqueue.accumulate(&matrix, bases, &self.buckets)?;
        }
        self.compute.mark_end()?;
        slot.done = Some(self.compute.mark()?);
        Ok(())
    }

    /// Waits until a chunk's place is free, asking `abort`.
    fn wait_for_slot(&mut self, number: usize, abort: Abort<'_>) -> Result<()> {
        match &self.slots[number % self.slots.len()].done {
            Some(done) => self.compute.wait_until(done, abort),
            None if abort.is_some_and(|abort| abort()) => Err(Error::Aborted),
            None => Ok(()),
        }
    }

    fn reduce(&mut self) -> Result<()> {
        if self.slots.is_empty() {
            return Ok(());
        }
        let (program, plan, point_bytes) = (self.program, self.plan, self.point_bytes);
        self.compute.mark_start()?;
        let sums = Enqueue { stream: &mut self.compute, program, plan, point_bytes }.reduce(&self.buckets)?;
        let too_long = self.compute.host_buffer(4)?;
        self.compute.fetch(&too_long, &self.too_long)?;
        self.results = Some(Results { sums, too_long });
        Ok(())
    }

    /// Waits for the device, and weighs what the kernels left.
    ///
    /// # Errors
    /// A scalar was longer than its windows, the hook aborted, or the device failed.
    pub fn finish<C: MsmCurve>(mut self, abort: Abort<'_>) -> Result<(C::Curve, Traffic)> {
        self.compute.wait(abort)?;
        let traffic = self.upload.traffic() + self.compute.traffic();
        let Some(Results { sums, too_long: long }) = self.results.take() else {
            return Ok((C::Curve::identity(), traffic));
        };
        let mut flag = [0; 4];
        long.move_to(&mut flag);
        if flag != [0; 4] {
            return Err(too_long(self.bits));
        }
        let mut jacobian = vec![0; sums.bytes()];
        sums.move_to(&mut jacobian);
        Ok((combine::<C>(&self.plan, &jacobian), traffic))
    }
}

fn no_room(what: &str) -> Error {
    Error::device("host", "msm", format!("a slot without room for {what}"))
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
