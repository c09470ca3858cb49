//! Proves from packed witnesses, with a, b and c from a circuit's matrices on the device: the patch of the engine.

use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use bellperson::Circuit;
use bellperson::groth16::{ProvingAssignment, SuprasealParameters};
use blstrs::{Bls12, Scalar};
use cuzk_core::memory::{GIB, MemoryBudget};
use cuzk_core::packed_witness::{Matrices, synthesize_packed};
use cuzk_core::pipeline::{PceCache, SynthesizedProof, extract_and_cache_pce, gpu_prove};
use cuzk_core::srs_manager::CircuitId;
use ff::Field;
use filecoin_proofs::parameters::{public_params, winning_post_public_params};
use filecoin_proofs::{DefaultPieceHasher, FallbackPoStSectorProof, SectorShape2KiB as Tree, as_safe_commitment};
use rand::SeedableRng;
use rand_chacha::ChaCha20Rng;
use storage_proofs_core::compound_proof::CompoundProof;
use storage_proofs_core::parameter_cache::{CacheableParameters, parameter_cache_params_path};
use storage_proofs_porep::stacked::{self, StackedCircuit, StackedCompound, StackedDrg};
use storage_proofs_post::fallback::{self, FallbackPoSt, FallbackPoStCircuit, FallbackPoStCompound};

use crate::post::{RANDOMNESS, verify_winning, winning_config};
use crate::sector::{PROVER, Sector, seal_config};
use crate::timed::timed;

type Post = FallbackPoStCompound<Tree>;
type PostCircuit = FallbackPoStCircuit<Tree>;
type Seal = StackedCompound<Tree, DefaultPieceHasher>;
type SealCircuit = StackedCircuit<Tree, DefaultPieceHasher>;

/// Bytes of memory that the cache may take, 1 GiB.
const BUDGET: u64 = GIB;

/// Proves WinningPoSts of `sector` from its inclusion proofs `vanilla`.
pub fn prove_winning(sector: &Sector, vanilla: &[u8]) -> Result<()> {
    let public = winning_post_public_params::<Tree>(&winning_config())?;
    let id = <Post as CacheableParameters<PostCircuit, _>>::cache_identifier(&public);
    let verify = |proof: &[u8]| verify_winning(sector, proof);
    prove(CircuitId::WinningPost32G, &id, || winning_circuit(vanilla), verify)
}

/// Proves the seal of `sector`, which has one partition.
pub fn prove_seal(sector: &Sector) -> Result<()> {
    let first = sector.phase_1()?;
    let inputs = stacked::PublicInputs {
        replica_id: first.replica_id,
        tau: Some(stacked::Tau {
            comm_d: as_safe_commitment(&first.comm_d, "comm_d")?,
            comm_r: as_safe_commitment(&first.comm_r, "comm_r")?,
        }),
        k: None,
        seed: Some(first.seed),
    };
    let public = public_params::<Tree>(&seal_config())?;
    ensure!(first.vanilla_proofs.len() == 1, "{} partitions, expected one", first.vanilla_proofs.len());
    let (vanilla, id) =
        (&first.vanilla_proofs[0], <Seal as CacheableParameters<SealCircuit, _>>::cache_identifier(&public));
    let circuit = || {
        <Seal as CompoundProof<StackedDrg<'_, Tree, DefaultPieceHasher>, _>>::circuit(
            &inputs,
            Default::default(),
            vanilla,
            &public,
            Some(0),
        )
    };
    prove(CircuitId::Porep32G, &id, circuit, |proof| sector.verify_seal(proof))
}

