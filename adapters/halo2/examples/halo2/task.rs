//! What is proved, and the verification of its proofs by halo2-axiom.

use halo2_axiom::halo2curves::bn256::{Bn256, Fr, G1Affine};
use halo2_axiom::plonk::{Circuit, Error, VerifyingKey, verify_proof};
use halo2_axiom::poly::commitment::ParamsProver;
use halo2_axiom::poly::kzg::commitment::{KZGCommitmentScheme, ParamsKZG};
use halo2_axiom::poly::kzg::multiopen::{VerifierGWC, VerifierSHPLONK};
use halo2_axiom::poly::kzg::strategy::SingleStrategy;
use halo2_axiom::transcript::{Blake2bRead, Challenge255, TranscriptReadBuffer};

use crate::base::{self, Base};
use crate::circuit::Filled;
use crate::options::{Opening, Work};
use crate::shape::Shape;

pub type Setup = ParamsKZG<Bn256>;
type Kzg = KZGCommitmentScheme<Bn256>;

/// A circuit for keys, and how the one for proofs is made once there are keys.
pub struct Circuits<C> {
    pub for_keys: C,
    pub for_proofs: fn(&C) -> C,
    /// Instance columns.
    pub instances: Vec<Vec<Fr>>,
}

impl Circuits<Filled> {
    /// The same circuit for both; no instance columns.
    pub fn filled(shape: Shape) -> Self {
        Self { for_keys: Filled::new(shape), for_proofs: Filled::clone, instances: Vec::new() }
    }
}

impl Circuits<Base> {
    /// The one for proofs goes by where the synthesis for the keys broke columns.
    pub fn base(k: u32) -> Self {
        let for_keys = base::for_keys(k);
        let instances = base::instances(&for_keys);
        Self { for_keys, for_proofs: base::for_proofs, instances }
    }
}

/// A circuit, a setup and how it is opened.
pub struct Task<'a, C> {
    pub setup: &'a Setup,
    pub circuits: &'a Circuits<C>,
    pub work: &'a Work,
}

impl<C: Circuit<Fr>> Task<'_, C> {
    /// By halo2-axiom.
    ///
    /// # Errors
    /// The proof is not accepted.
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
