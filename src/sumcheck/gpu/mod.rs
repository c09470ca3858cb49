//! Runs rounds on a device: one pass over the columns a round, whose values go to the host, which answers with a
//! challenge.

mod bitsliced;
mod column_transfers;
mod kernel_selection_and_args;
mod round_value_buffers;

use std::sync::Arc;

use ff::Field;

pub(super) use bitsliced::SlicedRounds;
pub(super) use column_transfers::{HostCopy, ownership};
pub(super) use kernel_selection_and_args::select_kernels;

use super::caller_columns::Columns;
use super::claim::RoundShape;
use super::field::{BasisChange, SumcheckField, enqueue_basis_change, to_ghash_table};
use super::rounds::{GROUP, HostColumns, SumcheckPlan, TwoRoundState, bytes, product, two_rounds};
use crate::backend::{Abort, Arg, Buffer, Device, Stream, StreamStats};
use crate::field::{DeviceVector, Element};
use crate::kernels;
use crate::module_launcher::{KernelModule, buffer_arg};
use crate::{Error, Result};
use column_transfers::{DeviceColumns, enqueue_unbitslice, locate_or_upload};
use kernel_selection_and_args::{Challenge, element_arg};
use round_value_buffers::{LastRows, RoundValueBuffers, TermTables};

/// Value of the argument `low_log` of the kernel `sumcheck_terms` that stands for a claim without eq. Matches
/// `NO_WEIGHTS` of the kernels.
const NO_WEIGHTS: u32 = u32::MAX;
/// Names of the kernels that compute one round per pass, for products of two, three and four columns.
const PRODUCTS: [&str; 3] = ["sumcheck_product_2", "sumcheck_product_3", "sumcheck_product_4"];
/// Names of the kernels that compute two rounds per pass, for products of two, three and four columns.
const PAIRS: [&str; 3] = ["sumcheck_pair_2", "sumcheck_pair_3", "sumcheck_pair_4"];
/// Names of the kernels that compute one round and also convert the columns from another basis.
const FIRST_PRODUCTS: [&str; 3] = ["sumcheck_first_product_2", "sumcheck_first_product_3", "sumcheck_first_product_4"];
/// Names of the kernels that compute two rounds and also convert the columns from another basis.
const FIRST_PAIRS: [&str; 3] = ["sumcheck_first_pair_2", "sumcheck_first_pair_3", "sumcheck_first_pair_4"];

/// Computes rounds on a device, and holds the columns there between two rounds.
pub(super) struct DeviceRounds<'a, F: SumcheckField> {
    // Dropped first: queued work ends before memory is freed.
    stream: Stream,
    program: KernelModule,
    plan: SumcheckPlan,
    rows: u64,
    now: DeviceColumns,
    /// Destination of folded columns.
    to: DeviceColumns,
    /// Kernels of the base field, and the columns over that field until they are folded.
    base: Option<(KernelModule, DeviceColumns)>,
    sums: RoundValueBuffers,
    /// Terms and weights; `None` for products that have kernels of their own.
    tables: Option<TermTables>,
    last: LastRows<F::Compute>,
    /// Table of the change of basis. The device caches it too, but may evict it.
    images: Option<Arc<Buffer>>,
    /// Whether columns are still in another basis, from which the first pass converts them.
    brings: bool,
    /// State between the two rounds of a pass; `None` if each pass computes one round.
    pairs: Option<TwoRoundState<F::Compute>>,
    /// The caller's columns, borrowed or consumed.
    columns: Columns<'a, F>,
}

