//! Holds the programs `proofwarp` and `prover`.
//!
//! `proofwarp` proves circom's circuits from files or over HTTP. It reports what this machine proves on and why, and
//! compares proofwarp with stock crates. `prover` proves with the interface of rapidsnark's program of that name.

mod bench;
mod cli;
mod compare;
mod doctor;
mod output;
mod progress;
mod prove;
mod prover;
mod serve;
mod warnings;

use std::io::Write;
use std::process::ExitCode;

use anyhow::Context;
use clap::{CommandFactory, Parser};

use cli::{Command, Compare, Options};

/// Runs `proofwarp` with the arguments of the process.
///
/// # Safety
/// The process has no other thread: `bench` sets environment variables.
#[must_use]
#[allow(unsafe_code, reason = "`bench` sets environment variables")]
pub unsafe fn proofwarp() -> ExitCode {
    // Stock's CUDA code then finds the driver at run time, as ours does.
    #[cfg(feature = "stock-cuda")]
    proofwarp_cuda_driver::link();
    let code = match Options::try_parse() {
        Ok(options) => {
            if let Command::Bench(bench) = &options.command {
                // SAFETY: passed on from the caller. Parsing the command line starts no thread.
                unsafe { bench::set_variables(bench) };
            }
            run(options)
        }
        Err(help) => output::quiet(help.print()).context("standard output").map(|()| help.exit_code() as u8),
    };
    ExitCode::from(code.unwrap_or_else(|error| {
        output::say(format_args!("proofwarp: {error:#}"));
        2
    }))
}

/// Runs `prover` with the arguments of the process.
#[must_use]
pub fn prover() -> ExitCode {
    #[cfg(feature = "stock-cuda")]
    proofwarp_cuda_driver::link();
    prover::run(std::env::args_os().skip(1))
}

fn run(options: Options) -> anyhow::Result<u8> {
    if matches!(options.command, Command::Doctor(_) | Command::Compare(_) | Command::Bench(_)) {
        warnings::show_compilations();
    }
    match options.command {
        Command::Prove(options) => prove::run(&options).map(|()| 0),
        Command::Serve(options) => serve::run(&options).map(|()| 0),
        Command::Doctor(options) => doctor::run(&options),
        Command::Compare(Compare::Msm(options)) => compare::msm(&options).map(|()| 0),
        Command::Compare(Compare::Ntt(options)) => compare::ntt(&options).map(|()| 0),
        Command::Compare(Compare::Groth16(options)) => compare::groth16(&options).map(|()| 0),
        Command::Compare(Compare::Halo2(options)) => compare::halo2(&options).map(|()| 0),
        Command::Compare(Compare::Circom(options)) => compare::circom(&options).map(|()| 0),
        Command::Bench(bench) => bench::run(&bench).map(|()| 0),
        Command::Completions { shell } => {
            let mut text = Vec::new();
            clap_complete::generate(shell, &mut Options::command(), "proofwarp", &mut text);
            output::print(|out| out.write_all(&text)).map(|()| 0)
        }
    }
}
