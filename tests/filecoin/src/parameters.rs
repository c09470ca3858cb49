//! Makes parameters, as `paramcache` of rust-fil-proofs does, which is in no published package.

use anyhow::Result;
use filecoin_proofs::parameters::{public_params, window_post_public_params, winning_post_public_params};
use filecoin_proofs::{DefaultPieceHasher, SectorShape2KiB as Tree};
use rand::SeedableRng;
use rand_chacha::ChaCha20Rng;
use storage_proofs_core::compound_proof::CompoundProof;
use storage_proofs_porep::stacked::{StackedCompound, StackedDrg};
use storage_proofs_post::fallback::{FallbackPoSt, FallbackPoStCircuit, FallbackPoStCompound};

use crate::post::{window_config, winning_config};
use crate::sector::seal_config;
use crate::timed;

type Seal = StackedCompound<Tree, DefaultPieceHasher>;
type Post = FallbackPoStCompound<Tree>;
type PostPublic = <FallbackPoSt<'static, Tree> as storage_proofs_core::proof::ProofScheme<'static>>::PublicParams;

fn rng() -> ChaCha20Rng {
    ChaCha20Rng::seed_from_u64(1)
}

/// Makes the parameters of PoRep.
pub fn make_seal() -> Result<()> {
    timed("parameters of PoRep", || {
        let public = public_params::<Tree>(&seal_config())?;
        type Scheme = StackedDrg<'static, Tree, DefaultPieceHasher>;
        <Seal as CompoundProof<Scheme, _>>::groth_params(Some(&mut rng()), &public)?;
        <Seal as CompoundProof<Scheme, _>>::verifying_key(Some(&mut rng()), &public)?;
        Ok(())
    })
}

/// Makes the parameters of WinningPoSt.
pub fn make_winning() -> Result<()> {
    timed("parameters of Winning", || make_post(&winning_post_public_params::<Tree>(&winning_config())?))
}

/// Makes the parameters of WindowPoSt.
pub fn make_window() -> Result<()> {
    timed("parameters of Window", || make_post(&window_post_public_params::<Tree>(&window_config())?))
}

fn make_post(public: &PostPublic) -> Result<()> {
    type Circuit = FallbackPoStCircuit<Tree>;
    <Post as CompoundProof<FallbackPoSt<'static, Tree>, Circuit>>::groth_params(Some(&mut rng()), public)?;
    <Post as CompoundProof<FallbackPoSt<'static, Tree>, Circuit>>::verifying_key(Some(&mut rng()), public)?;
    Ok(())
}
