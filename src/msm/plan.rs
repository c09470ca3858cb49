//! Windows, chunks, pieces and memory of a multi-scalar multiplication: sizes only, no device.

/// Longest piece that kernels can order by length: `BINS` of `cl/msm_rows.cl`.
const MAX_PIECE: u32 = 512;
/// Segments wanted in the bucket reduction, each the work of four work-items.
const SEGMENTS: u64 = 1 << 13;
/// Shortest segment: what follows it costs as much as a segment of this length.
const MIN_SEGMENT: u64 = 4;
/// Totals that one group of `msm_sum_bits` sums.
const PART: u32 = 64;
/// Entries that fit into the cache of a large device (16 MiB of 50).
const CACHED_ENTRIES: u32 = 1 << 22;
/// Pieces merged by one group, `MERGE` of `cl/msm_rows.cl`.
const MERGE: u64 = 64;
/// A point addition in the bucket reduction against one in the accumulation: 14 products against 10,
/// at a lower occupancy.
const REDUCTION_WEIGHT: u64 = 2;
/// Most points of a chunk of bases that come from the host: bounds the wait after an abort.
const MAX_STREAMED: usize = 1 << 21;
/// Most points of a chunk of resident bases: the same, where no upload goes in between.
const MAX_RESIDENT: usize = 1 << 22;
/// A chunk smaller than this costs more in launches than its overlap with the next upload gains.
const MIN_STREAMED: usize = 1 << 17;
/// Chunks that an upload is cut into, so that all but the first hide behind kernels.
const STREAMED_CHUNKS: usize = 4;
/// Smallest chunk that is tried where memory is short.
const MIN_CHUNK: usize = 1 << 8;

/// What is multiplied, as far as sizes depend on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Problem {
    pub points: usize,
    pub scalar_bits: u32,
    pub affine_bytes: u64,
    /// The bases are on the device already.
    pub resident: bool,
}

/// How a problem is cut into windows and chunks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Plan {
    problem: Problem,
    /// Most points that go through the device at a time.
    pub chunk: usize,
    /// Bits of a window.
    pub c: u32,
    pub windows: u32,
    /// Buckets of a segment in the reduction.
    pub segment: u32,
}

impl Plan {
    /// The plan that is fastest with as much memory as it likes.
    pub fn new(problem: Problem) -> Self {
        let (wanted, most) = match problem.resident {
            true => (problem.points, MAX_RESIDENT),
            false => ((problem.points / STREAMED_CHUNKS).max(MIN_STREAMED), MAX_STREAMED),
        };
        Self::with_chunk(problem, wanted.clamp(1, most))
    }

    /// The plan with the largest chunk that fits into `free` bytes; the bytes that the smallest needs if
    /// none does.
    pub fn fit(problem: Problem, free: u64) -> Result<Self, u64> {
        let mut plan = Self::new(problem);
        while plan.bytes() > free {
            if plan.chunk <= MIN_CHUNK {
                return Err(plan.bytes());
            }
            plan = Self::with_chunk(problem, plan.chunk.div_ceil(2));
        }
        Ok(plan)
    }

    fn with_chunk(problem: Problem, chunk: usize) -> Self {
        let chunks = problem.points.div_ceil(chunk) as u64;
        let cost = |&c: &u32| cost(problem.points as u64, chunks, problem.scalar_bits, c);
        let c = (4..=20).min_by_key(cost).unwrap_or(4);
        let windows = windows(problem.scalar_bits, c);
        let buckets = 1u64 << (c - 1);
        let wanted = buckets * u64::from(windows) / SEGMENTS;
        let segment = wanted.next_power_of_two().clamp(MIN_SEGMENT, buckets) as u32;
        Self { problem, chunk, c, windows, segment }
    }

    /// Buckets of a window: |digit| is 1 … 2^(c−1).
    pub fn buckets(&self) -> u32 {
        1 << (self.c - 1)
    }

    /// Rows of the transposed matrix.
    pub fn rows(&self) -> u32 {
        self.windows * self.buckets()
    }

    /// Segments of a window in the reduction.
    pub fn segments(&self) -> u32 {
        self.buckets() / self.segment
    }

    /// Binary logarithm of the segments of a window: the bits of a segment's number.
    pub fn segment_bits(&self) -> u32 {
        self.segments().ilog2()
    }

    /// Parts that each sum over a window's segments is cut into.
    pub fn parts(&self) -> u32 {
        (self.segments() / 2).div_ceil(PART).max(1)
    }

    /// Points that the reduction leaves: for each window one for every bit of a segment's number, and one
    /// for the segments' shares.
    pub fn sums(&self) -> u32 {
        self.windows * (self.segment_bits() + 1)
    }

    /// The power of two that such a point is to be multiplied by.
    pub fn weight(&self, sum: u32) -> u32 {
        let (window, bit) = (sum / (self.segment_bits() + 1), sum % (self.segment_bits() + 1));
        let within = if bit == self.segment_bits() { 0 } else { self.segment.ilog2() + bit };
        self.c * window + within
    }

