//! Proves several claims in one proof, by provers whose messages are added.

use super::failover::{RoundProver, TranscriptReplay, unproved_error, wrong_sum};
use super::round_by_round::{Prover, check_inputs};
use crate::backend::{Abort, catch_hook_panic};
use crate::exec::ExecCtx;
use crate::sumcheck::caller_columns::{Columns, HostSlices};
use crate::sumcheck::claim::{Claim, ERROR_CONTEXT};
use crate::sumcheck::field::SumcheckField;
use crate::sumcheck::proof::{
    check_message_lengths, decode_proof, encode_proof, last_claim, observe_messages, verification_failed,
};
use crate::sumcheck::rounds::{RoundPolynomial, SumcheckOptions};
use crate::sumcheck::transcript::{BoundTranscript, Frame, MAX_NUMBER, Transcript, encode_number};
use crate::{Accelerator, Error, Result, report};

/// Holds claims that are proved in one proof, with the same challenges. The proof is of a weighted sum of the claims.
/// The weights are powers of an additional challenge.
///
/// Claims may have different numbers of variables. A claim of fewer variables starts in a later round, so its point is
/// the last coordinates of the batch's point. Until then it counts as a claim on columns that are zero if an additional
/// first variable is 1.
///
/// ```
/// use proofwarp::Accelerator;
/// use proofwarp::field::ghash::Ghash;
/// use proofwarp::sumcheck::{ClaimBatch, BoundTranscript, Claim, Columns, HashTranscript};
/// use sha2::{Digest, Sha256};
///
/// let (a, b) = ([1, 2, 3, 4].map(Ghash), [5, 6].map(Ghash));
/// let batch = ClaimBatch::new(vec![
///     Claim::product(2, &[0]).with_sum(a.iter().sum()),
///     Claim::product(1, &[0]).with_sum(b.iter().sum()),
/// ]);
/// let columns = vec![Columns::host(&[&a]), Columns::host(&[&b])];
/// // A commitment to all columns. One that is opened at a point is in docs/sumcheck.md.
/// let root = Sha256::digest([&a[..], &b].concat().iter().flat_map(|Ghash(bits)| bits.to_le_bytes()).collect::<Vec<_>>());
/// let mut transcript = HashTranscript::new(b"example");
/// let bound = BoundTranscript::bind_commitment(&mut transcript, &root)?;
/// let proof = batch.prove(&Accelerator::from_env()?, columns, bound, None)?;
/// let mut transcript = HashTranscript::new(b"example");
/// let (point, finals) = batch.verify(&proof, BoundTranscript::bind_commitment(&mut transcript, &root)?)?;
/// assert_eq!((point.len(), finals.len()), (2, 2));
/// # Ok::<(), proofwarp::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClaimBatch<F> {
    claims: Vec<Claim<F>>,
}

/// Holds the messages of all rounds, and each claim's column values at the point of the challenges (its finals).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BatchProof<F> {
    /// One message per round, with the degree of the claim that has the highest one.
    pub messages: Vec<RoundPolynomial<F>>,
    /// Column values at the point, `finals[claim][column]`.
    pub finals: Vec<Vec<F>>,
}

impl<F: SumcheckField> BatchProof<F> {
    /// Encodes the proof: the messages in the order of rounds, then the finals by claim and column.
    /// [`SumcheckField::write`] encodes the elements, with nothing between them.
    pub fn to_bytes(&self) -> Vec<u8> {
        encode_proof(&self.messages, self.finals.iter().flatten())
    }

    /// Decodes a proof of `batch` from `bytes`, which [`Self::to_bytes`] encoded.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: the batch is malformed.
    /// - [`Error::Invalid`]: `bytes` has another length than a proof of `batch`.
    /// - [`Error::Invalid`]: some bytes encode no element.
    pub fn from_bytes(batch: &ClaimBatch<F>, bytes: &[u8]) -> Result<Self> {
        batch.check()?;
        let columns = batch.claims.iter().try_fold(0usize, |sum, claim| sum.checked_add(claim.column_count()));
        let (messages, all) = decode_proof((batch.round_count(), batch.degree()), columns, bytes)?;
        let mut all = all.into_iter();
        let finals = batch.claims.iter().map(|claim| all.by_ref().take(claim.column_count()).collect()).collect();
        Ok(Self { messages, finals })
    }
}

impl<F: SumcheckField> ClaimBatch<F> {
    /// Creates a batch of `claims`. Proofs require at least one claim.
    pub fn new(claims: Vec<Claim<F>>) -> Self {
        Self { claims }
    }

    /// Returns the claims in the order passed to [`Self::new`].
    pub fn claims(&self) -> &[Claim<F>] {
        &self.claims
    }