impl<'a, F: SumcheckField> DeviceRounds<'a, F> {
    /// Prepares `columns` on `device` for the rounds of `plan`, with the kernels of `program`. Allocates all memory
    /// that the rounds need.
    pub(super) fn new(
        device: &Arc<Device>,
        program: KernelModule,
        shape: &RoundShape<F::Compute>,
        columns: Columns<'a, F>,
        plan: SumcheckPlan,
        abort: Abort<'_>,
    ) -> Result<Self> {
        let mut stream = device.stream()?;
        let rows = 1u64 << plan.variables;
        let work = match plan.work_rows {
            0 => None,
            work_rows => Some((
                DeviceVector::<F::Compute>::allocate_uninit(&stream, product(shape.columns, work_rows as usize)?)?,
                work_rows,
            )),
        };
        let own = work.map(|(vector, stride)| DeviceColumns { buffer: vector.buffer().clone(), stride });
        let now = locate_or_upload(&mut stream, &columns, (own.as_ref(), rows), abort)?;
        let to = own.unwrap_or_else(|| now.clone());
        let base = match plan.base_first {
            true => Some((KernelModule::find(&kernels::sumcheck::FAMILY, F::Base::NAME)?, now.clone())),
            false => None,
        };
        let pairs = plan.pairs.then(|| TwoRoundState::new(shape.degree));
        let sums = RoundValueBuffers::new(&mut stream, shape, &plan)?;
        let tables = if plan.fused { None } else { Some(TermTables::new(&mut stream, shape)?) };
        let finish_on_host = rows.min(1u64.checked_shl(plan.tail).unwrap_or(rows)) as usize;
        let last = LastRows::new(
            &stream,
            product(shape.columns, finish_on_host)?,
            plan.device_round_count() > u32::from(plan.base_first),
        )?;
        let mut rounds = Self {
            stream,
            program,
            plan,
            rows,
            now,
            to,
            base,
            sums,
            tables,
            last,
            images: None,
            brings: false,
            pairs,
            columns,
        };
        rounds.convert_columns(shape.columns)?;
        Ok(rounds)
    }

    /// Returns the copies, times and launches on the device so far.
    pub(super) fn traffic(&self) -> StreamStats {
        self.stream.stats()
    }

    /// Converts the columns to the compute field and its basis, unless the first pass reads them in their present form.
    /// `columns` is their number.
    fn convert_columns(&mut self, columns: usize) -> Result<()> {
        match self.columns {
            Columns::HostBase(_) | Columns::KeptBase(_) if self.base.is_none() => self.lift(columns),
            Columns::HostBase(_) | Columns::KeptBase(_) => Ok(()),
            Columns::KeptSliced(_) => {
                self.unbitslice_columns(columns).and_then(|()| self.change_basis_or_defer(columns))
            }
            Columns::Host(_) | Columns::Kept(_) | Columns::Consumed(_) => self.change_basis_or_defer(columns),
        }
    }

    fn lift(&mut self, columns: usize) -> Result<()> {
        let count = columns as u64 * self.rows;
        let args = [Arg::U64(count), buffer_arg(&self.now.buffer), buffer_arg(&self.to.buffer)];
        let items = work_item_count(self.plan.group_count(count));
        // SAFETY: the arguments match the kernel, and both buffers have all rows of the columns.
        unsafe { self.program.launch(&mut self.stream, "sumcheck_lift", items, GROUP, &args)? };
        self.now = self.to.clone();
        Ok(())
    }

    fn unbitslice_columns(&mut self, columns: usize) -> Result<()> {
        let program = KernelModule::find(&kernels::sumcheck::SLICED, kernels::binary::TOWER.name)?;
        // SAFETY: `now` has all rows of the columns, these fill tiles, and `to` has room for them.
        unsafe { enqueue_unbitslice(&mut self.stream, program, (columns, self.rows), &self.now, &self.to.buffer)? };
        self.now = self.to.clone();
        Ok(())
    }

    /// Converts the columns to the basis of the compute field, or leaves that to the first pass if its kernels do it.
    /// Does nothing if the bases are equal. `columns` is the number of columns.
    fn change_basis_or_defer(&mut self, columns: usize) -> Result<()> {
        if F::conversion().is_none() {
            return Ok(());
        }
        self.images = Some(to_ghash_table(&mut self.stream)?);
        self.brings = self.plan.fused;
        if self.brings { Ok(()) } else { self.change_basis(columns) }
    }

