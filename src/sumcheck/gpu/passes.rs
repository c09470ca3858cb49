//! Launches passes over products of two to four columns, each by the kernel for that number.

use super::column_transfers::DeviceColumns;
use super::kernel_selection_and_args::Challenge;
use super::round_value_buffers::PassResults;
use crate::backend::{Buffer, Stream};
use crate::field::Element;
use crate::kernel_arguments::{In, Value};
use crate::kernels::sumcheck::{
    FirstPair2, FirstPair3, FirstPair4, FirstProduct2, FirstProduct3, FirstProduct4, Pair2, Pair3, Pair4, PassParams,
    Product2, Product3, Product4, SUMCHECK_GROUP,
};
use crate::module_launcher::KernelModule;
use crate::sumcheck::field::ComputeField;
use crate::{Error, Result};

/// Returns the number of work-items of `groups` work-groups.
pub(super) fn work_item_count(groups: u32) -> u64 {
    u64::from(groups) * u64::from(SUMCHECK_GROUP)
}

/// Describes a pass over the product of all columns, whose elements are of `E`. There is a partial sum for each group
/// and value.
pub(super) struct Pass<'a, E> {
    pub module: KernelModule,
    /// Number of columns, 2 to 4.
    pub factors: usize,
    pub groups: u32,
    /// Number of pairs of rows, or of sets of four rows if the pass is for two rounds.
    pub step: u32,
    /// Whether the pass folds the columns first. They then have two or four times as many rows.
    pub folds: bool,
    pub from: &'a DeviceColumns,
    /// Memory for the rows that the pass folds or converts.
    pub to: &'a DeviceColumns,
    pub results: PassResults<'a, E>,
}

/// Runs that kernel of `$kernels`, for two, three and four columns, which `$pass` takes, with `$arguments`.
macro_rules! run_for_factors {
    ($pass:expr, $stream:expr, [$($factors:literal => $kernel:ident),*], $arguments:tt) => {
        match $pass.factors {
            $($factors => $pass.module.run($stream, work_item_count($pass.groups), $kernel $arguments),)*
            factors => Err(Error::invalid("sumcheck", "columns of a product", "2 to 4", factors)),
        }
    };
}

impl<E: Element> Pass<'_, E> {
    fn params(&self) -> PassParams {
        PassParams {
            from_stride: self.from.stride,
            to_stride: self.to.stride,
            step: self.step,
            folds: self.folds.into(),
            pass: self.results.pass,
        }
    }

    /// Queues the pass on `stream` for one round. If it folds, `challenge` is for the first variable.
    pub(super) fn enqueue_product(&self, stream: &mut Stream, challenge: E) -> Result<()> {
        let (params, challenge) = (self.params(), Challenge::new(self.module, challenge));
        let (params, r) = (Value(&params), challenge.as_value());
        let (from, to) = (self.from.as_in(), self.to.as_out());
        let PassResults { partials, totals, ended, told, .. } = self.results;
        run_for_factors!(self, stream, [2 => Product2, 3 => Product3, 4 => Product4], {
            params, r, from, to, partials, totals, ended, told
        })
    }
}

impl<W: ComputeField> Pass<'_, W> {
    /// Queues the pass on `stream` for two rounds. If it folds, the challenges are for the first two variables.
    pub(super) fn enqueue_pair(&self, stream: &mut Stream, challenges: (W, W)) -> Result<()> {
        let (params, product) = (self.params(), challenges.0 * challenges.1);
        let params = Value(&params);
        let (first, second, both) = (Value(&challenges.0), Value(&challenges.1), Value(&product));
        let (from, to) = (self.from.as_in(), self.to.as_out());
        let PassResults { partials, totals, ended, told, .. } = self.results;
        run_for_factors!(self, stream, [2 => Pair2, 3 => Pair3, 4 => Pair4], {
            params, first, second, both, from, to, partials, totals, ended, told
        })
    }

    /// Queues the pass on `stream` for `rounds` rounds, one or two. It first converts the columns to another basis, by
    /// the images in `table`.
    pub(super) fn enqueue_first(&self, stream: &mut Stream, rounds: u32, table: &Buffer) -> Result<()> {
        let params = self.params();
        let (params, table) = (Value(&params), In::new(table));
        let (from, to) = (self.from.as_in(), self.to.as_out());
        let PassResults { partials, totals, ended, told, .. } = self.results;
        if rounds == 2 {
            return run_for_factors!(self, stream, [2 => FirstPair2, 3 => FirstPair3, 4 => FirstPair4], {
                params, table, from, to, partials, totals, ended, told
            });
        }
        run_for_factors!(self, stream, [2 => FirstProduct2, 3 => FirstProduct3, 4 => FirstProduct4], {
            params, table, from, to, partials, totals, ended, told
        })
    }
}
