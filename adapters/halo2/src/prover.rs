//! Proofs: the order of halo2-axiom's transcript around proofwarp's steps.

use ff::Field;
use halo2_axiom::halo2curves::bn256::{Bn256, Fr, G1Affine};
use halo2_axiom::plonk::{AdviceColumns, Circuit as StockCircuit, Column, Error, Fixed, FloorPlanner, ProvingKey};
use halo2_axiom::poly::commitment::{Params, Prover};
use halo2_axiom::poly::kzg::commitment::ParamsKZG;
use halo2_axiom::transcript::{EncodedChallenge, TranscriptWrite};
use proofwarp::plonk::{Circuit, Memory, Openings, Peer, Setting, Witnesses};
use rand_core::RngCore;

use crate::arena::{Arena, Cleared};
use crate::constraints;
use crate::error::{check_rows, outer};
use crate::opening::{Kind, Opening, Scheme};
use crate::options::Options;
use crate::random::elements;
use crate::setup;
use crate::synthesis::{Pen, Phases, Synthesis};
use crate::workers::Workers;

/// Proves circuits of one key, as `halo2_axiom::plonk::create_proof` does: an instance for each, of a slice for each of its
/// columns, which zeros follow.
///
/// A witness that breaks a constraint, or has values that their lookup's table has not, gives a proof that does not verify;
/// of the latter the log says, at warn, which lookup and row it was. Blinding is from `rng`, that of the random polynomial
/// too, so that a seeded one gives the same proof again. Instances of all circuits are hashed before all witnesses, as
/// verifiers do.
///
/// # Errors
/// - `InvalidInstances`: there are other numbers of circuits and instances, or of an instance's columns; or no circuit.
/// - `InstanceTooLarge`: an instance has more values than usable rows.
/// - `NotEnoughRowsAvailable`: the setup has fewer rows than the key, or a circuit assigns a row that cannot be used.
/// - `BoundsFailure`: the setup has more rows than the key, or the circuit other columns.
/// - `Synthesis`: a value is not known when it has to be, or the circuit's own error.
/// - `Transcript`: the transcript's error, such as for a commitment that is infinity, or proofwarp's own, of a setting or of
///   a backend that is forced.
pub fn create_proof<
    'params,
    'a,
    S: Scheme,
    P: Prover<'params, S> + Opening,
    E: EncodedChallenge<S::Curve>,
    R: RngCore + 'a,
    T: TranscriptWrite<S::Curve, E>,
    ConcreteCircuit: StockCircuit<S::Scalar>,
