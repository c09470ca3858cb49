//! Proves that the products of two columns add up to a sum, and verifies the proof.
//!
//! `cargo run --release --example sumcheck`. `proofwarp bench sumcheck` measures fields, degrees and kernel paths.

use blstrs::Scalar;
use ff::Field;
use proofwarp::Accelerator;
use proofwarp::sumcheck::{BoundTranscript, Claim, Columns, HashTranscript, prove, verify};
use sha2::{Digest, Sha256};

const VARIABLES: u32 = 16;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Shows warnings, and what OpenCL compiles: that may take minutes in the first run.
    let _ = env_logger::Builder::new().parse_filters("proofwarp=warn,proofwarp::compile=info").try_init();
    let mut rng = rand::thread_rng();
    let columns = [0, 1].map(|_| (0..1 << VARIABLES).map(|_| Scalar::random(&mut rng)).collect::<Vec<_>>());
    let sum: Scalar = columns[0].iter().zip(&columns[1]).map(|(a, b)| a * b).sum();
    // Σ over all rows of column 0 times column 1.
    let claim = Claim::product(VARIABLES, &[0, 1]).with_sum(sum);

    // Challenges depend on the columns, so a proof is bound to a commitment to them: here a hash.
    let commitment = hash(&columns);
    let mut transcript = HashTranscript::new(b"example");
    let bound = BoundTranscript::bind_commitment(&mut transcript, &commitment)?;
    let slices: Vec<&[Scalar]> = columns.iter().map(Vec::as_slice).collect();
    let (proof, report) = prove(&Accelerator::from_env()?, &claim, Columns::host(&slices), bound, None)?;
    println!("{report}\nproof: {} bytes", proof.to_bytes().len());

    // The verifier checks the rounds. The columns' values at the last point remain, which a polynomial commitment would open.
    let mut transcript = HashTranscript::new(b"example");
    let bound = BoundTranscript::bind_commitment(&mut transcript, &commitment)?;
    let (point, finals) = verify(&claim, &proof, bound)?;
    assert!(columns.iter().map(|column| at(column, &point)).eq(finals));
    println!("verified, with the columns' values at the point of {} challenges", point.len());
    Ok(())
}

fn hash(columns: &[Vec<Scalar>]) -> [u8; 32] {
    let mut hash = Sha256::new();
    columns.iter().flatten().for_each(|element| hash.update(element.to_bytes_le()));
    hash.finalize().into()
}

/// Returns the value at `point` of the multilinear polynomial with these `values`. The first variable is the highest bit of a
/// row's number.
fn at(values: &[Scalar], point: &[Scalar]) -> Scalar {
    let fold = |values: Vec<Scalar>, x: &Scalar| -> Vec<Scalar> {
        let (low, high) = values.split_at(values.len() / 2);
        low.iter().zip(high).map(|(low, high)| low + (high - low) * x).collect()
    };
    point.iter().fold(values.to_vec(), fold)[0]
}

#[cfg(test)]
mod tests {
    #[test]
    fn results_are_right() {
        super::main().unwrap_or_else(|error| panic!("{error}"));
    }
}
