//! `proofwarp bench steps`: times single steps on the first device: products of field elements, sparse matrices, terms of a quotient,
//! steps of a PLONKish proof.

mod csr;
mod expression;
mod plonk;
mod rates;

use blstrs::Scalar;
use clap::Args;
use halo2curves::bn256::Fr;

use crate::Failure;
use crate::rows::{self, RowOptions};

/// Names the operations.
const OPERATIONS: [&str; 12] = [
    "product bls12_381_fr",
    "product bls12_381_fq",
    "product bn254_fr",
    "inversion bls12_381_fq",
    "inversion bls12_381_fq2",
    "inversion bn254_fq",
    "csr bls12_381_fr",
    "csr bn254_fr",
    "expression bls12_381_fr",
    "expression bn254_fr",
    "plonk bls12_381_fr",
    "plonk bn254_fr",
];

/// Times single steps; every row is a median.
#[derive(Debug, Clone, Args)]
pub struct Options {
    #[command(flatten)]
    rows: RowOptions,
    /// Check by the CPU every product of a matrix, every step of a PLONKish proof, and sums of terms in some rows
    #[arg(long)]
    check: bool,
    /// Print the plan of each matrix, and what is done in a row for terms
    #[arg(long)]
    explain: bool,
}

impl Options {
    /// Returns the environment variables that the options stand for.
    pub fn variables(&self) -> Vec<(&'static str, String)> {
        self.rows.backend.variables()
    }
}

/// Runs the program, and prints its rows.
///
/// # Errors
/// Returns an error if there is no device, if a step fails, or if its result is wrong.
pub fn run(options: &Options) -> Result<(), Failure> {
    let rows = &options.rows;
    rows.check(&OPERATIONS)?;
    let accelerator = rows.accelerator()?;
    if accelerator.devices().is_empty() {
        return Err(rows::no_device("steps").into());
    }
    rates::products(&accelerator, rows)?;
    rates::inversions(&accelerator, rows)?;
    csr::all::<Scalar>(&accelerator, options)?;
    csr::all::<Fr>(&accelerator, options)?;
    for &log_n in rows.sizes() {
        expression::rows::<Scalar>(&accelerator, options, log_n)?;
        expression::rows::<Fr>(&accelerator, options, log_n)?;
        plonk::rows::<Scalar>(&accelerator, options, log_n)?;
        plonk::rows::<Fr>(&accelerator, options, log_n)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use proofwarp::field::Element;

    use super::*;
    use crate::output::parse;

    #[test]
    fn what_cannot_be_done_is_refused_before_any_work() {
        let options = parse::<Options>("--only fft").expect("options");
        let error = run(&options).expect_err("refused").to_string();
        assert!(error.contains("--only: expected part of one of product bls12_381_fr; "), "{error}");
        assert!(parse::<Options>("--peers").is_err());
    }

    #[test]
    fn operations_are_named_as_they_are_timed() {
        for kind in ["csr", "expression", "plonk"] {
            let named = [Scalar::NAME, Fr::NAME].map(|name| format!("{kind} {name}"));
            assert!(named.iter().all(|name| OPERATIONS.contains(&name.as_str())), "{named:?}");
        }
    }
}
