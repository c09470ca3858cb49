//! How a transform is cut into passes: sizes only, no device.

use crate::{Error, Result};

/// Elements of a tile in kernels, as in `cl/ntt.cl`.
pub(super) const TILE_LOG: u32 = 11;
/// Largest radix of a pass of several: a tile of 2^9 rows has columns of 128 bytes.
const MAX_RADIX_LOG: u32 = 9;
/// Kernels index elements with 32 bits and need one to spare.
const MAX_LOG_N: u32 = 31;
/// Up to here one table has all factors of the last pass (4 MiB); above, two tables do with the root of that.
const MAX_SINGLE_TABLE_LOG: u32 = 16;

/// The passes of a transform and the sizes of its tables.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Plan {
    pub log_n: u32,
    /// Binary logarithms of the passes' radices. With three or more the first and last are equal, so that the last
    /// pass can transpose in place.
    pub radices: Vec<u32>,
    /// Of the number of a row of the last pass, how many low bits the table of low factors goes by.
    pub low_log: u32,
}

impl Plan {
    /// As few passes as the radix allows, as many levels as possible in steps of three.
    pub fn new(log_n: u32) -> Result<Self> {
        if log_n > MAX_LOG_N {
            return Err(Error::invalid("ntt on a device", "log_n", format!("at most {MAX_LOG_N}"), log_n));
        }
        let radices = match log_n {
            0..=TILE_LOG => vec![log_n],
            12..=18 => vec![log_n.div_ceil(2), log_n / 2],
            19..=27 => {
                let outer = (log_n - MAX_RADIX_LOG).div_ceil(2).max(6);
                vec![outer, log_n - 2 * outer, outer]
            }
            _ => {
                let inner = log_n - 14;
                vec![7, inner.div_ceil(2), inner / 2, 7]
            }
        };
        let radices = match std::env::var("NTT_RADICES").ok().filter(|_| log_n > 18) {
            Some(text) => {
                let r: Vec<u32> = text.split(',').map(|r| r.parse().unwrap()).collect();
                if r.iter().sum::<u32>() == log_n { r } else { radices }
            }
            None => radices,
        };
        let mut plan = Self { log_n, radices, low_log: 0 };
        let rows_log = plan.rows_log();
        plan.low_log = if log_n <= MAX_SINGLE_TABLE_LOG { rows_log } else { rows_log.div_ceil(2) };
        Ok(plan)
    }

    /// Binary logarithm of the last pass's radix.
    pub fn last_radix_log(&self) -> u32 {
        self.radices[self.radices.len() - 1]
    }

    /// Binary logarithm of the last pass's number of rows.
    pub fn rows_log(&self) -> u32 {
        self.log_n - self.last_radix_log()
    }

    /// The passes before the last, as (levels done, radix), both as logarithms.
    pub fn column_passes(&self) -> impl Iterator<Item = (u32, u32)> {
        let columns = &self.radices[..self.radices.len() - 1];
        columns.iter().scan(0, |done, &radix| {
            let pass = (*done, radix);
            *done += radix;
            Some(pass)
        })
    }

    /// Binary logarithm of the tiles of a plane, whose rows the last pass writes over in natural order; `None` where
    /// there is nothing to wait for, or a plane is not closed (four passes).
    pub fn plane_log(&self) -> Option<u32> {
        match self.radices.len() {
            2 => Some(self.log_n - TILE_LOG),
            3 => Some(self.radices[0] + self.radices[2] - TILE_LOG),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passes_cover_every_size() {
        for log_n in 0..=MAX_LOG_N {
            let plan = Plan::new(log_n).expect("within range");
            assert_eq!(plan.radices.iter().sum::<u32>(), log_n);
            assert!(log_n <= TILE_LOG || plan.radices.iter().all(|radix| (4..=MAX_RADIX_LOG).contains(radix)));
            assert!(plan.column_passes().all(|(_, radix)| log_n - radix >= TILE_LOG - radix));
            assert!(plan.radices.len() != 3 || plan.radices[0] == plan.radices[2]);
        }
        assert!(Plan::new(32).is_err());
    }

    #[test]
    fn tables_are_small() {
        for log_n in 17..=MAX_LOG_N {
            let plan = Plan::new(log_n).expect("within range");
            let width_log = plan.last_radix_log();
            let [nodes, low, high] =
                [plan.rows_log(), plan.low_log + width_log, plan.rows_log() - plan.low_log + width_log]
                    .map(|log| 1u64 << log);
            // A factor takes two elements.
            assert!(2 * (nodes + low + high) <= 1 << (log_n - 2), "2^{log_n}: {plan:?}");
        }
    }
}
