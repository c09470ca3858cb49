//! Several claims in one proof.

use super::claim::{Claim, PLACE};
use super::columns::Columns;
use super::field::SumcheckField;
use super::message::Message;
use super::plan::Options;
use super::proof::check_rounds;
use super::prover::{Prover, check};
use super::transcript::Transcript;
use super::verify::{refused, replay, round};
use crate::backend::{Abort, check_abort, guarded};
use crate::{Accelerator, Error, Result};

/// Claims that are proved together, with the same challenges: their sum, each times a power of a challenge of its own.
///
/// They may have different numbers of variables. A claim of fewer starts later, so that its point is the end of the others':
/// until then it counts as one on columns that are zero wherever an additional first variable is 1.
///
/// ```
/// use proofwarp::Accelerator;
/// use proofwarp::field::ghash::Ghash;
/// use proofwarp::sumcheck::{Batch, Claim, Columns, HashTranscript};
///
/// let (a, b) = ([1, 2, 3, 4].map(Ghash), [5, 6].map(Ghash));
/// let batch = Batch::new(vec![
///     Claim::product(2, &[0]).sum(a.iter().sum()),
///     Claim::product(1, &[0]).sum(b.iter().sum()),
/// ]);
/// let columns = vec![Columns::host(&[&a]), Columns::host(&[&b])];
/// let proof = batch.prove(&Accelerator::from_env()?, columns, &mut HashTranscript::new(b"example"), None)?;
/// let (point, finals) = batch.verify(&proof, &mut HashTranscript::new(b"example"))?;
/// assert_eq!((point.len(), finals.len()), (2, 2));
/// # Ok::<(), proofwarp::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Batch<F> {
    claims: Vec<Claim<F>>,
}

/// The messages of all rounds, and the finals of each claim.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BatchProof<F> {
    /// A message a round, of the highest degree that a claim has.
    pub messages: Vec<Message<F>>,
    /// Columns at the point, by claims.
    pub finals: Vec<Vec<F>>,
}

/// A claim on the way, with its factors: the power of the challenge, and 1 − r for each round that it waited.
struct UnderWay<'a, F: SumcheckField> {
    prover: Prover<'a, F>,
    claimed: F,
    factor: F,
    /// The round in which it starts.
    start: u32,
    message: Option<Message<F>>,
}

