//! Proves with a zkey, and writes proof and public signals.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, ensure};
use halo2curves::bn256::Bn256;
use proofwarp::Accelerator;
use proofwarp::file_state::FileState;
use proofwarp_circom::{CurveId, KeyCache, ProvingKey, Witness, Zkey, public_to_json};

use crate::copies::try_copy;
use crate::params::{ProverParams, RawPath, SetupParams};

/// Name of the witness in errors.
const WITNESS: &str = "witness";

/// Identifies a zkey: the path of the file, without links, and the state in which it was read.
#[derive(PartialEq)]
struct FileVersion {
    path: PathBuf,
    state: FileState,
}

/// Keeps the last two keys. RISC Zero has one, of about 3 GiB on the device.
static KEYS: KeyCache<FileVersion, ProvingKey<Bn256>> = KeyCache::new(2);

/// Proves `prover_params.witness`, verifies the proof, and writes it to `prover_params.proof_path`, and its public
/// signals to `prover_params.public_path`.
///
/// The key of the zkey `setup_params.srs_path` stays on the devices for later proofs, unless the file has changed
/// within the last 2 s. A third key takes the place of the least recently used one.
///
/// # Errors
/// - `prover_params.witness` is null, its first value is not 1, or a value is at least r.
/// - The zkey cannot be read, is malformed, is of another curve than BN254, or changes while it is read.
/// - The witness does not satisfy the circuit.
/// - `PROOFWARP_BACKEND` forces a backend that has too little memory or fails.
/// - A file cannot be written.
pub fn prove(prover_params: &ProverParams, setup_params: &SetupParams) -> anyhow::Result<()> {
    ensure!(!prover_params.witness.is_null(), "{WITNESS}: expected a pointer to its values, got null");
    let key = find_key(setup_params.srs_path.as_path())?;
    let witness = copy_witness(prover_params, key.header().signals)?;
    let proof = key.prove(&witness)?;
    let public = public_to_json::<Bn256>(&key.public_signals(&witness)?);
    write(&prover_params.public_path, &public)?;
    write(&prover_params.proof_path, &proof.to_json())
}

fn write(path: &RawPath, text: &str) -> anyhow::Result<()> {
    fs::write(path.as_path(), text).with_context(|| format!("{}: cannot be written", path.as_path().display()))
}

/// Copies the values of `count` signals.
fn copy_witness(params: &ProverParams, count: u32) -> anyhow::Result<Witness> {
    let length = CurveId::SCALAR_BYTES * count as usize;
    // SAFETY: the pointer is not null. `ProverParams::witness` asks callers for 32 readable bytes for each of the
    // zkey's signals, to which nothing is written meanwhile. Bytes have no alignment.
    let values = unsafe { std::slice::from_raw_parts(params.witness, length) };
    Ok(Witness::from_values(WITNESS, CurveId::Bn254, try_copy(WITNESS, values)?)?)
}

/// Returns the key of the zkey at `path`.
fn find_key(path: &Path) -> anyhow::Result<Arc<ProvingKey<Bn256>>> {
    let path = in_file(path, path.canonicalize())?;
    let state = read_state(&path)?;
    let settled = state.clone().filter(FileState::is_settled);
    let version = settled.map(|state| FileVersion { path: path.clone(), state });
    KEYS.find_or_load(version, || load(&path, state.as_ref()))
}

/// Reads the zkey at `path`, whose file has to be in `state` before and after.
fn load(path: &Path, state: Option<&FileState>) -> anyhow::Result<ProvingKey<Bn256>> {
    let zkey = Zkey::open(path)?;
    let is_unchanged = read_state(path)?.as_ref() == state;
    ensure!(is_unchanged, "{}: expected a file that stays as it is, got one that changed", path.display());
    Ok(ProvingKey::new(&Accelerator::from_env()?, &zkey)?)
}

fn read_state(path: &Path) -> anyhow::Result<Option<FileState>> {
    Ok(FileState::from_metadata(&in_file(path, fs::metadata(path))?))
}

/// Adds the name of the zkey at `path` to an error of the system.
fn in_file<T>(path: &Path, result: std::io::Result<T>) -> anyhow::Result<T> {
    result.with_context(|| format!("{}: cannot be read", path.display()))
}
