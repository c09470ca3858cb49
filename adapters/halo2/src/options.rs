//! What a proof may be told beside what halo2-axiom's functions take.

use halo2_axiom::halo2curves::bn256::G1Affine;
use halo2_axiom::plonk::ProvingKey;
use proofwarp::Accelerator;
use proofwarp::plonk::{Hook, Memory, Plan};

use crate::constraints;

/// How a proof is made.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// The devices that work, and whether the host may; `None`: the process's own, as the environment says. A proof is made
    /// on that one on which the fewest are under way.
    pub accelerator: Option<Accelerator>,
    /// How many devices share the proof's commitments and quotient evenly, at most; `None`: also those that are idle, from
    /// k = 16 on, as far as their link lets it pay.
    pub devices: Option<usize>,
    /// A question that is asked before each step of a proof, and during commitments: "stop" ends the proof with
    /// [`proofwarp::Error::Aborted`] in an `Error::Transcript`. The key, the setup and the circuits are as they were.
    pub abort: Option<Hook>,
    /// How the device's memory is used; `None`: as much as is free. A plan that keeps no column keeps no key either.
    pub plan: Option<Plan>,
}

/// What a proof of so many circuits takes on a device.
///
/// It takes time in proportion to the key's expressions, and looks at no column.
pub fn memory(pk: &ProvingKey<G1Affine>, circuits: usize) -> Memory {
    Memory::of(&constraints::circuit(pk), circuits)
}
