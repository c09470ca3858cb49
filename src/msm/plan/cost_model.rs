//! Estimates the time and the memory of a plan.

use std::time::Duration;

use super::cost_constants::{CostConstants, DIGITS, ENDO_COST_DIV, ENTRY, GLV_SCATTER, SKIPPED_DIGIT, UNITS};
use super::msm_plan::MsmPlan;
use super::window_bands_and_rounds::{MAX_PIECE, PassTotals};
use crate::kernels::field_sources::INVERSE_GROUPS_PER_UNIT;
use crate::msm::options::MAX_WINDOW;

/// Affine additions of a matrix, per compute unit, that are divided evenly among workgroups before they start. The last
/// of any further ones go to whichever workgroup is ready first.
const FIXED_SHARES: u64 = 1 << 17;
/// Number of inversions per workgroup that together take as long as a round with hardly any pairs.
const INVERSIONS: u64 = 3;
/// Cost of visiting a bucket in each chunk after the first, in percent of an XYZZ addition.
const VISIT: u64 = 67;

impl MsmPlan {
    /// Returns the time of all chunks by the model, in ps, for all scalar vectors of a matrix.
    pub(crate) fn cost(&self) -> u64 {
        let vectors = u64::from(self.vectors_per_matrix());
        let points = self.problem.points as u64;
        let PassTotals { chunks, matrices, waits, again } = self.pass_totals();
        let others = self.sets - self.own_set_count();
        let (shared, rows) =
            ((self.skip + self.problem.points - self.until) as u64, u64::from(self.joined_bucket_count()));
        let halves = u64::from(self.rows_per_bucket());
        let entries = halves * vectors * (points * u64::from(self.windows - others)).saturating_sub(shared);
        let left = entries >> self.levels;
        // The rest of each chunk's row is rounded up. A bucket's first addition is free, but every later chunk visits
        // the bucket.
        let rounded = if self.levels == 0 { 0 } else { chunks * halves * rows / 2 };
        let xyzz = (left + rounded + rows + (chunks - 1) * rows * VISIT / 100).saturating_sub(2 * rows.min(left));
        // With GLV, the chains of rows in narrow windows, of both halves, are so long that kernels wait for them.
        let row = if self.glv { self.mean_row() } else { entries / (chunks * rows).max(1) };
        let mean = row >> self.levels;
        let longest = (mean + 4 * mean.isqrt() + 1).min(u64::from(MAX_PIECE));
        let costs = CostConstants::for_affine_bytes(self.problem.affine_bytes);
        let additions = (entries - left).saturating_sub(rounded - rounded / chunks);
        let taken = additions.saturating_sub(matrices * FIXED_SHARES * UNITS);
        let lambda = (halves - 1) * costs.xyzz / ENDO_COST_DIV;
        let uneven =
            100 + costs.tail_effect_percent(chunks * rows / matrices.max(1), self.problem.compute_units.into());
        let scattered = if self.glv && self.sort_key_bits() == MAX_WINDOW { GLV_SCATTER } else { 0 };
        let kernels = costs.affine * additions - costs.taken * taken
            + waits
            + (costs.xyzz + lambda) * xyzz * uneven / 100
            + costs.tail * longest * matrices
            + costs.round * (entries - left)
                / (INVERSIONS * u64::from(INVERSE_GROUPS_PER_UNIT) * UNITS * u64::from(self.affine_tile))
            + (ENTRY + scattered) * entries
            + DIGITS * vectors * again
            + SKIPPED_DIGIT * vectors * points * u64::from(others)
            + costs.row * halves * rows;
        // Vectors that are not joined run their kernels one after the other.
        let times = u64::from(self.problem.vectors / self.problem.joined).max(1);
        self.overlapped_time(times * kernels) / times + self.reduction_cost() + costs.bit * self.unhidden_host_bits()
    }

    /// Returns the number of bits of all windows if nothing overlaps the vector's last step on the host, else 0. Other
    /// vectors or multiplications would overlap it.
    fn unhidden_host_bits(&self) -> u64 {
        let alone = self.problem.vectors == 1 && self.problem.at_once == 1;
        if alone { self.first_bit(self.windows).into() } else { 0 }
    }

    /// Returns the time of a chunk of `points` points by the model, for all scalar vectors of a matrix.
    pub(crate) fn estimate_chunk_time(&self, points: usize) -> Duration {
        let all = u128::from(self.cost()) * points as u128 / self.problem.points.max(1) as u128;
        Duration::from_nanos((all / 1000) as u64)
    }

    /// Returns the bytes of device memory that the plan needs, without resident bases.
    pub(crate) fn workspace_bytes(&self) -> u64 {
        let affine = self.problem.affine_bytes;
        // Two chunks are on the device at once.
        let slots = if self.chunk < self.problem.points { 2 } else { 1 };
        let vectors = u64::from(self.problem.vectors);
        let inputs = slots * self.problem.input_bytes(self.chunk);
        let buckets = u64::from(self.own_bucket_count());
        let sums = u64::from(
            self.vectors_per_matrix()
                * (2 * self.own_set_count() * self.segment_count()
                    + self.reduced_point_count() * self.sum_part_count()),
        );
        let scratch = self.buffer_sizes().bytes() + 2 * affine * sums + (1 << 20);
        inputs + u64::from(self.problem.lanes) * scratch + 2 * affine * vectors * buckets
    }
}
