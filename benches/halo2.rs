//! Times halo2 proofs beside halo2-axiom and halo2-axiom-gpu; `--help` lists the variables.

use std::process::ExitCode;

fn main() -> ExitCode {
    bench_support::exit::code("halo2", bench_support::halo2::bench())
}