    fn change_basis(&mut self, columns: usize) -> Result<()> {
        let count = columns as u64 * self.rows;
        let items = work_item_count(self.plan.group_count(count));
        let all = BasisChange { count, items, from: &self.now.buffer, to: &self.to.buffer };
        let images = self.images.as_ref().ok_or_else(|| Error::internal("sumcheck"))?;
        // SAFETY: both buffers have all rows of the columns, the field is a binary one, and `self` keeps the table.
        unsafe { enqueue_basis_change(&mut self.stream, self.program, images, all)? };
        self.now = self.to.clone();
        self.brings = false;
        Ok(())
    }

    /// Binds the first variable to `challenge`, if there is one. Returns the next round polynomial's values at the
    /// points of `shape`.
    pub(super) fn fold_and_evaluate(
        &mut self,
        shape: &RoundShape<F::Compute>,
        challenge: Option<F::Compute>,
        abort: Abort<'_>,
    ) -> Result<Vec<F::Compute>> {
        if let Some(values) =
            self.pairs.as_mut().and_then(|pairs| pairs.second_round_values(&shape.interpolation, challenge))
        {
            return Ok(values);
        }
        let challenge = match challenge {
            None if self.base.is_some() => return self.evaluate_base_round(shape, abort),
            challenge => self.fold_base_columns(shape.columns, challenge)?,
        };
        if self.pairs.is_some() {
            return self.evaluate_two_rounds(shape, challenge, abort);
        }
        self.evaluate_one_round(shape, challenge, abort)
    }

    /// Returns the values of one round's polynomial, from a pass that also binds the first variable to `challenge`, if
    /// there is one.
    fn evaluate_one_round(
        &mut self,
        shape: &RoundShape<F::Compute>,
        challenge: Option<F::Compute>,
        abort: Abort<'_>,
    ) -> Result<Vec<F::Compute>> {
        let groups = match self.plan.fused {
            true => self.enqueue_product_pass(shape, challenge)?,
            false => self.enqueue_terms_pass(shape, challenge)?,
        };
        self.sums.fetch_values(&mut self.stream, self.program, (groups, shape.points.len()), abort)
    }

    /// Returns the values of the next round's polynomial, from a pass that computes two rounds. The pass first binds
    /// the two variables that have challenges. If only one round is left, the pass computes that one.
    fn evaluate_two_rounds(
        &mut self,
        shape: &RoundShape<F::Compute>,
        challenge: Option<F::Compute>,
        abort: Abort<'_>,
    ) -> Result<Vec<F::Compute>> {
        let first = self.take_pending_challenge();
        let challenges = match (first, challenge) {
            (Some(first), Some(second)) if self.rows >= 16 => Some((first, second)),
            (None, None) if self.rows >= 4 => None,
            _ => {
                self.fold_unless_none(shape.columns, first)?;
                return self.evaluate_one_round(shape, challenge, abort);
            }
        };
        let groups = self.enqueue_two_round_pass(shape, challenges)?;
        let values = self.sums.fetch_values(
            &mut self.stream,
            self.program,
            (groups, two_rounds::pair_value_count(shape.degree)),
            abort,
        )?;
        self.pairs.as_mut().map(|pairs| pairs.begin_first_round(values)).ok_or_else(|| Error::internal("sumcheck"))
    }

