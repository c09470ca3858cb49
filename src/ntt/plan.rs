//! Cuts a transform into passes: sizes only. Touches no device.

use crate::kernels::KernelFamily;
use crate::kernels::ntt::{FAMILY, NTT_GROUPS, SMALL, SMALL_NTT_GROUPS, SMALL_TILE_LOG, STEP_LOG, TILE_LOG};
use crate::{Error, Result};

/// Describes the tiles of a kernel module's passes: the elements that one work-group transforms in registers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Tile {
    pub family: &'static KernelFamily,
    /// Binary logarithm of a tile's elements.
    pub log: u32,
    /// Minimum number of work-groups of a pass that a multiprocessor runs at once. The kernels' launch bounds guarantee
    /// it.
    pub groups: u32,
}

/// Tiles of 2^9 elements, for transforms of any size.
pub(super) const TILE: Tile = Tile { family: &FAMILY, log: TILE_LOG, groups: NTT_GROUPS };
/// Tiles of 2^8 elements, for transforms whose tiles all run at once: see `cl/ntt_single_wave.cl`.
pub(super) const SMALL_TILE: Tile = Tile { family: &SMALL, log: SMALL_TILE_LOG, groups: SMALL_NTT_GROUPS };

impl Tile {
    /// Returns the number of work-items of a work-group. Each handles 2^[`STEP_LOG`] elements of the tile.
    pub(super) fn work_group_size(self) -> u32 {
        1 << (self.log - STEP_LOG)
    }
}

/// Maximum binary logarithm of a pass's radix, 8, if a transform takes several passes. A tile then has 2^8 rows of two
/// elements, which are runs of 64 bytes in memory.
pub(super) const MAX_RADIX_LOG: u32 = 8;
/// Binary logarithms of the radices that passes over small tiles may have, 3 to 6.
const SMALL_RADIX_LOGS: std::ops::RangeInclusive<u32> = 3..=6;
/// Maximum number of passes of a transform, 4.
const MAX_PASSES: u32 = 4;
/// Maximum log n, 31: kernels index elements with 32 bits and need one to spare.
const MAX_LOG_N: u32 = 31;
/// Maximum log n, 16, at which all twiddles of the last pass are always in one table. It takes at most 4 MiB.
const MAX_SINGLE_TABLE_LOG: u32 = 16;

/// Describes the passes of a transform and the sizes of its twiddle tables.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct NttPlan {
    pub log_n: u32,
    pub tile: Tile,
    /// Binary logarithms of the passes' radices, in order. With three or more passes, the first and last are equal, so
    /// that the last pass can transpose in place.
    pub radices: Vec<u32>,
    /// Number of low bits of a row's index, in the last pass, that select an entry of the table of low twiddles. It is
    /// all bits if one table has all twiddles. It is half of them, rounded up, if a second table serves the high bits.
    pub low_log: u32,
}

/// Describes a pass before the last, which transforms columns of a matrix.
#[allow(clippy::struct_field_names, reason = "every number is a logarithm, and says so")]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ColumnPass {
    pub radix_log: u32,
    /// Binary logarithm of the distance, in elements, between consecutive rows.
    pub stride_log: u32,
    /// Number of index bits that the first pass has transformed; 0 in the first pass.
    pub first_log: u32,
    /// Number of index bits of the pass before, which this pass swaps with its own; 0 if it does not swap.
    pub swap_log: u32,
}

impl NttPlan {
    /// Plans a transform of 2^log_n elements, in as few passes as radices of at most 2^max_radix_log allow. All
    /// twiddles of the last pass are in one table if `one_table` is true or n is small, otherwise in two.
    pub(super) fn new(log_n: u32, max_radix_log: u32, one_table: bool) -> Result<Self> {
        const ERROR_CONTEXT: &str = "ntt on a device";
        if log_n > MAX_LOG_N {
            return Err(Error::invalid(ERROR_CONTEXT, "log_n", format!("at most {MAX_LOG_N}"), log_n));
        }
        let single = max_radix_log == MAX_RADIX_LOG && log_n <= TILE.log;
        let count = if single { 1 } else { log_n.div_ceil(max_radix_log).max(1) };
        let radices = match count {
            1 => vec![log_n],
            2 => vec![log_n.div_ceil(2), log_n / 2],
            3 => {
                let outer = log_n.div_ceil(3);
                vec![outer, log_n - 2 * outer, outer]
            }
            MAX_PASSES => {
                let outer = log_n.div_ceil(4);
                let inner = log_n - 2 * outer;
                vec![outer, inner.div_ceil(2), inner / 2, outer]
            }
            _ => {
                let most = MAX_PASSES * max_radix_log;
                return Err(Error::invalid(ERROR_CONTEXT, "log_n", format!("at most {most} for such a radix"), log_n));
            }
        };
        let mut plan = Self { log_n, tile: TILE, radices, low_log: 0 };
        if let Some(pass) = plan.column_passes(true).iter().find(|pass| pass.radix_log + pass.stride_log < TILE.log) {
            // A tile's columns would belong to several blocks.
            let (bits, least) = (pass.radix_log + pass.stride_log, TILE.log);
            return Err(Error::invalid(ERROR_CONTEXT, "bits of the last passes", format!("at least {least}"), bits));
        }
        let rows_log = plan.rows_log();
        let one_table = one_table || log_n <= MAX_SINGLE_TABLE_LOG;
        plan.low_log = if one_table { rows_log } else { rows_log.div_ceil(2) };
        Ok(plan)
    }

