//! Computes the rounds of a proof: on the host, over a field or its base field, or on a device.

use crate::Result;
use crate::backend::StreamStats;
use crate::exec::ExecCtx;
use crate::sumcheck::claim::RoundShape;
use crate::sumcheck::field::SumcheckField;
use crate::sumcheck::gpu::{DeviceRounds, SlicedRounds};
use crate::sumcheck::rounds::{BaseRows, HostColumns, Interpolation};

/// Computes rounds over columns that it holds.
pub(super) trait RoundEngine<'a, F: SumcheckField>: Send {
    /// Binds the first variable to `challenge`, if there is one. Returns the next round polynomial's values, at all
    /// points of [`Self::interpolation`] but 1.
    fn round_values(
        &mut self,
        shape: &RoundShape<F::Compute>,
        challenge: Option<F::Compute>,
        ctx: ExecCtx<'_>,
    ) -> Result<Vec<F::Compute>>;

    /// Binds the first variable to `challenge`, if there is one. Moves the remaining rows of all columns to the host.
    fn take_columns(
        &mut self,
        shape: &RoundShape<F::Compute>,
        challenge: Option<F::Compute>,
        ctx: ExecCtx<'_>,
    ) -> Result<HostColumns<'a, F::Compute>>;

    /// Returns the interpolation that rebuilds a round polynomial from its values.
    fn interpolation<'s>(&'s self, shape: &'s RoundShape<F::Compute>) -> &'s Interpolation<F::Compute> {
        &shape.interpolation
    }

    /// Returns the copies, times and launches on a device so far.
    fn stats(&self) -> StreamStats {
        StreamStats::default()
    }
}

impl<'a, F: SumcheckField> RoundEngine<'a, F> for HostColumns<'a, F::Compute> {
    fn round_values(
        &mut self,
        shape: &RoundShape<F::Compute>,
        challenge: Option<F::Compute>,
        ctx: ExecCtx<'_>,
    ) -> Result<Vec<F::Compute>> {
        ctx.check_abort()?;
        if let Some(challenge) = challenge {
            self.fold(challenge);
        }
        Ok(self.evaluate_round(shape))
    }

    fn take_columns(
        &mut self,
        _: &RoundShape<F::Compute>,
        challenge: Option<F::Compute>,
        ctx: ExecCtx<'_>,
    ) -> Result<HostColumns<'a, F::Compute>> {
        ctx.check_abort()?;
        if let Some(challenge) = challenge {
            self.fold(challenge);
        }
        Ok(std::mem::replace(self, HostColumns::Own(Vec::new(), 0)))
    }
}

/// Holds columns on the host over the base field, until the first challenge folds them.
pub(super) enum BaseColumns<'a, F: SumcheckField> {
    Base(BaseRows<'a, F>),
    Folded(HostColumns<'a, F::Compute>),
}

impl<'a, F: SumcheckField> BaseColumns<'a, F> {
    pub(super) fn new(rows: BaseRows<'a, F>) -> Self {
        Self::Base(rows)
    }
}

impl<'a, F: SumcheckField> RoundEngine<'a, F> for BaseColumns<'a, F> {
    fn round_values(
        &mut self,
        shape: &RoundShape<F::Compute>,
        challenge: Option<F::Compute>,
        ctx: ExecCtx<'_>,
    ) -> Result<Vec<F::Compute>> {
        ctx.check_abort()?;
        match (&mut *self, challenge) {
            (Self::Base(rows), None) => Ok(rows.evaluate_round(shape)),
            (Self::Base(rows), Some(challenge)) => {
                let folded = rows.folded(challenge);
                let values = folded.evaluate_round(shape);
                *self = Self::Folded(folded);
                Ok(values)
            }
            (Self::Folded(rows), challenge) => RoundEngine::<F>::round_values(rows, shape, challenge, ctx),
        }
    }

    fn take_columns(
        &mut self,
        shape: &RoundShape<F::Compute>,
        challenge: Option<F::Compute>,
        ctx: ExecCtx<'_>,
    ) -> Result<HostColumns<'a, F::Compute>> {
        ctx.check_abort()?;
        match self {
            Self::Base(rows) => Ok(challenge.map_or_else(|| rows.lifted(), |challenge| rows.folded(challenge))),
            Self::Folded(rows) => RoundEngine::<F>::take_columns(rows, shape, challenge, ctx),
        }
    }
}

impl<'a, F: SumcheckField> RoundEngine<'a, F> for DeviceRounds<'a, F> {
    fn round_values(
        &mut self,
        shape: &RoundShape<F::Compute>,
        challenge: Option<F::Compute>,
        ctx: ExecCtx<'_>,
    ) -> Result<Vec<F::Compute>> {
        self.fold_and_evaluate(shape, challenge, ctx)
    }

    fn take_columns(
        &mut self,
        shape: &RoundShape<F::Compute>,
        challenge: Option<F::Compute>,
        ctx: ExecCtx<'_>,
    ) -> Result<HostColumns<'a, F::Compute>> {
        ctx.check_abort()?;
        self.fold_and_download(shape.columns, challenge, ctx)
    }

    fn stats(&self) -> StreamStats {
        self.traffic()
    }
}

impl<'a, F: SumcheckField> RoundEngine<'a, F> for SlicedRounds<F> {
    fn round_values(
        &mut self,
        _: &RoundShape<F::Compute>,
        challenge: Option<F::Compute>,
        ctx: ExecCtx<'_>,
    ) -> Result<Vec<F::Compute>> {
        self.fold_and_evaluate(challenge, ctx)
    }

    fn take_columns(
        &mut self,
        _: &RoundShape<F::Compute>,
        challenge: Option<F::Compute>,
        ctx: ExecCtx<'_>,
    ) -> Result<HostColumns<'a, F::Compute>> {
        ctx.check_abort()?;
        self.fold_and_download(challenge, ctx)
    }

    fn interpolation<'s>(&'s self, _: &'s RoundShape<F::Compute>) -> &'s Interpolation<F::Compute> {
        SlicedRounds::interpolation(self)
    }

    fn stats(&self) -> StreamStats {
        self.traffic()
    }
}