    /// Queues a pass for two rounds: it folds by both `challenges`, if there are any, then evaluates. Returns the
    /// number of work-groups.
    fn enqueue_two_round_pass(
        &mut self,
        shape: &RoundShape<F::Compute>,
        challenges: Option<(F::Compute, F::Compute)>,
    ) -> Result<u32> {
        if self.brings {
            let quads = self.rows / 4;
            return self.enqueue_first_pass(FIRST_PAIRS, shape.columns, (quads, self.plan.pair_group_count(quads)));
        }
        let folds = challenges.is_some();
        let quads = if folds { self.rows / 16 } else { self.rows / 4 };
        let (first, second) = challenges.unwrap_or((F::Compute::ZERO, F::Compute::ZERO));
        let both = first * second;
        let mut args = [quads as u32, u32::from(folds)].map(Arg::U32).to_vec();
        args.extend([self.now.stride, self.to.stride].map(Arg::U64));
        args.extend([&first, &second, &both].map(element_arg));
        args.extend([&*self.now.buffer, &*self.to.buffer].map(buffer_arg));
        args.extend(self.sums.next_pass_args());
        let groups = self.plan.pair_group_count(quads);
        let kernel = PAIRS[shape.columns - 2];
        // SAFETY: the arguments match the kernel. Columns have 4·quads rows, or 16·quads that are folded to 4·quads,
        // for which `to` has room. There is a partial sum for each group and value.
        unsafe { self.program.launch(&mut self.stream, kernel, work_item_count(groups), GROUP, &args)? };
        if folds {
            self.now = self.to.clone();
            self.rows /= 4;
        }
        Ok(groups)
    }

    /// Queues the first pass over columns that are still in another basis. `groups` work-groups evaluate `step` pairs
    /// of rows, or `step` sets of four rows if `kernels` compute two rounds. Returns `groups`.
    fn enqueue_first_pass(&mut self, kernels: [&str; 3], columns: usize, (step, groups): (u64, u32)) -> Result<u32> {
        let images = self.images.as_ref().ok_or_else(|| Error::internal("sumcheck"))?;
        let mut args = vec![Arg::U32(step as u32), Arg::U64(self.now.stride), Arg::U64(self.to.stride)];
        args.extend([&**images, &*self.now.buffer, &*self.to.buffer].map(buffer_arg));
        args.extend(self.sums.next_pass_args());
        // SAFETY: the arguments match the kernel. Columns have 2·step rows, or 4·step if the pass is for two rounds,
        // for which `to` has room. There is a partial sum for each group and value.
        unsafe { self.program.launch(&mut self.stream, kernels[columns - 2], work_item_count(groups), GROUP, &args)? };
        self.now = self.to.clone();
        self.brings = false;
        Ok(groups)
    }

    /// Takes the challenge of the first of two rounds if the columns are not folded by it yet. Returns `None`
    /// otherwise.
    fn take_pending_challenge(&mut self) -> Option<F::Compute> {
        self.pairs.as_mut().and_then(TwoRoundState::take_first_challenge)
    }

    /// Returns the values of the first round's polynomial, computed over columns of the base field.
    fn evaluate_base_round(&mut self, shape: &RoundShape<F::Compute>, abort: Abort<'_>) -> Result<Vec<F::Compute>> {
        let Some((program, from)) = self.base.clone() else { return Err(Error::internal("sumcheck")) };
        let half = self.rows / 2;
        let groups = self.plan.group_count(half);
        let zero = F::Base::ZERO;
        let mut args = [half as u32, 0].map(Arg::U32).to_vec();
        args.extend([Arg::U64(from.stride), Arg::U64(from.stride), element_arg(&zero)]);
        // Nothing is folded, so nothing is written to columns.
        args.extend([&*from.buffer, &*from.buffer].map(buffer_arg));
        args.extend(self.sums.next_pass_args());
        // SAFETY: the arguments match the kernel. Columns have 2·half rows of the base field. There is a partial sum
        // for each group and point, of a field whose elements are at least as large.
        unsafe {
            program.launch(&mut self.stream, PRODUCTS[shape.columns - 2], work_item_count(groups), GROUP, &args)?;
        };
        let values: Vec<F::Base> =
            self.sums.fetch_values(&mut self.stream, program, (groups, shape.points.len()), abort)?;
        Ok(values.into_iter().map(|value| F::from_base(value).to_compute_field()).collect())
    }

