//! Re-exports halo2-axiom's `plonk`, with proofs and keys made by proofwarp.

mod error;
mod prover;

pub use error::GpuError;
#[doc(no_inline)]
pub use halo2_axiom::plonk::*;
#[doc(no_inline)]
pub use proofwarp_halo2::{keygen_pk, keygen_pk_impl, keygen_pk2, keygen_vk, keygen_vk_custom};
pub use prover::{create_proof, create_proof_from_advice};
