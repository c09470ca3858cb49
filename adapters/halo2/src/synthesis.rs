//! Runs a circuit's synthesis, which fills the columns of its witness phase by phase.

use std::hint::black_box;
use std::marker::PhantomData;

use ff::Field;
use halo2_axiom::circuit::Value;
use halo2_axiom::halo2curves::bn256::{Fr, G1Affine};
use halo2_axiom::plonk::{Advice, Any, Assigned, Assignment, Challenge, Column, Error, Fixed, Instance, Selector};
use halo2_axiom::transcript::{EncodedChallenge, TranscriptWrite};
use proofwarp::plonk::{Circuit, Column as ColumnOnDevice};
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;

use crate::arena::WitnessArena;
use crate::committer::Committer;
use crate::early::EarlyCommits;
use crate::error::to_halo2_error;
use crate::record::{Entry, Record};

/// Writes a proof to a transcript, and records all messages and challenges.
pub(crate) struct ProofWriter<'t, E, T> {
    pub transcript: &'t mut T,
    pub rng: ChaCha20Rng,
    record: Record,
    encoding: PhantomData<E>,
}

impl<'t, E: EncodedChallenge<G1Affine>, T: TranscriptWrite<G1Affine, E>> ProofWriter<'t, E, T> {
    pub(crate) fn new(transcript: &'t mut T, rng: ChaCha20Rng) -> Self {
        Self { transcript, rng, record: Record::default(), encoding: PhantomData }
    }

    pub(crate) fn write_points(&mut self, points: &[G1Affine]) -> Result<(), Error> {
        points.iter().try_for_each(|point| {
            self.record.push_entry(Entry::Point(*point));
            Ok(self.transcript.write_point(*point)?)
        })
    }

    pub(crate) fn write_scalars(&mut self, scalars: &[Fr]) -> Result<(), Error> {
        scalars.iter().try_for_each(|scalar| {
            self.record.push_entry(Entry::Scalar(*scalar));
            Ok(self.transcript.write_scalar(*scalar)?)
        })
    }

    pub(crate) fn squeeze_challenge(&mut self) -> Fr {
        let challenge = *self.transcript.squeeze_challenge_scalar::<()>();
        self.record.push_entry(Entry::Challenge(challenge));
        challenge
    }

    /// Returns the messages and challenges that were written or squeezed so far.
    pub(crate) fn record(&self) -> &Record {
        &self.record
    }
}

impl<E, T> Drop for ProofWriter<'_, E, T> {
    /// Overwrites the random source, whose state reveals all blinding.
    fn drop(&mut self) {
        self.rng = ChaCha20Rng::from_seed([0; 32]);
        black_box(&self.rng);
    }
}

/// Tracks the witness phases of all circuits of a proof.
pub(crate) struct Phases<'p, 'a> {
    pub circuit: &'p Circuit<Fr>,
    pub proof: &'p Committer<'a>,
    /// Challenges that are known so far.
    pub challenges: Vec<Option<Fr>>,
}

impl Phases<'_, '_> {
    /// Commits to `columns` of the only circuit, and writes the commitments. Each column comes with its index.
    pub(crate) fn commit<E: EncodedChallenge<G1Affine>, T: TranscriptWrite<G1Affine, E>>(
        &mut self,
        columns: Vec<(usize, &mut Vec<Fr>)>,
        pen: &mut ProofWriter<'_, E, T>,
    ) -> Result<(), Error> {
        let points = self.proof.commit_columns(0, columns, &mut pen.rng)?;
        pen.write_points(&points)
    }

    /// Commits to `columns`, which are on the proof's device, as [`Self::commit`] does.
    pub(crate) fn commit_resident<E: EncodedChallenge<G1Affine>, T: TranscriptWrite<G1Affine, E>>(
        &mut self,
        columns: Vec<(usize, ColumnOnDevice<Fr>)>,
        pen: &mut ProofWriter<'_, E, T>,
    ) -> Result<(), Error> {
        let random = &mut || Fr::random(&mut pen.rng);
        let points =
            self.proof.with_proof(|proof| proof.commit_resident(0, columns, random)).map_err(to_halo2_error)?;
        pen.write_points(&points)
    }