    /// How a chunk of so many points is cut.
    pub fn cut(&self, points: usize) -> Cut {
        // Twice the mean length, so that rows of random scalars are one piece each.
        let mean = (points as u64).div_ceil(u64::from(self.buckets()));
        let piece = (2 * mean).next_power_of_two().clamp(16, u64::from(MAX_PIECE)) as u32;
        Cut { points: points as u32, windows: self.windows, rows: self.rows(), piece }
    }

    /// Device bytes that it needs beside resident bases.
    pub fn bytes(&self) -> u64 {
        let point = 2 * self.problem.affine_bytes;
        let cut = self.cut(self.chunk);
        // Two chunks are on the device at once.
        let slots = if self.chunk < self.problem.points { 2 } else { 1 };
        let bases = if self.problem.resident { 0 } else { self.problem.affine_bytes };
        let inputs = slots * self.chunk as u64 * (bases + 32);
        let matrix = 8 * cut.entries() + 8 * u64::from(self.rows());
        // A piece has its description (12 bytes), its place (4) and its sum.
        let pieces = cut.pieces() * (16 + point);
        let buckets = u64::from(self.rows()) * point;
        let merges = 4 * (cut.units() + cut.long_rows());
        let sums = u64::from(2 * self.windows * self.segments() + self.sums() * self.parts()) * point;
        inputs + matrix + pieces + merges + buckets + sums + (1 << 20)
    }
}

/// How the rows of one chunk's transposed matrix are cut into pieces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Cut {
    pub points: u32,
    windows: u32,
    rows: u32,
    /// Longest piece of a row that one work-item sums.
    pub piece: u32,
}

impl Cut {
    /// At most this many entries that are not zero.
    pub fn entries(&self) -> u64 {
        u64::from(self.points) * u64::from(self.windows)
    }

    /// Windows whose entries are put in their rows by one launch: scattered writes are fast inside the cache.
    pub fn windows_at_once(&self) -> u32 {
        (CACHED_ENTRIES / self.points.max(1)).clamp(1, self.windows)
    }

    /// At most this many pieces: one for every row that is not empty, and one more per full piece.
    pub fn pieces(&self) -> u64 {
        u64::from(self.rows).min(self.entries()) + self.entries() / u64::from(self.piece)
    }

    /// At most this many runs of pieces to be merged: one for every row of several pieces, each of which
    /// has a full one, and one more per full run.
    pub fn units(&self) -> u64 {
        self.entries() / u64::from(self.piece) + self.pieces() / MERGE + 1
    }

    /// At most this many rows of several runs.
    pub fn long_rows(&self) -> u64 {
        self.pieces() / MERGE + 1
    }
}

/// Windows that hold a scalar and the carry of its highest signed digit.
fn windows(scalar_bits: u32, c: u32) -> u32 {
    (scalar_bits + 1).div_ceil(c)
}

/// Point additions: a point's and, for every chunk, a bucket's in the accumulation; two a bucket in the
/// reduction, weighted.
fn cost(points: u64, chunks: u64, scalar_bits: u32, c: u32) -> u64 {
    u64::from(windows(scalar_bits, c)) * (points + (chunks - 1 + 2 * REDUCTION_WEIGHT) * (1 << (c - 1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(points: usize, resident: bool) -> Problem {
        Problem { points, scalar_bits: 255, affine_bytes: 96, resident }
    }

    #[test]
    fn plans_hold_what_they_promise() {
        for points in (0..28).flat_map(|k| [(1usize << k) - 1, 1 << k, (1 << k) + 1]) {
            for (scalar_bits, resident) in [(254, true), (254, false), (255, true), (255, false)] {
                let plan = Plan::new(Problem { scalar_bits, ..problem(points.max(1), resident) });
                assert!(plan.windows * plan.c > scalar_bits, "the carry of the top digit has room");
                let cut = plan.cut(plan.chunk.min(points));
                assert!(cut.piece <= MAX_PIECE && plan.buckets().is_multiple_of(plan.segment));
                assert!(u32::try_from(cut.entries()).is_ok(), "entries are counted with 32 bits");
                assert!((0..plan.sums()).all(|sum| plan.weight(sum) < plan.c * plan.windows));
            }
        }
    }

    #[test]
    fn windows_grow_with_the_number_of_points() {
        let width = |&log_n: &u32| Plan::new(problem(1 << log_n, true)).c;
        let widths: Vec<u32> = [10, 16, 20, 24].iter().map(width).collect();
        assert!(widths.is_sorted(), "{widths:?}");
    }

    #[test]
    fn chunks_shrink_until_they_fit() {
        let all = Plan::new(problem(1 << 20, false));
        let half = Plan::fit(problem(1 << 20, false), all.bytes() / 2).expect("a smaller chunk fits");
        assert!(half.chunk < all.chunk && half.bytes() <= all.bytes() / 2);
        assert!(Plan::fit(problem(1 << 20, false), 1000).is_err());
    }
}
