//! Makes a proof: runs proofwarp's steps in the order of halo2-axiom's transcript.

use ff::Field;
use halo2_axiom::halo2curves::bn256::{Bn256, Fr, G1Affine};
use halo2_axiom::plonk::{Error, ProvingKey};
use halo2_axiom::poly::commitment::{Params, ParamsProver};
use halo2_axiom::poly::kzg::commitment::ParamsKZG;
use halo2_axiom::transcript::{EncodedChallenge, TranscriptWrite};
use proofwarp::plonk::{AdviceStage, Circuit, MemoryEstimate, OpeningStage, PeerDevice, ProverContext};

use crate::caches;
use crate::committer::Committer;
use crate::device_provers::DeviceProvers;
use crate::error::{check_setup_size, to_halo2_error};
use crate::opening::{Kind, Opening};
use crate::options::Options;
use crate::random::{Seed, random_elements};
use crate::synthesis::ProofWriter;
use crate::witness::Source;

/// Holds the inputs of a proof except its witness.
pub(crate) struct Task<'t, 'i> {
    pub options: &'t Options,
    pub params: &'t ParamsKZG<Bn256>,
    pub pk: &'t ProvingKey<G1Affine>,
    pub instances: &'t [&'t [&'i [Fr]]],
    pub seed: Seed,
}

impl Task<'_, '_> {
    /// Writes the proof, with the witness that `source` supplies. Returns the name of the proof's first device, or
    /// `None` if the host did all the work.
    pub(crate) fn prove<P: Opening, E: EncodedChallenge<G1Affine>, T: TranscriptWrite<G1Affine, E>>(
        &self,
        options: &Options,
        pen: &mut ProofWriter<'_, E, T>,
        source: &mut impl Source,
    ) -> Result<Option<String>, Error> {
        let circuit = caches::find_or_compile_circuit(self.pk)?;
        check_instances(&circuit, self.instances)?;
        check_setup_size((self.params.k(), self.params.get_g().len()), circuit.log_n)?;
        let workers = DeviceProvers::new(
            options,
            (self.params, self.pk),
            &MemoryEstimate::for_circuit(&circuit, self.instances.len()),
        )?;
        let circuit = workers.compile_circuit(circuit)?;
        let keys: Vec<_> = workers.all.iter().map(|worker| worker.key_column_views(self.pk)).collect();
        let workers_and_keys = workers.all.iter().zip(&keys);
        let mut peers: Vec<_> = workers_and_keys
            .map(|(worker, key)| PeerDevice { engine: &worker.engine, key, link: worker.link })
            .collect();
        let PeerDevice { engine, key, .. } = peers.remove(0);
        let setting = ProverContext { engine, circuit: &circuit, key, peers: &peers };
        let proof = Committer::new(AdviceStage::new(setting, self.instances).map_err(to_halo2_error)?);
        self.pk.get_vk().hash_into(pen.transcript)?;
        for value in self.instances.iter().flat_map(|instance| instance.iter()).flat_map(|column| column.iter()) {
            pen.transcript.common_scalar(*value)?;
        }
        source.write(&proof, &circuit, pen)?;
        let proof = proof.into_proof().ok_or(Error::Synthesis)?;
        let openings = run_argument_steps(proof, circuit.rows(), pen)?;
        write_openings::<P, _, _>(openings, pen)?;
        Ok(engine.device_name())
    }
}

fn check_instances(circuit: &Circuit<Fr>, instances: &[&[&[Fr]]]) -> Result<(), Error> {
    if instances.is_empty() || instances.iter().any(|instance| instance.len() != circuit.layout.instances) {
        return Err(Error::InvalidInstances);
    }
    let longest = instances.iter().flat_map(|instance| instance.iter()).map(|column| column.len()).max();
    if longest.is_some_and(|longest| longest > circuit.usable_rows()) {
        return Err(Error::InstanceTooLarge);
    }
    Ok(())
}

/// Runs the proof's steps from the challenge θ to the evaluations at x, and writes their messages.
fn run_argument_steps<'a, E: EncodedChallenge<G1Affine>, T: TranscriptWrite<G1Affine, E>>(
    proof: AdviceStage<'a, G1Affine>,
    rows: usize,
    pen: &mut ProofWriter<'_, E, T>,
) -> Result<OpeningStage<'a, G1Affine>, Error> {
    let theta = pen.squeeze_challenge();
    let (proof, points) = proof.commit_lookups(theta, &mut || Fr::random(&mut pen.rng)).map_err(to_halo2_error)?;
    pen.write_points(&points)?;
    let challenges = [pen.squeeze_challenge(), pen.squeeze_challenge()];
    let (proof, points) =
        proof.commit_products(challenges, &mut || Fr::random(&mut pen.rng)).map_err(to_halo2_error)?;
    pen.write_points(&points)?;
    let (proof, point) = proof.commit_random_polynomial(random_elements(rows, &mut pen.rng)).map_err(to_halo2_error)?;
    pen.write_points(&[point])?;
    let (proof, points) = proof.commit_quotient(pen.squeeze_challenge()).map_err(to_halo2_error)?;
    pen.write_points(&points)?;
    let (openings, values) = proof.evaluate_polynomials(pen.squeeze_challenge()).map_err(to_halo2_error)?;
    pen.write_scalars(&values)?;
    Ok(openings)
}

fn write_openings<P: Opening, E: EncodedChallenge<G1Affine>, T: TranscriptWrite<G1Affine, E>>(
    openings: OpeningStage<'_, G1Affine>,
    pen: &mut ProofWriter<'_, E, T>,
) -> Result<(), Error> {
    match P::KIND {
        Kind::Gwc => {
            let points = openings.gwc(pen.squeeze_challenge()).map_err(to_halo2_error)?;
            pen.write_points(&points)
        }
        Kind::Shplonk => {
            let (y, v) = (pen.squeeze_challenge(), pen.squeeze_challenge());
            let (proof, point) = openings.shplonk(y, v).map_err(to_halo2_error)?;
            pen.write_points(&[point])?;
            let point = proof.finish(pen.squeeze_challenge()).map_err(to_halo2_error)?;
            pen.write_points(&[point])
        }
    }
}
