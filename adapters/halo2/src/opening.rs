//! Which commitment schemes and openings there are.

use halo2_axiom::halo2curves::bn256::{Bn256, Fr, G1Affine};
use halo2_axiom::poly::commitment::CommitmentScheme;
use halo2_axiom::poly::kzg::commitment::{KZGCommitmentScheme, ParamsKZG};
use halo2_axiom::poly::kzg::multiopen::{ProverGWC, ProverSHPLONK};

/// Commitment schemes that are proved with: KZG on BN254.
pub trait Scheme: CommitmentScheme<Scalar = Fr, Curve = G1Affine, ParamsProver = ParamsKZG<Bn256>> {}

impl Scheme for KZGCommitmentScheme<Bn256> {}

/// How polynomials are opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Two points, whatever is opened where.
    Shplonk,
    /// A point for each point of evaluation.
    Gwc,
}

/// The opening that a prover of halo2-axiom's stands for.
///
/// Queries of halo2-axiom's are made by its own functions alone, so that its provers cannot be called from here: what they
/// do is done by proofwarp.
pub trait Opening {
    /// Which one it is.
    const KIND: Kind;
}

impl Opening for ProverSHPLONK<'_, Bn256> {
    const KIND: Kind = Kind::Shplonk;
}

impl Opening for ProverGWC<'_, Bn256> {
    const KIND: Kind = Kind::Gwc;
}
