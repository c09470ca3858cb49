//! Proves a claim round by round.

use std::sync::Arc;

use ff::Field;

use super::failover::{RoundProver, unproved_error, wrong_sum};
use super::round_engine::{BaseColumns, RoundEngine};
use crate::backend::{Device, StreamStats};
use crate::exec::ExecCtx;
use crate::field::Element;
use crate::report::OpScope;
use crate::settings::Settings;
use crate::sumcheck::caller_columns::{Columns, HostColumn, HostSlices};
use crate::sumcheck::claim::{Claim, ERROR_CONTEXT, RoundShape};
use crate::sumcheck::field::SumcheckField;
use crate::sumcheck::gpu::{DeviceRounds, SlicedRounds, ownership, select_kernels};
use crate::sumcheck::rounds::{
    BaseRows, HostColumns, KernelPath, RoundPolynomial, SumcheckExplanation, SumcheckOptions, SumcheckPlan,
    check_options,
};
use crate::{Accelerator, Error, Result};

/// Proves a claim round by round, for custom protocols. For each variable, [`Self::message`] returns a message, and
/// [`Self::fold`] takes the challenge for it. Then [`Self::finish`] returns the columns' values at the point whose
/// coordinates are the challenges. Calls in another order are errors, and change nothing.
///
/// Challenges must follow from a commitment to the columns, from the claim ([`Claim::observe`]) and from all messages
/// before them. A device's failure ends the prover. The caller then starts a new one, and compares each of its messages
/// with the one sent before.
///
/// ```
/// use proofwarp::Accelerator;
/// use proofwarp::field::ghash::Ghash;
/// use proofwarp::sumcheck::{Claim, Columns, Prover};
///
/// let (a, b) = ([1, 2, 3, 4].map(Ghash), [5, 6, 7, 8].map(Ghash));
/// let sum = a.iter().zip(&b).map(|(a, b)| *a * b).sum();
/// let claim = Claim::product(2, &[0, 1]).with_sum(sum);
/// let mut prover = Prover::new(&Accelerator::from_env()?, &claim, Columns::host(&[&a, &b]))?;
/// let mut claimed = sum;
/// while let Some(message) = prover.message()? {
///     let challenge = Ghash(3);
///     claimed = message.next_claim(claimed, challenge);
///     prover.fold(challenge)?;
/// }
/// let finals = prover.finish()?;
/// assert_eq!(finals[0] * finals[1], claimed);
/// # Ok::<(), proofwarp::Error>(())
/// ```
pub struct Prover<'a, F: SumcheckField> {
    claim: Claim<F::Compute>,
    shape: RoundShape<F::Compute>,
    engine: Box<dyn RoundEngine<'a, F> + 'a>,
    /// Name of the device that runs rounds, or `None` if the host runs all.
    device: Option<String>,
    /// The host takes over once at most 2^tail rows are left; 0 if it has all rows from the start.
    tail: u32,
    round: u32,
    state: ProverState<F::Compute>,
    /// Claimed sum of the rounds to come.
    claimed: F::Compute,
    /// Product of eq's factors for the variables that are bound.
    scale: F::Compute,
    /// Challenge by which the columns are still to be folded.
    pending: Option<F::Compute>,
    explanation: SumcheckExplanation,
    traffic: StreamStats,
}

/// Says which call the prover expects next.
enum ProverState<W> {
    Message,
    /// The challenge for the polynomial with these coefficients.
    Challenge(Vec<W>),
    /// No call, since a device failed within a round.
    Broken,
}

impl<F: SumcheckField> std::fmt::Debug for Prover<'_, F> {
    /// Formats the prover without its contents, which may be secret.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Prover")
            .field("round", &self.round)
            .field("explanation", &self.explanation)
            .finish_non_exhaustive()
    }
}

