//! Provides bellperson's own functions, with its names, generic parameters and arguments.
//!
//! Their bounds differ in one point: the engine must implement [`Engine`], which the kernels know, instead of
//! bellperson's GPU names.

use bellperson::groth16::{ParameterSource, Proof};
use bellperson::{Circuit, SynthesisError};
use ff::Field;
use pairing::MultiMillerLoop;
use proofwarp::groth16::Engine;
use proofwarp::secret_vec::SecretVec;
use rand_core::RngCore;

use crate::request::ProveRequest;

/// Proves `circuit` with the parameters `params` and the random scalars `r` and `s`.
///
/// # Errors
/// Returns the errors of [`create_proof_batch`].
pub fn create_proof<E, C, P>(circuit: C, params: P, r: E::Fr, s: E::Fr) -> Result<Proof<E>, SynthesisError>
where
    E: Engine + MultiMillerLoop,
    C: Circuit<E::Fr> + Send,
    P: ParameterSource<E>,
{
    single_proof(prove(vec![circuit], &params, &[r], &[s], false)?)
}

/// Proves `circuit` with the parameters `params`, and with r and s drawn from `rng`.
///
/// # Errors
/// Returns the errors of [`create_proof_batch`].
pub fn create_random_proof<E, C, R, P>(circuit: C, params: P, rng: &mut R) -> Result<Proof<E>, SynthesisError>
where
    E: Engine + MultiMillerLoop,
    C: Circuit<E::Fr> + Send,
    R: RngCore,
    P: ParameterSource<E>,
{
    single_proof(prove_random(vec![circuit], &params, rng, false)?)
}

/// Proves `circuits`, which differ only in their assignments, with the parameters `params`. `r` and `s` have one random
/// scalar per circuit.
///
/// Each circuit gets the proof that it would get alone, whether the key is new or cached. A circuit of another key gets
/// a proof that does not verify, and does not affect the other proofs.
///
/// # Errors
/// - The error of a circuit, or of the parameters.
/// - [`SynthesisError::MalformedSrs`]: the parameters have too few points for the circuits.
/// - [`SynthesisError::IoError`]: the circuits differ in their numbers of constraints or variables.
/// - [`SynthesisError::IoError`]: `r` or `s` does not have one element per circuit.
/// - [`SynthesisError::IoError`]: a circuit is too large.
/// - [`SynthesisError::IoError`]: δ of the parameters is zero, or a point of them is invalid or cannot be read.
/// - [`SynthesisError::IoError`]: a setting is malformed.
/// - [`SynthesisError::IoError`]: a lock file cannot be opened or locked.
/// - [`SynthesisError::IoError`]: a forced backend is not available, or failed.
/// - [`SynthesisError::IoError`]: a proof does not verify and `PROOFWARP_VERIFY` is set.
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
    let (r, s) = (SecretVec(r), SecretVec(s));
    prove(circuits, &params, &r, &s, false)
}

/// Proves `circuits`, which differ only in their assignments, with the parameters `params`, and with r and s drawn from
/// `rng`.
///
/// # Errors
/// Returns the errors of [`create_proof_batch`].
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

/// Proves `circuit` at high priority, with the random scalars `r` and `s`. Proofs without priority make way, and this
/// proof is never aborted.
///
/// # Errors
/// Returns the errors of [`create_proof_batch`].
pub fn create_proof_in_priority<E, C, P>(circuit: C, params: P, r: E::Fr, s: E::Fr) -> Result<Proof<E>, SynthesisError>
where
    E: Engine + MultiMillerLoop,
    C: Circuit<E::Fr> + Send,
    P: ParameterSource<E>,
{
    single_proof(prove(vec![circuit], &params, &[r], &[s], true)?)
}

/// Proves `circuit` at high priority, with r and s drawn from `rng`. Proofs without priority make way, and this proof
/// is never aborted.
///
/// # Errors
/// Returns the errors of [`create_proof_batch`].
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
    single_proof(prove_random(vec![circuit], &params, rng, true)?)
}

/// Proves `circuits`, which differ only in their assignments, at high priority. `r` and `s` have one random scalar per
/// circuit. Proofs without priority make way, and these proofs are never aborted.
///
/// # Errors
/// Returns the errors of [`create_proof_batch`].
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
    let (r, s) = (SecretVec(r), SecretVec(s));
    prove(circuits, &params, &r, &s, true)
}

/// Proves `circuits`, which differ only in their assignments, at high priority, with r and s drawn from `rng`. Proofs
/// without priority make way, and these proofs are never aborted.
///
/// # Errors
/// Returns the errors of [`create_proof_batch`].
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
    let [r, s] = [(); 2].map(|()| SecretVec(circuits.iter().map(|_| E::Fr::random(&mut *rng)).collect()));
    prove(circuits, params, &r, &s, priority)
}

/// Proves `circuits` with [`ProveRequest::prove`]; an empty batch returns no proofs.
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
    ProveRequest::new(params, r, s, priority)?.prove(circuits)
}

fn single_proof<T>(proofs: Vec<T>) -> Result<T, SynthesisError> {
    proofs.into_iter().next().ok_or(SynthesisError::AssignmentMissing)
}
