//! Drop-in for rapidsnark's C library `librapidsnark`: the same functions, with proofwarp behind them. Programs that prove
//! circom's circuits through C prove on CUDA, OpenCL or the CPU without a change.
//!
//! ```sh
//! cargo build --release -p proofwarp-rapidsnark --features cuda   # target/release/librapidsnark.{so,a}
//! cc program.c -Iadapters/rapidsnark/include -Ltarget/release -lrapidsnark
//! ```
//!
//! | header | functions that it declares |
//! |---|---|
//! | `include/prover.h` | [`groth16_prover_create`], [`groth16_prover_create_zkey_file`], [`groth16_prover_prove`], [`groth16_prover_destroy`]; [`groth16_prover`], [`groth16_prover_zkey_file`]; sizes: [`groth16_proof_size`], [`groth16_public_size_for_zkey_buf`], [`groth16_public_size_for_zkey_file`] |
//! | `include/verifier.h` | [`groth16_verify`] |
//!
//! The headers describe the functions, and how they differ from rapidsnark's. [`proofwarp::Accelerator`] chooses the
//! devices. Each proof is verified before it is returned, unless `PROOFWARP_VERIFY=0` is set.
//!
//! A handle is a number in a table, not an address. A null pointer, a handle that is wrong or destroyed, and a size that
//! no memory has are errors. A pointer that is not null has to be valid, because no check can tell.
//!
//! Texts are JSON without whitespace, as rapidsnark's, with the field `curve`, as snarkjs's. So proofs of BN254 fit into
//! buffers of the 810 bytes that rapidsnark asks for, and snarkjs verifies proofs of both curves.

#![deny(unreachable_pub)]

mod arguments;
mod error;
mod handles;
mod proof_call;
mod prover;
mod verifier;

pub use error::{
    PROVER_ERROR, PROVER_ERROR_SHORT_BUFFER, PROVER_INVALID_WITNESS_LENGTH, PROVER_OK, VERIFIER_ERROR,
    VERIFIER_INVALID_PROOF, VERIFIER_VALID_PROOF,
};
pub use prover::{
    groth16_proof_size, groth16_prover, groth16_prover_create, groth16_prover_create_zkey_file, groth16_prover_destroy,
    groth16_prover_prove, groth16_prover_zkey_file, groth16_public_size_for_zkey_buf,
    groth16_public_size_for_zkey_file,
};
pub use verifier::groth16_verify;