    /// Proves all claims. `columns[i]` holds the columns of claim i.
    ///
    /// The proof is checked before it is returned. If a device fails or computes a wrong value, the host proves the
    /// batch again under the conditions of [`super::prove`].
    ///
    /// # Errors
    /// - The errors of [`super::prove`].
    /// - [`Error::Invalid`]: there is no claim, or there are more than 2^24 − 1.
    /// - [`Error::Invalid`]: `columns` has not one entry per claim.
    /// - [`Error::Device`]: a claim's sum is not its columns', and a device holds columns of the batch.
    pub fn prove<T: Transcript<F>>(
        &self,
        accelerator: &Accelerator,
        columns: Vec<Columns<'_, F>>,
        transcript: BoundTranscript<'_, F, T>,
        abort: Abort<'_>,
    ) -> Result<BatchProof<F>> {
        self.check()?;
        if columns.len() != self.claims.len() {
            return Err(Error::invalid(ERROR_CONTEXT, "columns of claims", self.claims.len(), columns.len()));
        }
        let options = SumcheckOptions::default();
        self.claims.iter().zip(&columns).try_for_each(|(claim, columns)| check_inputs(claim, columns, &options))?;
        let transcript = transcript.transcript;
        let factors = self.derive_batch_weights(transcript);
        let mut dialogue = TranscriptReplay::new(&mut *transcript);
        let finals = catch_hook_panic(abort, |abort| {
            self.run_rounds(accelerator, columns, &factors, &mut dialogue, ExecCtx::unreported(abort))
        })?;
        let messages = dialogue.messages;
        for finals in &finals {
            Frame::Finals.observe(transcript, finals);
        }
        Ok(BatchProof { messages, finals })
    }

    /// Runs all rounds, and returns the column values at the point, `[claim][column]`. If a device fails or computes a
    /// wrong value, the host runs the rounds again. That requires columns in host memory, and no forced backend.
    fn run_rounds<T: Transcript<F>>(
        &self,
        accelerator: &Accelerator,
        columns: Vec<Columns<'_, F>>,
        factors: &[F],
        dialogue: &mut TranscriptReplay<'_, F, T>,
        ctx: ExecCtx<'_>,
    ) -> Result<Vec<Vec<F>>> {
        let slices: Option<Vec<_>> = columns.iter().map(Columns::slices).collect();
        let mut prover = BatchProver::new(accelerator, &self.claims, columns, factors, ctx)?;
        let finals = dialogue.run_prover(&mut prover, ctx);
        if let Ok(finals) = &finals
            && self.is_proved(factors, &dialogue.messages, &dialogue.challenges, finals)
        {
            return Ok(finals.clone());
        }
        let device = prover.device_name().map(str::to_owned);
        drop(prover);
        match (finals, device, slices) {
            (Err(error), None, _) | (Err(error @ (Error::Aborted | Error::Invalid { .. })), ..) => Err(error),
            (Ok(_), None, _) => Err(wrong_sum()),
            (finals, Some(device), None) => Err(finals.err().unwrap_or_else(|| unproved_error(&device))),
            (finals, Some(device), Some(slices)) if accelerator.forced().is_some() => Err(match finals {
                Err(error) => error,
                Ok(finals) => dialogue.diagnose_failure(&finals, self.host_prover(&slices, factors), &device, ctx)?,
            }),
            (finals, Some(device), Some(slices)) => {
                let error = finals.err().unwrap_or_else(|| unproved_error(&device));
                report::report_failure(&format!("sumcheck {}: the host proves a batch: {error}", F::NAME));
                let finals = dialogue.rerun_on_host(|| Ok(self.host_prover(&slices, factors)), &device, ctx)?;
                let proved = self.is_proved(factors, &dialogue.messages, &dialogue.challenges, &finals);
                if proved { Ok(finals) } else { Err(wrong_sum()) }
            }
        }
    }