    /// Returns this plan with [`SMALL_TILE`], for one vector. Returns `None` unless it has three passes of radices that
    /// small tiles allow, and all twiddles of the last pass are in one table.
    pub(super) fn with_small_tiles(&self) -> Option<Self> {
        let three = self.radices.len() == 3 && self.radices.iter().all(|log| SMALL_RADIX_LOGS.contains(log));
        (three && self.low_log == self.rows_log()).then(|| Self { tile: SMALL_TILE, ..self.clone() })
    }

    /// Returns whether the transform has fewer than four elements, the number that one work-item of a tile handles. The
    /// kernel `ntt_short` runs such transforms.
    pub(super) fn is_short(&self) -> bool {
        self.log_n < 2
    }

    /// Returns the number of tiles of `vectors` vectors, each of which has at least one tile.
    pub(super) fn tile_count(&self, vectors: u32) -> u64 {
        u64::from(vectors) << (self.log_n - self.tile.log)
    }

    /// Returns the binary logarithm of the last pass's radix.
    pub(super) fn last_radix_log(&self) -> u32 {
        self.radices[self.radices.len() - 1]
    }

    /// Returns the binary logarithm of the last pass's number of rows.
    pub(super) fn rows_log(&self) -> u32 {
        self.log_n - self.last_radix_log()
    }

    /// Returns the number of index bits that the first of several passes transforms; 0 if there is only one pass.
    pub(super) fn first_radix_log(&self) -> u32 {
        if self.radices.len() > 1 { self.radices[0] } else { 0 }
    }

    /// Returns the passes before the last, in order. If the output is in `natural` order, the third of four passes
    /// swaps digits.
    pub(super) fn column_passes(&self, natural: bool) -> Vec<ColumnPass> {
        let columns = &self.radices[..self.radices.len() - 1];
        let mut stride_log = self.log_n;
        let pass = |(number, &radix_log): (usize, &u32)| {
            stride_log -= radix_log;
            let first_log = if number == 0 { 0 } else { self.radices[0] };
            let swap_log = if natural && number == 2 { self.radices[1] } else { 0 };
            ColumnPass { radix_log, stride_log, first_log, swap_log }
        };
        columns.iter().enumerate().map(pass).collect()
    }

    /// Returns the binary logarithm of the number of tiles of a plane. Elements of a plane differ only in the first and
    /// last digit of their index. If the output is in natural order, the last pass transposes planes.
    pub(super) fn plane_tile_count_log(&self) -> u32 {
        let plane = if self.radices.len() == 2 { self.log_n } else { self.first_radix_log() + self.last_radix_log() };
        plane.saturating_sub(self.tile.log)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passes_cover_every_size() {
        for log_n in 0..=MAX_LOG_N {
            let plan = NttPlan::new(log_n, MAX_RADIX_LOG, false).expect("within range");
            assert_eq!(plan.radices.iter().sum::<u32>(), log_n);
            // Passes that wait need more than one step, so at least three levels.
            assert!(log_n <= TILE.log || plan.radices.iter().all(|r| (3..=MAX_RADIX_LOG).contains(r)));
            assert!(plan.radices.len() < 3 || plan.radices.first() == plan.radices.last());
            assert!(plan.column_passes(true).iter().all(|pass| pass.radix_log + pass.stride_log >= TILE.log));
        }
        assert!(NttPlan::new(32, MAX_RADIX_LOG, false).is_err() && NttPlan::new(17, 4, false).is_err());
    }

    #[test]
    fn small_tiles_are_for_short_passes() {
        let small = |log_n, max_radix_log, one_table| {
            let plan = NttPlan::new(log_n, max_radix_log, one_table).expect("within range");
            plan.with_small_tiles().is_some()
        };
        let sizes = (0..=MAX_LOG_N).filter(|log_n| small(*log_n, MAX_RADIX_LOG, true));
        assert_eq!(sizes.collect::<Vec<_>>(), [17, 18]);
        assert!(small(15, 5, true) && !small(18, 5, true) && !small(18, MAX_RADIX_LOG, false));
        assert_eq!(
            NttPlan::new(18, MAX_RADIX_LOG, true)
                .ok()
                .and_then(|plan| plan.with_small_tiles())
                .map(|p| p.tile_count(1)),
            Some(1 << 10)
        );
    }

    #[test]
    fn tables_are_as_small_as_said() {
        // A twiddle takes two elements, or 64 bytes.
        let elements = |log_n: u32, logs: &[u32]| (2 * logs.iter().map(|log| 1u64 << log).sum::<u64>(), 1 << log_n);
        for log_n in 17..=MAX_LOG_N {
            let plan = NttPlan::new(log_n, MAX_RADIX_LOG, false).expect("within range");
            let (rows_log, width_log) = (plan.rows_log(), plan.last_radix_log());
            let (short, n) =
                elements(log_n, &[rows_log, plan.low_log + width_log, rows_log - plan.low_log + width_log]);
            assert!(short <= n / 4, "2^{log_n}: {plan:?}");
            let plan = NttPlan::new(log_n, MAX_RADIX_LOG, true).expect("within range");
            assert!((plan.low_log, plan.low_log + width_log) == (rows_log, log_n), "2^{log_n}: {plan:?}");
        }
    }
}
