//! bellperson's own functions, with its names, generic parameters and arguments.
//!
//! Their bounds differ in one point: the engine has to be one that the kernels know, [`Engine`], where bellperson's has
//! names on the GPU.

use std::sync::Arc;

use bellperson::groth16::{ParameterSource, Proof};
use bellperson::{Circuit, SynthesisError};
use ff::Field;
use pairing::MultiMillerLoop;
use proofwarp::Accelerator;
use proofwarp::groth16::{Engine, Parameters, ProvingKeyOnDevice};
use proofwarp::settings::Settings;
use rand_core::RngCore;

use crate::held::Held;
use crate::key::parameters;
use crate::mapped::{Identity, Samples, mapped};
use crate::prover::{Prover, assign, taken_down};
use crate::turn::{Turn, accelerator};
use crate::verify::verifies;
use crate::{cache, failed};

/// A proof with r and s given.
///
/// # Errors
/// As those of [`create_proof_batch`].
pub fn create_proof<E, C, P>(circuit: C, params: P, r: E::Fr, s: E::Fr) -> Result<Proof<E>, SynthesisError>
where
    E: Engine + MultiMillerLoop,
    C: Circuit<E::Fr> + Send,
    P: ParameterSource<E>,
{
    only(prove(vec![circuit], &params, &[r], &[s], false)?)
}

/// A proof, with r and s drawn.
///
/// # Errors
/// As those of [`create_proof_batch`].
pub fn create_random_proof<E, C, R, P>(circuit: C, params: P, rng: &mut R) -> Result<Proof<E>, SynthesisError>
where
    E: Engine + MultiMillerLoop,
    C: Circuit<E::Fr> + Send,
    R: RngCore,
    P: ParameterSource<E>,
{
    only(prove_random(vec![circuit], &params, rng, false)?)
}

/// Proofs of circuits that differ in their assignments only, with r and s given.
///
/// # Errors
/// The circuits' or the parameters', these do not belong to the circuits, lengths differ, a lock file cannot be opened,
/// or a forced backend failed.
pub fn create_proof_batch<E, C, P>(
    circuits: Vec<C>,
    params: P,
    r: Vec<E::Fr>,
    s: Vec<E::Fr>,
) -> Result<Vec<Proof<E>>, SynthesisError>
where
    E: Engine + MultiMillerLoop,
    C: Circuit<E::Fr> + Send,
    P: ParameterSource<E>,
{
    prove(circuits, &params, &r, &s, false)
}

/// Proofs of circuits that differ in their assignments only, with r and s drawn.
///
/// # Errors
/// As those of [`create_proof_batch`].
pub fn create_random_proof_batch<E, C, R, P>(
    circuits: Vec<C>,
    params: P,
    rng: &mut R,
) -> Result<Vec<Proof<E>>, SynthesisError>
where
    E: Engine + MultiMillerLoop,
    C: Circuit<E::Fr> + Send,
    R: RngCore,
    P: ParameterSource<E>,
{
    prove_random(circuits, &params, rng, false)
}

/// A proof with r and s given, before those without priority, which make way, and never aborted.
///
/// # Errors
/// As those of [`create_proof_batch`].
pub fn create_proof_in_priority<E, C, P>(circuit: C, params: P, r: E::Fr, s: E::Fr) -> Result<Proof<E>, SynthesisError>
where
    E: Engine + MultiMillerLoop,
    C: Circuit<E::Fr> + Send,
    P: ParameterSource<E>,
{
    only(prove(vec![circuit], &params, &[r], &[s], true)?)
}

/// A proof, with r and s drawn, before those without priority, which make way, and never aborted.
///
/// # Errors
/// As those of [`create_proof_batch`].
pub fn create_random_proof_in_priority<E, C, R, P>(
    circuit: C,
    params: P,
    rng: &mut R,
) -> Result<Proof<E>, SynthesisError>
where
    E: Engine + MultiMillerLoop,
    C: Circuit<E::Fr> + Send,
    R: RngCore,
    P: ParameterSource<E>,
{
    only(prove_random(vec![circuit], &params, rng, true)?)
}

/// Proofs of circuits that differ in their assignments only, with r and s given, before those without priority, which
/// make way, and never aborted.
///
/// # Errors
/// As those of [`create_proof_batch`].
pub fn create_proof_batch_in_priority<E, C, P>(
    circuits: Vec<C>,
    params: P,
    r: Vec<E::Fr>,
    s: Vec<E::Fr>,
) -> Result<Vec<Proof<E>>, SynthesisError>
where
    E: Engine + MultiMillerLoop,
    C: Circuit<E::Fr> + Send,
    P: ParameterSource<E>,
{
    prove(circuits, &params, &r, &s, true)
}

/// Proofs of circuits that differ in their assignments only, with r and s drawn, before those without priority, which
/// make way, and never aborted.
///
/// # Errors
/// As those of [`create_proof_batch`].
pub fn create_random_proof_batch_in_priority<E, C, R, P>(
    circuits: Vec<C>,
    params: P,
    rng: &mut R,
) -> Result<Vec<Proof<E>>, SynthesisError>
where
    E: Engine + MultiMillerLoop,
    C: Circuit<E::Fr> + Send,
    R: RngCore,
    P: ParameterSource<E>,
{
    prove_random(circuits, &params, rng, true)
}