impl<'a, F: SumcheckField> Prover<'a, F> {
    /// Starts a prover of `claim` on the accelerator's first device, or on the one that holds `columns`. It starts on
    /// the host if there is no device or the claim has few rows.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: the claim is malformed.
    /// - [`Error::Invalid`]: the number of columns, or the length of one, does not fit the claim.
    /// - [`Error::Invalid`]: the columns are over a base field or bit-sliced, and the field or the claim does not allow
    ///   that.
    /// - [`Error::OutOfMemory`]: a device that is forced, or that holds the columns, has too little memory.
    /// - [`Error::Device`] or another device error: such a device failed.
    pub fn new(accelerator: &Accelerator, claim: &Claim<F>, columns: Columns<'a, F>) -> Result<Self> {
        Self::with_options(accelerator, claim, columns, &SumcheckOptions::default())
    }

    /// Starts a prover like [`Self::new`], configured by `options`.
    ///
    /// # Errors
    /// - The errors of [`Self::new`].
    /// - [`Error::Invalid`]: the field or the claim does not have the requested path or rounds a pass.
    /// - [`Error::Unsupported`]: the path is [`KernelPath::Clmad`], which a device that is forced, or that holds the
    ///   columns, does not have.
    pub fn with_options(
        accelerator: &Accelerator,
        claim: &Claim<F>,
        columns: Columns<'a, F>,
        options: &SumcheckOptions,
    ) -> Result<Self> {
        check_inputs(claim, &columns, options)?;
        let Some(slices) = columns.slices() else {
            return Self::start_on_owning_device(claim, columns, options, ExecCtx::unreported(None));
        };
        let Some(device) = device_for(accelerator, claim, options) else {
            return Ok(Self::start_on_host(claim, &slices, accelerator.unavailable_reasons().to_vec()));
        };
        Self::start_on_device(device, claim, columns, options, ExecCtx::unreported(None)).or_else(|error| {
            op_scope(claim, slices.len()).report_device_failure(device.info(), &error);
            if accelerator.forced().is_some() || matches!(error, Error::Invalid { .. }) {
                return Err(error);
            }
            let reasons = accelerator.unavailable_reasons().iter().cloned().chain([error.to_string()]).collect();
            Ok(Self::start_on_host(claim, &slices, reasons))
        })
    }

    /// Starts a prover on the host's cores. The claim and the columns must have been checked. `reasons` say why no
    /// device is used.
    pub(in crate::sumcheck) fn start_on_host(
        claim: &Claim<F>,
        columns: &HostSlices<'a, F>,
        reasons: Vec<String>,
    ) -> Self {
        let shape = RoundShape::new(&claim.to_compute_field(), columns.len());
        let explanation = SumcheckExplanation {
            path: None,
            device_rounds: 0,
            host_rounds: claim.variables(),
            fused: false,
            pairs: false,
            bytes: 0,
            reasons,
        };
        let engine: Box<dyn RoundEngine<'a, F> + 'a> = match columns {
            HostSlices::Own(columns) => Box::new(HostColumns::from_columns(&column_slices(columns))),
            HostSlices::Base(columns) if shape.is_product() => {
                Box::new(BaseColumns::new(BaseRows::new(column_slices(columns))))
            }
            HostSlices::Base(columns) => Box::new(BaseRows::<F>::new(column_slices(columns)).lifted()),
        };
        Self::from_parts(claim, shape, engine, 0, explanation)
    }

    /// Starts a prover on the device that holds `columns`.
    pub(crate) fn start_on_owning_device(
        claim: &Claim<F>,
        columns: Columns<'a, F>,
        options: &SumcheckOptions,
        ctx: ExecCtx<'_>,
    ) -> Result<Self> {
        let there = || Error::invalid(ERROR_CONTEXT, "columns", "on a device", "in the host's memory");
        let device = columns.device_of().ok_or_else(there)?;
        Self::start_on_device(&device, claim, columns, options, ctx)
    }

