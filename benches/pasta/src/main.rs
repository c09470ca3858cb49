//! MSM over Pallas and Vesta and NTT over their scalar fields, beside `best_multiexp` and `best_fft` of halo2_proofs, in one
//! run on one machine. Results are compared, and times are medians.
//!
//! `cargo run --release -- --log 14..20`, with `--features cuda` for CUDA's kernels; `PROOFWARP_BACKEND` forces a backend.

mod measure;
mod options;

use std::process::ExitCode;

use clap::Parser;
use pasta_curves::{EpAffine, EqAffine, Fp, Fq};
use proofwarp::Accelerator;

use measure::{Failure, Line, multiplications, transforms};
use options::Options;

fn main() -> ExitCode {
    match run(&Options::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("pasta: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(options: &Options) -> Result<(), Failure> {
    let accelerator = Accelerator::from_env()?;
    accelerator.unavailable_reasons().iter().for_each(|reason| eprintln!("{reason}"));
    println!("{}", Line::HEAD);
    for log_n in options.sizes()? {
        let runs = options.runs;
        println!("{}", multiplications::<EpAffine>(&accelerator, log_n, runs)?);
        println!("{}", multiplications::<EqAffine>(&accelerator, log_n, runs)?);
        println!("{}", transforms::<Fp>(&accelerator, log_n, runs)?);
        println!("{}", transforms::<Fq>(&accelerator, log_n, runs)?);
    }
    Ok(())
}
