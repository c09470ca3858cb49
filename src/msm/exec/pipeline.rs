//! One device's share of a multi-scalar multiplication in flight.

use std::ops::Range;
use std::sync::Arc;

use group::Group;

use super::device_batch::{DeviceBatch, DeviceScalarSlice, ScalarSource, VectorShare};
use super::digit_matrix::{DigitInput, ScalarSlice};
use super::host_reduce::{HostWorkers, WindowSums};
use super::kernel_queue::KernelQueue;
use super::msm_request::DeviceBases;
use super::plan_selection::plan_for;
use crate::backend::{Buffer, Event, PinnedBuffer, Stream};
use crate::curve::MsmCurve;
use crate::exec::ExecCtx;
use crate::kernels;
use crate::module_launcher::KernelModule;
use crate::msm::plan::{MsmPlan, PlanInput};
use crate::msm::scalars::scalar_out_of_range;
use crate::{Error, Result};

/// Holds buffers for a chunk's inputs from the host, and the events after which a later chunk may reuse them.
struct InputSlot {
    /// Buffer of each vector's scalars; `None` if they are on the device already.
    scalars: Vec<Option<Buffer>>,
    bases: Option<Buffer>,
    /// One event per matrix, recorded after its last kernel that reads the inputs.
    done: Vec<Arc<Event>>,
}

impl InputSlot {
    fn new<C: MsmCurve>(upload: Option<&Stream>, batch: &DeviceBatch<'_, C>, points: usize) -> Result<Self> {
        let allocate = |bytes: usize| upload.map(|upload| upload.allocate(bytes * points)).transpose();
        let scalars = batch.vectors.iter().map(|vector| match vector.scalars {
            ScalarSource::Host(_) => Ok(allocate(32)?.map(Buffer::mark_secret)),
            ScalarSource::Device(..) => Ok(None),
        });
        let scalars = scalars.collect::<Result<_>>()?;
        let bases = match batch.bases() {
            DeviceBases::Host(_) => allocate(C::AFFINE_BYTES)?,
            DeviceBases::Device(_) => None,
        };
        Ok(Self { scalars, bases, done: Vec::new() })
    }

    /// Returns the chunk's scalars of `vector`, which has the number `number`, on the device. Uploads scalars from the
    /// host.
    fn ensure_device_scalars<'a>(
        &'a self,
        number: usize,
        vector: &VectorShare<'a>,
        range: &Range<usize>,
        upload: Option<&mut Stream>,
        compute: &mut Stream,
    ) -> Result<ScalarSlice<'a>> {
        let (scalars, start) = match (vector.scalars, self.scalars[number].as_ref().zip(upload)) {
            (ScalarSource::Host(scalars), Some((buffer, upload))) => {
                upload.upload(buffer, scalars[range.clone()].as_flattened())?;
                compute.wait_event(&upload.record_event()?)?;
                (buffer, 0)
            }
            (ScalarSource::Device(scalars), _) => (scalars.buffer, scalars.first + range.start as u32),
            (ScalarSource::Host(_), None) => return Err(missing_slot("scalars")),
        };
        Ok(ScalarSlice { scalars, start, form: vector.form, bits: vector.bits })
    }

    /// Uploads the bases of a chunk before its first matrix if they are on the host, and makes the stream `compute` wait
    /// for them. `matrix` is the first matrix of that stream. The wait does not count as the stream's kernel time.
    fn send_bases<C: MsmCurve>(
        &self,
        matrix: usize,
        batch: &DeviceBatch<'_, C>,
        range: &Range<usize>,
        upload: Option<&mut Stream>,
        compute: &mut Stream,
    ) -> Result<()> {
        if let (DeviceBases::Host(bases), Some((buffer, upload))) = (batch.bases(), self.bases.as_ref().zip(upload)) {
            compute.end_timing()?;
            if matrix == 0 {
                upload.upload(buffer, &C::to_device(&bases[range.clone()]))?;
            }
            compute.wait_event(&upload.record_event()?)?;
            compute.begin_timing()?;
        }
        Ok(())
    }

    /// Returns the device buffer of a chunk's bases.
    fn bases<'a, C: MsmCurve>(&'a self, batch: &DeviceBatch<'a, C>) -> Result<&'a Buffer> {
        match batch.bases() {
            DeviceBases::Host(_) => self.bases.as_ref().ok_or_else(|| missing_slot("bases")),
            DeviceBases::Device(table) => Ok(&table.buffer),
        }
    }
}