    /// Starts a prover on `device`. The claim and the columns must have been checked.
    pub(crate) fn start_on_device(
        device: &Arc<Device>,
        claim: &Claim<F>,
        columns: Columns<'a, F>,
        options: &SumcheckOptions,
        ctx: ExecCtx<'_>,
    ) -> Result<Self> {
        let shape = RoundShape::new(&claim.to_compute_field(), columns.count(claim.variables()));
        let (path, program, reasons) = select_kernels::<F>(device, claim.variables(), options)?;
        let plan =
            if path == KernelPath::Bitsliced { SumcheckPlan::for_bitsliced::<F> } else { SumcheckPlan::new::<F> };
        let options = SumcheckOptions { path: Some(path), tail: host_tail_log(options), ..*options };
        let plan = plan(&shape, ownership(&columns), device.info().compute_units, &options);
        let engine: Box<dyn RoundEngine<'a, F> + 'a> = match path {
            KernelPath::Bitsliced => Box::new(SlicedRounds::new(device, program, &shape, &columns, plan, ctx)?),
            _ => Box::new(DeviceRounds::new(device, program, &shape, columns, plan, ctx)?),
        };
        let explanation = SumcheckExplanation {
            path: Some(path),
            device_rounds: plan.device_round_count(),
            host_rounds: claim.variables() - plan.device_round_count(),
            fused: plan.fused,
            pairs: plan.pairs,
            bytes: plan.bytes,
            reasons,
        };
        let prover = Self::from_parts(claim, shape, engine, plan.tail, explanation);
        Ok(Self { device: Some(device.info().name.clone()), ..prover })
    }

    fn from_parts(
        claim: &Claim<F>,
        shape: RoundShape<F::Compute>,
        engine: Box<dyn RoundEngine<'a, F> + 'a>,
        tail: u32,
        explanation: SumcheckExplanation,
    ) -> Self {
        Self {
            claim: claim.to_compute_field(),
            shape,
            engine,
            device: None,
            tail,
            round: 0,
            state: ProverState::Message,
            claimed: claim.claimed().to_compute_field(),
            scale: F::Compute::ONE,
            pending: None,
            explanation,
            traffic: StreamStats::default(),
        }
    }

    /// Returns where the rounds run, and with which kernels.
    pub fn explain(&self) -> &SumcheckExplanation {
        &self.explanation
    }

    /// Returns the name of the device that runs rounds, or `None` if the host runs all.
    pub(crate) fn device_name(&self) -> Option<&str> {
        self.device.as_deref()
    }

    /// Returns the copies, times and launches on the device so far.
    pub(crate) fn traffic(&self) -> StreamStats {
        self.traffic + self.engine.stats()
    }

    /// Returns the next round's message, or `None` after the last round.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: the last message has no challenge yet.
    /// - [`Error::Invalid`]: a device failed before.
    /// - [`Error::Device`] or another device error: the device failed.
    pub fn message(&mut self) -> Result<Option<RoundPolynomial<F>>> {
        self.next_message(ExecCtx::unreported(None))
    }

    /// Returns the next round's message like [`Self::message`], unless `abort` stops it.
    ///
    /// # Errors
    /// - The errors of [`Self::message`].
    /// - [`Error::Aborted`]: the abort hook aborted. The prover gives only errors after that.
    pub(crate) fn next_message(&mut self, ctx: ExecCtx<'_>) -> Result<Option<RoundPolynomial<F>>> {
        self.expect_message("message")?;
        if self.round == self.claim.variables() {
            return Ok(None);
        }
        let polynomial = self.run_or_break(|prover| prover.polynomial(ctx))?;
        let there: Vec<F> = polynomial.iter().map(|coefficient| F::from_compute_field(*coefficient)).collect();
        self.state = ProverState::Challenge(polynomial);
        Ok(Some(RoundPolynomial::of_polynomial(&there)))
    }

