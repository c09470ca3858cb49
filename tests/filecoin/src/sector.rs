//! Holds a sector of 2 KiB of random data, and seals it.

use std::fs::File;
use std::io::Seek;
use std::path::PathBuf;

use anyhow::{Result, ensure};
use filecoin_proofs::{
    Commitment, PaddedBytesAmount, PieceInfo, PoRepConfig, SECTOR_SIZE_2_KIB, SealCommitPhase1Output,
    SealPreCommitOutput, SectorShape2KiB as Tree, UnpaddedByteIndex, UnpaddedBytesAmount, add_piece,
    get_unsealed_range, seal_commit_phase1, seal_commit_phase2, seal_pre_commit_phase1, seal_pre_commit_phase2,
    verify_seal,
};
use rand::{RngCore, SeedableRng};
use rand_chacha::ChaCha20Rng;
use storage_proofs_core::api_version::ApiVersion;
use storage_proofs_core::sector::SectorId;
use tempfile::TempDir;

use crate::timed::timed;

/// Number of the prover's address.
pub const MINER: u64 = 1000;
/// Names the prover: the number of its address in groups of seven bits, from the lowest on, as Filecoin encodes it.
pub const PROVER: [u8; 32] = {
    let mut id = [0; 32];
    (id[0], id[1]) = ((MINER & 0x7f) as u8 | 0x80, (MINER >> 7) as u8);
    id
};
/// Randomness of the replica.
pub const TICKET: [u8; 32] = [2; 32];
/// Randomness of the challenges.
pub const SEED: [u8; 32] = [3; 32];

/// Returns the number of the sector.
pub fn number() -> SectorId {
    SectorId::from(1)
}

/// Returns the configuration of StackedDrg2KiBV1_1, proof type 5.
pub fn seal_config() -> PoRepConfig {
    let mut id = [0; 32];
    id[0] = 5;
    PoRepConfig::new_groth16(SECTOR_SIZE_2_KIB, id, ApiVersion::V1_1_0)
}

/// Holds a sector whose replica and trees are in `folder`.
pub struct Sector {
    folder: TempDir,
    data: Vec<u8>,
    pieces: Vec<PieceInfo>,
    committed: SealPreCommitOutput,
}

impl Sector {
    /// Adds a piece to a sector, and runs both phases before the commitment.
    pub fn pre_commit() -> Result<Self> {
        let size = UnpaddedBytesAmount::from(PaddedBytesAmount(SECTOR_SIZE_2_KIB));
        let mut data = vec![0; u64::from(size) as usize];
        ChaCha20Rng::seed_from_u64(7).fill_bytes(&mut data);
        let folder = tempfile::tempdir()?;
        let path = |name: &str| folder.path().join(name);
        std::fs::create_dir(path("cache"))?;
        let mut staged = File::options().read(true).write(true).create_new(true).open(path("staged"))?;
        let (piece, _) = timed("add_piece", || Ok(add_piece(&data[..], &mut staged, size, &[])?))?;
        staged.rewind()?;
        File::create(path("sealed"))?;
        let (pieces, config) = (vec![piece], seal_config());
        let first = timed("PC1", || {
            let [cache, staged, sealed] = ["cache", "staged", "sealed"].map(path);
            seal_pre_commit_phase1::<_, _, _, Tree>(&config, cache, staged, sealed, PROVER, number(), TICKET, &pieces)
        })?;
        let committed =
            timed("PC2", || seal_pre_commit_phase2::<_, _, Tree>(&config, first, path("cache"), path("sealed")))?;
        let hex: String = committed.comm_r.iter().map(|byte| format!("{byte:02x}")).collect();
        println!("comm_r {hex}");
        Ok(Self { folder, data, pieces, committed })
    }

    /// Commits to the sector, verifies the proof, refuses a wrong commitment, and unseals.
    pub fn seal(&self) -> Result<()> {
        let mut proof = Vec::new();
        // The first proof reads the parameters.
        for _ in 0..2 {
            let first = self.phase_1()?;
            proof = timed("C2", || seal_commit_phase2(&seal_config(), first, PROVER, number()))?.proof;
        }
        ensure!(timed("verify_seal", || self.verify_seal(&proof))?, "the proof of the seal does not verify");
        let mut wrong = self.comm_r();
        wrong[0] ^= 1;
        ensure!(!matches!(self.verify(wrong, &proof), Ok(true)), "the proof verifies for another replica");
        timed("unseal", || self.unseal())
    }

    /// Returns whether `proof` is one of the seal.
    pub fn verify_seal(&self, proof: &[u8]) -> Result<bool> {
        self.verify(self.comm_r(), proof)
    }

    /// Returns whether `proof` is one of a seal whose replica has the commitment `comm_r`.
    fn verify(&self, comm_r: Commitment, proof: &[u8]) -> Result<bool> {
        let comm_d = self.committed.comm_d;
        verify_seal::<Tree>(&seal_config(), comm_r, comm_d, PROVER, number(), TICKET, SEED, proof)
    }

    /// Runs the first phase of the commitment, which needs no parameters.
    pub fn phase_1(&self) -> Result<SealCommitPhase1Output<Tree>> {
        timed("C1", || {
            let [cache, sealed] = [self.cache(), self.replica()];
            let (pre_commit, pieces) = (self.committed.clone(), &self.pieces[..]);
            seal_commit_phase1(&seal_config(), cache, sealed, PROVER, number(), TICKET, SEED, pre_commit, pieces)
        })
    }

    fn unseal(&self) -> Result<()> {
        let (out, bytes) = (self.folder.path().join("unsealed"), UnpaddedBytesAmount(self.data.len() as u64));
        let (comm_d, start) = (self.committed.comm_d, UnpaddedByteIndex(0));
        get_unsealed_range::<_, Tree>(
            &seal_config(),
            self.cache(),
            self.replica(),
            out.clone(),
            PROVER,
            number(),
            comm_d,
            TICKET,
            start,
            bytes,
        )?;
        ensure!(std::fs::read(out)? == self.data, "the unsealed data differ");
        Ok(())
    }

    /// Returns the commitments to the replica and to the data.
    #[allow(dead_code, reason = "tests/curio has this file too")]
    pub fn committed(&self) -> &SealPreCommitOutput {
        &self.committed
    }

    /// Returns the pieces of the data.
    #[allow(dead_code, reason = "tests/curio has this file too")]
    pub fn pieces(&self) -> &[PieceInfo] {
        &self.pieces
    }

    /// Returns the commitment to the replica.
    pub fn comm_r(&self) -> Commitment {
        self.committed.comm_r
    }

    /// Returns the path of the replica.
    pub fn replica(&self) -> PathBuf {
        self.folder.path().join("sealed")
    }

    /// Returns the folder of the trees.
    pub fn cache(&self) -> PathBuf {
        self.folder.path().join("cache")
    }
}
