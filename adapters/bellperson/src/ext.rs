//! bellperson's own functions.

use std::any::Any;
use std::sync::{Arc, Mutex, PoisonError};

use bellperson::groth16::{ParameterSource, Proof};
use bellperson::{Circuit, SynthesisError};
use ff::Field;
use pairing::MultiMillerLoop;
use proofwarp::Accelerator;
use proofwarp::groth16::{Engine, Parameters};
use rand_core::RngCore;
use rayon::prelude::*;

use crate::failed;
use crate::key::parameters;
use crate::prover::{Assignment, Prover};

/// A proof with r and s given.
///
/// # Errors
/// As [`create_proof_batch`].
pub fn create_proof<E, C, P>(circuit: C, params: P, r: E::Fr, s: E::Fr) -> Result<Proof<E>, SynthesisError>
where
    E: Engine + MultiMillerLoop,
    C: Circuit<E::Fr> + Send,
    P: ParameterSource<E>,
{
    only(create_proof_batch(vec![circuit], params, vec![r], vec![s])?)
}

/// A proof with r and s drawn.
///
/// # Errors
/// As [`create_proof_batch`].
pub fn create_random_proof<E, C, R, P>(circuit: C, params: P, rng: &mut R) -> Result<Proof<E>, SynthesisError>
where
    E: Engine + MultiMillerLoop,
    C: Circuit<E::Fr> + Send,
    R: RngCore,
    P: ParameterSource<E>,
{
    only(create_random_proof_batch(vec![circuit], params, rng)?)
}

/// Proofs of circuits that differ in their assignments only, with r and s drawn.
///
/// # Errors
/// As [`create_proof_batch`].
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
    // All r before all s, as bellperson draws them.
    let [r, s] = [(); 2].map(|()| circuits.iter().map(|_| E::Fr::random(&mut *rng)).collect());
    create_proof_batch(circuits, params, r, s)
}

/// Proofs of circuits that differ in their assignments only, with r and s given.
///
/// # Errors
/// The circuits' or the parameters', these do not belong to the circuits, lengths differ, or a forced backend failed.
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
    if circuits.is_empty() {
        return Ok(Vec::new());
    }
    let (prover, assignments) = prover(circuits, &params)?;
    prover.prove(&assignments, &r, &s, None).map(|(proofs, _)| proofs)
}

/// The prover of the last parameters.
static LAST: Mutex<Option<Arc<dyn Any + Send + Sync>>> = Mutex::new(None);

/// The prover of these parameters, and the circuits' assignments.
#[allow(clippy::type_complexity, reason = "two things, each of a known type")]
fn prover<E, C, P>(mut circuits: Vec<C>, params: &P) -> Result<(Arc<Prover<E>>, Vec<Assignment<E::Fr>>), SynthesisError>
where
    E: Engine + MultiMillerLoop,
    C: Circuit<E::Fr> + Send,
    P: ParameterSource<E>,
{
    let accelerator = Accelerator::global().map_err(failed)?;
    if let Some(prover) = last::<E, P>(params) {
        let assignments = prover.assign(circuits)?;
        return Ok((prover, assignments));
    }
    let rest = circuits.split_off(1);
    let Some(first) = circuits.pop() else { return Err(SynthesisError::AssignmentMissing) };
    // The old one's memory comes free first.
    *LAST.lock().unwrap_or_else(PoisonError::into_inner) = None;
    let (prover, assignment) = Prover::new(accelerator, first, params)?;
    let mut assignments = vec![assignment];
    assignments.extend(prover.assign(rest)?);
    let prover = Arc::new(prover);
    *LAST.lock().unwrap_or_else(PoisonError::into_inner) = Some(prover.clone());
    Ok((prover, assignments))
}

/// The last prover, if it is that of these parameters.
fn last<E: Engine + MultiMillerLoop, P: ParameterSource<E>>(params: &P) -> Option<Arc<Prover<E>>> {
    let last = LAST.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let prover = last?.downcast::<Prover<E>>().ok()?;
    // Parameters of another circuit may have too few points for this one.
    let now = parameters(params, prover.circuit()).ok()?;
    same_key(&now, prover.key().parameters()).then_some(prover)
}

/// Whether all of two keys is equal; vectors in memory that both hold are the same at once.
fn same_key<E: Engine>(one: &Parameters<E>, other: &Parameters<E>) -> bool {
    let g1 = |key: &Parameters<E>| [key.alpha_g1, key.beta_g1, key.delta_g1];
    let g2 = |key: &Parameters<E>| [key.beta_g2, key.delta_g2];
    g1(one) == g1(other)
        && g2(one) == g2(other)
        && same(&one.h, &other.h)
        && same(&one.l, &other.l)
        && same(&one.a, &other.a)
        && same(&one.b_g1, &other.b_g1)
        && same(&one.b_g2, &other.b_g2)
}

fn same<T: PartialEq + Sync>(one: &Arc<Vec<T>>, other: &Arc<Vec<T>>) -> bool {
    Arc::ptr_eq(one, other) || one.len() == other.len() && one.par_iter().zip(&**other).all(|(one, other)| one == other)
}

fn only<T>(proofs: Vec<T>) -> Result<T, SynthesisError> {
    proofs.into_iter().next().ok_or(SynthesisError::AssignmentMissing)
}
