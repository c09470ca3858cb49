//! Queues a device's share of a proof, and waits for it.

use std::sync::Arc;

use super::device_prover::{DeviceProver, gather_or_share};
use super::proof_streams::{MsmQueue, ProofStreams};
use super::quotient::ConstraintVectors;
use crate::Result;
use crate::backend::Stream;
use crate::exec::{ExecCtx, flatten_panic};
use crate::field::DeviceVector;
use crate::groth16::msm_sums_and_proof::PartialMsmSums;
use crate::groth16::schedule::{ProofTask, QueryId, QuerySet};
use crate::groth16::{Engine, Witness};
use crate::msm::{DeviceScalars, QueuedMsm};
use crate::rayon_waits::join;

/// Holds the queued MSMs of one proof on one device. Fields are dropped from top to bottom. MSMs run to their end
/// before the streams are dropped. The streams end their work before the assignment is freed.
pub(crate) struct DeviceProof<'a, E: Engine> {
    pub number: usize,
    pub b_g2: Option<QueuedMsm<'a, E::G2Affine>>,
    /// MSMs over the queries of a, b_g1 and l; `None` for those that this device does not compute.
    pub g1: [Option<QueuedMsm<'a, E::G1Affine>>; 3],
    pub h: Option<QueuedMsm<'a, E::G1Affine>>,
    pub lane: ProofStreams<'a>,
    pub assignment: DeviceVector<E::Fr>,
}

impl<E: Engine> DeviceProof<'_, E> {
    /// Waits for the MSMs, and returns their sums.
    pub(crate) fn finish(self, ctx: ExecCtx<'_>) -> Result<PartialMsmSums<E>> {
        // If an MSM fails, the assignment is freed after all that uses it.
        let Self { assignment: _assignment, mut lane, b_g2, g1: [a, b_g1, l], h, .. } = self;
        let g2 = || b_g2.map(|sum| sum.finish(ctx)).transpose();
        let g1 = || [a, b_g1, l, h].map(|sum| sum.map(|sum| sum.finish(ctx)).transpose());
        // The host's additions for the first take as long as those for all the others together.
        let (b_g2, g1) = join(g2, g1);
        let (b_g2, [a, b_g1, l, h]) = (flatten_panic("groth16", b_g2)?, g1);
        let (a, b_g1, l, h) = (a?, b_g1?, l?, h?);
        // All work is done: this reads the times of kernels.
        lane.compute.synchronize(None)?;
        lane.record_stats();
        Ok(PartialMsmSums { h, l, a, b_g1, b_g2 })
    }
}

/// Holds the scalars of the MSMs over the queries of a, b and l; `None` for those that the device does not compute.
struct SelectedScalars {
    a: Option<DeviceScalars>,
    b: Option<DeviceScalars>,
    l: Option<DeviceScalars>,
}

impl<E: Engine> DeviceProver<'_, E> {
    /// Queues the MSMs of one task, which names the proof and the queries, for `witness`. `proofs` concurrent proofs
    /// share the device's free memory equally.
    ///
    /// Separate threads queue the MSMs that need only the assignment, because a large MSM runs in chunks that wait for
    /// each other. Meanwhile a, b and c are uploaded and transformed.
    pub(crate) fn start<'s>(
        &'s self,
        ProofTask { number, share }: ProofTask,
        witness: &Witness<'_, E::Fr>,
        proofs: usize,
        ctx: ExecCtx<'s>,
    ) -> Result<DeviceProof<'s, E>> {
        ctx.check_abort()?;
        let (tables, circuit) = (&self.tables, self.circuit);
        // Declared before the streams, which finish their work before it is freed.
        let (assignment, vectors);
        let mut lane = ProofStreams::new(self.device, ctx)?;
        assignment = DeviceVector::allocate_uninit(&lane.compute, circuit.variable_count())?;
        let allocate = || ConstraintVectors::allocate(&mut lane.compute, self.domain, circuit);
        vectors = share.has(QueryId::H).then(allocate).transpose()?;
        lane.fence_upload_stream()?;
        lane.upload_assignment(&assignment, witness)?;
        let SelectedScalars { a, b, l } = self.select_scalars(&mut lane.compute, &assignment, share)?;
        let queue = MsmQueue::new(self.device, share, proofs, ctx)?;
        let g2 = || queue.add(QueryId::BG2, tables.get_or_upload_b_g2()?, b.as_ref());
        let g1 = || {
            let a = queue.add(QueryId::A, tables.get_or_upload_g1(QueryId::A)?, a.as_ref())?;
            let b = queue.add(QueryId::BG1, tables.get_or_upload_g1(QueryId::BG1)?, b.as_ref())?;
            Ok([a, b, queue.add(QueryId::L, tables.get_or_upload_g1(QueryId::L)?, l.as_ref())?])
        };
        let h =
            || vectors.map_or(Ok(None), |vectors| self.enqueue_h_msm(&queue, &mut lane, vectors, witness, &assignment));
        let (b_g2, (g1, h)) = join(g2, || join(g1, h));
        let (b_g2, g1) = (flatten_panic("groth16", b_g2)?, flatten_panic("groth16", g1)?);
        Ok(DeviceProof { number, b_g2, g1, h: h?, lane, assignment })
    }

    /// Queues the upload or the computation of a, b and c, the transforms that compute the quotient, then the MSM over
    /// h.
    fn enqueue_h_msm<'s>(
        &'s self,
        queue: &MsmQueue<'_>,
        lane: &mut ProofStreams<'_>,
        vectors: ConstraintVectors<E::Fr>,
        witness: &Witness<'_, E::Fr>,
        assignment: &DeviceVector<E::Fr>,
    ) -> Result<Option<QueuedMsm<'s, E::G1Affine>>> {
        let h = self.enqueue_quotient(vectors, lane, witness, assignment)?;
        let ready = Arc::new(lane.compute.record_event()?);
        let h = self.wrap_quotient(&h, &ready)?;
        queue.add(QueryId::H, self.tables.get_or_upload_g1(QueryId::H)?, Some(&h))
    }

    /// Queues the selection of the scalars for those MSMs over a, b and l that are in `share`, and returns the scalars.
    fn select_scalars(
        &self,
        stream: &mut Stream,
        assignment: &DeviceVector<E::Fr>,
        share: QuerySet,
    ) -> Result<SelectedScalars> {
        let (circuit, chosen) = (self.circuit, &self.chosen);
        let a = share.has(QueryId::A).then(|| gather_or_share(stream, chosen.a.as_ref(), assignment)).transpose()?;
        let b = share.has(QueryId::BG1) || share.has(QueryId::BG2);
        let b = b.then(|| gather_or_share(stream, chosen.b.as_ref(), assignment)).transpose()?;
        let l = share.has(QueryId::L).then(|| assignment.buffer().clone());
        let ready = Arc::new(stream.record_event()?);
        let scalars =
            |buffer: Option<_>, range| buffer.map(|buffer| self.wrap_scalars(buffer, range, &ready)).transpose();
        Ok(SelectedScalars {
            a: scalars(a, 0..circuit.a.len())?,
            b: scalars(b, 0..circuit.b.len())?,
            l: scalars(l, circuit.inputs..circuit.variable_count())?,
        })
    }
}
