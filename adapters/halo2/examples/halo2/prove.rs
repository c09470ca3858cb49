//! Keys, proofs and their verification.

use clap::ValueEnum;
use halo2_axiom::halo2curves::bn256::{Bn256, Fr, G1Affine};
use halo2_axiom::plonk::{self, Error, ProvingKey, VerifyingKey, verify_proof};
use halo2_axiom::poly::commitment::{ParamsProver, Prover as StockProver};
use halo2_axiom::poly::kzg::commitment::{KZGCommitmentScheme, ParamsKZG};
use halo2_axiom::poly::kzg::multiopen::{ProverGWC, ProverSHPLONK, VerifierGWC, VerifierSHPLONK};
use halo2_axiom::poly::kzg::strategy::SingleStrategy;
use halo2_axiom::transcript::{Blake2bRead, Blake2bWrite, Challenge255, TranscriptReadBuffer, TranscriptWriterBuffer};
use proofwarp_halo2::halo2_axiom;
use rand_core::OsRng;
use serde::Serialize;

use crate::circuit::Filled;
use crate::marks::Marked;

type Kzg = KZGCommitmentScheme<Bn256>;
type Writer = Blake2bWrite<Vec<u8>, G1Affine, Challenge255<G1Affine>>;

/// Who proves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Prover {
    /// proofwarp
    Ours,
    /// halo2-axiom
    Stock,
}

/// How polynomials are opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Opening {
    /// Two points, whatever is opened where
    Shplonk,
    /// A point for each point of evaluation
    Gwc,
}

/// What is proved.
pub struct Task<'a> {
    pub setup: &'a ParamsKZG<Bn256>,
    pub circuit: &'a Filled,
    pub opening: Opening,
}

impl<'a> Task<'a> {
    pub fn keygen_vk(&self, prover: Prover) -> Result<VerifyingKey<G1Affine>, Error> {
        match prover {
            Prover::Ours => proofwarp_halo2::keygen_vk(self.setup, self.circuit),
            Prover::Stock => plonk::keygen_vk(self.setup, self.circuit),
        }
    }

    pub fn keygen_pk(&self, prover: Prover, vk: VerifyingKey<G1Affine>) -> Result<ProvingKey<G1Affine>, Error> {
        match prover {
            Prover::Ours => proofwarp_halo2::keygen_pk(self.setup, vk, self.circuit),
            Prover::Stock => plonk::keygen_pk(self.setup, vk, self.circuit),
        }
    }

    /// The transcript of a proof.
    pub fn prove(&self, prover: Prover, key: &ProvingKey<G1Affine>) -> Result<Marked<Writer>, Error> {
        match self.opening {
            Opening::Shplonk => self.prove_by::<ProverSHPLONK<'a, Bn256>>(prover, key),
            Opening::Gwc => self.prove_by::<ProverGWC<'a, Bn256>>(prover, key),
        }
    }

    fn prove_by<P: StockProver<'a, Kzg> + proofwarp_halo2::Opening>(
        &self,
        prover: Prover,
        key: &ProvingKey<G1Affine>,
    ) -> Result<Marked<Writer>, Error> {
        let mut transcript = Marked::new(Blake2bWrite::init(Vec::new()));
        let (circuits, none): (_, &[&[&[Fr]]]) = ([self.circuit.clone()], &[&[]]);
        match prover {
            Prover::Ours => proofwarp_halo2::create_proof::<Kzg, P, Challenge255<_>, _, _, _>(
                self.setup,
                key,
                &circuits,
                none,
                OsRng,
                &mut transcript,
            ),
            Prover::Stock => plonk::create_proof::<Kzg, P, Challenge255<_>, _, _, _>(
                self.setup,
                key,
                &circuits,
                none,
                OsRng,
                &mut transcript,
            ),
        }?;
        Ok(transcript)
    }

    /// By halo2-axiom.
    pub fn verify(&self, key: &VerifyingKey<G1Affine>, proof: &[u8]) -> Result<(), Error> {
        let mut transcript = Blake2bRead::<_, G1Affine, Challenge255<_>>::init(proof);
        let (strategy, params) = (SingleStrategy::new(self.setup), self.setup.verifier_params());
        let none: &[&[&[Fr]]] = &[&[]];
        match self.opening {
            Opening::Shplonk => {
                verify_proof::<Kzg, VerifierSHPLONK<'_, Bn256>, _, _, _>(params, key, strategy, none, &mut transcript)
            }
            Opening::Gwc => {
                verify_proof::<Kzg, VerifierGWC<'_, Bn256>, _, _, _>(params, key, strategy, none, &mut transcript)
            }
        }
    }
}
