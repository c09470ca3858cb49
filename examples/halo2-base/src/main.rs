//! The example `halo2` for a circuit of halo2-base's: proofwarp, halo2-axiom and halo2-axiom-gpu make its keys and proofs. The
//! packages halo2-base and halo2-ecc are as they are published, with the feature `cuda`; the patch puts proofwarp's drop-in in
//! halo2-axiom-gpu's place.
//!
//! `cargo run --release --manifest-path examples/halo2-base/Cargo.toml -- --k 16 --compare`

#![allow(dead_code, reason = "the example `halo2` has circuits of its own")]

#[path = "../../../adapters/halo2/examples/halo2/adapter.rs"]
mod adapter;
#[path = "../../../adapters/halo2/examples/halo2/all_devices.rs"]
mod all_devices;
mod base;
#[path = "../../../adapters/halo2/examples/halo2/circuit.rs"]
mod circuit;
#[path = "../../../adapters/halo2/examples/halo2/cli.rs"]
mod cli;
#[path = "../../groth16/device.rs"]
mod device;
#[path = "../../groth16/exit.rs"]
mod exit;
#[path = "../../../adapters/halo2/examples/halo2/measure.rs"]
mod measure;
#[path = "../../../adapters/halo2/examples/halo2/options.rs"]
mod options;
#[path = "../../../adapters/halo2/examples/halo2/outcome.rs"]
mod outcome;
#[path = "../../groth16/output.rs"]
mod output;
#[path = "../../../adapters/halo2/examples/halo2/peer.rs"]
mod peer;
#[path = "../../groth16/program.rs"]
mod program;
#[path = "../../groth16/progress.rs"]
mod progress;
#[path = "../../../adapters/halo2/examples/halo2/shape.rs"]
mod shape;
#[path = "../../../adapters/halo2/examples/halo2/stock.rs"]
mod stock;
#[path = "../../../adapters/halo2/examples/halo2/table.rs"]
mod table;
#[path = "../../../adapters/halo2/examples/halo2/task.rs"]
mod task;
#[cfg(test)]
mod tests;
#[path = "../../../adapters/halo2/examples/halo2/timed.rs"]
mod timed;
#[path = "../../../adapters/halo2/examples/halo2/witness.rs"]
mod witness;

use std::process::ExitCode;

use proofwarp_halo2::TimedTranscript;

use cli::Options;
use options::Kind;

/// Anything that ends the program.
type Failure = Box<dyn std::error::Error + Send + Sync>;

fn main() -> ExitCode {
    let line = std::env::args_os().chain(["--circuit=base".into()]);
    let options = Options::checked(line, &[Kind::Base]).unwrap_or_else(|error| error.exit());
    if let Some(backend) = options.backend.forced() {
        // SAFETY: called first of all in `main`, before there is any other thread that could read the environment.
        unsafe { std::env::set_var("PROOFWARP_BACKEND", backend.to_string()) };
    }
    exit::code(all_devices::run(&options, || base::circuits(options.work.k)))
}