fn prove_random<E, C, R, P>(
    circuits: Vec<C>,
    params: &P,
    rng: &mut R,
    priority: bool,
) -> Result<Vec<Proof<E>>, SynthesisError>
where
    E: Engine + MultiMillerLoop,
    C: Circuit<E::Fr> + Send,
    R: RngCore,
    P: ParameterSource<E>,
{
    // All r before all s, as bellperson draws them.
    let [r, s] = [(); 2].map(|()| circuits.iter().map(|_| E::Fr::random(&mut *rng)).collect::<Vec<_>>());
    prove(circuits, params, &r, &s, priority)
}

/// Makes proofs by the prover that is kept for the parameters, if there is one.
fn prove<E, C, P>(
    circuits: Vec<C>,
    params: &P,
    r: &[E::Fr],
    s: &[E::Fr],
    priority: bool,
) -> Result<Vec<Proof<E>>, SynthesisError>
where
    E: Engine + MultiMillerLoop,
    C: Circuit<E::Fr> + Send,
    P: ParameterSource<E>,
{
    if circuits.is_empty() {
        return Ok(Vec::new());
    }
    let accelerator = accelerator()?;
    let held = cache::find::<E, P>(params, typeid::of::<C>());
    cache::count(held.is_some());
    let Some(held) = held else { return prove_first(&accelerator, circuits, params, r, s, priority) };
    let assignments = assign(circuits)?;
    let proofs = held.prover.prove_in_turn(&mut Turn::wait(&accelerator, priority)?, &assignments, r, s);
    cache::settle(&accelerator);
    proofs
}

/// Makes proofs by a new prover, which is kept once a proof of it has been verified: later circuits are proved by the
/// first one's matrices, which has to be the circuit that the key is of.
fn prove_first<E, C, P>(
    accelerator: &Accelerator,
    mut circuits: Vec<C>,
    params: &P,
    r: &[E::Fr],
    s: &[E::Fr],
    priority: bool,
) -> Result<Vec<Proof<E>>, SynthesisError>
where
    E: Engine + MultiMillerLoop,
    C: Circuit<E::Fr> + Send,
    P: ParameterSource<E>,
{
    let rest = circuits.split_off(1);
    let Some(first) = circuits.pop() else { return Err(SynthesisError::AssignmentMissing) };
    let (first, rest) = rayon::join(|| taken_down(first), || assign(rest));
    let (circuit, first) = first?;
    let assignments: Vec<_> = std::iter::once(first).chain(rest?).collect();
    // Before the points are read: who changes the file later changes this too.
    let file = mapped(params).and_then(|mapped| Some((Identity::of(mapped)?, Samples::of(mapped)?)));
    let key = parameters(params, &circuit)?;
    let mut turn = Turn::wait(accelerator, priority)?;
    // Another thread may have made it while this one waited.
    if let Some(held) = cache::find::<E, P>(params, typeid::of::<C>()) {
        return held.prover.prove_in_turn(&mut turn, &assignments, r, s);
    }
    let verifying_key = params.get_vk(circuit.inputs())?.clone();
    let prover = Prover::from_parts(uploaded(accelerator, &mut turn, key)?, circuit, verifying_key);
    let verify = Settings::get().map_err(failed)?.verify;
    let held = Held::new(prover.verify(verify), typeid::of::<C>(), file);
    let proofs = held.prover.prove_in_turn(&mut turn, &assignments, r, s)?;
    if proofs.first().is_some_and(|proof| verifies(held.prover.verifying_key(), proof, &assignments[0].inputs)) {
        cache::keep(accelerator, Arc::new(held));
    } else {
        log::warn!(
            "groth16: the proof does not verify: its witness does not satisfy the constraints, or the key is not its"
        );
    }
    Ok(proofs)
}

/// A key on the devices, or about to go there with the first proof; others go for it if there is too little room.
fn uploaded<E: Engine>(
    all: &Accelerator,
    turn: &mut Turn,
    key: Parameters<E>,
) -> Result<ProvingKeyOnDevice<E>, SynthesisError> {
    cache::make_room(all, key.bytes());
    let (uploaded, found_room) = upload(turn, key.clone())?;
    if found_room || !cache::make_all_room() {
        return Ok(uploaded);
    }
    drop(uploaded);
    upload(turn, key).map(|(uploaded, _)| uploaded)
}

/// A key with as much of it uploaded as there is room for, unless it goes up with the first proof, and whether there is
/// room for all of it.
fn upload<E: Engine>(turn: &mut Turn, key: Parameters<E>) -> Result<(ProvingKeyOnDevice<E>, bool), SynthesisError> {
    let bytes = key.bytes();
    let uploaded = ProvingKeyOnDevice::on_host(turn.accelerator(), key).map_err(failed)?;
    if uploaded.goes_up_with_first_proof(turn.accelerator()).map_err(failed)? {
        return Ok((uploaded, true));
    }
    turn.upload(&uploaded)?;
    let found_room = turn.accelerator().devices().is_empty() || uploaded.bytes() >= bytes;
    Ok((uploaded, found_room))
}

fn only<T>(proofs: Vec<T>) -> Result<T, SynthesisError> {
    proofs.into_iter().next().ok_or(SynthesisError::AssignmentMissing)
}
