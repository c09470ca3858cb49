//! `proofwarp bench matmul`: times products of field matrices, checks each, and shows what ran where: dense ones, small ones
//! together, sparse ones that change, a quantised layer.

mod batch;
mod gemm;
mod layer;
mod options;
mod outcome;
mod sparse;

use ff::PrimeField;
use halo2curves::bn256::Fr;
use proofwarp::Accelerator;
use proofwarp::field::NttField;
#[cfg(feature = "plonky3")]
use proofwarp::field::plonky3;
use proofwarp::matrix::dense::DenseField;
use proofwarp::sumcheck::SumcheckField;

use crate::{Failure, device, output};
use options::{Field, What};
use outcome::Outcome;

pub use options::Options;

/// Runs the program, and prints its table.
///
/// # Errors
/// Returns an error if a product or its check fails, or if a file cannot be written.
pub fn run(options: &Options) -> Result<(), Failure> {
    let accelerator = Accelerator::from_env()?;
    device::announce_all(&accelerator);
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
    say!("{}", outcome::table(&outcomes));
    options.json.iter().try_for_each(|path| Ok(output::write_json(path, &outcomes)?))
}

/// Measures over the scalar field of a curve.
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

/// Measures over F, and proves over E, which contains F.
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

/// Returns the rounds of Freivalds' check after which a wrong product passes with a probability of at most 2^-100.
fn rounds<F: PrimeField>() -> u32 {
    100u32.div_ceil(F::NUM_BITS - 1)
}
