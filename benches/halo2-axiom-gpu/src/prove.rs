//! Keys and proofs by halo2-axiom-gpu: circuits, keys and transcripts are halo2-axiom's own types there, setups are not.

use bench_support::Failure;
use bench_support::halo2::{Opening, Prover, Setup, Transcript};
use halo2_axiom::SerdeFormat;
use halo2_axiom::halo2curves::bn256::{Bn256, Fr, G1Affine};
use halo2_axiom::plonk::{Circuit, ProvingKey, VerifyingKey};
use halo2_axiom::transcript::{Blake2bWrite, Challenge255, TranscriptWriterBuffer};
use halo2_axiom_gpu::plonk;
use halo2_axiom_gpu::poly::commitment::Prover as Opens;
use halo2_axiom_gpu::poly::kzg::commitment::{KZGCommitmentScheme, ParamsKZG};
use halo2_axiom_gpu::poly::kzg::multiopen::{ProverGWC, ProverSHPLONK};
use proofwarp_halo2::TimedTranscript;
use rand_core::OsRng;

type Kzg = KZGCommitmentScheme<Bn256>;

/// halo2-axiom-gpu on the first GPU.
pub struct Peer {
    setup: ParamsKZG<Bn256>,
    opening: Opening,
}

impl Peer {
    /// With the same setup in its own type.
    ///
    /// # Errors
    /// It does not read it.
    pub fn new(setup: &Setup, opening: Opening) -> Result<Self, Failure> {
        let mut bytes = Vec::new();
        setup.write_custom(&mut bytes, SerdeFormat::RawBytesUnchecked)?;
        let setup = ParamsKZG::read_custom(&mut bytes.as_slice(), SerdeFormat::RawBytesUnchecked)?;
        Ok(Self { setup, opening })
    }
}

impl Prover for Peer {
    fn name(&self) -> &'static str {
        "halo2-axiom-gpu"
    }

    fn keygen_vk<C: Circuit<Fr>>(&self, circuit: &C) -> Result<VerifyingKey<G1Affine>, Failure> {
        Ok(plonk::keygen_vk(&self.setup, circuit)?)
    }

    fn keygen_pk<C: Circuit<Fr>>(
        &self,
        vk: VerifyingKey<G1Affine>,
        circuit: &C,
    ) -> Result<ProvingKey<G1Affine>, Failure> {
        Ok(plonk::keygen_pk(&self.setup, vk, circuit)?)
    }

    fn prove<C: Circuit<Fr>>(
        &self,
        key: &ProvingKey<G1Affine>,
        circuit: &[C; 1],
        instances: &[&[Fr]],
    ) -> Result<Transcript, Failure> {
        let (setup, instances) = (&self.setup, &[instances]);
        match self.opening {
            Opening::Shplonk => by::<ProverSHPLONK<'_, Bn256>, C>(setup, key, circuit, instances),
            Opening::Gwc => by::<ProverGWC<'_, Bn256>, C>(setup, key, circuit, instances),
        }
    }

    fn ran_on(&self) -> Vec<String> {
        vec!["cuda, the first device".to_owned()]
    }
}

fn by<'a, P: Opens<'a, Kzg>, C: Circuit<Fr>>(
    setup: &'a ParamsKZG<Bn256>,
    key: &ProvingKey<G1Affine>,
    circuit: &[C; 1],
    instances: &[&[&[Fr]]],
) -> Result<Transcript, Failure> {
    let mut transcript = TimedTranscript::new(Blake2bWrite::init(Vec::new()));
    plonk::create_proof::<Kzg, P, Challenge255<_>, _, _, _>(setup, key, circuit, instances, OsRng, &mut transcript)?;
    Ok(transcript)
}