    /// Squeezes the challenges that follow `phase`, and stores them for the circuits.
    pub(crate) fn squeeze_phase_challenges<E: EncodedChallenge<G1Affine>, T: TranscriptWrite<G1Affine, E>>(
        &mut self,
        phase: u8,
        pen: &mut ProofWriter<'_, E, T>,
    ) -> Result<(), Error> {
        for number in self.circuit.challenges_of_phase(phase) {
            let value = pen.squeeze_challenge();
            self.proof.with_proof(|proof| proof.set_challenge(number, value)).map_err(to_halo2_error)?;
            self.challenges[number] = Some(value);
        }
        Ok(())
    }
}

/// Ends the phases of a proof's only circuit: commits to the columns of each, and writes the commitments.
pub(crate) struct PhaseEnds<'s, 'p, 'a, 't, E, T> {
    pub phases: &'s mut Phases<'p, 'a>,
    pub pen: &'s mut ProofWriter<'t, E, T>,
    pub early: EarlyCommits<'s, 'p>,
}

impl<E: EncodedChallenge<G1Affine>, T: TranscriptWrite<G1Affine, E>> PhaseEnds<'_, '_, '_, '_, E, T> {
    fn start(&mut self, phase: u8) {
        self.early.start_phase(self.phases.circuit, phase, &mut self.pen.rng);
    }

    /// Commits to the columns of `phase`, squeezes the challenges that follow it, and starts the next phase.
    fn end(&mut self, phase: u8, arena: &mut WitnessArena) -> Result<(), Error> {
        let points = self.early.end_phase(self.phases.proof, arena)?;
        self.pen.write_points(&points)?;
        self.phases.squeeze_phase_challenges(phase, self.pen)?;
        self.start(phase + 1);
        Ok(())
    }
}

/// Holds the state of one run of a circuit's synthesis.
pub(crate) struct Synthesis<'s, 'p, 'a, 't, E, T> {
    pub circuit: &'p Circuit<Fr>,
    /// Challenges that are known so far.
    pub challenges: Vec<Option<Fr>>,
    pub arena: &'s mut WitnessArena,
    pub instance: &'s [&'s [Fr]],
    /// The phase whose columns are being assigned.
    pub phase: u8,
    /// Ends phases. It is `None` if the proof has several circuits: all must end a phase before the next one starts, so
    /// a circuit does not itself end its phases.
    pub ends: Option<PhaseEnds<'s, 'p, 'a, 't, E, T>>,
    /// Whether a blinding row was assigned, whose value is not proved.
    pub hidden: bool,
    /// First error of a call that cannot return one.
    pub failed: Option<Error>,
}

impl<E: EncodedChallenge<G1Affine>, T: TranscriptWrite<G1Affine, E>> Synthesis<'_, '_, '_, '_, E, T> {
    /// Starts the first phase of the only circuit.
    pub(crate) fn start(&mut self) {
        if let Some(ends) = &mut self.ends {
            ends.start(self.phase);
        }
    }

    /// Ends the phase in which the only circuit's synthesis ended with `result`, unless that was the last one already.
    ///
    /// # Errors
    /// - The first error of a call that could not return one, or `result`.
    /// - The errors of [`Self::end_phase`].
    ///
    /// After an error no task has a column.
    pub(crate) fn end(&mut self, result: Result<(), Error>) -> Result<(), Error> {
        let result = self.failed.take().map_or(result, Err);
        if let Err(error) = result {
            if let Some(ends) = &mut self.ends {
                ends.early.take_back(ends.phases.proof, self.arena);
            }
            return Err(error);
        }
        if self.phase < self.circuit.phase_count() { self.end_phase() } else { Ok(()) }
    }

    /// Ends the current phase of the only circuit, and starts the next one.
    fn end_phase(&mut self) -> Result<(), Error> {
        let Some(ends) = &mut self.ends else { return Ok(()) };
        ends.end(self.phase, self.arena)?;
        self.challenges.clone_from(&ends.phases.challenges);
        self.phase += 1;
        Ok(())
    }

    fn too_few_rows_error(&self) -> Error {
        Error::NotEnoughRowsAvailable { current_k: self.circuit.log_n }
    }

