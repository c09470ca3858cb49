//! Implements the scheme that midnight-proofs' prover is generic over.

use std::hash::Hash;

use midnight_curves::{Bls12, Fq, G1Projective};
use midnight_proofs::poly::commitment::{Guard, PolynomialCommitmentScheme};
use midnight_proofs::poly::kzg::KZGCommitmentScheme;
use midnight_proofs::poly::kzg::params::ParamsVerifierKZG;
use midnight_proofs::poly::{Coeff, Error, LagrangeCoeff, Polynomial, ProverQuery, VerifierQuery};
use midnight_proofs::transcript::{Hashable, Sampleable, Transcript};
use proofwarp::{Accelerator, Result};

use crate::Parameters;

type StockScheme = KZGCommitmentScheme<Bls12>;

/// Implements KZG on BLS12-381, with commitments computed by proofwarp. Proofs equal those of midnight-proofs' own
/// scheme, whose verifier accepts them.
///
/// midnight-proofs computes the openings: only its own scheme can read its queries.
///
/// # Panics
/// The interface has no errors. A commitment panics with the reason if a forced backend (`PROOFWARP_BACKEND`) fails, or
/// if there are more coefficients than points. If no backend is forced, the CPU takes over and the log says why.
#[derive(Clone, Debug)]
pub struct GpuKzgScheme;

fn unwrap_commitment(sum: Result<G1Projective>) -> G1Projective {
    sum.unwrap_or_else(|error| panic!("proofwarp-midnight: no commitment: {error}"))
}

impl PolynomialCommitmentScheme<Fq> for GpuKzgScheme {
    type Parameters = Parameters;
    type VerifierParameters = ParamsVerifierKZG<Bls12>;
    type Commitment = G1Projective;
    type VerificationGuard = UninhabitedGuard;

    /// Generates parameters as midnight-proofs' own scheme does, for tests: their maker can forge proofs.
    fn gen_params(k: u32) -> Parameters {
        let parameters = Accelerator::from_env().and_then(|all| Parameters::new(&all, StockScheme::gen_params(k)));
        parameters.unwrap_or_else(|error| panic!("proofwarp-midnight: no setup: {error}"))
    }

    fn get_verifier_params(params: &Parameters) -> ParamsVerifierKZG<Bls12> {
        params.stock().verifier_params()
    }

    fn commit(params: &Parameters, polynomial: &Polynomial<Fq, Coeff>) -> G1Projective {
        unwrap_commitment(params.commit(polynomial))
    }

    fn commit_lagrange(params: &Parameters, poly: &Polynomial<Fq, LagrangeCoeff>) -> G1Projective {
        unwrap_commitment(params.commit_lagrange(poly))
    }

    fn multi_open<T: Transcript>(
        params: &Parameters,
        prover_query: &[ProverQuery<'_, Fq>],
        transcript: &mut T,
    ) -> std::result::Result<(), Error>
    where
        Fq: Sampleable<T::Hash> + Hash + Ord + Hashable<T::Hash>,
        G1Projective: Hashable<T::Hash>,
    {
        StockScheme::multi_open(params.stock(), prover_query, transcript)
    }

    /// Always returns an error, which the log explains: only midnight-proofs' own scheme can read a verifier's queries.
    /// Verify with the key of that scheme ([`crate::retype`]).
    fn multi_prepare<'com, T: Transcript>(
        _: &[VerifierQuery<'com, Fq, Self>],
        _: &mut T,
    ) -> std::result::Result<UninhabitedGuard, Error>
    where
        Fq: Sampleable<T::Hash> + Hash + Ord + Hashable<T::Hash>,
        G1Projective: 'com + Hashable<T::Hash>,
    {
        log::error!("midnight: verified with a key of Resident: expected one of KZGCommitmentScheme, as retype makes");
        Err(Error::OpeningError)
    }
}

/// Represents a verification guard that never exists, because no key of [`GpuKzgScheme`] verifies a proof.
#[derive(Clone, Copy, Debug)]
pub enum UninhabitedGuard {}

impl Guard<Fq, GpuKzgScheme> for UninhabitedGuard {
    fn verify(self, _: &ParamsVerifierKZG<Bls12>) -> std::result::Result<(), Error> {
        match self {}
    }
}
