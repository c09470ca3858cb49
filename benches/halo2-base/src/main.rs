//! `proofwarp bench halo2` for a circuit of halo2-base's: proofwarp, halo2-axiom and halo2-axiom-gpu make its keys and proofs. The
//! packages halo2-base and halo2-ecc are as they are published, with the feature `cuda`; the patch puts proofwarp's drop-in in
//! halo2-axiom-gpu's place.
//!
//! `cargo run --release --manifest-path benches/halo2-base/Cargo.toml -- --k 16 --compare`

use std::process::ExitCode;

use bench_support::exit;
use bench_support::halo2::{Options, run_circuits};
use clap::Parser;

/// Proves a circuit of halo2-base's on proofwarp, has halo2-axiom verify the proofs, and shows how long each step takes.
#[derive(Parser)]
struct Arguments {
    #[command(flatten)]
    options: Options,
}

fn main() -> ExitCode {
    let line = std::env::args_os().chain(["--circuit=base".into()]);
    let Arguments { options } = Arguments::parse_from(line);
    for (name, value) in options.variables() {
        // SAFETY: called first of all in `main`, before there is any other thread that could read the environment.
        unsafe { std::env::set_var(name, value) };
    }
    exit::code("halo2-base-proofs", run_circuits(&options, || halo2_base_proofs::circuits(options.work.k)))
}
