//! Windows, pieces and memory of a multi-scalar multiplication: sizes only, no device.

/// Longest piece that kernels can order by length: `BINS` of `cl/msm_rows.cl`.
const MAX_PIECE: u32 = 512;
/// Work-items wanted in the bucket reduction.
const REDUCTION_ITEMS: u64 = 1 << 15;
/// Points summed by one group of `msm_sum_tree`.
pub(super) const TREE: u32 = 64;
/// Pieces merged by one work-item at each level of the merging tree.
pub(super) const FAN_IN: u32 = 8;
/// A point addition in the bucket reduction against one in the accumulation: 14 products against 10,
/// at a lower occupancy.
const REDUCTION_WEIGHT: u64 = 2;

/// How `points` scalars of `scalar_bits` bits are multiplied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Plan {
    pub points: u32,
    /// Bits of a window.
    pub c: u32,
    pub windows: u32,
    /// Longest piece of a row that one work-item sums.
    pub piece: u32,
    /// Buckets of a segment in the reduction.
    pub segment: u32,
}

impl Plan {
    /// The cheapest window for these numbers.
    pub fn new(points: u32, scalar_bits: u32) -> Self {
        let c = (4..=20).min_by_key(|&c| cost(u64::from(points), scalar_bits, c)).unwrap_or(4);
        let windows = windows(scalar_bits, c);
        let buckets = 1u64 << (c - 1);
        // Twice the mean length, so that rows of random scalars are one piece each.
        let mean = u64::from(points).div_ceil(buckets);
        let piece = (2 * mean).next_power_of_two().clamp(16, u64::from(MAX_PIECE)) as u32;
        let per_item = buckets * u64::from(windows) / REDUCTION_ITEMS;
        let segment = per_item.next_power_of_two().clamp(4, buckets) as u32;
        Self { points, c, windows, piece, segment }
    }

    /// Buckets of a window: |digit| is 1 … 2^(c−1).
    pub fn buckets(&self) -> u32 {
        1 << (self.c - 1)
    }

    /// Rows of the transposed matrix.
    pub fn rows(&self) -> u32 {
        self.windows * self.buckets()
    }

    /// At most this many entries that are not zero.
    pub fn entries(&self) -> u64 {
        u64::from(self.points) * u64::from(self.windows)
    }

    /// At most this many pieces: one for every row that is not empty, and one more per full piece.
    pub fn pieces(&self) -> u64 {
        u64::from(self.rows()).min(self.entries()) + self.entries() / u64::from(self.piece)
    }

    /// Strides of the merging tree's levels, enough for a row that holds every point.
    pub fn merge_strides(&self) -> impl Iterator<Item = u32> {
        let most = self.points.div_ceil(self.piece);
        std::iter::successors(Some(1u32), |stride| stride.checked_mul(FAN_IN)).take_while(move |stride| *stride < most)
    }

    /// Segments of a window in the reduction.
    pub fn segments(&self) -> u32 {
        self.buckets() / self.segment
    }

    /// Device bytes that it needs beside nothing else, for affine points of `affine_bytes`.
    pub fn bytes(&self, affine_bytes: u64) -> u64 {
        let inputs = u64::from(self.points) * (affine_bytes + 32);
        let matrix = 8 * self.entries() + 12 * u64::from(self.rows());
        // A piece has its description (16 bytes), its place (4) and its sum (an XYZZ point).
        let pieces = self.pieces() * (20 + 2 * affine_bytes);
        let shares = 2 * u64::from(self.windows * self.segments()) * 2 * affine_bytes;
        inputs + matrix + pieces + shares + (1 << 20)
    }
}

/// Windows that hold a scalar and the carry of its highest signed digit.
fn windows(scalar_bits: u32, c: u32) -> u32 {
    (scalar_bits + 1).div_ceil(c)
}

/// Point additions of accumulation and reduction, the latter weighted.
fn cost(points: u64, scalar_bits: u32, c: u32) -> u64 {
    u64::from(windows(scalar_bits, c)) * (points + REDUCTION_WEIGHT * 2 * (1 << (c - 1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plans_hold_what_they_promise() {
        for points in (0..28).flat_map(|k| [(1u32 << k) - 1, 1 << k, (1 << k) + 1]) {
            for bits in [254, 255] {
                let plan = Plan::new(points, bits);
                assert!(plan.windows * plan.c > bits, "the carry of the top digit has room");
                assert!(plan.piece <= MAX_PIECE && plan.buckets() % plan.segment == 0);
                let reach = plan.merge_strides().last().map_or(1, |stride| stride.saturating_mul(FAN_IN));
                assert!(u64::from(reach) * u64::from(plan.piece) >= u64::from(points));
            }
        }
    }

    #[test]
    fn windows_grow_with_the_number_of_points() {
        let widths: Vec<u32> = [1 << 10, 1 << 16, 1 << 20, 1 << 24].iter().map(|&n| Plan::new(n, 255).c).collect();
        assert!(widths.is_sorted(), "{widths:?}");
    }
}
