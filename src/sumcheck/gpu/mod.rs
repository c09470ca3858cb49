//! Runs rounds on a device: one pass over the columns a round, whose values go to the host, which answers with a
//! challenge.

mod bitsliced;
mod column_transfers;
mod kernel_selection_and_args;
mod passes;
mod round_value_buffers;

use std::sync::Arc;

use ff::Field;

pub(super) use bitsliced::SlicedRounds;
pub(super) use column_transfers::{HostCopy, ownership};
pub(super) use kernel_selection_and_args::select_kernels;

use super::caller_columns::Columns;
use super::claim::RoundShape;
use super::field::{BasisChange, ComputeField, SumcheckField, enqueue_basis_change, to_ghash_table};
use super::rounds::{HostColumns, SumcheckPlan, TwoRoundState, bytes, product, two_rounds};
use crate::backend::{Buffer, Device, MemoryHandle, Stream, StreamStats};
use crate::exec::ExecCtx;
use crate::field::{DeviceVector, Element};
use crate::kernel_arguments::{In, Out, Value};
use crate::kernels;
use crate::kernels::sumcheck::{BaseFold, Fold, Lift, NO_WEIGHTS, Terms, TermsParams};
use crate::module_launcher::KernelModule;
use crate::{Error, Result};
use column_transfers::{DeviceColumns, enqueue_unbitslice, locate_or_upload};
use kernel_selection_and_args::Challenge;
use passes::{Pass, work_item_count};
use round_value_buffers::{LastRows, PassResults, RoundValueBuffers, TermTables};

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
        ctx: ExecCtx<'_>,
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
        let now = locate_or_upload(&mut stream, &columns, (own.as_ref(), rows), ctx)?;
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
        let items = work_item_count(self.plan.group_count(count));
        let lift = Lift::<F::Compute, F::Base> { count, from: self.now.as_in(), to: self.to.as_out() };
        self.program.run(&mut self.stream, items, lift)?;
        self.now = self.to.clone();
        Ok(())
    }

    fn unbitslice_columns(&mut self, columns: usize) -> Result<()> {
        let program = KernelModule::find(&kernels::sumcheck::SLICED, kernels::binary::TOWER.name)?;
        enqueue_unbitslice(&mut self.stream, program, (columns, self.rows), &self.now, &self.to.buffer)?;
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
        enqueue_basis_change::<F::Compute>(&mut self.stream, self.program, images, all)?;
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
        ctx: ExecCtx<'_>,
    ) -> Result<Vec<F::Compute>> {
        if let Some(values) =
            self.pairs.as_mut().and_then(|pairs| pairs.second_round_values(&shape.interpolation, challenge))
        {
            return Ok(values);
        }
        let challenge = match challenge {
            None if self.base.is_some() => return self.evaluate_base_round(shape, ctx),
            challenge => self.fold_base_columns(shape.columns, challenge)?,
        };
        if self.pairs.is_some() {
            return self.evaluate_two_rounds(shape, challenge, ctx);
        }
        self.evaluate_one_round(shape, challenge, ctx)
    }

    /// Returns the values of one round's polynomial, from a pass that also binds the first variable to `challenge`, if
    /// there is one.
    fn evaluate_one_round(
        &mut self,
        shape: &RoundShape<F::Compute>,
        challenge: Option<F::Compute>,
        ctx: ExecCtx<'_>,
    ) -> Result<Vec<F::Compute>> {
        let groups = match self.plan.fused {
            true => self.enqueue_product_pass(shape, challenge)?,
            false => self.enqueue_terms_pass(shape, challenge)?,
        };
        self.sums.fetch_values(&mut self.stream, self.program, (groups, shape.points.len()), ctx)
    }

    /// Returns the values of the next round's polynomial, from a pass that computes two rounds. The pass first binds
    /// the two variables that have challenges. If only one round is left, the pass computes that one.
    fn evaluate_two_rounds(
        &mut self,
        shape: &RoundShape<F::Compute>,
        challenge: Option<F::Compute>,
        ctx: ExecCtx<'_>,
    ) -> Result<Vec<F::Compute>> {
        let first = self.take_pending_challenge();
        let challenges = match (first, challenge) {
            (Some(first), Some(second)) if self.rows >= 16 => Some((first, second)),
            (None, None) if self.rows >= 4 => None,
            _ => {
                self.fold_unless_none(shape.columns, first)?;
                return self.evaluate_one_round(shape, challenge, ctx);
            }
        };
        let groups = self.enqueue_two_round_pass(shape, challenges)?;
        let values = self.sums.fetch_values(
            &mut self.stream,
            self.program,
            (groups, two_rounds::pair_value_count(shape.degree)),
            ctx,
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
            return self.enqueue_first_pass(shape.columns, 2);
        }
        let folds = challenges.is_some();
        // Columns have 4·quads rows, or 16·quads that are folded to 4·quads.
        let quads = if folds { self.rows / 16 } else { self.rows / 4 };
        let challenges = challenges.unwrap_or((F::Compute::ZERO, F::Compute::ZERO));
        let groups = self.plan.pair_group_count(quads);
        let pass = Pass {
            module: self.program,
            factors: shape.columns,
            groups,
            step: quads as u32,
            folds,
            from: &self.now,
            to: &self.to,
            results: self.sums.begin_pass(),
        };
        pass.enqueue_pair(&mut self.stream, challenges)?;
        if folds {
            self.now = self.to.clone();
            self.rows /= 4;
        }
        Ok(groups)
    }

    /// Queues the first pass over columns that are still in another basis, for `rounds` rounds, one or two. Returns the
    /// number of work-groups.
    fn enqueue_first_pass(&mut self, columns: usize, rounds: u32) -> Result<u32> {
        let images = self.images.as_ref().ok_or_else(|| Error::internal("sumcheck"))?;
        let step = self.rows >> rounds;
        let groups = if rounds == 2 { self.plan.pair_group_count(step) } else { self.plan.group_count(step) };
        let pass = Pass {
            module: self.program,
            factors: columns,
            groups,
            step: step as u32,
            folds: false,
            from: &self.now,
            to: &self.to,
            results: self.sums.begin_pass::<F::Compute>(),
        };
        pass.enqueue_first(&mut self.stream, rounds, images)?;
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
    fn evaluate_base_round(&mut self, shape: &RoundShape<F::Compute>, ctx: ExecCtx<'_>) -> Result<Vec<F::Compute>> {
        let Some((program, from)) = self.base.clone() else { return Err(Error::internal("sumcheck")) };
        let half = self.rows / 2;
        let groups = self.plan.group_count(half);
        // Nothing is folded, so nothing is written to columns. Buffers for results have elements at least as large.
        let pass = Pass {
            module: program,
            factors: shape.columns,
            groups,
            step: half as u32,
            folds: false,
            from: &from,
            to: &from,
            results: self.sums.begin_pass(),
        };
        pass.enqueue_product(&mut self.stream, F::Base::ZERO)?;
        let values: Vec<F::Base> =
            self.sums.fetch_values(&mut self.stream, program, (groups, shape.points.len()), ctx)?;
        Ok(values.into_iter().map(|value| F::from_base(value).to_compute_field()).collect())
    }

    /// Binds the first variable to `challenge` if the columns are still over the base field, and returns `None`.
    /// Otherwise returns `challenge`.
    fn fold_base_columns(&mut self, columns: usize, challenge: Option<F::Compute>) -> Result<Option<F::Compute>> {
        let Some((_, from)) = self.base.take() else { return Ok(challenge) };
        let challenge = challenge.ok_or_else(|| Error::internal("sumcheck"))?;
        self.now = from;
        let half = self.rows / 2;
        let fold = BaseFold::<F::Compute, F::Base> {
            pairs: half as u32,
            columns: columns as u32,
            from_stride: self.now.stride,
            to_stride: self.to.stride,
            r: Value(&challenge),
            from: self.now.as_in(),
            to: self.to.as_out(),
        };
        self.program.run(&mut self.stream, work_item_count(self.plan.group_count(half)), fold)?;
        self.mark_folded();
        Ok(None)
    }

    /// Queues a pass over a product of all columns: it folds by `challenge`, if there is one, then evaluates. Returns
    /// the number of work-groups.
    fn enqueue_product_pass(&mut self, shape: &RoundShape<F::Compute>, challenge: Option<F::Compute>) -> Result<u32> {
        if self.brings {
            return self.enqueue_first_pass(shape.columns, 1);
        }
        let folds = challenge.is_some();
        // Columns have 2·half rows, or 4·half that are folded to 2·half.
        let half = if folds { self.rows / 4 } else { self.rows / 2 };
        let groups = self.plan.group_count(half);
        let pass = Pass {
            module: self.program,
            factors: shape.columns,
            groups,
            step: half as u32,
            folds,
            from: &self.now,
            to: &self.to,
            results: self.sums.begin_pass(),
        };
        pass.enqueue_product(&mut self.stream, challenge.unwrap_or(F::Compute::ZERO))?;
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
        let TermTables { words, coefficients, weights } =
            self.tables.as_ref().ok_or_else(|| Error::internal("sumcheck"))?;
        let PassResults { pass, partials, totals, ended, told } = self.sums.begin_pass::<F::Compute>();
        let params = TermsParams { pass, ..terms_params(shape, half, self.now.stride) };
        let terms = Terms {
            params: Value(&params),
            words: In::new(words),
            coefficients: In::new(coefficients),
            weights: In::new(weights),
            from: self.now.as_in(),
            partials,
            totals,
            ended,
            told,
        };
        let groups = self.plan.group_count(half);
        self.program.run(&mut self.stream, work_item_count(groups * params.points), terms)?;
        Ok(groups)
    }

    fn fold_unless_none(&mut self, columns: usize, challenge: Option<F::Compute>) -> Result<()> {
        challenge.map_or(Ok(()), |challenge| self.fold(columns, challenge))
    }

    fn fold(&mut self, columns: usize, challenge: F::Compute) -> Result<()> {
        self.enqueue_fold(columns, challenge, (self.to.buffer.handle(), self.to.stride))?;
        self.mark_folded();
        Ok(())
    }

    /// Queues a fold of the columns by `challenge`. `to` is the memory of the result, which has room for half of the
    /// rows. `to_stride` is the number of elements from one column's start to the next's.
    fn enqueue_fold(
        &mut self,
        columns: usize,
        challenge: F::Compute,
        (to, to_stride): (MemoryHandle, u64),
    ) -> Result<()> {
        let half = self.rows / 2;
        let challenge = Challenge::new(self.program, challenge);
        let fold = Fold::<F::Compute> {
            pairs: half as u32,
            columns: columns as u32,
            from_stride: self.now.stride,
            to_stride,
            r: challenge.as_value(),
            from: self.now.as_in(),
            to: Out::from_handle(to),
        };
        self.program.run(&mut self.stream, work_item_count(self.plan.group_count(half)), fold)
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
        ctx: ExecCtx<'_>,
    ) -> Result<HostColumns<'static, F::Compute>> {
        if self.brings {
            self.change_basis(columns)?;
        }
        let first = self.take_pending_challenge();
        self.fold_unless_none(columns, first)?;
        match (self.fold_base_columns(columns, challenge)?, self.last.host.kernel_handle(0)) {
            (Some(challenge), Some(host)) => {
                self.enqueue_fold(columns, challenge, (host, self.rows / 2))?;
                self.rows /= 2;
                self.stream.count_downloaded_bytes(product(columns, bytes::<F::Compute>(self.rows as usize)?)?);
                self.sums.wait_for_kernels(&mut self.stream, self.program, ctx)?;
            }
            (Some(challenge), None) => {
                self.fold(columns, challenge)?;
                self.fetch_last(columns, ctx)?;
            }
            (None, _) => self.fetch_last(columns, ctx)?,
        }
        let rows = self.rows as usize;
        Ok(HostColumns::Own((0..columns).map(|column| self.last.column(column, rows)).collect(), rows))
    }

    /// Copies the remaining rows of all columns to pinned host memory, and waits for the copies.
    fn fetch_last(&mut self, columns: usize, ctx: ExecCtx<'_>) -> Result<()> {
        let packed = self.last.packed.as_ref().ok_or_else(|| Error::internal("sumcheck"))?.buffer();
        let (rows, stride) = (bytes::<F::Compute>(self.rows as usize)?, bytes::<F::Compute>(self.now.stride as usize)?);
        for column in 0..columns {
            let from = (&*self.now.buffer, product(column, stride)?);
            self.stream.copy((packed, product(column, rows)?), from, rows)?;
        }
        self.stream.copy_to_pinned(&mut self.last.host, packed)?;
        ctx.synchronize(&mut self.stream)
    }
}

/// Returns the numbers of a pass over the terms of `shape`, with `pairs` pairs of rows and `stride` elements from one
/// column to the next. The number of the pass is 0.
fn terms_params<W: ComputeField>(shape: &RoundShape<W>, pairs: u64, stride: u64) -> TermsParams {
    let weights = shape.weights.as_ref().map(|weights| {
        let level = weights.level(pairs.ilog2());
        (level.low_log, 1 << level.low_log, weights.low_length() as u32 + (1 << level.high_log))
    });
    let (low_log, low_at, high_at) = weights.unwrap_or((NO_WEIGHTS, 0, 0));
    TermsParams {
        stride,
        pairs: pairs as u32,
        points: shape.points.len() as u32,
        terms: shape.terms.len() as u32,
        degree: shape.degree as u32,
        low_log,
        low_at,
        high_at,
        pass: 0,
    }
}
