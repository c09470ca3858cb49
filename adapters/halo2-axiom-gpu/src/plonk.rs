//! Re-exports halo2-axiom's `plonk`, with proofs and keys made by proofwarp.

#[cfg(feature = "device-advice")]
mod column_memory;
mod configuration;
#[cfg(feature = "device-advice")]
mod device_advice;
mod error;
mod prover;

pub use configuration::create_constraint_system;
#[cfg(feature = "device-advice")]
pub use device_advice::{AdviceColumns, create_proof_from_advice};
pub use error::GpuError;
#[doc(no_inline)]
pub use halo2_axiom::plonk::*;
#[doc(no_inline)]
pub use proofwarp_halo2::{keygen_pk, keygen_pk_impl, keygen_pk2, keygen_vk, keygen_vk_custom};
pub use prover::create_proof;
#[cfg(not(feature = "device-advice"))]
pub use prover::create_proof_from_advice;
