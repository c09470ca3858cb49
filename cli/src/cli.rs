//! Defines the command line.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;

use crate::bench::Bench;
use crate::prove::ProofFiles;

/// Proves circom's circuits, reports this machine's backends, and compares proofwarp with stock crates.
#[derive(Debug, Parser)]
#[command(name = "proofwarp", version, after_help = EXAMPLES)]
pub struct Options {
    /// What to do
    #[command(subcommand)]
    pub command: Command,
}

const EXAMPLES: &str = "Examples:
  proofwarp prove circuit.zkey witness.wtns proof.json public.json    a proof that snarkjs verifies
  proofwarp serve circuit.zkey                    proofs over HTTP, with the key on the device
  proofwarp doctor                                what this machine proves on, and a self-test
  proofwarp compare msm --log 10..16              sums beside stock, blst and halo2curves
  proofwarp compare groth16 --html report.html    whole proofs beside stock, as a page
  proofwarp bench matmul gemm --size 2048         products of field matrices, timed and checked
  proofwarp completions bash > /etc/bash_completion.d/proofwarp";

/// A command.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Proves a witness of circom's, with rapidsnark's order of files
    #[command(after_help = PROVE)]
    Prove(Prove),
    /// Proves over HTTP, with keys that stay on the device
    #[command(after_help = SERVE)]
    Serve(Serve),
    /// Devices, kernels, settings, what each adapter would use and why, and a self-test
    #[command(after_help = DOCTOR)]
    Doctor(Doctor),
    /// The same work on proofwarp and on what is stock, in one run
    #[command(subcommand, after_help = COMPARE)]
    Compare(Compare),
    /// Times single operations and whole proofs, checks their results, and shows what ran where
    #[command(subcommand, after_help = BENCH)]
    Bench(Bench),
    /// Prints what a shell needs to complete command lines
    #[command(after_help = "Example:\n  proofwarp completions zsh > ~/.zfunc/_proofwarp")]
    Completions {
        /// The shell
        shell: Shell,
    },
}

const PROVE: &str = "Exit code: 0 if both files are written, 2 if none is.

Examples:
  proofwarp prove circuit.zkey witness.wtns proof.json public.json
  proofwarp prove --quiet circuit.zkey witness.wtns proof.json public.json";