/// Holds a stream that computes, with the module and the plan of its kernels.
struct ComputeLane {
    stream: Stream,
    program: KernelModule,
    plan: MsmPlan,
    point_bytes: usize,
}

impl ComputeLane {
    fn kernel_queue(&mut self) -> KernelQueue<'_> {
        let (program, plan, point_bytes) = (self.program, self.plan, self.point_bytes);
        KernelQueue { stream: &mut self.stream, program, plan, point_bytes }
    }
}

/// Holds the results that the kernels leave for the host.
struct MatrixResults {
    /// Event shortly before the results are complete.
    nearly_done: Event,
    sums: PinnedBuffer,
    too_long: PinnedBuffer,
}

/// Holds the buckets of one matrix, to which all its chunks are added.
struct BucketSet {
    buckets: Buffer,
    too_long: Buffer,
    results: Option<MatrixResults>,
    /// Maximum bits of each vector's scalars.
    bits: Vec<u32>,
}

impl BucketSet {
    fn new(compute: &mut ComputeLane, vectors: &[VectorShare<'_>]) -> Result<Self> {
        let buckets = compute.kernel_queue().allocate_buckets()?;
        let too_long = compute.stream.allocate(4 * vectors.len())?;
        compute.stream.zero(&too_long)?;
        Ok(Self { buckets, too_long, results: None, bits: vectors.iter().map(|vector| vector.bits).collect() })
    }

    fn reduce(&mut self, compute: &mut ComputeLane) -> Result<()> {
        compute.stream.begin_timing()?;
        let (soon, sums) = compute.kernel_queue().reduce(&self.buckets)?;
        let mut too_long = compute.stream.allocate_pinned(4 * self.bits.len())?;
        compute.stream.copy_to_pinned(&mut too_long, &self.too_long)?;
        self.results = Some(MatrixResults { nearly_done: soon, sums, too_long });
        Ok(())
    }

    /// Appends the points that the reduction left of each vector to `jacobian`, once the device has written them.
    /// Scalars have at most `scalar_bits` bits. Fails if a scalar exceeds its promised bit length.
    fn append_sums(self, jacobian: &mut Vec<u8>, device: &str, scalar_bits: u32) -> Result<()> {
        let Some(MatrixResults { sums, too_long: long, .. }) = self.results else { return Ok(()) };
        let mut flags = vec![0; long.bytes()];
        long.drain_into(&mut flags);
        let flags = flags.as_chunks::<4>().0.iter().map(|flag| u32::from_ne_bytes(*flag));
        if let Some((flag, bits)) = flags.zip(&self.bits).find(|(flag, _)| *flag != 0) {
            // Without a promise no scalar is too long, and kernels leave no number but 0 and 1.
            let is_said = flag == 1 && *bits < scalar_bits;
            let reason = format!("it left {flag} where 0 was expected, of scalars below 2^{bits}");
            return Err(if is_said { scalar_out_of_range(*bits) } else { Error::device(device, "msm", reason) });
        }
        let start = jacobian.len();
        jacobian.resize(start + sums.bytes(), 0);
        sums.drain_into(&mut jacobian[start..]);
        Ok(())
    }
}

/// Computes one device's sums: one stream copies inputs, others compute, and two input slots let them overlap. A chunk
/// of bases serves all vectors while it is on the device. Each vector has a matrix of its own, or all are joined to
/// one.
///
/// Fields drop from top to bottom: streams run empty before buffers go back to their pools.
pub(crate) struct Pipeline {
    /// The compute streams; matrices take them in turns.
    computes: Vec<ComputeLane>,
    plan: MsmPlan,
    /// Stream of the uploads; `None` if nothing comes from the host.
    upload: Option<Stream>,
    /// The buckets of each matrix.
    totals: Vec<BucketSet>,
    slots: Vec<InputSlot>,
}

impl Pipeline {
    /// Queues the uploads and kernels of `batch`, up to the copy of the results, by the best plan for `input`. Uses the
    /// caller's `stream` if it is given. Returns once host memory has been read. Waits for the device only if a chunk
    /// needs the slot of an earlier one.
    pub(super) fn start<C: MsmCurve>(
        batch: &DeviceBatch<'_, C>,
        input: PlanInput,
        stream: Option<Stream>,
        ctx: ExecCtx<'_>,
    ) -> Result<Self> {
        let plan = plan_for(batch.device(), input, &batch.request.options)?;
        // The first try consumes a caller's stream.
        let of_callers = stream.is_some();
        match Self::queue(batch, plan, stream, ctx) {
            // Free memory may be in blocks that are too small: those of earlier sums had other sizes.
            Err(Error::OutOfMemory { .. }) if !of_callers => {
                batch.device().trim();
                Self::queue(batch, plan, None, ctx)
            }
            pipeline => pipeline,
        }
    }

