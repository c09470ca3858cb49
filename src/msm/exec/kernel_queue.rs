//! Queues the kernels of a multi-scalar multiplication, in order, on one stream; nothing waits for the host in between.
//! A scratch buffer may be dropped once its last kernel is queued: its memory is reused in the order of the stream.
//! Buffers have the sizes that the largest chunk and band need, so that each chunk reuses the blocks of the previous
//! one.

use crate::Result;
use crate::backend::{Buffer, Event, PinnedBuffer, Stream};
use crate::kernel_arguments::{In, Kernel, Out, Value};
use crate::kernels::msm::{QUAD, ReduceParams, ReduceSegments, ReduceSegmentsScalar, SumParts, WeightedBitSums};
use crate::module_launcher::KernelModule;
use crate::msm::plan::MsmPlan;

/// Holds the stream that kernels are queued on, with their module and plan.
pub(super) struct KernelQueue<'a> {
    pub stream: &'a mut Stream,
    pub program: KernelModule,
    pub plan: MsmPlan,
    /// Bytes of an XYZZ point.
    pub point_bytes: usize,
}

impl KernelQueue<'_> {
    /// Queues `kernel` over at least `items` work-items. The plan has sized its buffers for its numbers.
    pub(super) fn launch<K: Kernel>(&mut self, items: u64, kernel: K) -> Result<()> {
        self.program.run(self.stream, items, kernel)
    }

    /// Queues `kernel` over `groups` work-groups.
    pub(super) fn launch_groups<K: Kernel>(&mut self, groups: u64, kernel: K) -> Result<()> {
        self.program.run(self.stream, groups * u64::from(K::GROUP_SIZE), kernel)
    }

    /// Allocates an array of `count` elements of type `T`, with undefined contents.
    pub(super) fn allocate_array<T>(&self, count: u64) -> Result<Buffer> {
        self.allocate_bytes(size_of::<T>() as u64 * count)
    }

    /// Allocates `count` bytes with undefined contents.
    pub(super) fn allocate_bytes(&self, count: u64) -> Result<Buffer> {
        self.stream.scratch(count as usize)
    }

    fn allocate_points(&self, count: u64) -> Result<Buffer> {
        self.allocate_bytes(count * self.point_bytes as u64)
    }

    /// Allocates the buckets of the device's windows, for all vectors of a matrix. All bytes are zero: every bucket is
    /// infinity.
    pub(super) fn allocate_buckets(&mut self) -> Result<Buffer> {
        let buckets = self.allocate_points(u64::from(self.plan.joined_bucket_count()))?;
        // A device may have no windows.
        if self.plan.joined_bucket_count() > 0 {
            self.stream.zero(&buckets)?;
        }
        Ok(buckets)
    }

    /// Reduces `buckets` (step 3): queues kernels that leave [`MsmPlan::reduced_point_count`] points of every vector.
    /// Their sum, weighted by [`MsmPlan::weight_exponent`], is the result. Returns an event that precedes the last,
    /// short kernels, and the pinned memory to which the Jacobian coordinates are being copied.
    pub(super) fn reduce(&mut self, buckets: &Buffer) -> Result<(Event, PinnedBuffer)> {
        let plan = self.plan;
        let segments = u64::from(plan.joined_segment_count());
        let (shares, totals) = (self.allocate_points(segments)?, self.allocate_points(segments)?);
        self.reduce_segments(buckets, &shares, &totals)?;
        let soon = self.stream.record_event()?;
        let count = plan.vectors_per_matrix() * plan.reduced_point_count();
        let groups = u64::from(count * plan.sum_part_count());
        let parts = self.allocate_points(groups)?;
        let sums = WeightedBitSums {
            bits: plan.segment_index_bits(),
            parts: plan.sum_part_count(),
            shares: In::new(&shares),
            totals: In::new(&totals),
            out: Out::new(&parts),
        };
        self.launch_groups(groups, sums)?;
        // A Jacobian point has three coordinates, an XYZZ point four.
        let bytes = count as usize * self.point_bytes / 4 * 3;
        let (mut result, sums) = (self.stream.allocate_pinned(bytes)?, self.stream.scratch(bytes)?);
        let sum = SumParts { count: plan.sum_part_count(), parts: In::new(&parts), out: Out::new(&sums) };
        self.launch_groups(count.into(), sum)?;
        self.stream.end_timing()?;
        self.stream.copy_to_pinned(&mut result, &sums)?;
        Ok((soon, result))
    }

    /// Queues the kernel that computes the `shares` and `totals` of the segments of `buckets`.
    fn reduce_segments(&mut self, buckets: &Buffer, shares: &Buffer, totals: &Buffer) -> Result<()> {
        let plan = self.plan;
        let segments = u64::from(plan.joined_segment_count());
        let params = ReduceParams {
            segments: segments as u32,
            bits: plan.segment_index_bits(),
            segment: plan.segment,
            from: plan.first_set,
            to: plan.end_set,
            sets: plan.sets,
            wide: plan.wide_windows,
        };
        let (params, shares, totals) = (Value(&params), Out::new(shares), Out::new(totals));
        if plan.quads {
            let reduce = ReduceSegments { params, buckets: In::new(buckets), shares, totals };
            self.launch(u64::from(QUAD) * segments, reduce)
        } else {
            let reduce = ReduceSegmentsScalar { params, buckets: Out::new(buckets), shares, totals };
            self.launch(segments, reduce)
        }
    }
}