const SERVE: &str = "Requests:
  POST /prove/<circuit>    a .wtns file as body; {\"proof\": ..., \"public\": ...} as answer
  GET  /health, /metrics   the state, and figures as Prometheus reads them

Examples:
  proofwarp serve circuit.zkey
  curl --data-binary @witness.wtns localhost:8080/prove/circuit
  proofwarp serve --listen 0.0.0.0:80 --allow-host prover.internal circuit.zkey other.zkey";

const DOCTOR: &str = "Exit code: 0 if all is well, 1 if it works but not as well as it could, 2 if something is broken.

Examples:
  proofwarp doctor
  proofwarp doctor --no-self-test            looks, and computes nothing
  PROOFWARP_BACKEND=cuda proofwarp doctor    whether CUDA can be relied on
  proofwarp doctor --project ../prover       what proofwarp replaces there, and by which lines
  proofwarp doctor --json | jq .summary";

const COMPARE: &str = "Examples:
  proofwarp compare msm
  proofwarp compare ntt --log 12..18 --html report.html
  proofwarp compare groth16 --log 16 --repeats 5
  proofwarp compare halo2 --log 10..14
  PATH=$PWD/node_modules/.bin:$PATH proofwarp compare circom --zkey circuit.zkey --wtns witness.wtns";

const BENCH: &str = "Examples:
  proofwarp bench msm --log 16..20 --only bls12_381    sums by size and distribution
  proofwarp bench ntt --backend cuda                   on NVIDIA GPUs or not at all
  proofwarp bench matmul gemm --size 2048 --compare    all methods, and the CPU";

/// Options of `prove`.
#[derive(Debug, Clone, Args)]
pub struct Prove {
    #[command(flatten)]
    pub files: ProofFiles,
    /// Writes the proof without verifying it; a witness that breaks the circuit then gives an invalid proof
    #[arg(long)]
    pub no_verify: bool,
    /// Shows errors only
    #[arg(long)]
    pub quiet: bool,
}

/// Options of `serve`.
#[derive(Debug, Clone, Args)]
pub struct Serve {
    /// Proving keys, by snarkjs; the file's name without .zkey is the circuit's
    #[arg(value_name = "CIRCUIT.ZKEY", required = true)]
    pub zkeys: Vec<PathBuf>,
    /// Address and port to listen on; port 0 takes a free one
    #[arg(long, value_name = "ADDRESS", default_value_t = SocketAddr::from((Ipv4Addr::LOCALHOST, 8080)))]
    pub listen: SocketAddr,
    /// Maximum bytes of a body [default: those of the largest key's witness]
    #[arg(long, value_name = "BYTES")]
    pub max_body: Option<u64>,
    /// Maximum number of requests that wait for the prover; further ones get 503
    #[arg(long, value_name = "N", default_value = "16", value_parser = clap::value_parser!(u32).range(1..=MAX_QUEUE))]
    pub queue: u32,
    /// Host that requests may name, beside the address and localhost; may be repeated
    #[arg(long, value_name = "NAME")]
    pub allow_host: Vec<String>,
    /// Origin whose pages may prove, such as https://app.example; may be repeated [default: none]
    #[arg(long, value_name = "ORIGIN")]
    pub allow_origin: Vec<String>,
}

/// Maximum of `--queue`, a million: each request that waits holds a witness.
const MAX_QUEUE: i64 = 1_000_000;

/// Options of `doctor`.
#[derive(Debug, Clone, Args)]
pub struct Doctor {
    /// Prints JSON instead of tables
    #[arg(long)]
    pub json: bool,
    /// Looks only: leaves the self-test out
    #[arg(long)]
    pub no_self_test: bool,
    /// Also proves on the backends that are not in use, whose kernels may take a minute to compile at first
    #[arg(long, conflicts_with = "no_self_test")]
    pub all_backends: bool,
    /// Binary logarithm of the self-test's sizes [default: 16 to 20 on GPUs, 12 on processors]
    #[arg(long, value_name = "LOG", value_parser = clap::value_parser!(u32).range(4..=24))]
    pub log: Option<u32>,
    /// Also reads the Cargo.lock of a project: what proofwarp replaces there, and by which lines
    #[arg(long, value_name = "FOLDER")]
    pub project: Option<PathBuf>,
}

/// Selects the work to compare.
#[derive(Debug, Subcommand)]
pub enum Compare {
    /// Multi-scalar multiplications
    #[command(
        after_help = "Examples:\n  proofwarp compare msm\n  proofwarp compare msm --curve bn254-g1 --log 12..20 --html msm.html"
    )]
    Msm(Msm),
    /// Number-theoretic transforms
    #[command(
        after_help = "Examples:\n  proofwarp compare ntt\n  proofwarp compare ntt --field bn254-fr --log 10..20 --json ntt.json"
    )]
    Ntt(Ntt),
    /// Groth16 proofs of bellperson's
    #[command(
        after_help = "Examples:\n  proofwarp compare groth16\n  proofwarp compare groth16 --log 10..18 --html groth16.html"
    )]
    Groth16(Groth16),
    /// Keys and proofs of halo2-axiom's, KZG on BN254
    #[command(
        after_help = "Examples:\n  proofwarp compare halo2\n  proofwarp compare halo2 --log 10..16 --html halo2.html"
    )]
    Halo2(Halo2),
    /// Proofs of a circuit of circom's
    #[command(after_help = COMPARE_CIRCOM)]
    Circom(Circom),
}

const COMPARE_CIRCOM: &str = "Examples:
  proofwarp compare circom --zkey circuit.zkey --wtns witness.wtns
  proofwarp compare circom --zkey circuit.zkey --wtns witness.wtns --rapidsnark build/prover --html circom.html";

/// Options of comparisons at several sizes.
#[derive(Debug, Clone, Args)]
pub struct Common {
    /// Binary logarithms of the sizes: one, or FIRST..LAST in steps of two
    #[arg(long, value_name = "LOG", default_value = "10..14", value_parser = sizes)]
    pub log: Sizes,
    #[command(flatten)]
    pub report: ReportOptions,
}

/// Options that all comparisons have.
#[derive(Debug, Clone, Args)]
pub struct ReportOptions {
    /// Number of timed calls for each measurement, after one to warm up; the median is reported
    #[arg(long, value_name = "N", default_value = "3", value_parser = clap::value_parser!(u32).range(1..))]
    pub repeats: u32,
    /// Writes a page with tables and plots
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Writes the numbers
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
}

/// Options of `compare msm`.
#[derive(Debug, Clone, Args)]
pub struct Msm {
    /// Curves; several are separated by commas
    #[arg(long, value_enum, value_delimiter = ',', default_value = "bls12-381-g1,bn254-g1")]
    pub curve: Vec<Curve>,
    #[command(flatten)]
    pub common: Common,
}