    fn record_error(&mut self, error: Error) {
        self.failed.get_or_insert(error);
    }

    /// Stores `value` in the cell at `row` of `column`, and returns the cell. Values in blinding rows are replaced by
    /// random ones later.
    fn assign_cell(&mut self, column: Column<Advice>, row: usize, value: Assigned<Fr>) -> Result<&Assigned<Fr>, Error> {
        if row >= self.circuit.rows() {
            return Err(self.too_few_rows_error());
        }
        let usable = self.circuit.usable_rows();
        if row >= usable && !self.hidden {
            self.hidden = true;
            log::warn!(
                "halo2: row {row} of advice column {} is assigned, but rows from {usable} on get random values",
                column.index()
            );
        }
        if let Some(ends) = &mut self.ends {
            ends.early.follow(column.index(), ends.phases.proof, self.arena);
        }
        let cell = self.arena.cell(column.index(), row).ok_or(Error::BoundsFailure)?;
        *cell = value;
        Ok(cell)
    }
}

impl<E: EncodedChallenge<G1Affine>, T: TranscriptWrite<G1Affine, E>> Assignment<Fr>
    for Synthesis<'_, '_, '_, '_, E, T>
{
    fn enter_region<NR: Into<String>, N: FnOnce() -> NR>(&mut self, _: N) {}

    fn exit_region(&mut self) {}

    fn annotate_column<A: FnOnce() -> AR, AR: Into<String>>(&mut self, _: A, _: Column<Any>) {}

    fn enable_selector<A: FnOnce() -> AR, AR: Into<String>>(
        &mut self,
        _: A,
        _: &Selector,
        _: usize,
    ) -> Result<(), Error> {
        Ok(())
    }

    fn query_instance(&self, column: Column<Instance>, row: usize) -> Result<Value<Fr>, Error> {
        if row >= self.circuit.usable_rows() {
            return Err(self.too_few_rows_error());
        }
        let value = self.instance.get(column.index()).and_then(|column| column.get(row));
        value.map(|value| Value::known(*value)).ok_or(Error::BoundsFailure)
    }

    fn assign_advice<'v>(
        &mut self,
        column: Column<Advice>,
        row: usize,
        to: Value<Assigned<Fr>>,
    ) -> Value<&'v Assigned<Fr>> {
        let (mut known, later) = (None, column.column_type().phase() > self.phase);
        to.map(|value| known = Some(value));
        let assigned = match known {
            Some(value) => self.assign_cell(column, row, value).map(std::ptr::from_ref),
            // The value depends on a challenge that is not known before the column's phase.
            None if later => return Value::unknown(),
            None => Err(Error::Synthesis),
        };
        match assigned {
            // SAFETY: the heap memory of cells never moves or is freed while arena and committer live, which outlive
            // every run of the synthesis, although a column's vector moves between them. The interface wants a
            // reference of any lifetime; its users, such as halo2-axiom's layouters, read it only during a run. Only
            // calls of this trait write cells, and only to columns that the arena has; tasks read cells of the others.
            Ok(cell) => Value::known(unsafe { &*cell }),
            Err(error) => {
                self.record_error(error);
                Value::unknown()
            }
        }
    }

    fn assign_fixed(&mut self, _: Column<Fixed>, _: usize, _: Assigned<Fr>) {}

    fn copy(&mut self, _: Column<Any>, _: usize, _: Column<Any>, _: usize) {}

    fn fill_from_row(&mut self, _: Column<Fixed>, _: usize, _: Value<Assigned<Fr>>) -> Result<(), Error> {
        Ok(())
    }

    fn get_challenge(&self, challenge: Challenge) -> Value<Fr> {
        let value = self.challenges.get(challenge.index()).copied().flatten();
        value.map_or_else(Value::unknown, Value::known)
    }

    fn push_namespace<NR: Into<String>, N: FnOnce() -> NR>(&mut self, _: N) {}

    fn pop_namespace(&mut self, _: Option<String>) {}

    fn next_phase(&mut self) {
        if self.phase < self.circuit.phase_count()
            && let Err(error) = self.end_phase()
        {
            self.record_error(error);
        }
    }
}
