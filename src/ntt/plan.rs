//! How a transform is cut into passes: sizes only, no device.

use crate::{Error, Result};

/// Largest radix of a pass: 2^8 rows of 4 columns fill a tile of 32 KiB, the local memory that every
/// device has.
const MAX_RADIX_LOG: u32 = 8;
/// Elements of a tile in kernels, `TILE_LOG` of `cl/ntt.cl`.
pub(super) const TILE_LOG: u32 = 10;
/// Kernels index elements with 32 bits and need one to spare.
const MAX_LOG_N: u32 = 31;

/// One pass over the whole vector.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Pass {
    /// Binary logarithm of the points of its small transforms.
    pub radix_log: u32,
    /// Binary logarithm of the product of the radices before it.
    pub log_done: u32,
}

/// The passes of a transform and the sizes of its tables.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Plan {
    pub log_n: u32,
    pub passes: Vec<Pass>,
    /// Binary logarithm of the order of the root whose powers the small transforms use.
    pub roots_log: u32,
    /// Powers ω^e are ω^low · ω^(high·2^split) with low < 2^split.
    pub split: u32,
}

impl Plan {
    /// As few passes as the radix allows, of nearly equal radices.
    pub fn new(log_n: u32) -> Result<Self> {
        if log_n > MAX_LOG_N {
            return Err(Error::invalid("ntt on a device", "log_n", format!("at most {MAX_LOG_N}"), log_n));
        }
        let count = log_n.div_ceil(MAX_RADIX_LOG).max(1);
        let mut log_done = 0;
        let passes: Vec<Pass> = (0..count)
            .map(|number| {
                let radix_log = (log_n - log_done) / (count - number);
                let pass = Pass { radix_log, log_done };
                log_done += radix_log;
                pass
            })
            .collect();
        let roots_log = passes.iter().map(|pass| pass.radix_log).max().unwrap_or(0);
        Ok(Self { log_n, passes, roots_log, split: log_n.div_ceil(2) })
    }

    /// Work-groups of every pass.
    pub fn groups(&self) -> u32 {
        1 << self.log_n.saturating_sub(TILE_LOG)
    }

    /// Entries of the table of low powers.
    pub fn low_length(&self) -> u32 {
        1 << self.split
    }

    /// Entries of the table of high powers.
    pub fn high_length(&self) -> u32 {
        1 << (self.log_n - self.split)
    }

    /// Entries of the table of the small transforms' roots.
    pub fn roots_length(&self) -> u32 {
        1 << self.roots_log.saturating_sub(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passes_cover_every_size() {
        for log_n in 0..=MAX_LOG_N {
            let plan = Plan::new(log_n).expect("within range");
            assert_eq!(plan.passes.iter().map(|p| p.radix_log).sum::<u32>(), log_n);
            assert!(plan.passes.iter().all(|p| p.radix_log <= MAX_RADIX_LOG));
            assert_eq!(plan.low_length().ilog2() + plan.high_length().ilog2(), log_n);
        }
        assert!(Plan::new(32).is_err());
    }
}
