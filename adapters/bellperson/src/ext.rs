//! bellperson's own functions, with its names, generic parameters and arguments.
//!
//! Their bounds differ in one point: the engine has to be one that the kernels know, [`Engine`], where bellperson's has
//! names on the GPU.

use bellperson::groth16::{ParameterSource, Proof};
use bellperson::{Circuit, SynthesisError};
use ff::Field;
use pairing::MultiMillerLoop;
use proofwarp::groth16::Engine;
use rand_core::RngCore;

use crate::call::Call;
use crate::cleared::Cleared;

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
/// Each circuit gets what it would get by itself, whether the key is new or kept: one that the key is not of gets a proof
/// that does not verify, and takes none of the others' from them.
///
/// # Errors
/// The circuits' or the parameters', the circuits' numbers of constraints or variables are not the same or more than the
/// key's, there is not one r and one s for each, a lock file cannot be opened, a forced backend failed, or a proof does
/// not verify where `PROOFWARP_VERIFY` is set.
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
    let (r, s) = (Cleared(r), Cleared(s));
    prove(circuits, &params, &r.0, &s.0, false)
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
    let (r, s) = (Cleared(r), Cleared(s));
    prove(circuits, &params, &r.0, &s.0, true)
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
    let [r, s] = [(); 2].map(|()| Cleared(circuits.iter().map(|_| E::Fr::random(&mut *rng)).collect()));
    prove(circuits, params, &r.0, &s.0, priority)
}

/// Makes proofs as [`Call::prove`] says.
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
    Call::new(params, r, s, priority)?.prove(circuits)
}

fn only<T>(proofs: Vec<T>) -> Result<T, SynthesisError> {
    proofs.into_iter().next().ok_or(SynthesisError::AssignmentMissing)
}
