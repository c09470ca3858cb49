//! Makes keys and proofs by halo2-axiom's own functions.

use halo2_axiom::halo2curves::bn256::{Bn256, Fr, G1Affine};
use halo2_axiom::plonk::{self, Circuit, ProvingKey, VerifyingKey};
use halo2_axiom::poly::kzg::commitment::KZGCommitmentScheme;
use halo2_axiom::poly::kzg::multiopen::{ProverGWC, ProverSHPLONK};
use halo2_axiom::transcript::Challenge255;
use rand::rngs::OsRng;

use super::measure::{Prover, Transcript, written};
use super::task::Setup;
use super::work::Opening;
use crate::Failure;

type Kzg = KZGCommitmentScheme<Bn256>;

/// halo2-axiom.
pub struct Stock<'a> {
    /// The setup.
    pub setup: &'a Setup,
    /// How polynomials are opened.
    pub opening: Opening,
}

impl Prover for Stock<'_> {
    fn name(&self) -> &'static str {
        "halo2-axiom"
    }

    fn keygen_vk<C: Circuit<Fr>>(&self, circuit: &C) -> Result<VerifyingKey<G1Affine>, Failure> {
        Ok(plonk::keygen_vk(self.setup, circuit)?)
    }

    fn keygen_pk<C: Circuit<Fr>>(
        &self,
        vk: VerifyingKey<G1Affine>,
        circuit: &C,
    ) -> Result<ProvingKey<G1Affine>, Failure> {
        Ok(plonk::keygen_pk(self.setup, vk, circuit)?)
    }

    fn prove<C: Circuit<Fr>>(
        &self,
        key: &ProvingKey<G1Affine>,
        circuit: &[C; 1],
        instances: &[&[Fr]],
    ) -> Result<Transcript, Failure> {
        let (setup, instances) = (self.setup, &[instances]);
        written(|out| match self.opening {
            Opening::Shplonk => plonk::create_proof::<Kzg, ProverSHPLONK<'_, Bn256>, Challenge255<_>, _, _, _>(
                setup, key, circuit, instances, OsRng, out,
            ),
            Opening::Gwc => plonk::create_proof::<Kzg, ProverGWC<'_, Bn256>, Challenge255<_>, _, _, _>(
                setup, key, circuit, instances, OsRng, out,
            ),
        })
    }

    fn ran_on(&self) -> Vec<String> {
        vec![format!("the host's {} cores", rayon::current_num_threads())]
    }
}
