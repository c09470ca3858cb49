//! Proofs of a batch of witnesses.

use super::batch::Batch;
use super::{Circuit, Engine, Proof, ProvingKeyOnDevice, Witness};
use crate::backend::Abort;
use crate::{Report, Result};

/// A proof for each witness, with its r and s of the zero-knowledge blinding.
///
/// **r and s must be fresh**: drawn for each proof alone, uniformly, from a generator fit for cryptography, and told to nobody. A
/// proof whose r and s are zero, known, or those of another proof is valid all the same, but not zero-knowledge: it may give
/// the witness away.
///
/// `abort` is asked whether to stop, every few milliseconds; with `None` nobody may ([`Abort`]). [`Batch`] keeps what was
/// done until then.
///
/// The circuits of a batch are spread over the devices. Where fewer circuits are left than devices, the sums of each circuit
/// are spread. Each device has some circuits under way at once. Where a device fails and no backend is forced, the proofs that
/// are not finished by then are made on the CPU, and the report says why.
///
/// # Errors
/// Lengths of the key, the circuit, the witnesses and the randomness do not match, there are neither evaluations nor
/// matrices, the hook aborted, or a forced backend failed.
pub fn prove<E: Engine>(
    key: &ProvingKeyOnDevice<E>,
    circuit: &Circuit<E::Fr>,
    witnesses: &[Witness<'_, E::Fr>],
    r: &[E::Fr],
    s: &[E::Fr],
    abort: Abort<'_>,
) -> Result<(Vec<Proof<E>>, Report)> {
    let batch = Batch::new(key, circuit, witnesses, r, s)?;
    let report = batch.run(key.accelerator(), abort)?;
    Ok((batch.proofs()?, report))
}
