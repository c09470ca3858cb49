//! Times products of field matrices, checks each, and shows what ran where: dense ones, small ones together, sparse ones that
//! change, a quantised layer.
//!
//! `cargo run --release --example matrix -- --help`

#[path = "../groth16/backend.rs"]
mod backend;
mod batch;
mod cli;
#[path = "../groth16/device.rs"]
mod device;
#[path = "../groth16/exit.rs"]
mod exit;
mod gemm;
mod inputs;
mod layer;
#[path = "../groth16/output.rs"]
#[allow(dead_code, reason = "the example `groth16` keeps parameters in a folder")]
mod output;
mod sparse;
mod table;

use std::process::ExitCode;

use halo2curves::bn256::Fr;
use proofwarp::Accelerator;
use proofwarp::field::NttField;
#[cfg(feature = "plonky3")]
use proofwarp::field::plonky3;
use proofwarp::matrix::dense::DenseField;
use proofwarp::sumcheck::SumcheckField;
use serde::Serialize;

use cli::{Field, Options, What};

/// Anything that ends the program.
type Failure = Box<dyn std::error::Error + Send + Sync>;

/// What was measured of one way.
#[derive(Serialize)]
pub struct Outcome {
    way: String,
    ran_on: String,
    first_ms: f64,
    /// The median of the others.
    median_ms: f64,
    /// The device's time of the last one's kernels; 0 where none ran.
    kernels_ms: f64,
    checked: String,
}

fn main() -> ExitCode {
    let options = Options::checked(std::env::args_os()).unwrap_or_else(|error| error.exit());
    if let Some(backend) = options.backend.forced() {
        // SAFETY: called first of all in `main`, before there is any other thread that could read the environment.
        unsafe { std::env::set_var("PROOFWARP_BACKEND", backend.to_string()) };
    }
    exit::code(run(&options))
}

fn run(options: &Options) -> Result<(), Failure> {
    let accelerator = Accelerator::from_env()?;
    println!("host: {} cores", rayon::current_num_threads());
    device::announce(&accelerator, device::asked_for_cpu(&accelerator));
    let outcomes = match options.field {
        Field::Bn254 => measure::<Fr>(&accelerator, options)?,
        Field::Bls12381 => measure::<blstrs::Scalar>(&accelerator, options)?,
        Field::PastaFp => measure::<pasta_curves::Fp>(&accelerator, options)?,
        Field::PastaFq => measure::<pasta_curves::Fq>(&accelerator, options)?,
        #[cfg(feature = "plonky3")]
        Field::Goldilocks => measure_dense::<plonky3::Goldilocks, plonky3::Goldilocks2>(&accelerator, options)?,
        #[cfg(feature = "plonky3")]
        Field::BabyBear => measure_dense::<plonky3::BabyBear, plonky3::BabyBear4>(&accelerator, options)?,
    };
    println!("{}", table::outcomes(&outcomes));
    match &options.json {
        Some(path) => Ok(output::write_json(path, &outcomes)?),
        None => Ok(()),
    }
}

fn measure<F: NttField + SumcheckField<Base = F>>(
    accelerator: &Accelerator,
    options: &Options,
) -> Result<Vec<Outcome>, Failure> {
    match &options.what {
        What::Sparse { size, density, updates } => {
            sparse::measure::<F>(accelerator, *size, *density, *updates, options.runs)
        }
        What::Gemm { .. } | What::Batch { .. } | What::Layer { .. } => measure_dense::<F, F>(accelerator, options),
    }
}

/// Over F, and what is proved over a field that it is in.
fn measure_dense<F: DenseField, E: SumcheckField<Base = F>>(
    accelerator: &Accelerator,
    options: &Options,
) -> Result<Vec<Outcome>, Failure> {
    match &options.what {
        What::Gemm { size, compare } => gemm::measure::<F>(accelerator, *size, *compare, options.runs),
        What::Batch { size, count } => batch::measure::<F>(accelerator, *size, *count as usize, options.runs),
        What::Layer { inputs, outputs, batch } => {
            layer::measure::<F, E>(accelerator, [*outputs, *inputs, *batch], options.runs)
        }
        What::Sparse { .. } => Err("sparse matrices are over the scalar fields of curves only".into()),
    }
}