    /// Binds the first variable to `challenge` if the columns are still over the base field, and returns `None`.
    /// Otherwise returns `challenge`.
    fn fold_base_columns(&mut self, columns: usize, challenge: Option<F::Compute>) -> Result<Option<F::Compute>> {
        let Some((_, from)) = self.base.take() else { return Ok(challenge) };
        let challenge = challenge.ok_or_else(|| Error::internal("sumcheck"))?;
        self.now = from;
        self.fold_by("sumcheck_base_fold", columns, challenge)?;
        Ok(None)
    }

    /// Queues a pass over a product of all columns: it folds by `challenge`, if there is one, then evaluates. Returns
    /// the number of work-groups.
    fn enqueue_product_pass(&mut self, shape: &RoundShape<F::Compute>, challenge: Option<F::Compute>) -> Result<u32> {
        if self.brings {
            let half = self.rows / 2;
            return self.enqueue_first_pass(FIRST_PRODUCTS, shape.columns, (half, self.plan.group_count(half)));
        }
        let folds = challenge.is_some();
        let half = if folds { self.rows / 4 } else { self.rows / 2 };
        let r = Challenge::new(self.program, challenge.unwrap_or(F::Compute::ZERO));
        let mut args = [half as u32, u32::from(folds)].map(Arg::U32).to_vec();
        args.extend([self.now.stride, self.to.stride].map(Arg::U64));
        args.push(r.arg());
        args.extend([&*self.now.buffer, &*self.to.buffer].map(buffer_arg));
        args.extend(self.sums.next_pass_args());
        let groups = self.plan.group_count(half);
        let kernel = PRODUCTS[shape.columns - 2];
        // SAFETY: the arguments match the kernel. Columns have 2·half rows, or 4·half that are folded to 2·half, for
        // which `to` has room. There is a partial sum for each group and point.
        unsafe { self.program.launch(&mut self.stream, kernel, work_item_count(groups), GROUP, &args)? };
        if folds {
            self.mark_folded();
        }
        Ok(groups)
    }

    /// Folds by `challenge`, if there is one, then queues the evaluation of all terms. Each point has its own
    /// work-groups. Returns the number of work-groups per point.
    fn enqueue_terms_pass(&mut self, shape: &RoundShape<F::Compute>, challenge: Option<F::Compute>) -> Result<u32> {
        if let Some(challenge) = challenge {
            self.fold(shape.columns, challenge)?;
        }
        let half = self.rows / 2;
        let points = shape.points.len() as u32;
        let [mut low_log, mut low_at, mut high_at] = [NO_WEIGHTS, 0, 0];
        if let Some(weights) = &shape.weights {
            let level = weights.level(half.ilog2());
            (low_log, low_at) = (level.low_log, 1 << level.low_log);
            high_at = weights.low_length() as u32 + (1 << level.high_log);
        }
        let numbers = [half as u32, points, shape.terms.len() as u32, shape.degree as u32, low_log, low_at, high_at];
        let mut args = numbers.map(Arg::U32).to_vec();
        args.push(Arg::U64(self.now.stride));
        let TermTables { words, coefficients, weights } =
            self.tables.as_ref().ok_or_else(|| Error::internal("sumcheck"))?;
        args.extend([words, coefficients, weights, &*self.now.buffer].map(buffer_arg));
        args.extend(self.sums.next_pass_args());
        let groups = self.plan.group_count(half);
        // SAFETY: the arguments match the kernel. Terms name existing columns, each of 2·half rows, and weights are for
        // `half` rows. There is a partial sum for each group and point.
        unsafe {
            self.program.launch(&mut self.stream, "sumcheck_terms", work_item_count(groups * points), GROUP, &args)?;
        };
        Ok(groups)
    }

    fn fold_unless_none(&mut self, columns: usize, challenge: Option<F::Compute>) -> Result<()> {
        challenge.map_or(Ok(()), |challenge| self.fold(columns, challenge))
    }

    fn fold(&mut self, columns: usize, challenge: F::Compute) -> Result<()> {
        self.fold_by("sumcheck_fold", columns, challenge)
    }

