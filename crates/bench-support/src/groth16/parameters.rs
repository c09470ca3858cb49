//! Groth16 parameters: generated once for a circuit, a size and a seed, then read from disk.

use std::fs::{self, File};
use std::io::{BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};

use bellperson::groth16::{Parameters, generate_random_parameters};
use blstrs::Bls12;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

use super::circuits::Workload;
use super::work::WorkOptions;
use crate::{Failure, output, progress};

/// Part of the key: to be changed with the shape of any circuit.
const SHAPES: u32 = 1;

/// The parameters of a workload, from the cache or else generated and put there.
///
/// They come from a known seed, so whoever knows it can prove anything with them: they are for measuring.
///
/// # Errors
/// The folder cannot be made or written to, the circuit cannot be synthesised, or the parameters have
/// another domain than 2^`log_constraints`.
pub fn load(workload: &Workload, options: &WorkOptions) -> Result<Parameters<Bls12>, Failure> {
    let path = path(options)?;
    let parameters = match read(&path) {
        Some(parameters) => parameters,
        None => generate(workload, options, &path)?,
    };
    let (domain, expected) = (parameters.h.len() + 1, 1 << options.log_constraints);
    if domain != expected {
        return Err(format!("{}: domain of {domain}, expected {expected}", path.display()).into());
    }
    Ok(parameters)
}

/// Checks, before anything is computed, that there are parameters or that they can be kept.
///
/// # Errors
/// They cannot; the text names the folder.
pub fn check(options: &WorkOptions) -> Result<(), String> {
    let path = path(options).map_err(|error| error.to_string())?;
    match path.parent() {
        Some(folder) if !path.exists() => output::check_folder(folder),
        _ => Ok(()),
    }
}

/// Where the parameters are kept.
///
/// # Errors
/// No folder was named, and there is no home folder.
pub fn path(options: &WorkOptions) -> Result<PathBuf, Failure> {
    let folder = match &options.parameters {
        Some(folder) => folder.clone(),
        None => directories::BaseDirs::new()
            .ok_or("no home folder for the cache: name one with --parameters")?
            .cache_dir()
            .join("proofwarp/parameters"),
    };
    let (circuit, size, seed) = (options.circuit.name(), options.log_constraints, options.seed);
    Ok(folder.join(format!("{circuit}-{size}-{seed}-v{SHAPES}.params")))
}

/// Parameters from a file; none where there is no file, or not a whole one.
fn read(path: &Path) -> Option<Parameters<Bls12>> {
    let file = File::open(path).ok()?;
    let name = format!("reading the parameters {}", path.display());
    // Unchecked: the file is this program's own, and checking the points takes longer than making them.
    progress::step(&name, || Parameters::read(BufReader::with_capacity(1 << 20, file), false))
        .inspect_err(|error| eprintln!("{}: not read, so generated again: {error}", path.display()))
        .ok()
}

fn generate(workload: &Workload, options: &WorkOptions, path: &Path) -> Result<Parameters<Bls12>, Failure> {
    let name = format!("generating parameters for 2^{} constraints (once; then cached)", options.log_constraints);
    let mut rng = ChaCha8Rng::seed_from_u64(options.seed);
    let parameters = progress::step(&name, || generate_random_parameters(workload.clone(), &mut rng))?;
    let name = format!("writing the parameters {}", path.display());
    progress::step(&name, || write(&parameters, path))?;
    Ok(parameters)
}

/// Writes to a file beside the path and renames it, so that the path never holds a part of a file.
fn write(parameters: &Parameters<Bls12>, path: &Path) -> Result<(), Failure> {
    let folder = path.parent().ok_or("the parameters' path has no folder")?;
    let written = || -> Result<(), Failure> {
        fs::create_dir_all(folder)?;
        let mut file = BufWriter::new(tempfile::NamedTempFile::new_in(folder)?);
        parameters.write(&mut file)?;
        file.flush()?;
        file.into_inner()?.persist(path)?;
        Ok(())
    };
    written().map_err(|error| format!("{}: {error}", path.display()).into())
}
