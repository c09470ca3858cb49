//! Holds one device with the parts of the key and the circuit that it needs.

use std::ops::Range;
use std::sync::Arc;

use super::proof_streams::ProofStreams;
use super::quotient::{ConstraintVectors, VectorSource, enqueue_product, gather};
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
    /// The circuit's matrices. `None` if memory is too short for them and for a, b and c at once. Then each proof makes
    /// a, b and c one after another, and uploads the matrix of each.
    pub matrices: Option<DeviceMatrices<E::Fr>>,
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
        let (domain, quotient_form) = (key.domain(), key.quotient_form());
        let matrices = match share.has(QueryId::H) {
            true if !circuit.has_room_for_matrices(device, 1 << domain.log_n())? => None,
            true => Some(circuit.get_or_upload_matrices(device, ctx)?),
            false => Some(Vec::new()),
        };
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
            vectors.enqueue_products(lane, self.matrices.as_deref().unwrap_or_default(), assignment)?;
        }
        vectors.quotient(lane, self.domain, &self.quotient_form, witness.evaluations)
    }

    /// Queues the computation of the quotient as [`Self::enqueue_quotient`] does, but in as little memory as
    /// [`Self::matrices`] requires. It allocates the vectors.
    pub(crate) fn enqueue_quotient_in_short_memory(
        &self,
        lane: &mut ProofStreams<'_>,
        witness: &Witness<'_, E::Fr>,
        assignment: &DeviceVector<E::Fr>,
        ctx: ExecCtx<'_>,
    ) -> Result<DeviceVector<E::Fr>> {
        if self.matrices.is_some() {
            let vectors = ConstraintVectors::allocate(&mut lane.compute, self.domain, self.circuit)?;
            lane.fence_upload_stream()?;
            return self.enqueue_quotient(vectors, lane, witness, assignment);
        }
        let product = |lane: &mut ProofStreams<'_>, number, to: &DeviceVector<E::Fr>| {
            let matrix = self.circuit.upload_matrix(self.device, number, ctx)?;
            enqueue_product(lane, &matrix, assignment, to)
        };
        let source =
            VectorSource { domain: self.domain, circuit: self.circuit, evaluations: witness.evaluations, product };
        source.enqueue_quotient(lane, &self.quotient_form)
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
