//! Proves a witness file with a zkey file, and writes the proof and the public signals.

mod outputs;

use std::path::PathBuf;
use std::thread;

use anyhow::{Result, anyhow};
use log::LevelFilter;
use proofwarp::Accelerator;
use proofwarp_circom::{AnyProvingKey, ProofTexts, Witness, Zkey};

use crate::cli;
use crate::progress::Progress;
use crate::warnings;

/// Names the files of a proof, in rapidsnark's order.
#[derive(Debug, Clone, PartialEq, Eq, clap::Args)]
pub struct ProofFiles {
    /// The circuit's proving key, by snarkjs
    #[arg(value_name = "CIRCUIT.ZKEY")]
    pub zkey: PathBuf,
    /// The witness, by circom's calculator
    #[arg(value_name = "WITNESS.WTNS")]
    pub wtns: PathBuf,
    /// The proof to write
    #[arg(value_name = "PROOF.JSON")]
    pub proof: PathBuf,
    /// The public signals to write
    #[arg(value_name = "PUBLIC.JSON")]
    pub public: PathBuf,
}

/// Number of steps that [`prove`] reports.
const STEPS: u64 = 4;

/// Runs `proofwarp prove`.
///
/// # Errors
/// Those of [`prove`].
pub fn run(options: &cli::Prove) -> Result<()> {
    let (progress, level) = match options.quiet {
        true => (Progress::hidden(), LevelFilter::Error),
        false => (Progress::new(STEPS), LevelFilter::Warn),
    };
    warnings::show(level);
    prove(&options.files, !options.no_verify, &progress)
}

/// Proves with the files that `files` name, on the devices that the environment selects. Verifies the proof if `verify`
/// is set. Shows each step on `progress`.
///
/// # Errors
/// Returns an error that names the file if an input is malformed or belongs to another key, if the proof does not
/// verify, or if an output cannot be written. Nothing is written if there is no proof.
pub fn prove(files: &ProofFiles, verify: bool, progress: &Progress) -> Result<()> {
    outputs::check(files)?;
    let (accelerator, inputs) = thread::scope(|scope| {
        // The driver starts while the files are read.
        let accelerator = scope.spawn(Accelerator::from_env);
        let inputs = progress.step("reading the files", || open(files));
        (accelerator.join(), inputs)
    });
    let (zkey, witness) = inputs?;
    let accelerator = accelerator.map_err(|_| anyhow!("the thread that starts the devices panicked"))??;
    warnings::warn_without_device(&accelerator);
    let key = progress.step("preparing the key", || AnyProvingKey::new(&accelerator, &zkey)).map_err(with_text)?;
    drop(zkey);
    let texts = progress.step("proving", || key.prove_batch_to_json(&[&witness], verify, None)).map_err(with_text)?;
    let texts = texts.first().ok_or_else(|| anyhow!("{}: expected one proof, got none", files.wtns.display()))?;
    progress.step("writing the files", || write(files, texts))
}

/// Opens the zkey and the witness, and checks that they belong together.
fn open(files: &ProofFiles) -> Result<(Zkey, Witness)> {
    let witness = Witness::open(&files.wtns).map_err(with_text)?;
    let zkey = Zkey::open(&files.zkey).map_err(with_text)?;
    witness.check_against(zkey.header()).map_err(with_text)?;
    Ok((zkey, witness))
}

fn write(files: &ProofFiles, texts: &ProofTexts) -> Result<()> {
    outputs::write(&[(&files.proof, &texts.proof), (&files.public, &texts.public)])
}

/// Converts `error` to one with its text, which contains those of its sources.
pub fn with_text(error: proofwarp_circom::Error) -> anyhow::Error {
    anyhow!("{error}")
}
