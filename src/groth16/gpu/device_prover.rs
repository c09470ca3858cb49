//! Holds one device with the parts of the key and the circuit that it needs.

use std::ops::Range;
use std::sync::Arc;

use super::quotient::gather;
use super::schedule::{ProofTask, QueryId, QuerySet};
use crate::Result;
use crate::backend::{Abort, Buffer, Device, Event, Stream};
use crate::field::{DeviceVector, NttField};
use crate::groth16::circuit_and_witness::{DeviceMatrices, DeviceVariableIndices};
use crate::groth16::key::DeviceKey;
use crate::groth16::{Circuit, Engine, ProvingKeyOnDevice};
use crate::msm::{DeviceScalars, ScalarForm};
use crate::ntt::NttDomain;

/// Holds everything that one device needs for its proofs: its queries of the key, the circuit's data and the NTT
/// domain.
pub(crate) struct DeviceProver<'a, E: Engine> {
    pub device: &'a Arc<Device>,
    pub circuit: &'a Circuit<E::Fr>,
    pub tables: DeviceKey<'a, E>,
    pub chosen: Arc<DeviceVariableIndices>,
    pub matrices: Option<DeviceMatrices<E::Fr>>,
    pub domain: NttDomain<E::Fr>,
}

impl<'a, E: Engine> DeviceProver<'a, E> {
    pub(crate) fn new(
        device: &'a Arc<Device>,
        key: &'a ProvingKeyOnDevice<E>,
        circuit: &'a Circuit<E::Fr>,
        jobs: &[ProofTask],
        abort: Abort<'a>,
    ) -> Result<Self> {
        let share = jobs.iter().fold(QuerySet::default(), |all, job| all.or(job.share));
        let tables = key.prepare_device_key(device, share, abort)?;
        let chosen = circuit.get_or_upload_indices(device, abort)?;
        let matrices = if share.has(QueryId::H) { circuit.get_or_upload_matrices(device, abort)? } else { None };
        let domain = NttDomain::new(key.accelerator(), key.domain_size().trailing_zeros())?;
        Ok(Self { device, circuit, tables, chosen, matrices, domain })
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
