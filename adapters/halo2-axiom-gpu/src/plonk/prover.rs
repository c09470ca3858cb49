//! Creates proofs, with the stock crate's signatures.

#[cfg(not(feature = "device-advice"))]
use halo2_axiom::plonk::AdviceColumns;
use halo2_axiom::plonk::{Circuit, ProvingKey};
use halo2_axiom::transcript::{EncodedChallenge, TranscriptWrite};
use proofwarp_halo2::Scheme;
use rand_core::RngCore;

use super::error::GpuError;
use crate::poly::commitment::Prover;

/// Proves `circuits`, all for the key `pk`, with [`proofwarp_halo2::create_proof`]. Writes the proof to `transcript`.
///
/// # Errors
/// Returns the errors of [`proofwarp_halo2::create_proof`].
pub fn create_proof<
    'params: 'a,
    'a,
    S: Scheme,
    P: Prover<'params, S>,
    E: EncodedChallenge<S::Curve>,
    R: RngCore + Send + 'a,
    T: TranscriptWrite<S::Curve, E>,
    ConcreteCircuit: Circuit<S::Scalar>,
>(
    params: &'params S::ParamsProver,
    pk: &ProvingKey<S::Curve>,
    circuits: &[ConcreteCircuit],
    instances: &[&'a [&'a [S::Scalar]]],
    rng: R,
    transcript: &'a mut T,
) -> Result<(), GpuError> {
    let instances: Vec<&[&[S::Scalar]]> = instances.to_vec();
    Ok(proofwarp_halo2::create_proof::<S, P, E, R, T, ConcreteCircuit>(
        params, pk, circuits, &instances, rng, transcript,
    )?)
}

#[cfg(not(feature = "device-advice"))]
/// Proves one circuit from `advice`, the values of its columns, with [`proofwarp_halo2::create_proof_from_advice`].
///
/// # Errors
/// Returns the errors of [`proofwarp_halo2::create_proof_from_advice`].
pub fn create_proof_from_advice<
    'params: 'a,
    'a,
    S: Scheme,
    P: Prover<'params, S>,
    E: EncodedChallenge<S::Curve>,
    R: RngCore + Send + 'a,
    T: TranscriptWrite<S::Curve, E>,
>(
    params: &'params S::ParamsProver,
    pk: &ProvingKey<S::Curve>,
    instances: &'a [&'a [S::Scalar]],
    advice: AdviceColumns<S::Scalar>,
    rng: R,
    transcript: &'a mut T,
) -> Result<(), GpuError> {
    Ok(proofwarp_halo2::create_proof_from_advice::<S, P, E, R, T>(params, pk, instances, advice, rng, transcript)?)
}
