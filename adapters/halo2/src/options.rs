//! Holds the options of a proof that halo2-axiom's functions have no parameters for.

use halo2_axiom::halo2curves::bn256::G1Affine;
use halo2_axiom::plonk::{Error, ProvingKey};
use proofwarp::Accelerator;
use proofwarp::plonk::{AbortHook, MemoryEstimate, MemoryPlan};
use proofwarp::settings::Settings;

use crate::constraints;
use crate::error::to_halo2_error;

/// Holds the options of a proof.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// The devices to use, and whether the host may work. `None`: the process-wide accelerator, which the environment
    /// configures. A proof runs on the device with the fewest proofs in flight.
    pub accelerator: Option<Accelerator>,
    /// Maximum number of devices that share the proof's commitments and quotient evenly. `None`: idle devices join from
    /// k = 16 on, as far as their link makes it pay.
    pub devices: Option<usize>,
    /// The abort hook, polled before each step of a proof and during commitments. If it says stop, the proof ends with
    /// [`proofwarp::Error::Aborted`] in an `Error::Transcript`. The key, the setup and the circuits are then unchanged.
    pub abort: Option<AbortHook>,
    /// Whether halo2-axiom's verifier checks the proof before it is returned. `None`: `PROOFWARP_VERIFY` decides; if it
    /// is unset, a proof is checked if a device worked on it.
    ///
    /// If the verifier refuses a proof, the host computes it again from the same randomness. If the host's messages
    /// differ, the call returns an error. If they are equal, the witness does not satisfy the circuit, and the proof is
    /// returned, as in halo2-axiom.
    ///
    /// For the second proof a circuit is synthesized again and must assign the same values.
    pub check: Option<bool>,
    /// The plan for the device's memory; `None`: as much as is free. A plan that keeps no column keeps no key either.
    pub plan: Option<MemoryPlan>,
    /// Minimum number of rows of a column that is committed to while synthesis goes on. `None`: 2^16. A column counts
    /// as finished if a circuit goes to another column after as many assignments in succession as half of the usable
    /// rows. Only proofs of one circuit do this, on the host, and on devices whose kernels address any number of
    /// vectors.
    pub min_early_rows: Option<usize>,
}

/// Default of [`Options::min_early_rows`], 2^16: the commitment to one column of fewer rows takes longer than its
/// synthesis.
const MIN_EARLY_ROWS: usize = 1 << 16;

impl Options {
    /// Returns the minimum number of rows of columns that are committed to while synthesis goes on.
    pub(crate) fn min_early_rows(&self) -> usize {
        self.min_early_rows.unwrap_or(MIN_EARLY_ROWS)
    }

    /// Returns whether the proof is to be verified if a device works on it.
    pub(crate) fn may_check(&self) -> Result<bool, Error> {
        self.is_check_enabled(true)
    }

    /// Returns whether the proof is to be verified before it is returned. `on_device` says whether a device worked on
    /// it.
    pub(crate) fn is_check_enabled(&self, on_device: bool) -> Result<bool, Error> {
        let asked = match self.check {
            Some(check) => Some(check),
            None => Settings::get().map_err(to_halo2_error)?.verify,
        };
        Ok(asked.unwrap_or(on_device))
    }
}

/// Returns an estimate of the device memory that a proof of `circuits` circuits with the key `pk` takes.
///
/// The call takes time in proportion to the key's expressions, and reads no column.
pub fn memory(pk: &ProvingKey<G1Affine>, circuits: usize) -> MemoryEstimate {
    MemoryEstimate::for_circuit(&constraints::convert_circuit(pk), circuits)
}