/// Proves the circuit that `circuit` makes, with the parameters named `parameters`, and verifies: with matrices from memory, then
/// with those of their file. `id` names the matrices in the engine's cache.
fn prove<C: Circuit<Scalar> + Send>(
    id: CircuitId,
    parameters: &str,
    circuit: impl Fn() -> Result<C>,
    verify: impl Fn(&[u8]) -> Result<bool>,
) -> Result<()> {
    let parameters = SuprasealParameters::<Bls12>::new(parameter_cache_params_path(parameters))?;
    let folder = tempfile::tempdir()?;
    let cache = || PceCache::new(Arc::new(MemoryBudget::new(BUDGET)), folder.path().into());
    let (first, later) = (cache(), cache());
    ensure!(first.get(&id).is_none(), "matrices of no circuit");
    timed("matrices", || extract_and_cache_pce(circuit()?, &id, &first))?;
    // The second cache is that of a later process, which maps the file.
    for cache in [&first, &later] {
        let matrices = cache.get(&id).context("no matrices")?;
        let synthesized = timed("packed witness", || synthesize(&id, circuit()?, &matrices))?;
        let proof = timed("proof from its witness", || {
            Ok(gpu_prove(synthesized, &parameters, std::ptr::null_mut(), -1)?.proof_bytes)
        })?;
        ensure!(timed("verify", || verify(&proof))?, "the proof does not verify");
    }
    Ok(())
}

/// Synthesizes the packed witness of `circuit`, and prints the host memory that it and the vectors that it replaces take.
fn synthesize(id: &CircuitId, circuit: impl Circuit<Scalar> + Send, matrices: &Matrices) -> Result<SynthesizedProof> {
    let (_, provers, input_assignments, aux_assignments) = synthesize_packed(vec![circuit], matrices)?;
    print_memory(&provers[0], matrices)?;
    let mut rng = ChaCha20Rng::seed_from_u64(11);
    let [r_s, s_s] = [(); 2].map(|()| vec![Scalar::random(&mut rng)]);
    Ok(SynthesizedProof {
        circuit_id: id.clone(),
        provers,
        input_assignments,
        aux_assignments,
        r_s,
        s_s,
        synthesis_duration: std::time::Duration::ZERO,
        partition_index: None,
        total_partitions: 1,
    })
}

/// Prints the host memory of the packed witness of `prover`, and of the vectors that it replaces.
fn print_memory(prover: &ProvingAssignment<Scalar>, matrices: &Matrices) -> Result<()> {
    let (_, values) = prover.witness.as_ref().context("no packed witness")?;
    let (aux, constraints) = (values.aux_count(), matrices.constraint_count());
    ensure!([values.input_count(), aux] == [matrices.input_count(), matrices.aux_count()], "another circuit");
    let scalar = size_of::<Scalar>();
    let (packed, stored) = (values.host_bytes(), matrices.host_bytes());
    println!("{constraints} constraints, {aux} auxiliary variables: {packed} bytes packed, {} otherwise", scalar * aux);
    println!("a, b and c would take {} bytes, the matrices take {stored}", 3 * scalar * constraints);
    Ok(())
}

/// Returns the circuit of a WinningPoSt. Each of its sectors has one inclusion proof of `vanilla`.
fn winning_circuit(vanilla: &[u8]) -> Result<PostCircuit> {
    let proof: FallbackPoStSectorProof<Tree> = bincode::deserialize(vanilla)?;
    let public = winning_post_public_params::<Tree>(&winning_config())?;
    let inputs = fallback::PublicInputs {
        randomness: as_safe_commitment(&RANDOMNESS, "randomness")?,
        prover_id: as_safe_commitment(&PROVER, "prover")?,
        sectors: vec![fallback::PublicSector { id: proof.sector_id, comm_r: proof.comm_r }],
        k: None,
    };
    let sector = proof.vanilla_proof.sectors.first().context("no sector")?;
    let one = |inclusion: &_| fallback::SectorProof {
        inclusion_proofs: vec![Clone::clone(inclusion)],
        comm_c: sector.comm_c,
        comm_r_last: sector.comm_r_last,
    };
    let sectors = sector.inclusion_proofs().iter().map(one).collect();
    let partition = fallback::Proof { sectors };
    <Post as CompoundProof<FallbackPoSt<'_, Tree>, _>>::circuit(
        &inputs,
        Default::default(),
        &partition,
        &public,
        Some(0),
    )
}
