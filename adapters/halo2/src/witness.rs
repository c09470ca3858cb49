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
use crate::synthesis::{Phases, ProofWriter, Synthesis};

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
pub(crate) struct Circuits<'c, 'i, C> {
    pub concrete: &'c [C],
    pub instances: &'c [&'c [&'i [Fr]]],
    /// Minimum number of rows of columns that are committed to while synthesis goes on.
    pub min_early_rows: usize,
}

impl<C: StockCircuit<Fr>> Source for Circuits<'_, '_, C> {
    fn write<E: EncodedChallenge<G1Affine>, T: TranscriptWrite<G1Affine, E>>(
        &mut self,
        proof: &Committer<'_>,
        circuit: &Circuit<Fr>,
        pen: &mut ProofWriter<'_, E, T>,
    ) -> Result<(), Error> {
        let (config, constants) = configure_and_check(self.concrete, circuit)?;
        let mut phases = Phases { circuit, proof, challenges: vec![None; circuit.challenge_phases.len()] };
        let plan = || (config.clone(), constants.clone());
        match self.concrete {
            [_] => self.write_one(&mut phases, plan, pen),
            _ => self.write_all(&mut phases, plan, pen),
        }
    }
}

impl<C: StockCircuit<Fr>> Circuits<'_, '_, C> {
    /// Commits to the columns of the only circuit, many of them while it is synthesized.
    fn write_one<E: EncodedChallenge<G1Affine>, T: TranscriptWrite<G1Affine, E>>(
        &self,
        phases: &mut Phases<'_, '_>,
        plan: impl Fn() -> (C::Config, Vec<Column<Fixed>>),
        pen: &mut ProofWriter<'_, E, T>,
    ) -> Result<(), Error> {
        let circuit = phases.circuit;
        // Columns that are committed to one at a time are in vectors of their own.
        let vectors =
            phases.proof.with_proof(|proof| Ok(proof.engine().max_column_vectors())).map_err(to_halo2_error)?;
        let min_rows = if vectors == usize::MAX { self.min_early_rows } else { usize::MAX };
        let mut arena = WitnessArena::new(circuit.layout.advice, circuit.rows());
        rayon::in_place_scope(|scope| {
            let early = Some(EarlyCommits::new(scope, circuit, min_rows));
            let (instance, arena) = (self.instances[0], &mut arena);
            let mut run = Synthesis { phases, pen, arena, instance, phase: 0, early, hidden: false, failed: None };
            run.start();
            while run.phase < circuit.phase_count() {
                let (config, constants) = plan();
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
        plan: impl Fn() -> (C::Config, Vec<Column<Fixed>>),
        pen: &mut ProofWriter<'_, E, T>,
    ) -> Result<(), Error> {
        let circuit = phases.circuit;
        let arena = |_| WitnessArena::new(circuit.layout.advice, circuit.rows());
        let mut arenas: Vec<_> = self.concrete.iter().map(arena).collect();
        for phase in 0..circuit.phase_count() {
            let all = self.concrete.iter().zip(self.instances).zip(&mut arenas);
            for ((one, instance), arena) in all {
                let (config, constants) = plan();
                let mut run =
                    Synthesis { phases, pen, arena, instance, phase, early: None, hidden: false, failed: None };
                let result = C::FloorPlanner::synthesize(&mut run, one, config, constants);
                run.failed.map_or(result, Err)?;
            }
            commit_phase(phases, &mut arenas, phase, pen)?;
        }
        Ok(())
    }
}

/// Commits to the columns of `phase` of all circuits, and squeezes the challenges that follow the phase.
fn commit_phase<E: EncodedChallenge<G1Affine>, T: TranscriptWrite<G1Affine, E>>(
    phases: &mut Phases<'_, '_>,
    arenas: &mut [WitnessArena],
    phase: u8,
    pen: &mut ProofWriter<'_, E, T>,
) -> Result<(), Error> {
    let numbers = phases.circuit.advice_in_phase(phase);
    for (number, arena) in arenas.iter_mut().enumerate() {
        phases.commit(number, arena.compute_values(&numbers), pen)?;
    }
    phases.squeeze_phase_challenges(phase, pen)
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
        phases.commit(0, self.columns.iter_mut().map(|column| &mut column.0).enumerate().collect(), pen)?;
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
