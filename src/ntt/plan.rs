//! Cuts a transform into passes: sizes only. Touches no device.

use crate::kernels::Family;
use crate::{Error, Result};

/// Describes the tiles of a kernel module's passes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Tile {
    pub family: Family,
    /// Binary logarithm of the elements, as in `cl/ntt_common.cl`.
    pub log: u32,
    /// Minimum groups of a pass that a multiprocessor runs at once, which the kernels' bounds promise.
    pub groups: u32,
}

/// Tiles for any transform.
pub(super) const TILE: Tile = Tile { family: Family::Ntt, log: 9, groups: 7 };
/// Tiles for a transform that takes a single wave of them: see `cl/ntt_single_wave.cl`.
pub(super) const SMALL_TILE: Tile = Tile { family: Family::NttSmall, log: 8, groups: 14 };

impl Tile {
    /// Returns the work-items of a group, of four elements each.
    pub fn group(self) -> u32 {
        1 << (self.log - 2)
    }
}

/// Maximum radix of a pass of several: a tile of 2^8 rows has columns of 64 bytes.
pub(super) const MAX_RADIX_LOG: u32 = 8;
/// Radices of passes over small tiles.
const SMALL_RADIX_LOGS: std::ops::RangeInclusive<u32> = 3..=6;
/// Maximum number of passes.
const MAX_PASSES: u32 = 4;
/// Maximum log n: kernels index elements with 32 bits and need one to spare.
const MAX_LOG_N: u32 = 31;
/// Maximum log n for which one table always has all twiddles of the last pass (4 MiB).
const MAX_SINGLE_TABLE_LOG: u32 = 16;

/// Describes the passes of a transform and the sizes of its tables.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct NttPlan {
    pub log_n: u32,
    pub tile: Tile,
    /// Binary logarithms of the passes' radices. With three or more the first and last are equal, so that the last
    /// pass can transpose in place.
    pub radices: Vec<u32>,
    /// Number of low bits, of a row's number in the last pass, that index the table of low twiddles. All bits; or half
    /// of them if there are two tables, each of the square root of one table's size.
    pub low_log: u32,
}

/// Describes a pass before the last.
#[allow(clippy::struct_field_names, reason = "every number is a logarithm, and says so")]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ColumnPass {
    pub radix_log: u32,
    /// Binary logarithm of the distance between its rows.
    pub stride_log: u32,
    /// Bits that the first pass settled; 0 in that pass.
    pub first_log: u32,
    /// Bits of the digit before, with which it swaps its own; 0 if it does not swap.
    pub swap_log: u32,
}

impl NttPlan {
    /// Plans as few passes as radices up to 2^max_radix_log allow, with all twiddles of the last pass in one table or
    /// in two.
    pub fn new(log_n: u32, max_radix_log: u32, one_table: bool) -> Result<Self> {
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

    /// Returns these passes over small tiles, for one vector, if small tiles can do them: three passes, with the last
    /// one's twiddles in one table.
    pub fn with_small_tiles(&self) -> Option<Self> {
        let three = self.radices.len() == 3 && self.radices.iter().all(|log| SMALL_RADIX_LOGS.contains(log));
        (three && self.low_log == self.rows_log()).then(|| Self { tile: SMALL_TILE, ..self.clone() })
    }

    /// Returns whether the transform has fewer elements than one work-item of a tile handles, four. The kernel
    /// `ntt_short` runs such transforms.
    pub fn is_short(&self) -> bool {
        self.log_n < 2
    }

    /// Returns the tiles of `vectors` vectors, of at least one tile each.
    pub fn tiles(&self, vectors: u32) -> u64 {
        u64::from(vectors) << (self.log_n - self.tile.log)
    }

    /// Returns the binary logarithm of the last pass's radix.
    pub fn last_radix_log(&self) -> u32 {
        self.radices[self.radices.len() - 1]
    }

    /// Returns the binary logarithm of the last pass's number of rows.
    pub fn rows_log(&self) -> u32 {
        self.log_n - self.last_radix_log()
    }

    /// Returns the bits that the first of several passes settles.
    pub fn first_log(&self) -> u32 {
        if self.radices.len() > 1 { self.radices[0] } else { 0 }
    }

    /// Returns the passes before the last. In natural order, the third of four swaps digits.
    pub fn column_passes(&self, natural: bool) -> Vec<ColumnPass> {
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

    /// Returns the binary logarithm of the tiles of a plane of the last pass, which it transposes in natural order.
    pub fn plane_log(&self) -> u32 {
        let plane = if self.radices.len() == 2 { self.log_n } else { self.first_log() + self.last_radix_log() };
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
            NttPlan::new(18, MAX_RADIX_LOG, true).ok().and_then(|plan| plan.with_small_tiles()).map(|p| p.tiles(1)),
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