    fn queue<C: MsmCurve>(
        batch: &DeviceBatch<'_, C>,
        plan: MsmPlan,
        stream: Option<Stream>,
        ctx: ExecCtx<'_>,
    ) -> Result<Self> {
        let mut pipeline = Self::new(batch, plan, stream)?;
        for (number, vector) in batch.vectors.iter().enumerate() {
            let ScalarSource::Device(DeviceScalarSlice { ready, buffer, .. }) = &vector.scalars else { continue };
            let stream = &mut pipeline.lane(number / plan.vectors_per_matrix() as usize).stream;
            ready.iter().try_for_each(|ready| stream.wait_event(ready))?;
            stream.order_read(buffer)?;
        }
        for (number, range) in plan.chunks().enumerate() {
            pipeline.add_chunk(number, &range, batch, ctx)?;
        }
        pipeline.reduce()?;
        Ok(pipeline)
    }

    fn new<C: MsmCurve>(batch: &DeviceBatch<'_, C>, plan: MsmPlan, stream: Option<Stream>) -> Result<Self> {
        let device = batch.device();
        // Streams are always taken in this order, so that a call with the same streams finds its former blocks. Only
        // needed streams are taken: a driver has few queues that run concurrently, and streams share them.
        let upload = batch.has_host_input().then(|| device.stream()).transpose()?;
        let first = stream.map_or_else(|| device.stream(), Ok)?;
        let (program, point_bytes) = (KernelModule::find(&kernels::msm::FAMILY, C::NAME)?, 2 * C::AFFINE_BYTES);
        let streams = std::iter::once(Ok(first)).chain((1..plan.lanes()).map(|_| device.stream()));
        let compute = |mut stream: Stream| {
            if plan.runs_beside_others() {
                stream.allow_concurrent_kernels();
            }
            ComputeLane { stream, program, plan, point_bytes }
        };
        let mut computes = streams.map(|stream| stream.map(compute)).collect::<Result<Vec<_>>>()?;
        let lanes = computes.len();
        let totals = batch.vectors.chunks(plan.vectors_per_matrix() as usize).enumerate();
        let totals = totals.map(|(number, vectors)| BucketSet::new(&mut computes[number % lanes], vectors));
        let totals = totals.collect::<Result<_>>()?;
        let slots = 0..batch.point_count().div_ceil(plan.chunk).min(2);
        let slots = slots.map(|_| InputSlot::new(upload.as_ref(), batch, plan.chunk)).collect::<Result<_>>()?;
        Ok(Self { computes, plan, upload, totals, slots })
    }

    /// Returns the compute stream, with its plan, of matrix number `matrix`.
    fn lane(&mut self, matrix: usize) -> &mut ComputeLane {
        let lanes = self.computes.len();
        &mut self.computes[matrix % lanes]
    }

    /// Queues chunk number `number`, the points `range`, for one matrix after the other.
    fn add_chunk<C: MsmCurve>(
        &mut self,
        number: usize,
        range: &Range<usize>,
        batch: &DeviceBatch<'_, C>,
        ctx: ExecCtx<'_>,
    ) -> Result<()> {
        self.wait_for_slot(number, ctx)?;
        let slot = number % self.slots.len();
        for matrix in 0..self.totals.len() {
            let time = self.plan.estimate_chunk_time(range.len());
            let stream = &self.lane(matrix).stream;
            let device = stream.device().clone();
            let turn = device.acquire_queue_permit(stream, time, ctx.abort())?;
            self.add_matrix(slot, matrix, range, batch)?;
            let done = Arc::new(self.lane(matrix).stream.record_event()?);
            if let Some(turn) = turn {
                turn.release_on(done.clone());
            }
            self.slots[slot].done.push(done);
        }
        Ok(())
    }