    /// Binds the round's variable to `challenge`, which answers the last message.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: no message is waiting for a challenge.
    pub fn fold(&mut self, challenge: F) -> Result<()> {
        let ProverState::Challenge(polynomial) = &self.state else {
            return Err(out_of_order("fold", "a message before it", self.state_description()));
        };
        let challenge = challenge.to_compute_field();
        // Computed as the verifier does, whatever the polynomial's second coefficient is here.
        self.claimed = RoundPolynomial::of_polynomial(polynomial).next_claim(self.claimed, challenge);
        if let Some(w) = self.claim.eq().map(|point| point[self.round as usize]) {
            self.scale *= w * challenge + (F::Compute::ONE - w) * (F::Compute::ONE - challenge);
        }
        self.pending = Some(challenge);
        self.round += 1;
        self.state = ProverState::Message;
        Ok(())
    }

    /// Checks that the columns' values at the point prove the claim, and returns them by column number.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: rounds are left.
    /// - [`Error::Invalid`]: a device failed before.
    /// - [`Error::Invalid`]: the prover had no device, and the columns' sum is not the claimed one.
    /// - [`Error::Device`] or another device error: a device failed.
    /// - [`Error::Device`]: a device computed a wrong value, or the prover had one and the columns' sum is not the
    ///   claimed one.
    pub fn finish(mut self) -> Result<Vec<F>> {
        let final_evaluations = self.last_values(ExecCtx::unreported(None))?;
        if self.scale * self.claim.evaluate_terms(&final_evaluations) != self.claimed {
            return Err(self.device_name().map_or_else(wrong_sum, unproved_error));
        }
        Ok(final_evaluations.into_iter().map(F::from_compute_field).collect())
    }

    /// Returns each column's value at the point after the last round, without the check of [`Self::finish`].
    fn last_values(&mut self, ctx: ExecCtx<'_>) -> Result<Vec<F::Compute>> {
        self.expect_message("finish")?;
        if self.round < self.claim.variables() {
            let left = format!("{} of {} rounds", self.round, self.claim.variables());
            return Err(out_of_order("finish", "all rounds before it", left));
        }
        let columns = self.shape.columns;
        self.run_or_break(|prover| prover.last_row(columns, ctx))
    }

    fn expect_message(&self, call: &str) -> Result<()> {
        if matches!(self.state, ProverState::Message) {
            Ok(())
        } else {
            Err(out_of_order(call, "a challenge", self.state_description()))
        }
    }

    fn state_description(&self) -> String {
        match self.state {
            ProverState::Message => format!("none in round {}", self.round),
            ProverState::Challenge(_) => format!("none for the message of round {}", self.round),
            ProverState::Broken => "a device that failed".to_owned(),
        }
    }

    /// Runs `work`, and marks the prover as broken if it fails, because columns may then be half done.
    fn run_or_break<T>(&mut self, work: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        let result = work(self);
        if result.is_err() {
            self.state = ProverState::Broken;
        }
        result
    }

    /// Returns all coefficients of the round's polynomial, in ascending order of degree.
    fn polynomial(&mut self, ctx: ExecCtx<'_>) -> Result<Vec<F::Compute>> {
        if self.tail > 0 && self.claim.variables() - self.round <= self.tail {
            self.move_to_host(ctx)?;
        }
        let mut values = self.engine.round_values(&self.shape, self.pending.take(), ctx)?;
        match self.claim.eq().map(|point| point[self.round as usize]) {
            None => {
                values.push(self.claimed - values[0]);
                Ok(self.engine.interpolation(&self.shape).coefficients(&values))
            }
            Some(w) => Ok(times_eq(&self.shape.interpolation.coefficients(&values), w, self.scale)),
        }
    }

    /// Returns the only row that is left of each of `columns` columns.
    fn last_row(&mut self, columns: usize, ctx: ExecCtx<'_>) -> Result<Vec<F::Compute>> {
        let rows = self.engine.take_columns(&self.shape, self.pending.take(), ctx)?;
        let last = rows.first_row(columns);
        self.continue_on_host(rows);
        Ok(last)
    }

