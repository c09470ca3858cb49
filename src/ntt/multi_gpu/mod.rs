//! Runs one transform over several devices at once, which read each other's memory.

#[cfg(feature = "mpi")]
mod local_twiddle_transpose;
mod plan;

use std::marker::PhantomData;
use std::time::{Duration, Instant};

#[cfg(feature = "mpi")]
pub(crate) use local_twiddle_transpose::{ColumnBlock, transform_each_on_cpu};

use super::domain::{Direction, NttDomain};
use super::plan::MAX_RADIX_LOG;
use crate::backend::{Abort, Device, Event, PeerMemory, Stream, StreamStats, catch_hook_panic};
use crate::exec::fan_out;
use crate::field::{TransformField, as_bytes, as_bytes_mut};
use crate::report::OpScope;
use crate::{Error, Report, Result};
use plan::{PeerPass, PeerPasses, PeerPlan};

/// Holds a vector of `2^log_n` elements in the memory of several devices, equally many elements on each.
/// [`Self::upload`] and [`Self::download`] use natural order; the order on the devices is internal. The vector has a
/// stream on each device, on which its transforms are queued. Its memory is cleared when dropped.
///
/// Transforms go from one memory to another, so the vector takes twice its size: 2/D of it on each of D devices.
#[derive(Debug)]
pub struct ShardedVector<F> {
    // Dropped first, because that waits for queued work.
    streams: Vec<Stream>,
    memory: PeerMemory,
    other: PeerMemory,
    plan: PeerPlan,
    elements: PhantomData<F>,
}

impl<F: TransformField> ShardedVector<F> {
    fn new(streams: Vec<Stream>, plan: PeerPlan) -> Result<Self> {
        let part_bytes = size_of::<F>() << plan.part_stride_log();
        let memory = PeerMemory::new(&streams, part_bytes)?;
        let other = PeerMemory::new(&streams, part_bytes)?;
        Ok(Self { streams, memory, other, plan, elements: PhantomData })
    }

    /// Returns the number of elements, `2^log_n`.
    #[allow(clippy::len_without_is_empty, reason = "it is never empty")]
    pub fn len(&self) -> usize {
        1 << self.plan.log_n()
    }

    /// Copies the elements `from`, in natural order, to the devices. Each device receives its elements over its own
    /// link. Returns once all elements have been read.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: `from` has another length.
    /// - [`Error::Device`]: a driver failed; the vector is then undefined.
    pub fn upload(&mut self, from: &[F]) -> Result<()> {
        self.check_length(from.len())?;
        let (plan, memory) = (&self.plan, &self.memory);
        let each = fan_out("upload to peers", self.streams.iter_mut().enumerate(), |(owner, stream)| {
            for (run, at) in plan.owned_index_ranges(owner).zip(run_byte_offsets::<F>(plan, owner)) {
                stream.upload_to_peers(memory, at, as_bytes(&from[run]))?;
            }
            stream.zeroize_staging();
            Ok(())
        });
        each.into_iter().collect()
    }

    /// Copies the elements to `to`, in natural order, after all queued work.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: `to` has another length.
    /// - [`Error::Device`]: a driver failed; `to` may then be partly written.
    pub fn download(&mut self, to: &mut [F]) -> Result<()> {
        self.check_length(to.len())?;
        let (plan, memory) = (&self.plan, &self.memory);
        let mut pieces: Vec<Vec<(&mut [u8], usize)>> = (0..plan.owner_count()).map(|_| Vec::new()).collect();
        let mut at: Vec<_> = (0..plan.owner_count()).map(|owner| run_byte_offsets::<F>(plan, owner)).collect();
        let run = plan.owned_index_ranges(0).next().map_or(1, |run| run.len());
        for (number, run) in to.chunks_mut(run).enumerate() {
            let owner = number % plan.owner_count();
            // SAFETY: kernels leave reduced elements in Montgomery form.
            pieces[owner].extend(at[owner].next().map(|at| (unsafe { as_bytes_mut(run) }, at)));
        }
        let each = fan_out("download from peers", self.streams.iter_mut().zip(pieces), |(stream, pieces)| {
            stream.download_from_peers(memory, pieces)?;
            stream.zeroize_staging();
            Ok(())
        });
        each.into_iter().collect()
    }

    /// Waits for all work queued on the vector's streams, and polls `abort` meanwhile.
    ///
    /// # Errors
    /// - [`Error::Aborted`]: the hook aborted.
    /// - [`Error::Device`]: a driver failed.
    pub fn wait(&mut self, abort: Abort<'_>) -> Result<()> {
        let waited: Vec<_> = self.streams.iter_mut().map(|stream| stream.synchronize(abort)).collect();
        waited.into_iter().collect()
    }

    /// Returns the bytes copied and the kernel times of its streams so far, summed over all devices.
    pub fn traffic(&self) -> StreamStats {
        self.streams.iter().fold(StreamStats::default(), |sum, stream| sum + stream.stats())
    }

    fn check_length(&self, actual: usize) -> Result<()> {
        Error::check_eq("PeerVector", "length of the slice", self.len(), actual)
    }

    /// Queues the pass `step` on all devices, with `passes` of each. Swaps the two memories if the pass moves the
    /// elements.
    fn enqueue_pass(&mut self, passes: &[PeerPasses], step: &PeerPass) -> Result<()> {
        let shares = self.streams.iter_mut().zip(passes).enumerate();
        for (owner, (stream, passes)) in shares {
            passes.enqueue_pass(stream, step, [&self.memory, &self.other], owner)?;
        }
        if step.moves {
            std::mem::swap(&mut self.memory, &mut self.other);
        }
        Ok(())
    }

