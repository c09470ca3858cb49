//! The scheme that midnight-proofs' prover is generic over.

use std::hash::Hash;

use midnight_curves::{Bls12, Fq, G1Projective};
use midnight_proofs::poly::commitment::{Guard, PolynomialCommitmentScheme};
use midnight_proofs::poly::kzg::KZGCommitmentScheme;
use midnight_proofs::poly::kzg::params::ParamsVerifierKZG;
use midnight_proofs::poly::{Coeff, Error, LagrangeCoeff, Polynomial, ProverQuery, VerifierQuery};
use midnight_proofs::transcript::{Hashable, Sampleable, Transcript};
use proofwarp::{Accelerator, Result};

use crate::Parameters;

type Stock = KZGCommitmentScheme<Bls12>;

/// KZG on BLS12-381 with commitments by proofwarp. Proofs are those of midnight-proofs' own scheme, whose verifier takes them.
///
/// Openings are computed by midnight-proofs: what it asks to open can be seen by its own scheme alone.
///
/// # Panics
/// The interface has no errors. A commitment panics with the reason where a forced backend (`PROOFWARP_BACKEND`) fails, or where
/// there are more coefficients than points. Where none is forced the CPU takes over, and the log says why.
#[derive(Clone, Debug)]
pub struct Resident;

fn committed(sum: Result<G1Projective>) -> G1Projective {
    sum.unwrap_or_else(|error| panic!("proofwarp-midnight: no commitment: {error}"))
}

impl PolynomialCommitmentScheme<Fq> for Resident {
    type Parameters = Parameters;
    type VerifierParameters = ParamsVerifierKZG<Bls12>;
    type Commitment = G1Projective;
    type VerificationGuard = Never;

    /// As midnight-proofs' own, for tests: whoever made them can forge proofs.
    fn gen_params(k: u32) -> Parameters {
        let parameters = Accelerator::from_env().and_then(|all| Parameters::new(&all, Stock::gen_params(k)));
        parameters.unwrap_or_else(|error| panic!("proofwarp-midnight: no setup: {error}"))
    }

    fn get_verifier_params(params: &Parameters) -> ParamsVerifierKZG<Bls12> {
        params.stock().verifier_params()
    }

    fn commit(params: &Parameters, polynomial: &Polynomial<Fq, Coeff>) -> G1Projective {
        committed(params.commit(polynomial))
    }

    fn commit_lagrange(params: &Parameters, poly: &Polynomial<Fq, LagrangeCoeff>) -> G1Projective {
        committed(params.commit_lagrange(poly))
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
        Stock::multi_open(params.stock(), prover_query, transcript)
    }

    /// Always an error, which the log explains: queries of a verifier can be read by midnight-proofs' own scheme alone. The key
    /// of that scheme verifies ([`crate::retype`]).
    fn multi_prepare<'com, T: Transcript>(
        _: &[VerifierQuery<'com, Fq, Self>],
        _: &mut T,
    ) -> std::result::Result<Never, Error>
    where
        Fq: Sampleable<T::Hash> + Hash + Ord + Hashable<T::Hash>,
        G1Projective: 'com + Hashable<T::Hash>,
    {
        log::error!("midnight: verified with a key of Resident: expected one of KZGCommitmentScheme, as retype makes");
        Err(Error::OpeningError)
    }
}

/// What is left to check of a proof that was read with a key of [`Resident`]: there is none.
#[derive(Clone, Copy, Debug)]
pub enum Never {}

impl Guard<Fq, Resident> for Never {
    fn verify(self, _: &ParamsVerifierKZG<Bls12>) -> std::result::Result<(), Error> {
        match self {}
    }
}
