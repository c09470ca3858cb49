//! Defines the supported commitment schemes and openings.

use halo2_axiom::halo2curves::bn256::{Bn256, Fr, G1Affine};
use halo2_axiom::poly::commitment::CommitmentScheme;
use halo2_axiom::poly::kzg::commitment::{KZGCommitmentScheme, ParamsKZG};
use halo2_axiom::poly::kzg::multiopen::{ProverGWC, ProverSHPLONK};

/// Marks the commitment schemes that proofs support: KZG on BN254.
pub trait Scheme: CommitmentScheme<Scalar = Fr, Curve = G1Affine, ParamsProver = ParamsKZG<Bn256>> {}

impl Scheme for KZGCommitmentScheme<Bn256> {}

/// Selects how polynomials are opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Two points, however many polynomials and evaluation points there are.
    Shplonk,
    /// One point per evaluation point.
    Gwc,
}

/// Tells which kind of multi-point opening a prover type of halo2-axiom makes.
///
/// halo2-axiom's provers cannot be called from here, because only its own functions can make their queries. proofwarp
/// computes the openings instead.
pub trait Opening {
    /// Tells the kind of opening that this prover makes.
    const KIND: Kind;
}

impl Opening for ProverSHPLONK<'_, Bn256> {
    const KIND: Kind = Kind::Shplonk;
}

impl Opening for ProverGWC<'_, Bn256> {
    const KIND: Kind = Kind::Gwc;
}
