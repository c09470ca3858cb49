//! Holds one device with the parts of the key and the circuit that it needs.

use std::ops::Range;
use std::sync::Arc;

use super::circuit::{OfDevice, OnDevice};
use super::key::Held;
use super::quotient::gather;
use super::spread::{Job, Query, Share};
use super::{Circuit, Engine, ProvingKeyOnDevice};
use crate::Result;
use crate::backend::{Abort, Buffer, Device, Mark, Stream};
use crate::field::{DeviceVector, NttField};
use crate::msm::{DeviceScalars, Form};
use crate::ntt::NttDomain;

/// Holds one device with the parts of the key and the circuit that it needs.
pub(super) struct Prover<'a, E: Engine> {
    pub device: &'a Arc<Device>,
    pub circuit: &'a Circuit<E::Fr>,
    pub tables: Held<'a, E>,
    pub chosen: Arc<OnDevice>,
    pub matrices: Option<OfDevice<E::Fr>>,
    pub domain: NttDomain<E::Fr>,
}

impl<'a, E: Engine> Prover<'a, E> {
    pub fn new(
        device: &'a Arc<Device>,
        key: &'a ProvingKeyOnDevice<E>,
        circuit: &'a Circuit<E::Fr>,
        jobs: &[Job],
        abort: Abort<'a>,
    ) -> Result<Self> {
        let share = jobs.iter().fold(Share::default(), |all, job| all.or(job.share));
        let tables = key.on_device(device, share, abort)?;
        let chosen = circuit.on_device(device, abort)?;
        let matrices = if share.has(Query::H) { circuit.matrices_on_device(device, abort)? } else { None };
        let domain = NttDomain::new(key.accelerator(), key.domain().trailing_zeros())?;
        Ok(Self { device, circuit, tables, chosen, matrices, domain })
    }

    /// Returns elements of `buffer` as scalars, which are ready after the event `ready`.
    pub fn scalars(&self, buffer: Arc<Buffer>, range: Range<usize>, ready: &Arc<Mark>) -> Result<DeviceScalars> {
        let scalars = DeviceScalars::from_range(self.device, buffer, range, Form::Montgomery)?;
        Ok(scalars.after(ready.clone()))
    }
}

/// Returns the values of the `chosen` variables, or of all.
pub(super) fn select<F: NttField>(
    stream: &mut Stream,
    chosen: Option<&Buffer>,
    assignment: &DeviceVector<F>,
) -> Result<Arc<Buffer>> {
    chosen.map_or_else(|| Ok(assignment.buffer().clone()), |chosen| gather(stream, chosen, assignment))
}
