//! Proves with keys and circuits of `ark-groth16` 0.6.
//!
//! ```
//! use ark_bn254::{Bn254, Fr};
//! use ark_groth16::Groth16;
//! use ark_relations::gr1cs::{ConstraintSynthesizer, ConstraintSystemRef, SynthesisError};
//! # use ark_bn254_0_6 as ark_bn254;
//! # use ark_groth16_0_6 as ark_groth16;
//! # use ark_relations_0_6 as ark_relations;
//! use proofwarp::Accelerator;
//! use proofwarp_circom::ark_0_6::ProvingKey;
//! use rand::rngs::OsRng;
//!
//! /// Knows the square root of a public number.
//! struct Root(Option<Fr>);
//!
//! impl ConstraintSynthesizer<Fr> for Root {
//!     fn generate_constraints(self, cs: ConstraintSystemRef<Fr>) -> Result<(), SynthesisError> {
//!         let value = || self.0.ok_or(SynthesisError::AssignmentMissing);
//!         let root = cs.new_witness_variable(value)?;
//!         let square = cs.new_input_variable(|| value().map(|root| root * root))?;
//!         cs.enforce_r1cs_constraint(|| root.into(), || root.into(), || square.into())
//!     }
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let parameters = Groth16::<Bn254>::generate_random_parameters_with_reduction(Root(None), &mut OsRng)?;
//! let key = ProvingKey::new(&Accelerator::from_env()?, &parameters, Root(None))?; // once
//! let proof = key.prove(Root(Some(Fr::from(3))), &mut OsRng)?; // verified
//! let verifier = ark_groth16::prepare_verifying_key(&parameters.vk);
//! assert!(Groth16::<Bn254>::verify_proof(&verifier, &proof, &[Fr::from(9)])?);
//! # Ok(())
//! # }
//! ```

use ark_bls12_381_0_6 as ark_bls12_381;
use ark_bn254_0_6 as ark_bn254;
use ark_ec_0_6 as ark_ec;
use ark_ff_0_6 as ark_ff;
use ark_groth16_0_6 as ark_groth16;
use ark_relations_0_6::gr1cs as relations;

#[allow(clippy::duplicate_mod, reason = "compiled once for each version of arkworks")]
#[path = "../ark/ark_pairing.rs"]
mod ark_pairing;
#[allow(clippy::duplicate_mod, reason = "compiled once for each version of arkworks")]
#[path = "../ark/proving_key.rs"]
mod proving_key;
mod synthesis;

pub use ark_pairing::ArkPairing;
pub use proving_key::ProvingKey;
