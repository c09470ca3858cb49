//! Computes the points of rows.

use super::program::ERROR_CONTEXT;
use crate::field::NttField;
use crate::{Error, Result};

/// Maximum `log_n`, 31: a row's index has 32 bits, with room to add a rotation.
const MAX_LOG_N: u32 = 31;

/// Describes a coset of `2^log_n` points, one per row. Row i has the point shift·ω^i, where ω is that of
/// [`NttDomain`](crate::ntt::NttDomain) of the same order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Coset<F> {
    /// Binary logarithm of the number of rows.
    pub log_n: u32,
    /// Point of row 0; 1 for the subgroup itself.
    pub shift: F,
}

impl<F: NttField> Coset<F> {
    /// Returns the number of rows, `2^log_n`. [`Self::check`] has succeeded before.
    pub(super) fn row_count(&self) -> usize {
        1 << self.log_n
    }

    /// Returns ω, a primitive `2^log_n`-th root of unity.
    pub(super) fn omega(&self) -> F {
        (self.log_n..F::S).fold(F::ROOT_OF_UNITY, |root, _| root.square())
    }

    /// Returns the points of `count` rows from row `first` on, in order.
    pub(super) fn points(&self, first: usize, count: usize) -> impl Iterator<Item = F> {
        let omega = self.omega();
        let start = self.shift * omega.pow_vartime([first as u64]);
        std::iter::successors(Some(start), move |point| Some(*point * omega)).take(count)
    }

    pub(super) fn check(&self) -> Result<()> {
        let most = F::S.min(MAX_LOG_N);
        if self.log_n <= most {
            return Ok(());
        }
        Err(Error::invalid(ERROR_CONTEXT, "log_n of the coset", format!("at most {most}"), self.log_n))
    }
}
