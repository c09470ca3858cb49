//! One device's share of a multi-scalar multiplication under way.

use std::ops::Range;
use std::sync::Arc;

use group::Group;

use super::combine::combine;
use super::enqueue::{Digits, Enqueue};
use super::gpu::Bases;
use super::grid::Windows;
use super::options::{Form, Options, too_long};
use super::plan::Plan;
use super::table::{Need, problem};
use crate::backend::{Abort, Buffer, Device, HostBuffer, Mark, SLACK, Stream, Traffic};
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
    /// The first base of a table that there is a scalar for.
    pub first_base: u32,
    pub scalars: Part<'a>,
    pub form: Form,
    /// Bits of the scalars.
    pub bits: u32,
    /// Which windows the device does.
    pub own: Windows,
}

/// Inputs of a chunk that came from the host, and the point after which their place is free for the next but
/// one.
struct Slot {
    scalars: Option<Buffer>,
    bases: Option<Buffer>,
    done: Option<Arc<Mark>>,
}

impl Slot {
    fn new<C: MsmCurve>(upload: Option<&Stream>, job: &Job<'_, C>, points: usize) -> Result<Self> {
        let allocate = |bytes: usize| upload.map(|upload| upload.allocate(bytes * points)).transpose();
        let scalars = match job.scalars {
            Part::Host(_) => allocate(32)?.map(Buffer::secret),
            Part::Device(..) => None,
        };
        let bases = match job.bases {
            Bases::Host(_) => allocate(C::AFFINE_BYTES)?,
            Bases::Device(_) => None,
        };
        Ok(Self { scalars, bases, done: None })
    }

    /// Where the scalars of a chunk are, uploaded if need be: a buffer, and the first of them in it.
    fn scalars<'a, C: MsmCurve>(
        &'a self,
        job: &Job<'a, C>,
        range: &Range<usize>,
        upload: Option<&mut Stream>,
        compute: &mut Stream,
    ) -> Result<(&'a Buffer, u32)> {
        match (job.scalars, self.scalars.as_ref().zip(upload)) {
            (Part::Host(scalars), Some((buffer, upload))) => {
                upload.upload(buffer, scalars[range.clone()].as_flattened())?;
                compute.wait_for(&upload.mark()?)?;
                Ok((buffer, 0))
            }
            (Part::Device(scalars), _) => Ok((scalars.buffer, scalars.first + range.start as u32)),
            (Part::Host(_), None) => Err(no_room("scalars")),
        }
    }

    /// Where the bases of a chunk are, uploaded if need be; the time that kernels wait for them does not count as theirs.
    fn bases<'a, C: MsmCurve>(
        &'a self,
        job: &Job<'a, C>,
        range: &Range<usize>,
        upload: Option<&mut Stream>,
        compute: &mut Stream,
    ) -> Result<&'a Buffer> {
        match (job.bases, self.bases.as_ref().zip(upload)) {
            (Bases::Host(bases), Some((buffer, upload))) => {
                compute.mark_end()?;
                upload.upload(buffer, &C::to_device(&bases[range.clone()]))?;
                compute.wait_for(&upload.mark()?)?;
                compute.mark_start()?;
                Ok(buffer)
            }
            (Bases::Device(table), _) => Ok(&table.buffer),
            (Bases::Host(_), None) => Err(no_room("bases")),
        }
    }
}

/// The stream that computes, and what its kernels are.
struct Compute {
    stream: Stream,
    program: Program,
    plan: Plan,
    point_bytes: usize,
}

impl Compute {
    fn enqueue(&mut self) -> Enqueue<'_> {
        let (program, plan, point_bytes) = (self.program, self.plan, self.point_bytes);
        Enqueue { stream: &mut self.stream, program, plan, point_bytes }
    }
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
    compute: Compute,
    /// `None` where nothing comes from the host.
    upload: Option<Stream>,
    buckets: Buffer,
    too_long: Buffer,
    slots: Vec<Slot>,
    results: Option<Results>,
    bits: u32,
}

/// The plan for so many points and scalars of so many bits on a device, within the caller's cap and a part of what the
/// device has free.
pub(super) fn plan_for<C: MsmCurve>(
    device: &Device,
    bases: &Bases<'_, C>,
    need: Need,
    options: &Options,
) -> Result<Plan> {
    let table = match bases {
        Bases::Host(_) => None,
        Bases::Device(table) => Some(*table),
    };
    let problem = problem::<C>(device, table, need, options);
    let available = available(device, need.at_once, options)?;
    Plan::fit(problem, available).map_err(|requested| {
        let device = device.info().name.clone();
        Error::OutOfMemory { device, requested, available }
    })
}

/// Bytes of a device for each of so many multiplications at a time, within the caller's cap.
pub(super) fn available(device: &Device, at_once: u32, options: &Options) -> Result<u64> {
    let free = device.free_memory()? / u64::from(at_once);
    // Blocks from pools may be larger than asked for.
    let free = free - free / (1 + SLACK as u64);
    Ok(if options.memory == 0 { free } else { free.min(options.memory) })
}

