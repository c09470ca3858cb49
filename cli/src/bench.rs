//! `proofwarp bench`: the programs of bench-support.

use anyhow::{Error, Result};
#[cfg(feature = "mpi")]
use bench_support::cluster;
#[cfg(feature = "midnight")]
use bench_support::midnight;
use bench_support::{Failure, groth16, halo2, matmul, msm, ntt, steps, sumcheck, synthetic};
use clap::Subcommand;

/// Selects the program.
#[derive(Debug, Subcommand)]
pub enum Bench {
    /// Multi-scalar multiplications by plan and by distribution of scalars
    #[command(after_help = "Examples:
  proofwarp bench msm --log 16..20 --only bls12_381_g1
  proofwarp bench msm --backend cuda --log 20..20 --from resident --check")]
    Msm(msm::Options),
    /// Transforms of host slices, page-locked memory and device memory
    #[command(after_help = "Examples:
  proofwarp bench ntt --log 16..20 --only bn254
  proofwarp bench ntt --peers --log 24..24        one vector over several devices")]
    Ntt(ntt::Options),
    /// Sumcheck of a product of columns, with a commitment and its openings
    #[command(after_help = "Examples:
  proofwarp bench sumcheck                                         2^20 rows of the tower, three columns
  proofwarp bench sumcheck --vars 24 --degree 2 --backend cuda     on NVIDIA GPUs or not at all
  proofwarp bench sumcheck --field bn254 --columns device          columns that are on the device before
  proofwarp bench sumcheck --compare --json /dev/null              all paths, and the CPU")]
    Sumcheck(sumcheck::Options),
    /// Products of field matrices: dense ones, small ones together, sparse ones that change, a quantised layer
    #[command(after_help = "Example:\n  proofwarp bench matmul gemm --field bn254 --size 2048 --compare")]
    Matmul(matmul::Options),
    /// Groth16 proofs of bellperson's circuits, in several ways, and where each phase ran
    #[command(after_help = GROTH16)]
    Groth16(groth16::Options),
    /// Groth16 proofs of a random system of Filecoin's shape, up to 130 M constraints
    #[command(after_help = SYNTHETIC)]
    Synthetic(synthetic::Options),
    /// Keys and proofs of halo2-axiom's circuits, and how long each step takes
    #[command(after_help = HALO2)]
    Halo2(halo2::Options),
    /// Commitments and proofs of midnight-proofs
    #[cfg(feature = "midnight")]
    #[command(after_help = "Example:\n  proofwarp bench midnight --log 16..20 --proof 16")]
    Midnight(midnight::Options),
    /// Single steps on a device: field products, sparse matrices, terms of a quotient, steps of a PLONKish proof
    #[command(after_help = "Example:\n  proofwarp bench steps --only plonk --log 18..18 --check")]
    Steps(steps::Options),
    /// Multiplications, transforms and proofs over the ranks of an MPI job
    #[cfg(feature = "mpi")]
    #[command(after_help = "Examples:
  proofwarp bench cluster --log-points 12 --only msm    alone, or under mpirun --bind-to none
  proofwarp bench cluster --predict")]
    Cluster(cluster::Options),
}

const GROTH16: &str = "Examples:
  proofwarp bench groth16                                       2^16 constraints of SHA-256
  proofwarp bench groth16 --circuit x5 --log-constraints 20     full-size witness
  proofwarp bench groth16 --circuit poseidon --backend opencl   on OpenCL or not at all
  proofwarp bench groth16 --batch 4                             four proofs at once
  proofwarp bench groth16 --log-constraints 14 --adapter resident,ec-gpu-gen,stock";

const SYNTHETIC: &str = "Examples:
  proofwarp bench synthetic                                            2^16, on the best backend
  proofwarp bench synthetic --log-constraints 27 --backend cuda        130 M constraints: 80 GB of host memory, a GPU of 141 GB
  proofwarp bench synthetic --log-constraints 20 --memory-limit 700M   a key that does not fit is streamed";

const HALO2: &str = "Examples:
  proofwarp bench halo2                                   2^14 rows, on the best backend
  proofwarp bench halo2 --k 20 --backend cuda             on NVIDIA GPUs or not at all
  proofwarp bench halo2 --k 20 --devices 1                on one of several devices
  proofwarp bench halo2 --circuit wide --k 18 --compare   against halo2-axiom on this machine's cores
  proofwarp bench halo2 --opening gwc --proofs 10 --json out.json";

/// Runs the program that `bench` selects.
///
/// # Errors
/// Returns an error if the program fails.
pub fn run(bench: &Bench) -> Result<()> {
    bench.run().map_err(Error::from_boxed)
}

impl Bench {
    fn variables(&self) -> Vec<(&'static str, String)> {
        match self {
            Self::Msm(options) => options.variables(),
            Self::Ntt(options) => options.variables(),
            Self::Sumcheck(options) => options.variables(),
            Self::Matmul(options) => options.variables(),
            Self::Groth16(options) => options.variables(),
            Self::Synthetic(options) => options.variables(),
            Self::Halo2(options) => options.variables(),
            #[cfg(feature = "midnight")]
            Self::Midnight(options) => options.variables(),
            Self::Steps(options) => options.variables(),
            #[cfg(feature = "mpi")]
            Self::Cluster(_) => Vec::new(),
        }
    }

    fn run(&self) -> Result<(), Failure> {
        match self {
            Self::Msm(options) => msm::run(options),
            Self::Ntt(options) => ntt::run(options),
            Self::Sumcheck(options) => sumcheck::run(options),
            Self::Matmul(options) => matmul::run(options),
            Self::Groth16(options) => groth16::run(options),
            Self::Synthetic(options) => synthetic::run(options),
            Self::Halo2(options) => halo2::run(options),
            #[cfg(feature = "midnight")]
            Self::Midnight(options) => midnight::run(options),
            Self::Steps(options) => steps::run(options),
            #[cfg(feature = "mpi")]
            Self::Cluster(options) => cluster::run(options),
        }
    }
}

/// Sets the environment variables that the options of `bench` stand for.
///
/// # Safety
/// The process has no other thread, which could read the environment.
#[allow(unsafe_code, reason = "proofwarp reads its settings from the environment")]
pub unsafe fn set_variables(bench: &Bench) {
    for (name, value) in bench.variables() {
        // SAFETY: passed on from the caller.
        unsafe { std::env::set_var(name, value) };
    }
}
