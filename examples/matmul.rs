//! Multiplies matrices of field elements: dense ones, checked by Freivalds' method, and a sparse one that changes.
//!
//! `cargo run --release --example matmul`. `proofwarp bench matmul` measures methods, sizes and quantised layers.

use ff::Field;
use halo2curves::bn256::Fr;
use proofwarp::Accelerator;
use proofwarp::matrix::Csr;
use proofwarp::matrix::dense::{DenseMatrix, DenseOptions};
use proofwarp::matrix::dynamic::{Action, Change, DynamicCsr, Policy};

const SIZE: usize = 256;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Shows warnings, and what OpenCL compiles: that may take minutes in the first run.
    let _ = env_logger::Builder::new().parse_filters("proofwarp=warn,proofwarp::compile=info").try_init();
    let accelerator = Accelerator::from_env()?;
    let mut rng = rand::thread_rng();

    // Matrices stay on the device; the product does too, until it is downloaded.
    let mut random = || (0..SIZE * SIZE).map(|_| Fr::random(&mut rng)).collect::<Vec<_>>();
    let [a, b] = [random(), random()];
    let a = DenseMatrix::upload(&accelerator, &a, SIZE, SIZE)?;
    let b = DenseMatrix::upload(&accelerator, &b, SIZE, SIZE)?;
    let options = DenseOptions::default();
    println!("{}", a.explain(&b, &options)?);
    let c = a.multiply(&b, &options, None)?;
    // One round passes a wrong product with a probability of about 2^-253.
    let verdict = c.check_product::<Fr, _, _>(&a, &b, 1, &mut rng)?;
    assert!(verdict.is_valid());
    println!("dense product of {SIZE} rows, wrong with a probability below 2^-{}", verdict.error_bits);

    // A sparse matrix with 2 on the diagonal takes single changes between products.
    let rows = (0..SIZE).map(|row| vec![(row, Fr::from(2))]);
    let sparse = DynamicCsr::new(&accelerator, Csr::from_rows(SIZE, rows)?, Policy::default())?;
    sparse.update(&[Change { row: 0, column: 1, action: Action::Set(Fr::from(5)) }])?;
    let x = vec![Fr::ONE; SIZE];
    let mut y = vec![Fr::ZERO; SIZE];
    let report = sparse.snapshot()?.multiply(&x, &mut y, None)?;
    assert_eq!(y[..2], [Fr::from(7), Fr::from(2)]);
    println!("sparse product after a change: {report}");
    Ok(())
}

#[cfg(test)]
mod tests {
    #[test]
    fn results_are_right() {
        super::main().unwrap_or_else(|error| panic!("{error}"));
    }
}
