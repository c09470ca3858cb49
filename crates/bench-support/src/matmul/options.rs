//! Defines the command line.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use crate::backend::Backend;
use crate::output;

/// Times products of field matrices, checks each, and shows what ran where.
///
/// Needs no GPU: without one, the CPU does it all. CUDA needs the feature `cuda`, and nvcc when this is built; an OpenCL
/// device that is the processor is used if `PROOFWARP_OPENCL_CPU=1`. Goldilocks and BabyBear need the feature `plonky3`.
#[derive(Debug, Clone, Args)]
pub struct Options {
    /// What to multiply
    #[command(subcommand)]
    pub what: What,
    /// The field
    #[arg(long, value_enum, default_value = "bn254", global = true)]
    pub field: Field,
    /// Timed runs after the first one
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..), global = true)]
    pub runs: u32,
    /// Where to run; any but `auto` is an error if it cannot do it all
    #[arg(long, value_enum, default_value = "auto", global = true)]
    pub backend: Backend,
    /// Writes the results to a file as well
    #[arg(long, value_name = "FILE", value_parser = output::file(), global = true)]
    pub json: Option<PathBuf>,
}

/// Selects what to multiply.
#[derive(Debug, Clone, Subcommand)]
pub enum What {
    /// Dense matrices, and bytes times elements
    #[command(after_help = "Example:\n  proofwarp bench matmul gemm --field bn254 --size 2048 --compare")]
    Gemm {
        /// Rows and columns
        #[arg(long, value_name = "N", default_value_t = 512, value_parser = size)]
        size: usize,
        /// By every method that there is, and on the CPU
        #[arg(long)]
        compare: bool,
    },
    /// Small dense matrices, many products in one call
    #[command(after_help = "Example:\n  proofwarp bench matmul batch --size 64 --count 128")]
    Batch {
        /// Rows and columns
        #[arg(long, value_name = "N", default_value_t = 64, value_parser = size)]
        size: usize,
        /// Products
        #[arg(long, value_name = "N", default_value_t = 64, value_parser = clap::value_parser!(u32).range(1..))]
        count: u32,
    },
    /// A sparse matrix that changes between products
    #[command(after_help = "Example:\n  proofwarp bench matmul sparse --size 4096 --density 0.05 --updates 10000")]
    Sparse {
        /// Rows and columns
        #[arg(long, value_name = "N", default_value_t = 4096, value_parser = size)]
        size: usize,
        /// The part of entries that are not zero
        #[arg(long, value_name = "PART", default_value_t = 0.05, value_parser = part)]
        density: f64,
        /// Changes
        #[arg(long, value_name = "N", default_value_t = 10_000)]
        updates: usize,
    },
    /// A quantised layer: weights of 8 bits times activations, its check, and its folds
    #[command(after_help = "Example:\n  proofwarp bench matmul layer --backend cuda")]
    Layer {
        /// Columns of the weights
        #[arg(long, value_name = "N", default_value_t = 1024, value_parser = size)]
        inputs: usize,
        /// Rows of the weights
        #[arg(long, value_name = "N", default_value_t = 1024, value_parser = size)]
        outputs: usize,
        /// Columns of the activations
        #[arg(long, value_name = "N", default_value_t = 64, value_parser = size)]
        batch: usize,
    },
}

/// A field by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Field {
    /// Scalars of BN254
    Bn254,
    /// Scalars of BLS12-381
    #[value(name = "bls12-381")]
    Bls12381,
    /// Scalars of Vesta
    PastaFp,
    /// Scalars of Pallas
    PastaFq,
    /// Plonky3's Goldilocks: dense matrices and layers
    #[cfg(feature = "plonky3")]
    Goldilocks,
    /// Plonky3's BabyBear: dense matrices and layers
    #[cfg(feature = "plonky3")]
    #[value(name = "babybear")]
    BabyBear,
}

fn size(text: &str) -> Result<usize, String> {
    let size = text.parse().ok().filter(|size| (1..=1 << 16).contains(size));
    size.ok_or_else(|| "expected 1 to 65536".to_owned())
}

fn part(text: &str) -> Result<f64, String> {
    let part = text.parse().ok().filter(|part| (0.0..=1.0).contains(part));
    part.ok_or_else(|| "expected 0 to 1".to_owned())
}

impl Options {
    /// Returns the environment variables that the options stand for.
    pub fn variables(&self) -> Vec<(&'static str, String)> {
        self.backend.variables()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::parse;

    #[test]
    fn what_cannot_be_done_is_refused_before_any_work() {
        for (line, expected) in [
            ("gemm --json /no/such/folder/results.json", "--json <FILE>': /no/such/folder/results.json: "),
            ("gemm --size 0", "expected 1 to 65536"),
            ("sparse --density 1.5", "expected 0 to 1"),
            ("layer --runs 0", "0 is not in 1.."),
            ("gemm --field gf3", "invalid value 'gf3'"),
            ("gemm --backend metal", "invalid value 'metal'"),
            ("hadamard", "unrecognized subcommand 'hadamard'"),
        ] {
            let error = parse::<Options>(line).expect_err("refused");
            assert!(error.contains(expected), "{line}: {error}");
        }
    }

    #[test]
    fn what_can_be_done_is_taken() {
        let options = parse::<Options>("gemm --field=bls12-381 --size=2048 --compare").expect("a line");
        assert!(matches!(options.what, What::Gemm { size: 2048, compare: true }) && options.field == Field::Bls12381);
    }
}
