//! Defines the circuits to prove, and verifies their proofs by halo2-axiom.

use halo2_axiom::halo2curves::bn256::{Bn256, Fr, G1Affine};
use halo2_axiom::plonk::{Circuit, Error, VerifyingKey, verify_proof};
use halo2_axiom::poly::commitment::ParamsProver;
use halo2_axiom::poly::kzg::commitment::{KZGCommitmentScheme, ParamsKZG};
use halo2_axiom::poly::kzg::multiopen::{VerifierGWC, VerifierSHPLONK};
use halo2_axiom::poly::kzg::strategy::SingleStrategy;
use halo2_axiom::transcript::{Blake2bRead, Challenge255, TranscriptReadBuffer};

use super::circuit::Filled;
use super::shape::Shape;
use super::work::{Opening, Work};

/// KZG setup over BN254. Provers and verifier share it.
pub type Setup = ParamsKZG<Bn256>;
type Kzg = KZGCommitmentScheme<Bn256>;

/// A circuit for keys, and the function that makes the circuit for proofs once there are keys.
pub struct Circuits<C> {
    /// The circuit that keys are made of.
    pub for_keys: C,
    /// Makes the circuit of a proof.
    pub for_proofs: fn(&C) -> C,
    /// Instance columns.
    pub instances: Vec<Vec<Fr>>,
}

impl Circuits<Filled> {
    /// Creates one circuit of `shape` that serves for both keys and proofs. It has no instance columns.
    pub fn filled(shape: Shape) -> Self {
        Self { for_keys: Filled::new(shape), for_proofs: Filled::clone, instances: Vec::new() }
    }
}

/// Circuits to prove with one setup, and the options of their proofs.
pub struct Task<'a, C> {
    /// The setup.
    pub setup: &'a Setup,
    /// The circuits.
    pub circuits: &'a Circuits<C>,
    /// Options: the multi-opening scheme, the number of proofs.
    pub work: &'a Work,
}

impl<C: Circuit<Fr>> Task<'_, C> {
    /// Verifies `proof` under `key` by halo2-axiom.
    ///
    /// # Errors
    /// Returns an error if the proof is not accepted.
    pub fn verify(&self, key: &VerifyingKey<G1Affine>, proof: &[u8]) -> Result<(), Error> {
        let mut transcript = Blake2bRead::<_, G1Affine, Challenge255<_>>::init(proof);
        let (strategy, params) = (SingleStrategy::new(self.setup), self.setup.verifier_params());
        let columns: Vec<_> = self.circuits.instances.iter().map(Vec::as_slice).collect();
        let instances: &[&[&[Fr]]] = &[&columns];
        match self.work.opening {
            Opening::Shplonk => verify_proof::<Kzg, VerifierSHPLONK<'_, Bn256>, _, _, _>(
                params,
                key,
                strategy,
                instances,
                &mut transcript,
            ),
            Opening::Gwc => {
                verify_proof::<Kzg, VerifierGWC<'_, Bn256>, _, _, _>(params, key, strategy, instances, &mut transcript)
            }
        }
    }
}
