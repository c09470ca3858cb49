//! Divides the points into chunks, and estimates how kernels hide their uploads.

use std::ops::Range;

use super::cost_constants::{CostConstants, UPLOAD};
use super::msm_plan::MsmPlan;
use super::plan_input::PlanInput;

/// Maximum number of shorter chunks before the first full-length one, if bases come from the host.
const MAX_RAMP_CHUNKS: usize = 6;
/// Points that are uploaded in the fixed time of a chunk's kernels, which is the same for few points and many.
const START: usize = 3 << 16;
/// Uploading `1/VISITED` of all points takes as long as the kernels' visits of all buckets: more points have more
/// buckets.
const VISITED: usize = 128;
/// Time of all kernels of a chunk per point, in batched affine additions.
const ADDITIONS: u64 = 15;
/// Returns the number of points that are uploaded while the kernels process 100 points; it is between 100 and 400.
fn upload_percent(problem: &PlanInput) -> usize {
    let kernels = ADDITIONS * CostConstants::for_affine_bytes(problem.affine_bytes).affine * u64::from(problem.vectors);
    (100 * kernels / (UPLOAD * problem.input_bytes(1)).max(1)).clamp(100, 400) as usize
}

/// Returns the number of points that are uploaded in the minimum time of a chunk, which even the shortest chunk takes.
pub(super) fn min_upload_points(problem: &PlanInput) -> usize {
    START.max(problem.points / VISITED)
}

/// Returns the lengths of the shorter chunks before the first one of `chunk` points, from the last to the first. There
/// are none if bases are resident. Nothing hides the first chunk's upload, so it is short. The kernels of each chunk
/// take as long as the upload of the next.
fn early_chunk_lengths(problem: &PlanInput, chunk: usize) -> impl Iterator<Item = usize> + use<> {
    let (uploaded, start, most) =
        (upload_percent(problem), min_upload_points(problem), if problem.resident { 0 } else { MAX_RAMP_CHUNKS });
    let before = move |length: &usize| Some(length.saturating_sub(start) * 100 / uploaded);
    std::iter::successors(before(&chunk), before).take(most)
}

/// Returns the lengths of those shorter chunks that gain more than they cost, from the last to the first. At least half
/// of a chunk of `chunk` points is left after them.
fn ramp_up_chunks(problem: &PlanInput, chunk: usize) -> Vec<usize> {
    let left = if chunk < problem.points { problem.points - chunk / 2 } else { 0 };
    let start = min_upload_points(problem);
    let running = |sum: &mut usize, length: usize| {
        *sum += length;
        (length >= start && *sum <= left).then_some(length)
    };
    early_chunk_lengths(problem, chunk).scan(0, running).collect()
}

impl MsmPlan {
    /// Returns the full chunk length, in points, with which `whole` full-length chunks suffice. Shorter chunks come
    /// first, and only if bases come from the host. A short chunk at the end would have all the bands of a full-length
    /// one.
    pub(super) fn whole_chunk_len(problem: &PlanInput, whole: usize) -> usize {
        let even = problem.points.div_ceil(whole).max(1);
        let of =
            |chunk: usize, most: usize| whole * chunk + early_chunk_lengths(problem, chunk).take(most).sum::<usize>();
        let end = u32::try_from(even).unwrap_or(u32::MAX);
        let with = |most: usize| 1 + largest_below(end, |chunk| of(chunk as usize, most) < problem.points) as usize;
        let worth_it = |(most, chunk): &(usize, usize)| ramp_up_chunks(problem, *chunk).len() >= *most;
        (1..=MAX_RAMP_CHUNKS).rev().map(|most| (most, with(most))).find(worth_it).map_or(even, |(_, chunk)| chunk)
    }

    /// Returns the number of full-length chunks, which follow the shorter ones.
    pub(super) fn whole_chunk_count(&self) -> usize {
        self.chunk_lengths().last().map_or(1, |(_, count)| count as usize)
    }

    /// Returns each chunk length in points with the number of consecutive chunks that have it, in order. The last chunk
    /// may be shorter.
    pub(super) fn chunk_lengths(&self) -> impl Iterator<Item = (usize, u64)> + use<> {
        let ramp_up_chunks = ramp_up_chunks(&self.problem, self.chunk);
        let rest = self.problem.points - ramp_up_chunks.iter().sum::<usize>();
        let whole = rest.div_ceil(self.chunk.max(1)).max(1);
        ramp_up_chunks.into_iter().rev().map(|length| (length, 1)).chain([(rest.div_ceil(whole), whole as u64)])
    }

    /// Returns the range of points of each chunk, in ascending order.
    pub(crate) fn chunks(&self) -> impl Iterator<Item = Range<usize>> + use<> {
        let points = self.problem.points;
        let each = self.chunk_lengths().flat_map(|(length, count)| (0..count).map(move |_| length));
        let next = move |start: &mut usize, length: usize| {
            let range = *start..(*start + length).min(points);
            *start = range.end;
            Some(range)
        };
        each.scan(0, next).filter(|range| !range.is_empty())
    }
    /// Returns the time of all chunks with their uploads, in ps, if their kernels alone take `kernels` ps. A chunk
    /// starts once it is uploaded and the previous one has ended.
    pub(super) fn overlapped_time(&self, kernels: u64) -> u64 {
        let weight = |points: usize| (points + min_upload_points(&self.problem)) as u128;
        let lengths: Vec<_> = self.chunk_lengths().collect();
        let all: u128 = lengths.iter().map(|(points, count)| u128::from(*count) * weight(*points)).sum();
        let (_, done) = lengths.into_iter().fold((0, 0), |(there, done): (u64, u64), (points, count)| {
            let upload = UPLOAD * self.problem.input_bytes(points.min(self.problem.points));
            let kernels = (u128::from(kernels) * weight(points) / all) as u64;
            let last = there + count * upload;
            (last, (done.max(there + upload) + count * kernels).max(last + kernels))
        });
        done
    }
}

/// Returns the largest number below `end` for which `fits` returns true, or 0 if there is none. `fits` must be true for
/// all numbers below one for which it is true.
pub(super) fn largest_below(end: u32, fits: impl Fn(u32) -> bool) -> u32 {
    let (mut largest, mut too_large) = (0, end);
    while too_large - largest > 1 {
        let middle = largest.midpoint(too_large);
        if fits(middle) { largest = middle } else { too_large = middle }
    }
    largest
}
