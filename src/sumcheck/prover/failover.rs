//! Runs a prover against a transcript. If a device fails or computes a wrong value, another prover continues.

use crate::exec::ExecCtx;
use crate::sumcheck::claim::ERROR_CONTEXT;
use crate::sumcheck::field::SumcheckField;
use crate::sumcheck::proof::observe_message;
use crate::sumcheck::rounds::RoundPolynomial;
use crate::sumcheck::transcript::{Checkpoint, Transcript};
use crate::{Error, Result};

/// Represents a prover that computes one message per round, and the columns' values after the last round.
pub(crate) trait RoundProver<F> {
    type Finals: PartialEq;

    /// Returns the next round's message, or `None` after the last round.
    fn message(&mut self, ctx: ExecCtx<'_>) -> Result<Option<RoundPolynomial<F>>>;

    /// Binds the round's variable to `challenge`.
    fn fold(&mut self, challenge: F) -> Result<()>;

    /// Returns the columns' values after the last round, unchecked.
    fn final_evaluations(&mut self, ctx: ExecCtx<'_>) -> Result<Self::Finals>;
}

/// Holds a transcript, the messages that it has taken in, and its challenges. A second prover's messages are compared
/// with these.
pub(crate) struct TranscriptReplay<'t, F, T> {
    transcript: &'t mut T,
    /// Restores the transcript's state before the first message; `None` if the transcript cannot go back.
    restore: Option<Checkpoint<T>>,
    pub messages: Vec<RoundPolynomial<F>>,
    pub challenges: Vec<F>,
}

/// Says whether a prover ran all rounds, or computed another message than the transcript has taken in.
enum Outcome<V> {
    Finals(V),
    /// The first round whose message differs from the one that the transcript has taken in.
    Differs(usize),
}

impl<'t, F: SumcheckField, T: Transcript<F>> TranscriptReplay<'t, F, T> {
    /// Wraps a `transcript` that has taken in the claim and no message yet.
    pub(super) fn new(transcript: &'t mut T) -> Self {
        Self { restore: T::checkpoint(transcript), transcript, messages: Vec::new(), challenges: Vec::new() }
    }

    /// Runs `prover`: the transcript observes its messages and answers with challenges. Returns the prover's finals.
    pub(super) fn run_prover<P: RoundProver<F>>(&mut self, prover: &mut P, ctx: ExecCtx<'_>) -> Result<P::Finals> {
        match self.replay_rounds(prover, ctx)? {
            Outcome::Finals(finals) => Ok(finals),
            Outcome::Differs(round) => {
                Err(Error::invalid(ERROR_CONTEXT, format!("message {round}"), "the one said before", "another"))
            }
        }
    }

    /// Runs the host's prover, which `make` creates, after `device` failed or did not prove the claim. Returns the
    /// prover's finals.
    ///
    /// Messages that the transcript has taken in are compared with the host's. If one differs, the transcript goes back
    /// to its state before the first message, and all rounds run again.
    ///
    /// # Errors
    /// - The errors of the prover.
    /// - [`Error::Device`]: `device` sent another message than the host, and the transcript cannot go back.
    pub(super) fn rerun_on_host<P: RoundProver<F>>(
        &mut self,
        make: impl Fn() -> Result<P>,
        device: &str,
        ctx: ExecCtx<'_>,
    ) -> Result<P::Finals> {
        let round = match self.replay_rounds(&mut make()?, ctx)? {
            Outcome::Finals(finals) => return Ok(finals),
            Outcome::Differs(round) => round,
        };
        let restore = self.restore.take().ok_or_else(|| another_message(device, round))?;
        restore(self.transcript);
        self.messages.clear();
        self.challenges.clear();
        self.run_prover(&mut make()?, ctx)
    }

    /// Returns the error for messages and `finals` of `device` that do not prove the claim. Either the prover `host`
    /// computes others, or the claim is false.
    pub(super) fn diagnose_failure<P: RoundProver<F>>(
        &mut self,
        finals: &P::Finals,
        mut host: P,
        device: &str,
        ctx: ExecCtx<'_>,
    ) -> Result<Error> {
        Ok(match self.replay_rounds(&mut host, ctx)? {
            Outcome::Finals(expected) if expected == *finals => wrong_sum(),
            Outcome::Finals(_) => Error::device(device, ERROR_CONTEXT, "it computed other finals than the host"),
            Outcome::Differs(round) => another_message(device, round),
        })
    }

    fn replay_rounds<P: RoundProver<F>>(&mut self, prover: &mut P, ctx: ExecCtx<'_>) -> Result<Outcome<P::Finals>> {
        let mut number = 0;
        while let Some(message) = prover.message(ctx)? {
            let Some(challenge) = self.replay_challenge(number, message) else { return Ok(Outcome::Differs(number)) };
            prover.fold(challenge)?;
            number += 1;
        }
        prover.final_evaluations(ctx).map(Outcome::Finals)
    }

    /// Returns the challenge for `message` of round `number`, or `None` if the transcript has taken in another message
    /// in that round.
    fn replay_challenge(&mut self, number: usize, message: RoundPolynomial<F>) -> Option<F> {
        if let (Some(said), Some(challenge)) = (self.messages.get(number), self.challenges.get(number)) {
            return (*said == message).then_some(*challenge);
        }
        let challenge = observe_message(&message, self.transcript);
        self.messages.push(message);
        self.challenges.push(challenge);
        Some(challenge)
    }
}

/// Returns the error for a claim whose sum is not that of the columns.
pub(crate) fn wrong_sum() -> Error {
    Error::invalid(ERROR_CONTEXT, "sum of the claim", "that of the columns", "another")
}

/// Returns the error for a device whose messages and finals prove nothing. The device may be at fault, or the claim.
pub(crate) fn unproved_error(device: &str) -> Error {
    let reason = "its messages and finals do not prove the claim: it computed a wrong value, or the claim's sum is not the columns'";
    Error::device(device, ERROR_CONTEXT, reason)
}

fn another_message(device: &str, round: usize) -> Error {
    Error::device(device, ERROR_CONTEXT, format!("it computed another message in round {round} than the host"))
}
