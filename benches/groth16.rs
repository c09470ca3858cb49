//! Times Groth16 proofs beside bellperson on the stock crates; `bench_support::groth16::bench` lists the variables.

use std::process::ExitCode;

fn main() -> ExitCode {
    bench_support::exit::code("groth16", bench_support::groth16::bench())
}
