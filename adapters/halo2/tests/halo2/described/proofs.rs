//! Keys by both crates, proofs by ours, verified by halo2-axiom.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use halo2_axiom::halo2curves::bn256::{Bn256, Fr, G1Affine};
use halo2_axiom::plonk::{Error, ProvingKey, VerifyingKey, verify_proof};
use halo2_axiom::poly::commitment::ParamsProver;
use halo2_axiom::poly::kzg::commitment::{KZGCommitmentScheme, ParamsKZG};
use halo2_axiom::poly::kzg::multiopen::{ProverGWC, ProverSHPLONK, VerifierGWC, VerifierSHPLONK};
use halo2_axiom::poly::kzg::strategy::SingleStrategy;
use halo2_axiom::transcript::{Blake2bRead, Blake2bWrite, Challenge255, TranscriptReadBuffer, TranscriptWriterBuffer};
use proofwarp_halo2::{Kind, Options};
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;

use super::circuit::Described;
use super::shape::Shape;

type Kzg = KZGCommitmentScheme<Bn256>;

/// One for each k.
pub fn setup(k: u32) -> Arc<ParamsKZG<Bn256>> {
    static SETUPS: Mutex<Option<HashMap<u32, Arc<ParamsKZG<Bn256>>>>> = Mutex::new(None);
    let mut setups = SETUPS.lock().expect("no test panics here");
    let make = || Arc::new(ParamsKZG::setup(k, ChaCha20Rng::seed_from_u64(u64::from(k))));
    setups.get_or_insert_default().entry(k).or_insert_with(make).clone()
}

/// A shape's key: ours, which is halo2-axiom's.
pub fn keys(shape: &Shape, k: u32) -> ProvingKey<G1Affine> {
    proofwarp_halo2::keygen_pk2(&*setup(k), &Described::new(shape, 0), false).expect("a key")
}

/// Each circuit's instance columns.
pub fn instances_of(circuits: &[Described]) -> Vec<Vec<Vec<Fr>>> {
    let columns = |circuit: &Described| (0..circuit.shape.instances.len()).map(|i| circuit.instance(i)).collect();
    circuits.iter().map(columns).collect()
}

pub fn slices(instances: &[Vec<Vec<Fr>>]) -> Vec<Vec<&[Fr]>> {
    instances.iter().map(|columns| columns.iter().map(Vec::as_slice).collect()).collect()
}

/// A proof of the circuits with their instances, by a seeded source.
pub fn prove(
    kind: Kind,
    k: u32,
    key: &ProvingKey<G1Affine>,
    circuits: &[Described],
    instances: &[Vec<Vec<Fr>>],
    seed: u64,
) -> Result<Vec<u8>, Error> {
    prove_with(&Options::default(), kind, k, key, circuits, instances, seed)
}

/// The same on a setup of the caller's.
pub fn prove_on(
    setup: &ParamsKZG<Bn256>,
    kind: Kind,
    key: &ProvingKey<G1Affine>,
    circuits: &[Described],
    instances: &[Vec<Vec<Fr>>],
    seed: u64,
) -> Result<Vec<u8>, Error> {
    made((&Options::default(), setup), kind, key, circuits, instances, seed)
}

/// The same with options.
pub fn prove_with(
    options: &Options,
    kind: Kind,
    k: u32,
    key: &ProvingKey<G1Affine>,
    circuits: &[Described],
    instances: &[Vec<Vec<Fr>>],
    seed: u64,
) -> Result<Vec<u8>, Error> {
    made((options, &setup(k)), kind, key, circuits, instances, seed)
}

fn made(
    (options, setup): (&Options, &ParamsKZG<Bn256>),
    kind: Kind,
    key: &ProvingKey<G1Affine>,
    circuits: &[Described],
    instances: &[Vec<Vec<Fr>>],
    seed: u64,
) -> Result<Vec<u8>, Error> {
    let columns = slices(instances);
    let instances: Vec<_> = columns.iter().map(Vec::as_slice).collect();
    let rng = ChaCha20Rng::seed_from_u64(seed);
    let mut transcript = Blake2bWrite::<_, _, Challenge255<_>>::init(Vec::new());
    match kind {
        Kind::Shplonk => proofwarp_halo2::create_proof_with::<Kzg, ProverSHPLONK<'_, Bn256>, _, _, _, _>(
            options,
            setup,
            key,
            circuits,
            &instances,
            rng,
            &mut transcript,
        ),
        Kind::Gwc => proofwarp_halo2::create_proof_with::<Kzg, ProverGWC<'_, Bn256>, _, _, _, _>(
            options,
            setup,
            key,
            circuits,
            &instances,
            rng,
            &mut transcript,
        ),
    }?;
    Ok(transcript.finalize())
}

/// Whether halo2-axiom's verifier accepts a proof.
pub fn verify(kind: Kind, k: u32, key: &VerifyingKey<G1Affine>, instances: &[Vec<Vec<Fr>>], proof: &[u8]) -> bool {
    verify_on(&setup(k), kind, key, instances, proof)
}

/// The same on a setup of the caller's.
pub fn verify_on(
    setup: &ParamsKZG<Bn256>,
    kind: Kind,
    key: &VerifyingKey<G1Affine>,
    instances: &[Vec<Vec<Fr>>],
    proof: &[u8],
) -> bool {
    let columns = slices(instances);
    let instances: Vec<_> = columns.iter().map(Vec::as_slice).collect();
    let mut transcript = Blake2bRead::<_, _, Challenge255<_>>::init(proof);
    let (strategy, params) = (SingleStrategy::new(setup), setup.verifier_params());
    let result = match kind {
        Kind::Shplonk => {
            verify_proof::<Kzg, VerifierSHPLONK<'_, Bn256>, _, _, _>(params, key, strategy, &instances, &mut transcript)
        }
        Kind::Gwc => {
            verify_proof::<Kzg, VerifierGWC<'_, Bn256>, _, _, _>(params, key, strategy, &instances, &mut transcript)
        }
    };
    result.is_ok()
}
