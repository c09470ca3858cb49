//! Runs the provers of several claims as one, whose messages are the sums of theirs.

use super::claim::{Claim, ERROR_CONTEXT};
use super::columns::{Columns, HostSlices};
use super::field::SumcheckField;
use super::prover::Prover;
use super::prover_failover::RoundProver;
use super::round_poly::RoundPolynomial;
use crate::backend::{Abort, check_abort};
use crate::{Accelerator, Error, Result};

/// Runs the provers of a batch's claims as one prover. Holds their state between two rounds.
pub(super) struct BatchProver<'a, F: SumcheckField> {
    claims: Vec<BatchedClaim<'a, F>>,
    degree: usize,
    rounds: u32,
    round: u32,
}

/// Holds a claim's prover and its weight in the batch. `factor` is the claim's power of the batch's challenge, times 1
/// − r for the challenge r of each round before the claim starts.
struct BatchedClaim<'a, F: SumcheckField> {
    prover: Prover<'a, F>,
    claimed: F,
    factor: F,
    /// Number of the first round that the claim takes part in, from 0.
    start: u32,
    message: Option<RoundPolynomial<F>>,
}

impl<'a, F: SumcheckField> BatchProver<'a, F> {
    /// Starts a prover for each of `claims`, with its entry of `columns` and its weight in `factors`. The provers run
    /// on the accelerator's first device, or on the devices that hold the columns.
    ///
    /// # Errors
    /// - The errors of [`Prover::new`].
    /// - [`Error::Aborted`]: the abort hook aborted.
    pub fn new(
        accelerator: &Accelerator,
        claims: &[Claim<F>],
        columns: Vec<Columns<'a, F>>,
        factors: &[F],
        abort: Abort<'_>,
    ) -> Result<Self> {
        let start = |(claim, columns): (&Claim<F>, _)| {
            check_abort(abort)?;
            Prover::new(accelerator, claim, columns)
        };
        let provers: Result<Vec<_>> = claims.iter().zip(columns).map(start).collect();
        Ok(Self::from_provers(claims, provers?, factors))
    }

    /// Starts a prover on the host for each of `claims`, with its entry of `columns` and its weight in `factors`.
    pub fn start_on_host(claims: &[Claim<F>], columns: &[HostSlices<'a, F>], factors: &[F]) -> Self {
        let start = |(claim, columns): (&Claim<F>, _)| Prover::start_on_host(claim, columns, Vec::new());
        Self::from_provers(claims, claims.iter().zip(columns).map(start).collect(), factors)
    }

    fn from_provers(claims: &[Claim<F>], provers: Vec<Prover<'a, F>>, factors: &[F]) -> Self {
        let rounds = claims.iter().map(Claim::variables).max().unwrap_or(0);
        let degree = claims.iter().map(Claim::round_degree).max().unwrap_or(1);
        let batched = |((claim, prover), factor): ((&Claim<F>, _), &F)| {
            let start = rounds - claim.variables();
            BatchedClaim { prover, claimed: claim.claimed(), factor: *factor, start, message: None }
        };
        let claims = claims.iter().zip(provers).zip(factors).map(batched).collect();
        Self { claims, degree, rounds, round: 0 }
    }

    /// Returns the name of the first device that runs rounds of a claim, or `None` if the host runs all rounds.
    pub fn device_name(&self) -> Option<&str> {
        self.claims.iter().find_map(|claim| claim.prover.device_name())
    }
}

impl<F: SumcheckField> RoundProver<F> for BatchProver<'_, F> {
    type Finals = Vec<Vec<F>>;

    fn message(&mut self, abort: Abort<'_>) -> Result<Option<RoundPolynomial<F>>> {
        if self.round == self.rounds {
            return Ok(None);
        }
        let mut sum = vec![F::ZERO; self.degree + 1];
        for claim in &mut self.claims {
            let polynomial = claim.polynomial(self.round, abort)?;
            sum.iter_mut().zip(polynomial).for_each(|(sum, coefficient)| *sum += claim.factor * coefficient);
        }
        Ok(Some(RoundPolynomial::of_polynomial(&sum)))
    }

    fn fold(&mut self, challenge: F) -> Result<()> {
        self.round += 1;
        self.claims.iter_mut().try_for_each(|claim| claim.fold(challenge))
    }

    fn final_evaluations(&mut self, abort: Abort<'_>) -> Result<Vec<Vec<F>>> {
        self.claims.iter_mut().map(|claim| claim.prover.final_evaluations(abort)).collect()
    }
}

impl<F: SumcheckField> BatchedClaim<'_, F> {
    /// Returns the coefficients of the claim's polynomial in round `round`, in ascending order of degree.
    fn polynomial(&mut self, round: u32, abort: Abort<'_>) -> Result<Vec<F>> {
        if round < self.start {
            return Ok(vec![self.claimed, -self.claimed]);
        }
        let message = self.prover.message_abortable(abort)?;
        let message = message.ok_or_else(|| Error::invalid(ERROR_CONTEXT, "rounds of a claim", "one more", "none"))?;
        let polynomial = message.all_coefficients(self.claimed);
        self.message = Some(message);
        Ok(polynomial)
    }

    fn fold(&mut self, challenge: F) -> Result<()> {
        match self.message.take() {
            None => self.factor *= F::ONE - challenge,
            Some(message) => {
                self.claimed = message.next_claim(self.claimed, challenge);
                self.prover.fold(challenge)?;
            }
        }
        Ok(())
    }
}
