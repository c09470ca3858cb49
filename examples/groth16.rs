//! Proves that a digest is the SHA-256 of a secret message, on the best backend and on the CPU, and verifies both proofs.
//!
//! `cargo run --release --example groth16`, or with `--features cuda` on NVIDIA's GPUs. `PROOFWARP_BACKEND` forces a backend, and
//! `PROOFWARP_OPENCL_CPU=1` lets OpenCL take the processor.

use std::error::Error;
use std::time::Instant;

use bellperson::gadgets::boolean::{AllocatedBit, Boolean};
use bellperson::gadgets::multipack::{bytes_to_bits, compute_multipacking, pack_into_inputs};
use bellperson::gadgets::sha256::sha256;
use bellperson::groth16::{generate_random_parameters, prepare_verifying_key, verify_proof};
use bellperson::{Circuit, ConstraintSystem, SynthesisError};
use blstrs::{Bls12, Scalar};
use ff::Field;
use proofwarp::{Accelerator, BackendKind};
use proofwarp_bellperson::Prover;
use rand::rngs::OsRng;
use sha2::{Digest, Sha256};

/// Knows the message. Its digest is public.
#[derive(Clone)]
struct Preimage([u8; 32]);

impl Circuit<Scalar> for Preimage {
    fn synthesize<CS: ConstraintSystem<Scalar>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
        let mut message = Vec::new();
        for (number, bit) in bytes_to_bits(&self.0).into_iter().enumerate() {
            let bit = AllocatedBit::alloc(cs.namespace(|| format!("bit {number}")), Some(bit))?;
            message.push(Boolean::from(bit));
        }
        let digest = sha256(cs.namespace(|| "sha256"), &message)?;
        pack_into_inputs(cs.namespace(|| "digest"), &digest)
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    // Shows warnings, and what OpenCL compiles: that may take minutes in the first run.
    let _ = env_logger::Builder::new().parse_filters("proofwarp=warn,proofwarp::compile=info").try_init();
    let circuit = Preimage([7; 32]);
    let public = compute_multipacking::<Scalar>(&bytes_to_bits(&Sha256::digest(circuit.0)));
    eprintln!("making parameters, which takes minutes on few cores");
    // This process knows the parameters' secret, so it can forge proofs. Real parameters come from a ceremony.
    let start = Instant::now();
    let parameters = generate_random_parameters::<Bls12, _, _>(circuit.clone(), &mut OsRng)?;
    let log = (parameters.h.len() + 1).ilog2();
    println!("SHA-256 of 32 bytes: 2^{log} constraints, parameters made in {:.1?}", start.elapsed());
    // The best backend, and the reasons why others are not used; then the CPU alone.
    let best = Accelerator::from_env()?;
    best.unavailable_reasons().iter().for_each(|reason| println!("not used: {reason}"));
    let host = Accelerator::with_backend(BackendKind::Cpu)?;
    // With the same r and s, all backends make the same proof.
    let [r, s] = [(); 2].map(|()| Scalar::random(&mut OsRng));
    let key = prepare_verifying_key(&parameters.vk);
    let mut proofs = Vec::new();
    for accelerator in [best, host] {
        // Brings the key to the device. Later proofs need only a witness.
        let (prover, assignment) = Prover::new(&accelerator, circuit.clone(), &&parameters)?;
        eprintln!("making a first proof, which compiles or loads kernels");
        prover.prove(&[assignment], &[r], &[s], None)?;
        let start = Instant::now();
        let (mut made, report) = prover.prove(&prover.assign(vec![circuit.clone()])?, &[r], &[s], None)?;
        println!("{} ({}): proof in {:.1?}", report.backend, report.device, start.elapsed());
        proofs.append(&mut made);
    }
    for proof in &proofs {
        assert!(verify_proof(&key, proof, &public)?, "expected a valid proof, got one that does not verify");
    }
    assert!(proofs[0] == proofs[1], "expected equal proofs, got two that differ");
    println!("both proofs are valid by bellperson, and equal");
    Ok(())
}

#[cfg(test)]
mod tests {
    #[test]
    fn proofs_are_valid_and_equal() {
        super::main().unwrap_or_else(|error| panic!("{error}"));
    }
}