impl Pipeline {
    /// Queues everything up to the copy of the result. Returns once host memory has been read; waits for the
    /// device only where a chunk needs the place of an earlier one.
    pub fn start<C: MsmCurve>(
        (device, stream): (&Arc<Device>, Option<Stream>),
        job: Job<'_, C>,
        options: &Options,
        at_once: u32,
        abort: Abort<'_>,
    ) -> Result<Self> {
        let on_device = matches!(job.scalars, Part::Device(..));
        let (points, abortable) = (job.scalars.len(), abort.is_some());
        let need = Need { points, bits: job.bits, on_device, at_once, abortable, own: job.own };
        let plan = plan_for(device, &job.bases, need, options)?;
        let mut pipeline = Self::new((device, stream), &job, plan)?;
        if let Part::Device(OnDevice { ready: Some(ready), .. }) = job.scalars {
            pipeline.compute.stream.wait_for(ready)?;
        }
        for (number, range) in plan.chunks().enumerate() {
            pipeline.add_chunk(number, range, &job, abort)?;
        }
        pipeline.reduce()?;
        Ok(pipeline)
    }

    fn new<C: MsmCurve>(
        (device, stream): (&Arc<Device>, Option<Stream>),
        job: &Job<'_, C>,
        plan: Plan,
    ) -> Result<Self> {
        // In this order: who takes the same streams each time finds the blocks in their pools that it had before. None that
        // is not needed: drivers have but a few queues that run side by side, which streams share.
        let from_host = matches!(job.scalars, Part::Host(_)) || matches!(job.bases, Bases::Host(_));
        let upload = from_host.then(|| device.stream()).transpose()?;
        let stream = stream.map_or_else(|| device.stream(), Ok)?;
        let (program, point_bytes) = (Program::find("msm", C::NAME)?, 2 * C::AFFINE_BYTES);
        let mut compute = Compute { stream, program, plan, point_bytes };
        let buckets = compute.enqueue().buckets()?;
        let too_long = compute.stream.allocate(4)?;
        compute.stream.zero(&too_long)?;
        let slots = 0..job.scalars.len().div_ceil(plan.chunk).min(2);
        let slots = slots.map(|_| Slot::new(upload.as_ref(), job, plan.chunk)).collect::<Result<_>>()?;
        Ok(Self { compute, upload, buckets, too_long, slots, results: None, bits: job.bits })
    }

    /// Queues a chunk: its scalars are transposed while its bases are still on their way.
    fn add_chunk<C: MsmCurve>(
        &mut self,
        number: usize,
        range: Range<usize>,
        job: &Job<'_, C>,
        abort: Abort<'_>,
    ) -> Result<()> {
        self.wait_for_slot(number, abort)?;
        let device = self.compute.stream.device().clone();
        let turn = device.pace(&self.compute.stream, self.compute.plan.time(range.len()), abort)?;
        let index = number % self.slots.len();
        let (slot, compute, upload) = (&self.slots[index], &mut self.compute, &mut self.upload);
        let (scalars, start) = slot.scalars(job, &range, upload.as_mut(), &mut compute.stream)?;
        let (base, stride) = match job.bases {
            Bases::Host(_) => (0, 0),
            Bases::Device(table) => (job.first_base + range.start as u32, table.points as u32),
        };
        let digits = Digits {
            scalars,
            count: range.len(),
            first: range.start,
            start,
            base,
            stride,
            form: job.form,
            too_long: &self.too_long,
        };
        compute.stream.mark_start()?;
        let mut bases = None;
        for band in compute.plan.bands() {
            let matrix = compute.enqueue().transpose(&digits, band)?;
            let bases = match bases {
                Some(bases) => bases,
                None => *bases.insert(slot.bases(job, &range, upload.as_mut(), &mut compute.stream)?),
            };
            compute.enqueue().accumulate(&matrix, bases, &self.buckets)?;
        }
        compute.stream.mark_end()?;
        let done = Arc::new(compute.stream.mark()?);
        if let Some(turn) = turn {
            turn.ends(done.clone());
        }
        self.slots[index].done = Some(done);
        Ok(())
    }

    /// Waits until a chunk's place is free, asking `abort`.
    fn wait_for_slot(&mut self, number: usize, abort: Abort<'_>) -> Result<()> {
        match &self.slots[number % self.slots.len()].done {
            Some(done) => self.compute.stream.wait_until(done, abort),
            None if abort.is_some_and(|abort| abort()) => Err(Error::Aborted),
            None => Ok(()),
        }
    }

    fn reduce(&mut self) -> Result<()> {
        if self.slots.is_empty() {
            return Ok(());
        }
        self.compute.stream.mark_start()?;
        let sums = self.compute.enqueue().reduce(&self.buckets)?;
        let too_long = self.compute.stream.host_buffer(4)?;
        self.compute.stream.fetch(&too_long, &self.too_long)?;
        self.results = Some(Results { sums, too_long });
        Ok(())
    }

    /// Waits for the device, and weighs what the kernels left.
    ///
    /// # Errors
    /// A scalar was longer than its windows, the hook aborted, or the device failed.
    pub fn finish<C: MsmCurve>(mut self, abort: Abort<'_>) -> Result<(C::Curve, Traffic)> {
        self.upload.iter_mut().for_each(Stream::wipe_staging);
        self.compute.stream.wait(abort)?;
        let uploaded = self.upload.as_ref().map_or_else(Traffic::default, Stream::traffic);
        let traffic = uploaded + self.compute.stream.traffic();
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
        Ok((combine::<C>(self.compute.plan, jacobian)?, traffic))
    }
}

fn no_room(what: &str) -> Error {
    Error::device("host", "msm", format!("a slot without room for {what}"))
}
