//! Supplies a proof's witness: from circuits that are synthesized, or from columns.

use halo2_axiom::halo2curves::bn256::{Fr, G1Affine};
use halo2_axiom::plonk::{Circuit as StockCircuit, Column, Error, Fixed, FloorPlanner};
use halo2_axiom::transcript::{EncodedChallenge, TranscriptWrite};
use proofwarp::plonk::Circuit;
use proofwarp::secret_vec::SecretVec;

use crate::arena::WitnessArena;
use crate::committer::Committer;
use crate::constraints;
use crate::early::EarlyCommits;
use crate::error::to_halo2_error;
use crate::options::Options;
use crate::schedule::Schedule;
use crate::synthesis::{PhaseEnds, Phases, ProofWriter, Synthesis};

/// Writes commitments to a witness into a proof. A source that keeps its witness can write it more than once.
pub(crate) trait Source {
    /// Commits to all columns of the witness in `proof`, and squeezes the challenges of its phases.
    ///
    /// # Errors
    /// - `InvalidInstances`: there is no circuit.
    /// - `BoundsFailure`: the witness has other columns, rows or challenges than the circuit, or is no longer kept.
    /// - `BoundsFailure`: a circuit reads an instance value that was not given.
    /// - `NotEnoughRowsAvailable`: a circuit assigns a row that does not exist, or reads an unusable instance row.
    /// - `Synthesis`: a value is unknown when it is needed, or columns are given for a circuit of several phases.
    /// - `Transcript`: a backend or the transcript failed.
    /// - Others are the circuit's.
    fn write<E: EncodedChallenge<G1Affine>, T: TranscriptWrite<G1Affine, E>>(
        &mut self,
        proof: &Committer<'_>,
        circuit: &Circuit<Fr>,
        pen: &mut ProofWriter<'_, E, T>,
    ) -> Result<(), Error>;
}

/// Holds circuits and their instances. Each write synthesizes the circuits anew.
pub(crate) struct Circuits<'c, 'i, C, S> {
    concrete: &'c [C],
    pub instances: &'c [&'c [&'i [Fr]]],
    /// Minimum number of rows of columns that are committed to while synthesis goes on.
    min_early_rows: usize,
    schedule: S,
}

impl<'c, 'i, C, S> Circuits<'c, 'i, C, S> {
    /// Holds the circuits `concrete` with their `instances`, which `schedule` has synthesized.
    ///
    /// # Errors
    /// - `InvalidInstances`: the numbers of circuits and instances differ.
    pub(crate) fn new(
        options: &Options,
        concrete: &'c [C],
        instances: &'c [&'c [&'i [Fr]]],
        schedule: S,
    ) -> Result<Self, Error> {
        if concrete.len() != instances.len() {
            return Err(Error::InvalidInstances);
        }
        Ok(Self { concrete, instances, min_early_rows: options.min_early_rows(), schedule })
    }
}

impl<C: StockCircuit<Fr>, S: Schedule<C>> Source for Circuits<'_, '_, C, S> {
    fn write<E: EncodedChallenge<G1Affine>, T: TranscriptWrite<G1Affine, E>>(
        &mut self,
        proof: &Committer<'_>,
        circuit: &Circuit<Fr>,
        pen: &mut ProofWriter<'_, E, T>,
    ) -> Result<(), Error> {
        let plan = configure_and_check(self.concrete, circuit)?;
        let mut phases = Phases { circuit, proof, challenges: vec![None; circuit.challenge_phases.len()] };
        match self.concrete {
            [_] => self.write_one(&mut phases, plan, pen),
            _ => self.write_all(&mut phases, pen),
        }
    }
}

impl<C: StockCircuit<Fr>, S: Schedule<C>> Circuits<'_, '_, C, S> {
    /// Commits to the columns of the only circuit, many of them while it is synthesized.
    fn write_one<E: EncodedChallenge<G1Affine>, T: TranscriptWrite<G1Affine, E>>(
        &self,
        phases: &mut Phases<'_, '_>,
        plan: (C::Config, Vec<Column<Fixed>>),
        pen: &mut ProofWriter<'_, E, T>,
    ) -> Result<(), Error> {
        let circuit = phases.circuit;
        // Columns that are committed to one at a time are in vectors of their own.
        let vectors =
            phases.proof.with_proof(|proof| Ok(proof.engine().max_column_vectors())).map_err(to_halo2_error)?;
        let min_rows = if vectors == usize::MAX { self.min_early_rows } else { usize::MAX };
        let mut arena = WitnessArena::new(circuit.layout.advice, circuit.rows());
        rayon::in_place_scope(|scope| {
            let (early, challenges) = (EarlyCommits::new(scope, circuit, min_rows), phases.challenges.clone());
            let (instance, arena, ends) = (self.instances[0], &mut arena, Some(PhaseEnds { phases, pen, early }));
            let mut run =
                Synthesis { circuit, challenges, arena, instance, phase: 0, ends, hidden: false, failed: None };
            run.start();
            while run.phase < circuit.phase_count() {
                let (config, constants) = plan.clone();
                let result = C::FloorPlanner::synthesize(&mut run, &self.concrete[0], config, constants);
                run.end(result)?;
            }
            Ok(())
        })
    }

