//! Holds one device with the parts of the key and the circuit that it needs.

use std::ops::Range;
use std::sync::Arc;

use super::proof_streams::ProofStreams;
use super::quotient::{ConstraintVectors, gather};
use crate::Result;
use crate::backend::{Buffer, Device, Event, Stream};
use crate::exec::ExecCtx;
use crate::field::{DeviceVector, NttField};
use crate::groth16::circuit_and_witness::{DeviceMatrices, DeviceVariableIndices};
use crate::groth16::key::DeviceKey;
use crate::groth16::schedule::{ProofTask, QueryId, QuerySet};
use crate::groth16::{Circuit, Engine, ProvingKeyOnDevice, QuotientForm, Witness};
use crate::msm::{DeviceScalars, ScalarForm};
use crate::ntt::NttDomain;

/// Holds everything that one device needs for its proofs: its queries of the key, the circuit's data and the NTT
/// domain.
pub(crate) struct DeviceProver<'a, E: Engine> {
    pub device: &'a Arc<Device>,
    pub circuit: &'a Circuit<E::Fr>,
    pub tables: DeviceKey<'a, E>,
    pub chosen: Arc<DeviceVariableIndices>,
    pub matrices: DeviceMatrices<E::Fr>,
    pub domain: &'a NttDomain<E::Fr>,
    pub quotient_form: QuotientForm<E::Fr>,
}

impl<'a, E: Engine> DeviceProver<'a, E> {
    pub(crate) fn new(
        device: &'a Arc<Device>,
        key: &'a ProvingKeyOnDevice<E>,
        circuit: &'a Circuit<E::Fr>,
        jobs: &[ProofTask],
        ctx: ExecCtx<'a>,
    ) -> Result<Self> {
        let share = jobs.iter().fold(QuerySet::default(), |all, job| all.or(job.share));
        let tables = key.prepare_device_key(device, share, ctx)?;
        let chosen = circuit.get_or_upload_indices(device, ctx)?;
        let matrices = if share.has(QueryId::H) { circuit.get_or_upload_matrices(device, ctx)? } else { Vec::new() };
        let (domain, quotient_form) = (key.domain(), key.quotient_form());
        Ok(Self { device, circuit, tables, chosen, matrices, domain, quotient_form })
    }

    /// Queues the computation of the quotient for `witness`, whose `assignment` is on the device. `vectors` is the
    /// memory for a, b and c. Returns one element for each of the domain.
    pub(crate) fn enqueue_quotient(
        &self,
        vectors: ConstraintVectors<E::Fr>,
        lane: &mut ProofStreams<'_>,
        witness: &Witness<'_, E::Fr>,
        assignment: &DeviceVector<E::Fr>,
    ) -> Result<DeviceVector<E::Fr>> {
        if witness.evaluations.is_none() {
            vectors.enqueue_products(lane, &self.matrices, assignment)?;
        }
        vectors.quotient(lane, self.domain, &self.quotient_form, witness.evaluations)
    }

    /// Returns the scalars of the MSM over h, taken from `quotient`, which has an element for each of the domain. MSMs
    /// read them after `ready`. In coefficients, the last element is zero and has no base.
    pub(crate) fn wrap_quotient(&self, quotient: &DeviceVector<E::Fr>, ready: &Arc<Event>) -> Result<DeviceScalars> {
        let count = match self.quotient_form {
            QuotientForm::Coefficients { .. } => quotient.len() - 1,
            QuotientForm::CosetValues { .. } => quotient.len(),
        };
        self.wrap_scalars(quotient.buffer().clone(), 0..count, ready)
    }

    /// Returns the elements in `range` of `buffer` as scalars in Montgomery form. MSMs read them only after the event
    /// `ready`.
    pub(crate) fn wrap_scalars(
        &self,
        buffer: Arc<Buffer>,
        range: Range<usize>,
        ready: &Arc<Event>,
    ) -> Result<DeviceScalars> {
        let scalars = DeviceScalars::from_range(self.device, buffer, range, ScalarForm::Montgomery)?;
        Ok(scalars.ready_after(ready.clone()))
    }
}

/// Returns the values in `assignment` at the indices `chosen`, gathered on `stream`. With `None`, returns the buffer of
/// all values without a copy.
pub(crate) fn gather_or_share<F: NttField>(
    stream: &mut Stream,
    chosen: Option<&Buffer>,
    assignment: &DeviceVector<F>,
) -> Result<Arc<Buffer>> {
    chosen.map_or_else(|| Ok(assignment.buffer().clone()), |chosen| gather(stream, chosen, assignment))
}