    fn fold_by(&mut self, kernel: &str, columns: usize, challenge: F::Compute) -> Result<()> {
        let to = (buffer_arg(&self.to.buffer), self.to.stride);
        // SAFETY: callers name kernels that fold, and `to` has room for half of the rows.
        unsafe { self.enqueue_fold(kernel, columns, challenge, to)? };
        self.mark_folded();
        Ok(())
    }

    /// Queues a fold of the columns by `challenge`. `to.0` is the memory of the result, and `to.1` the number of
    /// elements from one column's start to the next's.
    ///
    /// # Safety
    /// `kernel` must be one that folds, and `to.0` must have room for half of the rows at that stride.
    unsafe fn enqueue_fold(
        &mut self,
        kernel: &str,
        columns: usize,
        challenge: F::Compute,
        to: (Arg, u64),
    ) -> Result<()> {
        let half = self.rows / 2;
        let challenge = Challenge::new(self.program, challenge);
        let mut args = [half as u32, columns as u32].map(Arg::U32).to_vec();
        args.extend([self.now.stride, to.1].map(Arg::U64));
        args.extend([challenge.arg(), buffer_arg(&self.now.buffer), to.0]);
        let items = work_item_count(self.plan.group_count(half));
        // SAFETY: the arguments match the kernel, columns have 2·half rows, and the caller guarantees the room in `to`.
        unsafe { self.program.launch(&mut self.stream, kernel, items, GROUP, &args) }
    }

    fn mark_folded(&mut self) {
        self.now = self.to.clone();
        self.rows /= 2;
    }

    /// Binds the first variable to `challenge`, if there is one, then returns the remaining rows of all columns in host
    /// memory. `columns` is the number of columns.
    pub(super) fn fold_and_download(
        &mut self,
        columns: usize,
        challenge: Option<F::Compute>,
        abort: Abort<'_>,
    ) -> Result<HostColumns<'static, F::Compute>> {
        if self.brings {
            self.change_basis(columns)?;
        }
        let first = self.take_pending_challenge();
        self.fold_unless_none(columns, first)?;
        match (self.fold_base_columns(columns, challenge)?, self.last.host.as_kernel_arg(0)) {
            (Some(challenge), Some(host)) => {
                // SAFETY: the kernel folds, and `host` has room for all columns' last rows.
                unsafe { self.enqueue_fold("sumcheck_fold", columns, challenge, (host, self.rows / 2))? };
                self.rows /= 2;
                self.stream.count_downloaded_bytes(product(columns, bytes::<F::Compute>(self.rows as usize)?)?);
                self.sums.wait_for_kernels(&mut self.stream, self.program, abort)?;
            }
            (Some(challenge), None) => {
                self.fold(columns, challenge)?;
                self.fetch_last(columns, abort)?;
            }
            (None, _) => self.fetch_last(columns, abort)?,
        }
        let rows = self.rows as usize;
        Ok(HostColumns::Own((0..columns).map(|column| self.last.column(column, rows)).collect(), rows))
    }

    /// Copies the remaining rows of all columns to pinned host memory, and waits for the copies.
    fn fetch_last(&mut self, columns: usize, abort: Abort<'_>) -> Result<()> {
        let packed = self.last.packed.as_ref().ok_or_else(|| Error::internal("sumcheck"))?.buffer();
        let (rows, stride) = (bytes::<F::Compute>(self.rows as usize)?, bytes::<F::Compute>(self.now.stride as usize)?);
        for column in 0..columns {
            let from = (&*self.now.buffer, product(column, stride)?);
            self.stream.copy((packed, product(column, rows)?), from, rows)?;
        }
        self.stream.copy_to_pinned(&mut self.last.host, packed)?;
        self.stream.synchronize(abort)
    }
}

pub(super) fn work_item_count(groups: u32) -> u64 {
    u64::from(groups) * u64::from(GROUP)
}
