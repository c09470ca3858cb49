//! Makes parameters, as `paramcache` of rust-fil-proofs does, which is in no published package.

use std::fs::File;

use anyhow::Result;
use bellperson::groth16::VerifyingKey;
use blstrs::Bls12;
use filecoin_proofs::parameters::{public_params, window_post_public_params, winning_post_public_params};
use filecoin_proofs::{DefaultPieceHasher, SectorShape2KiB as Tree};
use rand::SeedableRng;
use rand_chacha::ChaCha20Rng;
use storage_proofs_core::compound_proof::CompoundProof;
use storage_proofs_core::parameter_cache::{
    CacheableParameters, parameter_cache_params_path, parameter_cache_verifying_key_path,
};
use storage_proofs_core::proof::ProofScheme;
use storage_proofs_porep::stacked::{StackedCircuit, StackedCompound, StackedDrg};
use storage_proofs_post::fallback::{FallbackPoSt, FallbackPoStCircuit, FallbackPoStCompound};

use crate::post::{window_config, winning_config};
use crate::sector::seal_config;
use crate::timed::timed;

type Seal = StackedCompound<Tree, DefaultPieceHasher>;
type Post = FallbackPoStCompound<Tree>;
type PostScheme = FallbackPoSt<'static, Tree>;
type PostPublic = <PostScheme as ProofScheme<'static>>::PublicParams;

fn rng() -> ChaCha20Rng {
    ChaCha20Rng::seed_from_u64(1)
}

/// Makes the parameters of PoRep.
pub fn make_seal() -> Result<()> {
    timed("parameters of PoRep", || {
        let public = public_params::<Tree>(&seal_config())?;
        type Scheme = StackedDrg<'static, Tree, DefaultPieceHasher>;
        <Seal as CompoundProof<Scheme, _>>::groth_params(Some(&mut rng()), &public)?;
        type Circuit = StackedCircuit<Tree, DefaultPieceHasher>;
        write_verifying_key(&<Seal as CacheableParameters<Circuit, _>>::cache_identifier(&public))
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
    <Post as CompoundProof<PostScheme, Circuit>>::groth_params(Some(&mut rng()), public)?;
    write_verifying_key(&<Post as CacheableParameters<Circuit, _>>::cache_identifier(public))
}

/// Writes the verifying key of the parameters `id`, which their file begins with. With `cuda-supraseal`, filecoin-proofs reads
/// such a file and does not write it.
fn write_verifying_key(id: &str) -> Result<()> {
    let path = parameter_cache_verifying_key_path(id);
    if !path.exists() {
        VerifyingKey::<Bls12>::read(File::open(parameter_cache_params_path(id))?)?.write(File::create(path)?)?;
    }
    Ok(())
}
