//! `proofwarp`: says what this machine proves on and why, and compares proofwarp with what is stock.

mod cli;
mod compare;
mod doctor;
mod progress;
mod table;

use std::process::ExitCode;

use clap::{CommandFactory, Parser};

use cli::{Command, Compare, Options};

fn main() -> ExitCode {
    // Stock's CUDA code then finds the driver at run time, as ours does.
    #[cfg(feature = "stock-cuda")]
    proofwarp_cuda_driver::link();
    match run(Options::parse()) {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            eprintln!("proofwarp: {error:#}");
            ExitCode::from(2)
        }
    }
}

fn run(options: Options) -> anyhow::Result<u8> {
    match options.command {
        Command::Doctor(options) => doctor::run(&options),
        Command::Compare(Compare::Msm(options)) => compare::msm(&options).map(|()| 0),
        Command::Compare(Compare::Ntt(options)) => compare::ntt(&options).map(|()| 0),
        Command::Compare(Compare::Groth16(options)) => compare::groth16(&options).map(|()| 0),
        Command::Compare(Compare::Halo2(options)) => compare::halo2(&options).map(|()| 0),
        Command::Completions { shell } => {
            clap_complete::generate(shell, &mut Options::command(), "proofwarp", &mut std::io::stdout());
            Ok(0)
        }
    }
}
