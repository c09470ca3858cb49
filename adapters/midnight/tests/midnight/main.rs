//! Commitments and proofs on the backend of the environment and on the CPU, beside midnight-proofs' own.

mod commitments;
mod proofs;

use proofwarp::{Accelerator, BackendKind};

/// That of the environment, and the CPU.
fn accelerators() -> [Accelerator; 2] {
    [Accelerator::from_env(), Accelerator::with_backend(BackendKind::Cpu)].map(|made| made.expect("accelerator"))
}