impl<F: SumcheckField> UnderWay<'_, F> {
    /// The coefficients of its polynomial.
    fn polynomial(&mut self, round: u32, abort: Abort<'_>) -> Result<Vec<F>> {
        if round < self.start {
            return Ok(vec![self.claimed, -self.claimed]);
        }
        let message = self.prover.message_unless(abort)?;
        let message = message.ok_or_else(|| Error::invalid(PLACE, "rounds of a claim", "one more", "none"))?;
        let polynomial = message.polynomial(self.claimed);
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

impl<F: SumcheckField> Batch<F> {
    /// Of at least one claim.
    pub fn new(claims: Vec<Claim<F>>) -> Self {
        Self { claims }
    }

    /// The claims.
    pub fn claims(&self) -> &[Claim<F>] {
        &self.claims
    }

    /// Proves all of them; columns by claims.
    ///
    /// # Errors
    /// As [`super::prove`], or there is no claim, or not as many columns as claims.
    pub fn prove(
        &self,
        accelerator: &Accelerator,
        columns: Vec<Columns<'_, F>>,
        transcript: &mut impl Transcript<F>,
        abort: Abort<'_>,
    ) -> Result<BatchProof<F>> {
        self.check()?;
        if columns.len() != self.claims.len() {
            return Err(Error::invalid(PLACE, "columns of claims", self.claims.len(), columns.len()));
        }
        let options = Options::default();
        self.claims.iter().zip(&columns).try_for_each(|(claim, columns)| check(claim, columns, &options))?;
        guarded(abort, |abort| {
            let factors = self.factors(transcript);
            let mut all = self.start(accelerator, columns, &factors, abort)?;
            let messages = (0..self.rounds()).map(|number| self.round(&mut all, number, transcript, abort));
            let messages = messages.collect::<Result<_>>()?;
            let finals = all.iter_mut().map(|one| one.prover.finals(abort)).collect::<Result<Vec<_>>>()?;
            for finals in &finals {
                transcript.observe("finals", finals);
            }
            Ok(BatchProof { messages, finals })
        })
    }

    fn start<'a>(
        &self,
        accelerator: &Accelerator,
        columns: Vec<Columns<'a, F>>,
        factors: &[F],
        abort: Abort<'_>,
    ) -> Result<Vec<UnderWay<'a, F>>> {
        let start = |((claim, columns), factor): ((&Claim<F>, _), &F)| {
            check_abort(abort)?;
            let prover = Prover::new(accelerator, claim, columns)?;
            let start = self.rounds() - claim.variables();
            Ok(UnderWay { prover, claimed: claim.claimed(), factor: *factor, start, message: None })
        };
        self.claims.iter().zip(columns).zip(factors).map(start).collect()
    }

    fn round(
        &self,
        all: &mut [UnderWay<'_, F>],
        number: u32,
        transcript: &mut impl Transcript<F>,
        abort: Abort<'_>,
    ) -> Result<Message<F>> {
        let mut sum = vec![F::ZERO; self.degree() + 1];
        for one in all.iter_mut() {
            let polynomial = one.polynomial(number, abort)?;
            sum.iter_mut().zip(polynomial).for_each(|(sum, coefficient)| *sum += one.factor * coefficient);
        }
        let message = Message::of_polynomial(&sum);
        let challenge = round(&message, transcript);
        all.iter_mut().try_for_each(|one| one.fold(challenge))?;
        Ok(message)
    }

    /// Verifies a proof as [`super::verify`] does. The point of a claim of n variables are the last n coordinates of what comes
    /// back; finals by
    /// claims.
    ///
    /// # Errors
    /// As [`super::verify`], or there is no claim, or there are not as many finals as claims.
    pub fn verify(&self, proof: &BatchProof<F>, transcript: &mut impl Transcript<F>) -> Result<(Vec<F>, Vec<Vec<F>>)> {
        self.check()?;
        check_rounds(&proof.messages, self.rounds(), self.degree())?;
        self.check_finals(&proof.finals)?;
        let factors = self.factors(transcript);
        let sum = self.claims.iter().zip(&factors).map(|(claim, factor)| claim.claimed() * factor).sum();
        let (point, value) = replay(&proof.messages, sum, transcript);
        proof.finals.iter().for_each(|finals| transcript.observe("finals", finals));
        let expected = |((claim, factor), finals): ((&Claim<F>, &F), &Vec<F>)| {
            let (waited, own) = point.split_at((self.rounds() - claim.variables()) as usize);
            let waited: F = waited.iter().map(|r| F::ONE - r).product();
            *factor * waited * claim.eq_at(own) * claim.value(finals)
        };
        let expected: F = self.claims.iter().zip(&factors).zip(&proof.finals).map(expected).sum();
        if expected.to_work() == value { Ok((point, proof.finals.clone())) } else { Err(refused()) }
    }

    fn check_finals(&self, finals: &[Vec<F>]) -> Result<()> {
        if finals.len() != self.claims.len() {
            return Err(Error::invalid(PLACE, "finals by claims", self.claims.len(), finals.len()));
        }
        let lacks = |(claim, finals): (&Claim<F>, &Vec<F>)| finals.len() < claim.columns();
        match self.claims.iter().zip(finals).position(lacks) {
            None => Ok(()),
            Some(number) => {
                let expected = format!("at least {}", self.claims[number].columns());
                Err(Error::invalid(PLACE, format!("finals of claim {number}"), expected, finals[number].len()))
            }
        }
    }

    fn check(&self) -> Result<()> {
        if self.claims.is_empty() {
            return Err(Error::invalid(PLACE, "number of claims", "at least 1", 0));
        }
        self.claims.iter().try_for_each(Claim::check)
    }

    fn rounds(&self) -> u32 {
        self.claims.iter().map(Claim::variables).max().unwrap_or(0)
    }

    fn degree(&self) -> usize {
        self.claims.iter().map(Claim::round_degree).max().unwrap_or(1)
    }

    /// Tells the transcript all claims; powers of the challenge that follows.
    fn factors(&self, transcript: &mut impl Transcript<F>) -> Vec<F> {
        transcript.observe("batch", &[F::from_number(self.claims.len() as u64)]);
        self.claims.iter().for_each(|claim| claim.observe(transcript));
        let factor = transcript.challenge("batch");
        std::iter::successors(Some(F::ONE), |power| Some(*power * factor)).take(self.claims.len()).collect()
    }
}