/// Options of `compare ntt`.
#[derive(Debug, Clone, Args)]
pub struct Ntt {
    /// Fields; several are separated by commas
    #[arg(long, value_enum, value_delimiter = ',', default_value = "bls12-381-fr,bn254-fr")]
    pub field: Vec<Field>,
    #[command(flatten)]
    pub common: Common,
}

/// Options of `compare groth16`.
#[derive(Debug, Clone, Args)]
pub struct Groth16 {
    #[command(flatten)]
    pub common: Common,
}

/// Options of `compare halo2`.
#[derive(Debug, Clone, Args)]
pub struct Halo2 {
    #[command(flatten)]
    pub common: Common,
}

/// Options of `compare circom`.
#[derive(Debug, Clone, Args)]
pub struct Circom {
    /// The circuit's proving key
    #[arg(long, value_name = "FILE")]
    pub zkey: PathBuf,
    /// A witness of the circuit
    #[arg(long, value_name = "FILE")]
    pub wtns: PathBuf,
    /// Command that runs snarkjs, with its arguments quoted as in a shell
    #[arg(long, value_name = "COMMAND", default_value = "snarkjs")]
    pub snarkjs: String,
    /// rapidsnark's program
    #[arg(long, value_name = "PROGRAM", default_value = "prover")]
    pub rapidsnark: PathBuf,
    #[command(flatten)]
    pub report: ReportOptions,
}

/// A curve.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Curve {
    /// BLS12-381, first group
    #[value(name = "bls12-381-g1")]
    Bls12G1,
    /// BLS12-381, second group
    #[value(name = "bls12-381-g2")]
    Bls12G2,
    /// BN254, first group
    #[value(name = "bn254-g1")]
    Bn254G1,
}

/// A field.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Field {
    /// Scalars of BLS12-381
    #[value(name = "bls12-381-fr")]
    Bls12,
    /// Scalars of BN254
    #[value(name = "bn254-fr")]
    Bn254,
}

/// Holds the binary logarithms of the sizes to compare.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sizes(pub Vec<u32>);

/// Maximum binary logarithm of a size, 26: the bases of larger sizes would not fit on most hosts.
const MAX_LOG: u32 = 26;

fn sizes(text: &str) -> Result<Sizes, String> {
    let log = |text: &str| {
        let number = text.trim().parse().ok().filter(|log| (2..=MAX_LOG).contains(log));
        number.ok_or_else(|| format!("expected a number from 2 to {MAX_LOG}, got \"{text}\""))
    };
    let Some((first, last)) = text.split_once("..") else { return Ok(Sizes(vec![log(text)?])) };
    let (first, last) = (log(first)?, log(last.trim_start_matches('='))?);
    match first <= last {
        true => Ok(Sizes((first..=last).step_by(2).collect())),
        false => Err(format!("expected FIRST..LAST with a first no larger than the last, got \"{text}\"")),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_definition_is_sound() {
        Options::command().debug_assert();
    }

    #[test]
    fn sizes_are_one_or_a_range() {
        assert_eq!(sizes("12"), Ok(Sizes(vec![12])));
        assert_eq!(sizes("10..15"), Ok(Sizes(vec![10, 12, 14])));
        assert_eq!(sizes("10..=14"), Ok(Sizes(vec![10, 12, 14])));
        for wrong in ["", "1", "27", "ten", "14..10", "10..", "..10"] {
            assert!(sizes(wrong).is_err(), "{wrong}");
        }
    }

    /// Checks that every command's help has an example of that command.
    #[test]
    fn every_command_shows_an_example() {
        fn check(command: &clap::Command, path: &str) {
            let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            assert!(help.contains(&format!("  {path}")), "{path}: {help}");
            command.get_subcommands().for_each(|sub| check(sub, &format!("{path} {}", sub.get_name())));
        }
        check(&Options::command(), "proofwarp");
    }

    /// Checks that the examples parse as they are.
    #[test]
    fn examples_parse() {
        fn check(command: &clap::Command) {
            let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            for line in help.lines().filter_map(|line| line.trim().split_once("proofwarp ").map(|(_, rest)| rest)) {
                let end = line.find(['|', '>']).unwrap_or(line.len()).min(line.find("   ").unwrap_or(line.len()));
                let words = ["proofwarp"].into_iter().chain(line[..end].split_whitespace());
                assert!(Options::try_parse_from(words).is_ok(), "{line}");
            }
            command.get_subcommands().for_each(check);
        }
        check(&Options::command());
    }
}
