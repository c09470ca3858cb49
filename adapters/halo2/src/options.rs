//! What a proof may be told beside what halo2-axiom's functions take.

use halo2_axiom::halo2curves::bn256::G1Affine;
use halo2_axiom::plonk::{Error, ProvingKey};
use proofwarp::Accelerator;
use proofwarp::plonk::{Hook, Memory, Plan};
use proofwarp::settings::Settings;

use crate::constraints;
use crate::error::outer;

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
    /// Whether halo2-axiom's verifier checks the proof before it is returned; `None`: as `PROOFWARP_VERIFY` says, and without
    /// it if a device worked. A proof that it refuses is made again by the host, from the same randomness: if the host says
    /// something else, the outcome is an error. If it says the same, the witness does not satisfy the circuit, and the proof
    /// is returned as halo2-axiom returns it.
    ///
    /// For the second proof a circuit is synthesized again, and has to assign the same values.
    pub check: Option<bool>,
    /// How the device's memory is used; `None`: as much as is free. A plan that keeps no column keeps no key either.
    pub plan: Option<Plan>,
}

impl Options {
    /// Whether a proof may be checked, wherever it is made.
    pub(crate) fn may_check(&self) -> Result<bool, Error> {
        self.checks(true)
    }

    /// Whether a proof is checked that a device worked on, or that none did.
    pub(crate) fn checks(&self, on_device: bool) -> Result<bool, Error> {
        let asked = match self.check {
            Some(check) => Some(check),
            None => Settings::get().map_err(outer)?.verify,
        };
        Ok(asked.unwrap_or(on_device))
    }
}

/// What a proof of so many circuits takes on a device.
///
/// It takes time in proportion to the key's expressions, and looks at no column.
pub fn memory(pk: &ProvingKey<G1Affine>, circuits: usize) -> Memory {
    Memory::of(&constraints::circuit(pk), circuits)
}
