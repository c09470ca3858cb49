//! Proves by Curio's engine on the drop-in: WinningPoSts of a sector of 2 KiB, proofs that are started and finished, and a, b,
//! c in the engine's page-locked memory, and the sector's seal. filecoin-proofs and bellperson verify. With the argument
//! `parameters` it makes these alone.

mod keygen;
#[cfg(feature = "packed")]
mod packed;
mod parameters;
mod post;
mod sector;
mod split;
mod timed;

use anyhow::{Result, ensure};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use cuzk_core::prover;
use filecoin_proofs::SectorShape2KiB as Tree;
use filecoin_proofs::{
    generate_fallback_sector_challenges, generate_single_vanilla_proof, generate_winning_post_sector_challenge,
};

use filecoin_proofs::SECTOR_SIZE_2_KIB;
use filecoin_proofs_api::RegisteredSealProof;
use filecoin_proofs_api::seal::{SealPreCommitPhase2Output, seal_commit_phase1};

use crate::post::RANDOMNESS;
use crate::sector::{MINER, PROVER, SEED, Sector, TICKET, number};
use crate::timed::timed;

/// Number of StackedDrgWinning2KiBV1 in Curio's interface.
const WINNING_2_KIB: u64 = 0;
/// Number of proofs, 2: the first one reads the parameters.
const ROUNDS: usize = 2;

fn main() -> Result<()> {
    ensure!(prover::make_prover_id(MINER) == PROVER, "the engine names the prover otherwise");
    parameters::make_winning()?;
    parameters::make_seal()?;
    if std::env::args().any(|argument| argument == "parameters") {
        return Ok(());
    }
    split::prove()?;
    let sector = Sector::pre_commit()?;
    let vanilla = vanilla_winning(&sector)?;
    for _ in 0..ROUNDS {
        let prove = || prover::prove_winning_post(&[vanilla.clone()], WINNING_2_KIB, MINER, &RANDOMNESS, "probe");
        let (proof, _) = timed("WinningPoSt by cuzk", prove)?;
        ensure!(timed("verify", || post::verify_winning(&sector, &proof))?, "the WinningPoSt does not verify");
    }
    #[cfg(feature = "packed")]
    packed::prove_winning(&sector, &vanilla)?;
    prove_seal(&sector)?;
    #[cfg(feature = "packed")]
    packed::prove_seal(&sector)?;
    println!("all verified");
    Ok(())
}

fn prove_seal(sector: &Sector) -> Result<()> {
    let first = phase_1(sector)?;
    let seal = || prover::prove_porep_c2(&first, number().into(), MINER, "probe");
    let mut proof = Vec::new();
    for _ in 0..ROUNDS {
        (proof, _) = timed("C2 by cuzk", seal)?;
    }
    let verify = |proof: &[u8]| prover::verify_porep_proof(&first, proof, number().into(), MINER, "probe");
    ensure!(timed("verify_seal", || verify(&proof))?, "the proof of the seal does not verify");
    proof.rotate_left(48);
    ensure!(!matches!(verify(&proof), Ok(true)), "a wrong proof of the seal verifies");
    Ok(())
}

/// Returns the output of C1 for `sector`, as Curio passes it.
fn phase_1(sector: &Sector) -> Result<Vec<u8>> {
    let (registered_proof, committed) = (RegisteredSealProof::StackedDrg2KiBV1_1, sector.committed());
    let (comm_r, comm_d) = (committed.comm_r, committed.comm_d);
    let pre_commit = SealPreCommitPhase2Output { registered_proof, comm_r, comm_d };
    let (cache, replica, pieces) = (sector.cache(), sector.replica(), sector.pieces());
    let first = timed("C1", || seal_commit_phase1(cache, replica, PROVER, number(), TICKET, SEED, pre_commit, pieces))?;
    let output = STANDARD.encode(serde_json::to_vec(&first)?);
    let fields = serde_json::json!({
        "SectorNum": u64::from(number()), "Phase1Out": output, "SectorSize": SECTOR_SIZE_2_KIB,
    });
    Ok(serde_json::to_vec(&fields)?)
}

/// Returns the inclusion proofs of `sector` for the challenges of a WinningPoSt, as Curio passes them.
fn vanilla_winning(sector: &Sector) -> Result<Vec<u8>> {
    let (config, private) = (post::winning_config(), post::private(sector)?);
    generate_winning_post_sector_challenge::<Tree>(&config, &RANDOMNESS, 1, PROVER)?;
    let challenges = generate_fallback_sector_challenges::<Tree>(&config, &RANDOMNESS, &[number()], PROVER)?;
    let proof = generate_single_vanilla_proof::<Tree>(&config, number(), &private, &challenges[&number()])?;
    Ok(bincode::serialize(&proof)?)
}
