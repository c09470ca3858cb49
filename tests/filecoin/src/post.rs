//! Proves that a sector is stored: WinningPoSt and WindowPoSt.

use std::collections::BTreeMap;

use anyhow::{Result, ensure};
use filecoin_proofs::{
    PoStConfig, PoStType, PrivateReplicaInfo, PublicReplicaInfo, SECTOR_SIZE_2_KIB, SectorShape2KiB as Tree,
    WINDOW_POST_CHALLENGE_COUNT, WINNING_POST_CHALLENGE_COUNT, generate_window_post, generate_winning_post,
    verify_window_post, verify_winning_post,
};
use storage_proofs_core::api_version::ApiVersion;

use crate::sector::{PROVER, Sector, number};
use crate::timed::timed;

/// Number of sectors in a partition of WindowPoSt with sectors of 2 KiB, 2.
const WINDOW_SECTORS: usize = 2;
/// Number of proofs of each kind, 2: the first one reads the parameters.
const ROUNDS: usize = 2;
/// Randomness of the challenges: a field element, so its last bits are zero.
pub const RANDOMNESS: [u8; 32] = {
    let mut bytes = [9; 32];
    bytes[31] = 0;
    bytes
};

/// Randomness of no proof, by which none verifies.
const OTHER_RANDOMNESS: [u8; 32] = [1; 32];

fn config(typ: PoStType, challenge_count: usize, sector_count: usize, api_version: ApiVersion) -> PoStConfig {
    let sector_size = SECTOR_SIZE_2_KIB.into();
    PoStConfig { sector_size, challenge_count, sector_count, typ, priority: true, api_version }
}

/// Returns the configuration of StackedDrgWinning2KiBV1.
pub fn winning_config() -> PoStConfig {
    config(PoStType::Winning, WINNING_POST_CHALLENGE_COUNT, 1, ApiVersion::V1_0_0)
}

/// Returns the configuration of StackedDrgWindow2KiBV1_2.
pub fn window_config() -> PoStConfig {
    config(PoStType::Window, WINDOW_POST_CHALLENGE_COUNT, WINDOW_SECTORS, ApiVersion::V1_2_0)
}

/// Returns what a prover has of `sector`.
pub fn private(sector: &Sector) -> Result<PrivateReplicaInfo<Tree>> {
    PrivateReplicaInfo::new(sector.replica(), sector.comm_r(), sector.cache())
}

/// Proves and verifies WinningPoSts of `sector`.
pub fn prove_winning(sector: &Sector) -> Result<()> {
    let (config, privates) = (winning_config(), [(number(), private(sector)?)]);
    for _ in 0..ROUNDS {
        let proof = timed("WinningPoSt", || generate_winning_post::<Tree>(&config, &RANDOMNESS, &privates, PROVER))?;
        ensure!(timed("verify", || verify_winning(sector, &proof))?, "the WinningPoSt does not verify");
    }
    Ok(())
}

/// Returns whether `proof` is a WinningPoSt of `sector`. It must not verify for other randomness.
pub fn verify_winning(sector: &Sector, proof: &[u8]) -> Result<bool> {
    let publics = [(number(), PublicReplicaInfo::new(sector.comm_r())?)];
    let verify = |randomness| verify_winning_post::<Tree>(&winning_config(), randomness, &publics, PROVER, proof);
    ensure!(!matches!(verify(&OTHER_RANDOMNESS), Ok(true)), "the WinningPoSt verifies for other randomness");
    verify(&RANDOMNESS)
}

/// Proves and verifies WindowPoSts of `sector`.
pub fn prove_window(sector: &Sector) -> Result<()> {
    let (config, privates) = (window_config(), BTreeMap::from([(number(), private(sector)?)]));
    let publics = BTreeMap::from([(number(), PublicReplicaInfo::new(sector.comm_r())?)]);
    for _ in 0..ROUNDS {
        let proof = timed("WindowPoSt", || generate_window_post::<Tree>(&config, &RANDOMNESS, &privates, PROVER))?;
        let verify = |randomness| verify_window_post::<Tree>(&config, randomness, &publics, PROVER, &proof);
        ensure!(timed("verify", || verify(&RANDOMNESS))?, "the WindowPoSt does not verify");
        ensure!(!matches!(verify(&OTHER_RANDOMNESS), Ok(true)), "the WindowPoSt verifies for other randomness");
    }
    Ok(())
}