    /// Queues a chunk, the points `range`, for matrix number `number`. The first matrix's scalars are transposed while
    /// the bases are still being uploaded.
    fn add_matrix<C: MsmCurve>(
        &mut self,
        slot: usize,
        number: usize,
        range: &Range<usize>,
        batch: &DeviceBatch<'_, C>,
    ) -> Result<()> {
        let Self { computes, plan, upload, totals, slots } = self;
        let (slot, total) = (&slots[slot], &totals[number]);
        let lanes = computes.len();
        let compute = &mut computes[number % lanes];
        let first = number * plan.vectors_per_matrix() as usize;
        let own = batch.vectors.iter().enumerate().skip(first).take(total.bits.len());
        let vectors = own.map(|(number, vector)| {
            slot.ensure_device_scalars(number, vector, range, upload.as_mut(), &mut compute.stream)
        });
        let vectors = vectors.collect::<Result<_>>()?;
        let (mut base, mut stride) = (0, 0);
        if let DeviceBases::Device(table) = batch.bases() {
            base = batch.first_base() + range.start as u32;
            stride = table.points as u32;
            compute.stream.order_read(&table.buffer)?;
        }
        let (count, first, too_long) = (range.len(), range.start, &total.too_long);
        let digits = DigitInput { vectors, count, first, base, stride, too_long };
        compute.stream.begin_timing()?;
        for band in plan.bands(range.len()) {
            let matrix = compute.kernel_queue().transpose_digits(&digits, band)?;
            if band.from == 0 && number < lanes {
                slot.send_bases(number, batch, range, upload.as_mut(), &mut compute.stream)?;
            }
            compute.kernel_queue().accumulate(&matrix, slot.bases(batch)?, &total.buckets)?;
        }
        compute.stream.end_timing()
    }

    /// Waits until the input slot of chunk `number` is free, polling the abort hook.
    fn wait_for_slot(&mut self, number: usize, ctx: ExecCtx<'_>) -> Result<()> {
        let slot = number % self.slots.len();
        let done = std::mem::take(&mut self.slots[slot].done);
        if done.is_empty() {
            ctx.check_abort()?;
        }
        done.iter()
            .enumerate()
            .try_for_each(|(matrix, done)| self.lane(matrix).stream.synchronize_event(done, ctx.abort()))
    }

    fn reduce(&mut self) -> Result<()> {
        if self.slots.is_empty() {
            return Ok(());
        }
        let Self { computes, totals, .. } = self;
        let lanes = computes.len();
        totals.iter_mut().enumerate().try_for_each(|(matrix, total)| total.reduce(&mut computes[matrix % lanes]))
    }

    /// Waits for the device, polling the abort hook, and returns the sum of each vector. The host weights the points that
    /// the kernels left and adds them up.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: a scalar was longer than its windows.
    /// - [`Error::Aborted`]: the hook aborted.
    /// - [`Error::Device`]: the driver fails, or a thread has panicked.
    pub(super) fn finish<C: MsmCurve>(mut self, ctx: ExecCtx<'_>) -> Result<Vec<C::Curve>> {
        self.upload.iter_mut().for_each(Stream::zeroize_staging);
        let vectors = self.totals.iter().map(|total| total.bits.len()).sum();
        let helpers = self.call_helpers::<C>(vectors, ctx)?;
        self.computes.iter_mut().try_for_each(|compute| ctx.synchronize(&mut compute.stream))?;
        ctx.record(self.computes.iter().map(|compute| &compute.stream).chain(&self.upload));
        let mut jacobian = Vec::new();
        let device = self.computes.first().map_or("", |compute| &compute.stream.device().info().name);
        let mut totals = std::mem::take(&mut self.totals).into_iter();
        totals.try_for_each(|total| total.append_sums(&mut jacobian, device, C::SCALAR_BITS))?;
        // There may be no points, and a device may have no windows.
        if jacobian.is_empty() {
            return Ok(vec![C::Curve::identity(); vectors]);
        }
        helpers.compute_sums(WindowSums::new(self.plan, jacobian, vectors))
    }

    /// Wakes CPU threads for the host's part of `vectors` vectors, while the device runs its last kernels.
    fn call_helpers<C: MsmCurve>(&mut self, vectors: usize, ctx: ExecCtx<'_>) -> Result<HostWorkers<C>> {
        let Self { computes, totals, .. } = self;
        let lane = totals.len().saturating_sub(1) % computes.len();
        match totals.last().and_then(|total| total.results.as_ref()) {
            Some(results) => computes[lane].stream.synchronize_event(&results.nearly_done, ctx.abort())?,
            None => return Ok(HostWorkers::wake(0)),
        }
        Ok(HostWorkers::wake(vectors))
    }
}

fn missing_slot(what: &str) -> Error {
    Error::device("host", "msm", format!("a slot without room for {what}"))
}