>(
    params: &'params S::ParamsProver,
    pk: &ProvingKey<S::Curve>,
    circuits: &[ConcreteCircuit],
    instances: &[&[&'a [S::Scalar]]],
    rng: R,
    transcript: &'a mut T,
) -> Result<(), Error> {
    let options = Options::default();
    create_proof_with::<S, P, E, R, T, ConcreteCircuit>(&options, params, pk, circuits, instances, rng, transcript)
}

/// [`create_proof`] with options.
///
/// # Errors
/// As [`create_proof`]. `Transcript` holds [`proofwarp::Error::Aborted`] where the options' hook said stop.
pub fn create_proof_with<
    'params,
    'a,
    S: Scheme,
    P: Prover<'params, S> + Opening,
    E: EncodedChallenge<S::Curve>,
    R: RngCore + 'a,
    T: TranscriptWrite<S::Curve, E>,
    ConcreteCircuit: StockCircuit<S::Scalar>,
>(
    options: &Options,
    params: &'params S::ParamsProver,
    pk: &ProvingKey<S::Curve>,
    circuits: &[ConcreteCircuit],
    instances: &[&[&'a [S::Scalar]]],
    rng: R,
    transcript: &'a mut T,
) -> Result<(), Error> {
    if circuits.len() != instances.len() {
        return Err(Error::InvalidInstances);
    }
    prove::<P, _, _, _>(options, (params, pk), instances, Pen::new(transcript, rng), |proof, circuit, pen| {
        synthesize(circuits, instances, proof, circuit, pen)
    })
}

/// Proves one circuit of one phase by the values of its columns, n each, as `halo2_axiom::plonk::create_proof_from_advice`
/// does. Rows that hide the columns are overwritten.
///
/// # Errors
/// As [`create_proof`]. `Synthesis`: the circuit has several phases; `BoundsFailure`: there are other numbers of columns or
/// rows (halo2-axiom panics in these cases).
pub fn create_proof_from_advice<
    'params,
    'a,
    S: Scheme,
    P: Prover<'params, S> + Opening,
    E: EncodedChallenge<S::Curve>,
    R: RngCore + 'a,
    T: TranscriptWrite<S::Curve, E>,
>(
    params: &'params S::ParamsProver,
    pk: &ProvingKey<S::Curve>,
    instances: &'a [&'a [S::Scalar]],
    advice: AdviceColumns<S::Scalar>,
    rng: R,
    transcript: &'a mut T,
) -> Result<(), Error> {
    let options = Options::default();
    create_proof_from_advice_with::<S, P, E, R, T>(&options, params, pk, instances, advice, rng, transcript)
}

/// [`create_proof_from_advice`] with options.
///
/// # Errors
/// As [`create_proof_from_advice`] and [`create_proof_with`].
pub fn create_proof_from_advice_with<
    'params,
    'a,
    S: Scheme,
    P: Prover<'params, S> + Opening,
    E: EncodedChallenge<S::Curve>,
    R: RngCore + 'a,
    T: TranscriptWrite<S::Curve, E>,
>(
    options: &Options,
    params: &'params S::ParamsProver,
    pk: &ProvingKey<S::Curve>,
    instances: &'a [&'a [S::Scalar]],
    advice: AdviceColumns<S::Scalar>,
    rng: R,
    transcript: &'a mut T,
) -> Result<(), Error> {
    prove::<P, _, _, _>(options, (params, pk), &[instances], Pen::new(transcript, rng), |proof, circuit, pen| {
        if circuit.phases() > 1 {
            log::error!("create_proof_from_advice: expected a circuit of one phase, got one of {}", circuit.phases());
            return Err(Error::Synthesis);
        }
        if advice.len() != circuit.layout.advice || advice.iter().any(|column| column.len() != circuit.rows()) {
            let (columns, rows) = (circuit.layout.advice, circuit.rows());
            log::error!("create_proof_from_advice: expected {columns} columns of {rows} rows, got others");
            return Err(Error::BoundsFailure);
        }
        let mut phases = Phases { circuit, proof, challenges: vec![None; circuit.challenge_phases.len()] };
        let mut advice = Cleared(advice);
        phases.commit(0, advice.0.iter_mut().enumerate().collect(), pen)?;
        phases.squeeze(0, pen)
    })
}

/// Everything but where the witness comes from.
fn prove<P, E, R, T>(
    options: &Options,
    (params, pk): (&ParamsKZG<Bn256>, &ProvingKey<G1Affine>),
    instances: &[&[&[Fr]]],
    mut pen: Pen<'_, E, R, T>,
    witness: impl FnOnce(&mut Witnesses<'_, G1Affine>, &Circuit<Fr>, &mut Pen<'_, E, R, T>) -> Result<(), Error>,
) -> Result<(), Error>
where
    P: Opening,
    E: EncodedChallenge<G1Affine>,
    R: RngCore,
    T: TranscriptWrite<G1Affine, E>,
{
    let circuit = setup::circuit(pk)?;
    check_instances(&circuit, instances)?;
    check_rows(params.k(), circuit.log_n)?;
    let workers = Workers::new(options, (params, pk), &Memory::of(&circuit, instances.len()))?;
    let circuit = workers.lowered(circuit)?;
    let keys: Vec<_> = workers.all.iter().map(|worker| worker.key(pk)).collect();
    let workers_and_keys = workers.all.iter().zip(&keys);
    let mut peers: Vec<_> =
        workers_and_keys.map(|(worker, key)| Peer { engine: &worker.engine, key, link: worker.link }).collect();
    let Peer { engine, key, .. } = peers.remove(0);
    let setting = Setting { engine, circuit: &circuit, key, peers: &peers };
    let mut proof = Witnesses::new(setting, instances).map_err(outer)?;
    pk.get_vk().hash_into(pen.transcript)?;
    for value in instances.iter().flat_map(|instance| instance.iter()).flat_map(|column| column.iter()) {
        pen.transcript.common_scalar(*value)?;
    }
    witness(&mut proof, &circuit, &mut pen)?;
    let openings = steps(proof, circuit.rows(), &mut pen)?;
    open::<P, _, _, _>(openings, &mut pen)
}

fn check_instances(circuit: &Circuit<Fr>, instances: &[&[&[Fr]]]) -> Result<(), Error> {
    if instances.is_empty() || instances.iter().any(|instance| instance.len() != circuit.layout.instances) {
        return Err(Error::InvalidInstances);
    }
    let longest = instances.iter().flat_map(|instance| instance.iter()).map(|column| column.len()).max();
    if longest.is_some_and(|longest| longest > circuit.usable()) {
        return Err(Error::InstanceTooLarge);
    }
    Ok(())
}

/// From θ to the evaluations at x.
fn steps<'a, E, R, T>(
    proof: Witnesses<'a, G1Affine>,
    rows: usize,
    pen: &mut Pen<'_, E, R, T>,
) -> Result<Openings<'a, G1Affine>, Error>
where
    E: EncodedChallenge<G1Affine>,
    R: RngCore,
    T: TranscriptWrite<G1Affine, E>,
{
    let theta = pen.squeeze();
    let (proof, points) = proof.lookups(theta, &mut || Fr::random(&mut pen.rng)).map_err(outer)?;
    pen.write(&points)?;
    let challenges = [pen.squeeze(), pen.squeeze()];
    let (proof, points) = proof.products(challenges, &mut || Fr::random(&mut pen.rng)).map_err(outer)?;
    pen.write(&points)?;
    let (proof, point) = proof.random(elements(rows, &mut pen.rng)).map_err(outer)?;
    pen.write(&[point])?;
    let (proof, points) = proof.quotient(pen.squeeze()).map_err(outer)?;
    pen.write(&points)?;
    let (openings, values) = proof.evaluations(pen.squeeze()).map_err(outer)?;
    values.iter().try_for_each(|value| pen.transcript.write_scalar(*value))?;
    Ok(openings)
}

fn open<P, E, R, T>(openings: Openings<'_, G1Affine>, pen: &mut Pen<'_, E, R, T>) -> Result<(), Error>
where
    P: Opening,
    E: EncodedChallenge<G1Affine>,
    R: RngCore,
    T: TranscriptWrite<G1Affine, E>,
{
    match P::KIND {
        Kind::Gwc => {
            let points = openings.gwc(pen.squeeze()).map_err(outer)?;
            pen.write(&points)
        }
        Kind::Shplonk => {
            let (y, v) = (pen.squeeze(), pen.squeeze());
            let (proof, point) = openings.shplonk(y, v).map_err(outer)?;
            pen.write(&[point])?;
            let point = proof.finish(pen.squeeze()).map_err(outer)?;
            pen.write(&[point])
        }
    }
}

/// Runs the circuits' syntheses, and commits to what they assign, phase by phase.
fn synthesize<C: StockCircuit<Fr>, E, R, T>(
    circuits: &[C],
    instances: &[&[&[Fr]]],
    proof: &mut Witnesses<'_, G1Affine>,
    circuit: &Circuit<Fr>,
    pen: &mut Pen<'_, E, R, T>,
) -> Result<(), Error>
where
    E: EncodedChallenge<G1Affine>,
    R: RngCore,
    T: TranscriptWrite<G1Affine, E>,
{
    let (config, constants) = config_of(circuits, circuit)?;
    let mut phases = Phases { circuit, proof, challenges: vec![None; circuit.challenge_phases.len()] };
    let mut arenas: Vec<_> = circuits.iter().map(|_| Arena::new(circuit.layout.advice, circuit.rows())).collect();
    let (mut phase, alone) = (0, circuits.len() == 1);
    while phase < circuit.phases() {
        let all = circuits.iter().zip(instances).zip(&mut arenas);
        let mut reached = phase;
        for (concrete, instance, arena) in all.map(|((concrete, instance), arena)| (concrete, instance, arena)) {
            let phases = &mut phases;
            let mut run = Synthesis { phases, pen, arena, instance, phase, alone, failed: None };
            let result = C::FloorPlanner::synthesize(&mut run, concrete, config.clone(), constants.clone());
            reached = run.phase;
            run.failed.map_or(result, Err)?;
        }
        if reached < circuit.phases() {
            end_phase(&mut phases, &mut arenas, reached, pen)?;
        }
        phase = reached + 1;
    }
    Ok(())
}

/// Commits to all circuits' columns of a phase.
fn end_phase<E, R, T>(
    phases: &mut Phases<'_, '_>,
    arenas: &mut [Arena],
    phase: u8,
    pen: &mut Pen<'_, E, R, T>,
) -> Result<(), Error>
where
    E: EncodedChallenge<G1Affine>,
    R: RngCore,
    T: TranscriptWrite<G1Affine, E>,
{
    let numbers = phases.circuit.advice_of(phase);
    for (number, arena) in arenas.iter_mut().enumerate() {
        phases.commit(number, arena.values(&numbers), pen)?;
    }
    phases.squeeze(phase, pen)
}

/// The circuits' configuration and columns for constants. Columns of the witness have to be those of the key; fixed ones need
/// not: halo2-base leaves constants out of circuits that are only proved.
fn config_of<C: StockCircuit<Fr>>(
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
