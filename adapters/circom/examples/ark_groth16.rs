//! Proves a circuit of arkworks by ark-groth16 and by this crate, and prints both times. ark-groth16 verifies each proof.
//!
//! usage: `ark_groth16 [LOG_CONSTRAINTS]`, 14 if not given

use std::time::Instant;

use ark_bn254_0_6::{Bn254, Fr};
use ark_ff_0_6::Field;
use ark_groth16_0_6::{Groth16, prepare_verifying_key};
use ark_relations_0_6::gr1cs::{ConstraintSynthesizer, ConstraintSystemRef, SynthesisError};
use proofwarp::Accelerator;
use proofwarp_circom::ark_0_6::ProvingKey;
use rand::rngs::OsRng;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// Number of proofs; the first one's time has uploads and tables in it.
const PROOFS: usize = 5;

/// Knows the x that, squared `steps` times, is the public result.
#[derive(Clone, Copy)]
struct Squares {
    x: Option<Fr>,
    steps: usize,
}

impl ConstraintSynthesizer<Fr> for Squares {
    fn generate_constraints(self, cs: ConstraintSystemRef<Fr>) -> std::result::Result<(), SynthesisError> {
        let mut value = self.x;
        let mut x = cs.new_witness_variable(|| value.ok_or(SynthesisError::AssignmentMissing))?;
        for step in 1..=self.steps {
            value = value.map(|value| value.square());
            let get = || value.ok_or(SynthesisError::AssignmentMissing);
            let next = if step < self.steps { cs.new_witness_variable(get)? } else { cs.new_input_variable(get)? };
            cs.enforce_r1cs_constraint(|| x.into(), || x.into(), || next.into())?;
            x = next;
        }
        Ok(())
    }
}

fn main() -> Result<()> {
    let log_constraints: u32 = std::env::args().nth(1).map_or(Ok(14), |text| text.parse())?;
    // The domain also has a row for the constant one and one for the result.
    let steps = (1 << log_constraints) - 2;
    let (blank, x) = (Squares { x: None, steps }, Fr::from(3));
    let circuit = Squares { x: Some(x), steps };
    let parameters = timed("setup", || Groth16::<Bn254>::generate_random_parameters_with_reduction(blank, &mut OsRng))?;
    let verifier = prepare_verifying_key(&parameters.vk);
    let result = [(0..steps).fold(x, |value, _| value.square())];
    let accelerator = Accelerator::from_env()?;
    let key = timed("key", || ProvingKey::new(&accelerator, &parameters, blank))?;
    for _ in 0..PROOFS {
        let proof = timed("proof by ark-groth16", || {
            Groth16::<Bn254>::create_random_proof_with_reduction(circuit, &parameters, &mut OsRng)
        })?;
        println!("valid: {}", Groth16::<Bn254>::verify_proof(&verifier, &proof, &result)?);
        let proof = timed("proof by proofwarp, verified", || key.prove(circuit, &mut OsRng))?;
        println!("valid: {}", Groth16::<Bn254>::verify_proof(&verifier, &proof, &result)?);
    }
    Ok(())
}

/// Prints the time that `run` takes.
fn timed<T, E: Into<Box<dyn std::error::Error>>>(
    what: &str,
    run: impl FnOnce() -> std::result::Result<T, E>,
) -> Result<T> {
    let start = Instant::now();
    let result = run().map_err(Into::into)?;
    println!("{what}: {:.1} ms", start.elapsed().as_secs_f64() * 1e3);
    Ok(result)
}