    /// Folds the columns by the pending challenge, and moves them to the host.
    fn move_to_host(&mut self, ctx: ExecCtx<'_>) -> Result<()> {
        let rows = self.engine.take_columns(&self.shape, self.pending.take(), ctx)?;
        self.continue_on_host(rows);
        Ok(())
    }

    fn continue_on_host(&mut self, rows: HostColumns<'a, F::Compute>) {
        self.traffic = self.traffic();
        self.engine = Box::new(rows);
        self.tail = 0;
    }
}

impl<F: SumcheckField> RoundProver<F> for Prover<'_, F> {
    type Finals = Vec<F>;

    fn message(&mut self, ctx: ExecCtx<'_>) -> Result<Option<RoundPolynomial<F>>> {
        self.next_message(ctx)
    }

    fn fold(&mut self, challenge: F) -> Result<()> {
        Prover::fold(self, challenge)
    }

    fn final_evaluations(&mut self, ctx: ExecCtx<'_>) -> Result<Vec<F>> {
        Ok(self.last_values(ctx)?.into_iter().map(F::from_compute_field).collect())
    }
}

/// Returns the elements of each of `columns` as a slice.
fn column_slices<'a, E: Element>(columns: &[HostColumn<'a, E>]) -> Vec<&'a [E]> {
    columns.iter().map(HostColumn::elements).collect()
}

/// Returns the coefficients of `polynomial` times `scale`·eq(`w`, X), in ascending order of degree.
fn times_eq<W: Field>(polynomial: &[W], w: W, scale: W) -> Vec<W> {
    let (constant, slope) = (scale * (W::ONE - w), scale * (w - (W::ONE - w)));
    let mut product = vec![W::ZERO; polynomial.len() + 1];
    for (k, coefficient) in polynomial.iter().enumerate() {
        product[k] += *coefficient * constant;
        product[k + 1] += *coefficient * slope;
    }
    product
}

fn out_of_order(call: &str, expected: &str, actual: impl ToString) -> Error {
    Error::invalid(ERROR_CONTEXT, call, expected, actual)
}

/// Checks `claim`, and that `columns` and `options` fit it.
///
/// # Errors
/// - [`Error::Invalid`]: the claim is malformed.
/// - [`Error::Invalid`]: the columns do not fit the claim.
/// - [`Error::Invalid`]: the field or the claim does not have the requested path or rounds a pass.
pub(crate) fn check_inputs<F: SumcheckField>(
    claim: &Claim<F>,
    columns: &Columns<'_, F>,
    options: &SumcheckOptions,
) -> Result<()> {
    claim.check()?;
    columns.check(claim)?;
    check_options(claim, columns.count(claim.variables()), options)
}

/// Returns the accelerator's first device for columns in host memory. Returns `None` if there is no device or the claim
/// has at most 2^tail rows.
pub(crate) fn device_for<'d, F: SumcheckField>(
    accelerator: &'d Accelerator,
    claim: &Claim<F>,
    options: &SumcheckOptions,
) -> Option<&'d Arc<Device>> {
    let tail = host_tail_log(options).unwrap_or(crate::sumcheck::rounds::HOST_TAIL_LOG);
    accelerator.devices().first().filter(|_| claim.variables() > tail)
}

/// Returns the tail of `options`, or else that of the environment: rounds over at most 2^tail rows run on the host.
/// Returns `None` if neither sets it.
fn host_tail_log(options: &SumcheckOptions) -> Option<u32> {
    options.tail.or_else(|| Settings::get().ok()?.sumcheck_tail)
}

/// Returns the operation that a report names: a proof of `claim` on `columns` columns.
pub(crate) fn op_scope<F: SumcheckField>(claim: &Claim<F>, columns: usize) -> OpScope {
    OpScope { operation: format!("sumcheck {}", F::NAME), elements: columns << claim.variables() }
}