    /// Makes all work that is queued later, on any device, wait for all work that is queued on every device now.
    fn barrier(&mut self) -> Result<()> {
        let marks = self.streams.iter().map(Stream::record_event).collect::<Result<Vec<Event>>>()?;
        for (number, stream) in self.streams.iter_mut().enumerate() {
            let others = marks.iter().enumerate().filter(|(other, _)| *other != number);
            others.map(|(_, mark)| mark).try_for_each(|mark| stream.wait_event(mark))?;
        }
        Ok(())
    }
}

/// Returns the byte offsets, in the vector's memory, of the runs of consecutive elements that device `owner` holds.
fn run_byte_offsets<F: TransformField>(plan: &PeerPlan, owner: usize) -> impl Iterator<Item = usize> + use<F> {
    let start = owner << plan.part_stride_log();
    let run = plan.owned_index_ranges(owner).next().map_or(1, |run| run.len());
    (0..).map(move |number| (start + number * run) * size_of::<F>())
}

/// Runs one transform on all of the accelerator's devices at once. The number of devices is a power of two, and they
/// access each other's memory (CUDA, best through NVLink). A device may be named several times. Vectors have at least
/// 2^17 elements, in natural order. Other devices or vectors give an error, never a fallback. [`NttDomain::run`]
/// spreads several vectors over any devices.
impl<F: TransformField> NttDomain<F> {
    /// Allocates a vector of `2^log_n` elements over all of the accelerator's devices, with undefined contents.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: there are no devices, their number is no power of two, or they are too many for the size.
    /// - [`Error::Invalid`]: the domain is too small.
    /// - [`Error::Unsupported`]: there are several devices, and not all are of CUDA.
    /// - [`Error::Device`]: CUDA's devices cannot access each other's memory.
    /// - [`Error::OutOfMemory`], [`Error::Device`]: a device has too little memory, or its driver failed.
    pub fn allocate_sharded_vector(&self) -> Result<ShardedVector<F>> {
        let devices = self.accelerator().devices();
        let radix_log = if self.max_radix_log() == 0 { MAX_RADIX_LOG } else { self.max_radix_log() };
        let plan = PeerPlan::new(self.log_n(), devices.len(), radix_log)?;
        let streams = devices.iter().map(Device::stream).collect::<Result<Vec<_>>>()?;
        ShardedVector::new(streams, plan)
    }

    /// Queues the in-place transform of `vector` on all of its devices. The call does not wait, except for twiddles
    /// that a device computes at their first use.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: the vector has another length, or an order is not natural.
    /// - [`Error::OutOfMemory`], [`Error::Device`]: a device has too little memory, or its driver failed; the vector is
    ///   then undefined.
    pub fn enqueue_on_peers(&self, direction: Direction, vector: &mut ShardedVector<F>) -> Result<()> {
        let passes = self.prepare_peer_passes(direction, vector)?;
        for (number, step) in vector.plan.steps().iter().enumerate() {
            if number > 0 {
                vector.barrier()?;
            }
            vector.enqueue_pass(&passes, step)?;
        }
        Ok(())
    }

    /// Transforms `vector` in place, pass by pass. Returns the time of each pass by the host's clock, in order, for
    /// measurements.
    ///
    /// # Errors
    /// - The errors are those of [`Self::enqueue_on_peers`].
    pub fn time_on_peers(&self, direction: Direction, vector: &mut ShardedVector<F>) -> Result<Vec<Duration>> {
        let passes = self.prepare_peer_passes(direction, vector)?;
        vector.wait(None)?;
        let steps = vector.plan.steps();
        let mut time = |step: &PeerPass| {
            let start = Instant::now();
            vector.enqueue_pass(&passes, step)?;
            vector.wait(None)?;
            Ok(start.elapsed())
        };
        steps.iter().map(&mut time).collect()
    }

    /// Transforms `from` into `to`, both in host memory, on all devices. Each device copies its elements over its own
    /// link.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: a slice is not `2^log_n` long.
    /// - [`Error::Aborted`]: the hook aborted.
    /// - The errors of [`Self::allocate_sharded_vector`] and [`Self::enqueue_on_peers`].
    ///
    /// After an error, `to` is undefined.
    pub fn run_on_peers(&self, direction: Direction, from: &[F], to: &mut [F], abort: Abort<'_>) -> Result<Report> {
        let call = OpScope { operation: format!("ntt {} over peers", F::NAME), elements: from.len() };
        let start = Instant::now();
        let mut vector = self.allocate_sharded_vector()?;
        vector.check_length(to.len())?;
        vector.upload(from)?;
        self.enqueue_on_peers(direction, &mut vector)?;
        catch_hook_panic(abort, |abort| vector.wait(abort))?;
        vector.download(to)?;
        let info = vector.streams[0].device().info();
        let name = format!("{} × {}", vector.plan.owner_count(), info.name);
        Ok(call.report_success(info.backend, &name, start, vector.traffic(), Vec::new()))
    }

    /// Returns the passes of `vector` for each device. Finds or computes their twiddles.
    fn prepare_peer_passes(&self, direction: Direction, vector: &mut ShardedVector<F>) -> Result<Vec<PeerPasses>> {
        if self.log_n() != vector.plan.log_n() {
            return Err(Error::invalid("PeerVector", "length", 1u64 << self.log_n(), vector.len()));
        }
        let transform = self.transform(direction);
        let plan = &vector.plan;
        vector.streams.iter_mut().map(|stream| PeerPasses::new(stream, plan, &transform)).collect()
    }
}