    /// Commits to the columns of all circuits, phase by phase.
    fn write_all<E: EncodedChallenge<G1Affine>, T: TranscriptWrite<G1Affine, E>>(
        &self,
        phases: &mut Phases<'_, '_>,
        pen: &mut ProofWriter<'_, E, T>,
    ) -> Result<(), Error> {
        let circuit = phases.circuit;
        let arena = |_| WitnessArena::new(circuit.layout.advice, circuit.rows());
        let mut arenas: Vec<_> = self.concrete.iter().map(arena).collect();
        for phase in 0..circuit.phase_count() {
            let (proof, challenges, rng) = (phases.proof, &phases.challenges, &mut pen.rng);
            let (numbers, mut points) = (circuit.advice_in_phase(phase), Vec::new());
            let synthesize = |all: &[C], number, arena| {
                synthesize_phase::<C, E, T>(all, number, (circuit, phase, challenges), self.instances[number], arena)
            };
            let commit = |number, arena: &mut WitnessArena| {
                points.extend(proof.commit_columns(number, arena.compute_values(&numbers), rng)?);
                Ok(())
            };
            self.schedule.run_all(self.concrete, &mut arenas, synthesize, commit)?;
            pen.write_points(&points)?;
            phases.squeeze_phase_challenges(phase, pen)?;
        }
        Ok(())
    }
}

/// Synthesizes the phase `phase` of the circuit with index `number` into `arena`, and returns the arena. `known` has the
/// challenges that are known so far.
///
/// The circuit is configured anew, because a configuration need not be `Sync`.
fn synthesize_phase<'m, C: StockCircuit<Fr>, E: EncodedChallenge<G1Affine>, T: TranscriptWrite<G1Affine, E>>(
    circuits: &[C],
    number: usize,
    (circuit, phase, known): (&Circuit<Fr>, u8, &[Option<Fr>]),
    instance: &[&[Fr]],
    arena: &'m mut WitnessArena,
) -> Result<&'m mut WitnessArena, Error> {
    let (system, config) = constraints::configure(&circuits[0]);
    let (challenges, ends, constants) = (known.to_vec(), None, system.constants().clone());
    let mut run: Synthesis<'_, '_, '_, '_, E, T> =
        Synthesis { circuit, challenges, arena: &mut *arena, instance, phase, ends, hidden: false, failed: None };
    let result = C::FloorPlanner::synthesize(&mut run, &circuits[number], config, constants);
    run.failed.map_or(result, Err)?;
    Ok(arena)
}

/// Returns the configuration of `circuits` and their fixed columns for constants. Advice columns, instance columns and
/// challenges must match the key's in number. Fixed columns need not: halo2-base leaves constants out of circuits that
/// are only proved.
fn configure_and_check<C: StockCircuit<Fr>>(
    circuits: &[C],
    circuit: &Circuit<Fr>,
) -> Result<(C::Config, Vec<Column<Fixed>>), Error> {
    let first = circuits.first().ok_or(Error::InvalidInstances)?;
    let (system, config) = constraints::configure(first);
    let numbers = [system.num_advice_columns(), system.num_instance_columns(), system.num_challenges()];
    let expected = [circuit.layout.advice, circuit.layout.instances, circuit.challenge_phases.len()];
    if numbers != expected {
        log::error!(
            "the key is of another circuit: expected {expected:?} advice columns, instance columns and challenges, got \
             {numbers:?}"
        );
        return Err(Error::BoundsFailure);
    }
    Ok((config, system.constants().clone()))
}

/// Holds the advice columns of one circuit of one phase. They are overwritten after the first write unless `stays` is
/// set.
pub(crate) struct Advice {
    pub columns: Vec<SecretVec<Fr>>,
    pub stays: bool,
}

impl Source for Advice {
    fn write<E: EncodedChallenge<G1Affine>, T: TranscriptWrite<G1Affine, E>>(
        &mut self,
        proof: &Committer<'_>,
        circuit: &Circuit<Fr>,
        pen: &mut ProofWriter<'_, E, T>,
    ) -> Result<(), Error> {
        check_advice_shape(circuit, self.columns.iter().map(|column| column.len()))?;
        let mut phases = Phases { circuit, proof, challenges: vec![None; circuit.challenge_phases.len()] };
        phases.commit(self.columns.iter_mut().map(|column| &mut column.0).enumerate().collect(), pen)?;
        if !self.stays {
            self.columns.clear();
        }
        phases.squeeze_phase_challenges(0, pen)
    }
}

/// Checks that `circuit` has one phase, and that columns of these `lengths` are its advice columns.
pub(crate) fn check_advice_shape(
    circuit: &Circuit<Fr>,
    mut lengths: impl ExactSizeIterator<Item = usize>,
) -> Result<(), Error> {
    if circuit.phase_count() > 1 {
        log::error!("create_proof_from_advice: expected a circuit of one phase, got one of {}", circuit.phase_count());
        return Err(Error::Synthesis);
    }
    let (columns, rows) = (circuit.layout.advice, circuit.rows());
    if lengths.len() != columns || lengths.any(|length| length != rows) {
        log::error!("create_proof_from_advice: expected {columns} columns of {rows} rows, got others");
        return Err(Error::BoundsFailure);
    }
    Ok(())
}
