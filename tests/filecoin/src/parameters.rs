//! Makes parameters, as `paramcache` of rust-fil-proofs does, which is in no published package.

use std::fs::{self, File};
use std::io::BufWriter;

use anyhow::{Context, Result};
use bellperson::Circuit;
use blstrs::Scalar;
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

use crate::keygen;
use crate::post::{window_config, winning_config};
use crate::sector::seal_config;
use crate::timed::timed;

type Seal = StackedCompound<Tree, DefaultPieceHasher>;
type Post = FallbackPoStCompound<Tree>;
type PostScheme = FallbackPoSt<'static, Tree>;
type PostPublic = <PostScheme as ProofScheme<'static>>::PublicParams;

/// Makes the parameters of PoRep.
pub fn make_seal() -> Result<()> {
    timed("parameters of PoRep", || {
        let public = public_params::<Tree>(&seal_config())?;
        type Scheme = StackedDrg<'static, Tree, DefaultPieceHasher>;
        type Sealed = StackedCircuit<Tree, DefaultPieceHasher>;
        let circuit = <Seal as CompoundProof<Scheme, Sealed>>::blank_circuit(&public);
        make(&<Seal as CacheableParameters<Sealed, _>>::cache_identifier(&public), circuit)
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
    type Proved = FallbackPoStCircuit<Tree>;
    let circuit = <Post as CompoundProof<PostScheme, Proved>>::blank_circuit(public);
    make(&<Post as CacheableParameters<Proved, _>>::cache_identifier(public), circuit)
}

/// Writes the parameters `id` of `circuit` and their verifying key, if the folder lacks one of them.
fn make(id: &str, circuit: impl Circuit<Scalar>) -> Result<()> {
    let (path, key_path) = (parameter_cache_params_path(id), parameter_cache_verifying_key_path(id));
    if path.exists() && key_path.exists() {
        return Ok(());
    }
    let parameters = keygen::generate(circuit, &mut ChaCha20Rng::seed_from_u64(1))?;
    fs::create_dir_all(path.parent().context("a path without a folder")?)?;
    // A file under the last name is whole.
    let part = path.with_extension("part");
    parameters.write(BufWriter::new(File::create(&part)?))?;
    fs::rename(part, path)?;
    parameters.vk.write(File::create(key_path)?)?;
    Ok(())
}