    fn host_prover<'a>(&self, columns: &[HostSlices<'a, F>], factors: &[F]) -> BatchProver<'a, F> {
        BatchProver::start_on_host(&self.claims, columns, factors)
    }

    /// Verifies `proof` like [`crate::sumcheck::verify`]. Returns the point, one coordinate per round, and the finals,
    /// `[claim][column]`. The point of a claim of n variables is the last n coordinates.
    ///
    /// # Errors
    /// - The errors of [`crate::sumcheck::verify`].
    /// - [`Error::Invalid`]: there is no claim, or there are more than 2^24 − 1.
    /// - [`Error::Invalid`]: `proof` has not one list of finals per claim.
    pub fn verify<T: Transcript<F>>(
        &self,
        proof: &BatchProof<F>,
        transcript: BoundTranscript<'_, F, T>,
    ) -> Result<(Vec<F>, Vec<Vec<F>>)> {
        self.check()?;
        check_message_lengths(&proof.messages, self.round_count(), self.degree())?;
        self.check_finals(&proof.finals)?;
        let transcript = transcript.transcript;
        let factors = self.derive_batch_weights(transcript);
        let point = observe_messages(&proof.messages, transcript);
        proof.finals.iter().for_each(|finals| Frame::Finals.observe(transcript, finals));
        if self.is_proved(&factors, &proof.messages, &point, &proof.finals) {
            return Ok((point, proof.finals.clone()));
        }
        Err(verification_failed())
    }

    /// Returns whether `messages` and `finals` prove all claims, where `factors` are the claims' weights and `point`
    /// holds the challenges of the rounds. This is the verifier's last check.
    fn is_proved(&self, factors: &[F], messages: &[RoundPolynomial<F>], point: &[F], finals: &[Vec<F>]) -> bool {
        let sum = self.claims.iter().zip(factors).map(|(claim, factor)| claim.claimed() * factor).sum();
        let expected = |((claim, factor), finals): ((&Claim<F>, &F), &Vec<F>)| {
            let (waited, own) = point.split_at((self.round_count() - claim.variables()) as usize);
            let waited: F = waited.iter().map(|r| F::ONE - r).product();
            *factor * waited * claim.eq_at(own) * claim.evaluate_terms(finals)
        };
        let expected: F = self.claims.iter().zip(factors).zip(finals).map(expected).sum();
        expected.to_compute_field() == last_claim(messages, sum, point)
    }

    fn check_finals(&self, finals: &[Vec<F>]) -> Result<()> {
        if finals.len() != self.claims.len() {
            return Err(Error::invalid(ERROR_CONTEXT, "finals by claims", self.claims.len(), finals.len()));
        }
        let differs = |(claim, finals): (&Claim<F>, &Vec<F>)| finals.len() != claim.column_count();
        match self.claims.iter().zip(finals).position(differs) {
            None => Ok(()),
            Some(number) => {
                let expected = self.claims[number].column_count();
                Err(Error::invalid(ERROR_CONTEXT, format!("finals of claim {number}"), expected, finals[number].len()))
            }
        }
    }

    fn check(&self) -> Result<()> {
        if !(1..=MAX_NUMBER).contains(&self.claims.len()) {
            let expected = format!("1 to {MAX_NUMBER}");
            return Err(Error::invalid(ERROR_CONTEXT, "number of claims", expected, self.claims.len()));
        }
        self.claims.iter().try_for_each(Claim::check)
    }

    fn round_count(&self) -> u32 {
        self.claims.iter().map(Claim::variables).max().unwrap_or(0)
    }

    fn degree(&self) -> usize {
        self.claims.iter().map(Claim::round_degree).max().unwrap_or(1)
    }

    /// Makes `transcript` observe all claims, draws a challenge, and returns its powers as the claims' weights. The
    /// first weight is 1.
    fn derive_batch_weights(&self, transcript: &mut impl Transcript<F>) -> Vec<F> {
        Frame::Batch.observe(transcript, &[encode_number(self.claims.len())]);
        self.claims.iter().for_each(|claim| claim.observe(transcript));
        let factor = transcript.challenge("batch");
        std::iter::successors(Some(F::ONE), |power| Some(*power * factor)).take(self.claims.len()).collect()
    }
}

/// Runs the provers of a batch's claims as one prover. Holds their state between two rounds.
pub(crate) struct BatchProver<'a, F: SumcheckField> {
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
    pub(super) fn new(
        accelerator: &Accelerator,
        claims: &[Claim<F>],
        columns: Vec<Columns<'a, F>>,
        factors: &[F],
        ctx: ExecCtx<'_>,
    ) -> Result<Self> {
        let start = |(claim, columns): (&Claim<F>, _)| {
            ctx.check_abort()?;
            Prover::new(accelerator, claim, columns)
        };
        let provers: Result<Vec<_>> = claims.iter().zip(columns).map(start).collect();
        Ok(Self::from_provers(claims, provers?, factors))
    }

    /// Starts a prover on the host for each of `claims`, with its entry of `columns` and its weight in `factors`.
    pub(super) fn start_on_host(claims: &[Claim<F>], columns: &[HostSlices<'a, F>], factors: &[F]) -> Self {
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
    pub(super) fn device_name(&self) -> Option<&str> {
        self.claims.iter().find_map(|claim| claim.prover.device_name())
    }
}

impl<F: SumcheckField> RoundProver<F> for BatchProver<'_, F> {
    type Finals = Vec<Vec<F>>;

    fn message(&mut self, ctx: ExecCtx<'_>) -> Result<Option<RoundPolynomial<F>>> {
        if self.round == self.rounds {
            return Ok(None);
        }
        let mut sum = vec![F::ZERO; self.degree + 1];
        for claim in &mut self.claims {
            let polynomial = claim.polynomial(self.round, ctx)?;
            sum.iter_mut().zip(polynomial).for_each(|(sum, coefficient)| *sum += claim.factor * coefficient);
        }
        Ok(Some(RoundPolynomial::of_polynomial(&sum)))
    }

    fn fold(&mut self, challenge: F) -> Result<()> {
        self.round += 1;
        self.claims.iter_mut().try_for_each(|claim| claim.fold(challenge))
    }

    fn final_evaluations(&mut self, ctx: ExecCtx<'_>) -> Result<Vec<Vec<F>>> {
        self.claims.iter_mut().map(|claim| claim.prover.final_evaluations(ctx)).collect()
    }
}

impl<F: SumcheckField> BatchedClaim<'_, F> {
    /// Returns the coefficients of the claim's polynomial in round `round`, in ascending order of degree.
    fn polynomial(&mut self, round: u32, ctx: ExecCtx<'_>) -> Result<Vec<F>> {
        if round < self.start {
            return Ok(vec![self.claimed, -self.claimed]);
        }
        let message = self.prover.next_message(ctx)?;
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
