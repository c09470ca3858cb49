//! Proves batches of witnesses. An interrupted batch keeps its finished work.

use std::sync::{Arc, OnceLock};

use super::msm_sums_and_proof::{Blinding, PartialMsmSums, PartialResults, assemble};
use super::parameters::ERROR_CONTEXT;
use super::{Circuit, Engine, Proof, ProvingKeyOnDevice, Witness, cpu, gpu};
use crate::backend::{Abort, Device};
use crate::curve::MsmCurve;
use crate::exec::{ExecCtx, Operation, execute};
use crate::rayon_waits::in_place_scope;
use crate::report::OpScope;
use crate::{Accelerator, Error, Report, Result};

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

/// Holds a resumable batch of proofs.
///
/// [`Self::run`] makes the missing proofs. A run that is aborted or fails keeps the MSMs that it finished, and the next
/// run continues from there.
pub struct Batch<'a, E: Engine> {
    key: &'a ProvingKeyOnDevice<E>,
    circuit: &'a Circuit<E::Fr>,
    witnesses: &'a [Witness<'a, E::Fr>],
    r: &'a [E::Fr],
    s: &'a [E::Fr],
    sums: PartialResults<E>,
    blinding: OnceLock<Vec<Blinding<E>>>,
}

impl<'a, E: Engine> Batch<'a, E> {
    /// Creates a batch for proofs of `witnesses`, none of which is made yet. `r` and `s` have one random scalar per
    /// witness, which must be fresh: see [`prove()`].
    ///
    /// # Errors
    /// - [`Error::Invalid`]: there is not one `r` and one `s` for each witness.
    /// - [`Error::Invalid`]: lengths of the key do not match the circuit.
    /// - [`Error::Invalid`]: lengths of a witness do not match the circuit.
    /// - [`Error::Invalid`]: a witness has no evaluations, and the circuit no matrices.
    pub fn new(
        key: &'a ProvingKeyOnDevice<E>,
        circuit: &'a Circuit<E::Fr>,
        witnesses: &'a [Witness<'a, E::Fr>],
        r: &'a [E::Fr],
        s: &'a [E::Fr],
    ) -> Result<Self> {
        Error::check_eq(ERROR_CONTEXT, "number of r", witnesses.len(), r.len())?;
        Error::check_eq(ERROR_CONTEXT, "number of s", witnesses.len(), s.len())?;
        circuit.check_key(key)?;
        witnesses.iter().enumerate().try_for_each(|(number, witness)| witness.check_lengths(number, circuit))?;
        let sums = PartialResults::new(witnesses.len());
        Ok(Self { key, circuit, witnesses, r, s, sums, blinding: OnceLock::new() })
    }

    /// Makes the missing proofs on the devices of `accelerator`, which may differ from the key's accelerator.
    ///
    /// # Errors
    /// - [`Error::Aborted`]: the hook aborted.
    /// - [`Error::Invalid`]: an encoded point is invalid. Its source gives the point's name.
    /// - The bytes of encoded points have changed: the error of their source.
    /// - [`Error::Forked`]: the process was forked from one that had used the engine.
    /// - [`Error::OutOfMemory`], [`Error::Device`]: a forced backend has too little memory, or its driver fails.
    pub fn run(&self, accelerator: &Accelerator, abort: Abort<'_>) -> Result<Report> {
        in_place_scope(|scope| {
            // Runs beside the devices.
            scope.spawn(|_| {
                self.blinding();
            });
            execute(accelerator, accelerator.devices(), &mut MissingProofs(self), abort).map(|((), report)| report)
        })
    }

    /// Returns the number of proofs that are not finished.
    pub fn missing_count(&self) -> usize {
        self.sums.unfinished_witnesses().len()
    }

    /// Returns the proofs, in the order of the witnesses.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: some proofs are missing.
    pub fn proofs(self) -> Result<Vec<Proof<E>>> {
        let missing = self.missing_count();
        if missing > 0 {
            return Err(Error::invalid(ERROR_CONTEXT, "missing proofs of a batch", 0, missing));
        }
        self.blinding();
        let Self { key, sums, blinding, .. } = self;
        let sums: Vec<_> = sums.all().iter().filter_map(PartialMsmSums::to_complete).collect();
        Ok(assemble(key.parameters(), &sums, &blinding.into_inner().unwrap_or_default()))
    }

    fn blinding(&self) -> &[Blinding<E>] {
        let of = |(r, s): (&E::Fr, &E::Fr)| Blinding::new(self.key.parameters(), *r, *s);
        self.blinding.get_or_init(|| self.r.iter().zip(self.s).map(of).collect())
    }
}

/// Makes the missing proofs of a batch.
struct MissingProofs<'b, 'a, E: Engine>(&'b Batch<'a, E>);

impl<E: Engine> Operation for MissingProofs<'_, '_, E> {
    type Output = ();

    fn scope(&self) -> OpScope {
        OpScope { operation: format!("groth16 {}", E::G1Affine::NAME), elements: self.0.circuit.constraints }
    }

    fn on_devices(&mut self, devices: &[Arc<Device>], ctx: ExecCtx<'_>) -> Result<()> {
        let Batch { key, circuit, witnesses, sums, .. } = self.0;
        let missing = sums.unfinished_witnesses();
        let witnesses: Vec<_> = missing.iter().map(|number| witnesses[*number]).collect();
        let part = sums.copy_subset(&missing);
        let result = gpu::prove(devices, key, circuit, &witnesses, &part, ctx);
        // These results are done, even if the rest failed.
        missing.into_iter().zip(part.all()).for_each(|(number, done)| sums.put(number, done));
        result
    }

    fn on_cpu(&mut self, ctx: ExecCtx<'_>) -> Result<()> {
        let Batch { key, circuit, witnesses, sums, .. } = self.0;
        for number in sums.unfinished_witnesses() {
            sums.put(number, cpu::compute_msm_sums(key, circuit, &witnesses[number], ctx)?.into());
        }
        Ok(())
    }
}
