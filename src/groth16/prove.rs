//! Proves a batch of witnesses.

use super::resumable_batch::Batch;
use super::{Circuit, Engine, Proof, ProvingKeyOnDevice, Witness};
use crate::backend::Abort;
use crate::{Report, Result};

/// Makes one proof for each of `witnesses`, in the same order. `r` and `s` have one random scalar per witness, for the
/// zero-knowledge blinding.
///
/// **r and s must be fresh**: drawn uniformly for each proof alone, from a cryptographic generator, and kept secret. A
/// proof whose r and s are zero, known, or those of another proof is valid, but not zero-knowledge: it may reveal the
/// witness.
///
/// The hook `abort` is called every few milliseconds, and may stop the proofs; with `None`, nothing stops them
/// ([`Abort`]). A [`Batch`] keeps the work that was done until then.
///
/// The circuits of a batch are spread over the devices. If fewer circuits than devices are left, the MSMs of each
/// circuit are spread. Each device has some circuits in flight at once. If a device fails and no backend is forced, the
/// CPU makes the proofs that are not finished by then, and the report says why.
///
/// # Errors
/// - [`Error::Invalid`](crate::Error::Invalid): lengths of the key, the circuit, the witnesses and the randomness do
///   not match.
/// - [`Error::Invalid`](crate::Error::Invalid): a witness has no evaluations, and the circuit no matrices.
/// - [`Error::Invalid`](crate::Error::Invalid): an encoded point is invalid. Its source gives the point's name.
/// - The bytes of encoded points have changed: the error of their source.
/// - [`Error::Aborted`](crate::Error::Aborted): the hook aborted.
/// - [`Error::Forked`](crate::Error::Forked): the process was forked from one that had used the engine.
/// - [`Error::OutOfMemory`](crate::Error::OutOfMemory), [`Error::Device`](crate::Error::Device): a forced backend has
///   too little memory, or its driver fails.
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
