//! Proofs on devices: a witness goes up once to each device that has a part of its proof, and everything until the sums
//! is queued without waiting.

use std::any::Any;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use super::circuit::{OfDevice, OnDevice};
use super::key::Held;
use super::queue::{Queue, parts};
use super::quotient::{Vectors, gather};
use super::running::{Running, UnderWay};
use super::spread::{Job, Query, Share, spread};
use super::{Circuit, Engine, ProvingKeyOnDevice, Results, Witness, streamed};
use crate::backend::{Abort, Buffer, Device, Mark, Stream, Traffic, check_abort};
use crate::field::{DeviceVector, NttField, as_bytes};
use crate::msm::{DeviceScalars, Form, Queued};
use crate::ntt::NttDomain;
use crate::side_by_side::side_by_side;
use crate::waiting::beside;
use crate::{Error, Result};

/// Proofs under way at once on a device: what the host does for one hides behind another's kernels.
const IN_FLIGHT: usize = 2;
/// What 1024 elements of a transform take for each bit of its length, on an H200.
const TRANSFORM: Duration = Duration::from_nanos(10);
/// They have to leave so many parts of the free memory, each as large as a proof's vectors.
const MEMORY_PARTS: u64 = 4;

/// Sums side by side may take so many times as long, a fraction, by the model, which knows nothing of what they hide of
/// each other: the ends of kernels, uploads, the host's part.
const SLOWER: (u32, u32) = (3, 2);

/// Makes the sums of all witnesses, spread over the devices.
pub(super) fn prove<E: Engine>(
    devices: &[Arc<Device>],
    key: &ProvingKeyOnDevice<E>,
    circuit: &Circuit<E::Fr>,
    witnesses: &[Witness<'_, E::Fr>],
    results: &Results<E>,
    abort: Abort<'_>,
) -> Result<Traffic> {
    let jobs = spread(witnesses.len(), devices.len(), &key.costs());
    let jobs = jobs.into_iter().map(|jobs| results.missing_of(&jobs));
    let shares = devices.iter().zip(jobs).filter(|(_, jobs)| !jobs.is_empty());
    let parts = side_by_side("groth16", shares, |(device, jobs)| {
        Prover::new(device, key, circuit, &jobs, abort)?.prove(&jobs, witnesses, results, abort)
    });
    parts.into_iter().try_fold(Traffic::default(), |sum, part| Ok(sum + part?))
}

/// Two streams: one copies inputs to the device, the other computes.
pub(super) struct Lane<'a> {
    upload: Stream,
    pub compute: Stream,
    abort: Abort<'a>,
}

impl<'a> Lane<'a> {
    pub fn new(device: &Arc<Device>, abort: Abort<'a>) -> Result<Self> {
        Ok(Self { upload: device.stream()?, compute: device.stream()?, abort })
    }

    /// Lets uploads wait for whatever had the memory before that the computing stream has allocated until now.
    pub fn allocated(&mut self) -> Result<()> {
        self.upload.wait_for(&self.compute.mark()?)
    }

    /// Queues the upload of slices one after another into a vector of the computing stream, which waits for it.
    pub fn upload<F: NttField>(&mut self, vector: &DeviceVector<F>, slices: &[&[F]]) -> Result<()> {
        let mut offset = 0;
        for slice in slices.iter().map(|slice| as_bytes(slice)) {
            self.upload.upload_unless(vector.buffer(), offset, slice, self.abort)?;
            offset += slice.len();
        }
        self.compute.wait_for(&self.upload.mark()?)
    }

    /// Queues work on vectors of so many elements that takes about as long as a transform.
    pub fn transform(&mut self, elements: usize, work: impl FnOnce(&mut Stream) -> Result<()>) -> Result<()> {
        let time = TRANSFORM * (elements / 1024) as u32 * elements.max(2).ilog2();
        let device = self.compute.device().clone();
        let turn = device.pace(&self.compute, time, self.abort)?;
        self.compute.mark_start()?;
        work(&mut self.compute)?;
        self.compute.mark_end()?;
        if let Some(turn) = turn {
            turn.ends(Arc::new(self.compute.mark()?));
        }
        Ok(())
    }

    pub fn traffic(&self) -> Traffic {
        self.upload.traffic() + self.compute.traffic()
    }
}

/// One device with what it needs of the key and the circuit.
pub(super) struct Prover<'a, E: Engine> {
    pub device: &'a Arc<Device>,
    pub circuit: &'a Circuit<E::Fr>,
    pub tables: Held<'a, E>,
    pub chosen: Arc<OnDevice>,
    pub matrices: Option<OfDevice<E::Fr>>,
    pub domain: NttDomain<E::Fr>,
}

/// The scalars of those of a, b and l that a device sums.
struct Selections {
    a: Option<DeviceScalars>,
    b: Option<DeviceScalars>,
    l: Option<DeviceScalars>,
}

impl<'a, E: Engine> Prover<'a, E> {
    fn new(
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

    /// Does jobs; several share what is streamed of the key.
    fn prove(
        &self,
        jobs: &[Job],
        witnesses: &[Witness<'_, E::Fr>],
        results: &Results<E>,
        abort: Abort<'_>,
    ) -> Result<Traffic> {
        if jobs.len() > 1 && self.tables.is_streamed() {
            return streamed::prove(self, jobs, witnesses, results, abort);
        }
        self.prove_each(jobs, witnesses, results, abort)
    }

    /// Does jobs in their order, some under way at once.
    pub fn prove_each(
        &self,
        jobs: &[Job],
        witnesses: &[Witness<'_, E::Fr>],
        results: &Results<E>,
        abort: Abort<'_>,
    ) -> Result<Traffic> {
        let mut running = Running::new(self, self.at_once(jobs.len())?, results, abort);
        jobs.iter().try_for_each(|job| running.add(*job, witnesses))?;
        running.finish()
    }

    /// How many proofs are under way at once; none where their sums have too little memory side by side.
    fn at_once(&self, jobs: usize) -> Result<usize> {
        let elements = 3 * (1u64 << self.domain.log_n()) + 3 * self.circuit.variables() as u64;
        let (free, vectors) = (self.device.free_memory()?, 32 * elements);
        let most = if free / MEMORY_PARTS >= vectors { IN_FLIGHT.min(jobs).max(1) } else { 1 };
        let good = |proofs: &usize| self.has_room(free.saturating_sub(vectors * *proofs as u64), *proofs);
        self.tables.at_once(free, most, || (1..=most).rev().find(good).unwrap_or(0))
    }

    /// Whether the sums of so many proofs side by side take hardly more by the model than one after the other, of which each
    /// has all the memory.
    fn has_room(&self, bytes: u64, proofs: usize) -> bool {
        let parts = parts(proofs);
        let side_by_side = self.tables.time_within(bytes / parts as u64, parts);
        let in_turn = || self.tables.time_within(bytes, 1).unwrap_or(Duration::MAX);
        side_by_side.is_some_and(|time| time <= in_turn().saturating_mul(SLOWER.0) / SLOWER.1)
    }

    /// Queues the device's share of a proof, with an equal part of the free memory where so many share it.
    ///
    /// The sums that need the assignment alone are queued by threads of their own, since large ones go in chunks that
    /// wait for each other, while a, b and c go up and are transformed.
    pub fn start<'s>(
        &'s self,
        Job { number, share }: Job,
        witness: &Witness<'_, E::Fr>,
        proofs: usize,
        abort: Abort<'s>,
    ) -> Result<UnderWay<'s, E>> {
        check_abort(abort)?;
        let (tables, circuit) = (&self.tables, self.circuit);
        // Declared before the streams, which run empty before it goes.
        let (assignment, vectors);
        let mut lane = Lane::new(self.device, abort)?;
        assignment = DeviceVector::allocate(&lane.compute, circuit.variables())?;
        let allocate = || Vectors::allocate(&mut lane.compute, &self.domain, circuit);
        vectors = share.has(Query::H).then(allocate).transpose()?;
        lane.allocated()?;
        lane.upload(&assignment, &[witness.inputs, witness.aux])?;
        let Selections { a, b, l } = self.selections(&mut lane.compute, &assignment, share)?;
        let queue = Queue::new(self.device, share, proofs, abort)?;
        let g2 = || queue.add(Query::BG2, tables.b_g2()?, b.as_ref());
        let g1 = || {
            let a = queue.add(Query::A, tables.g1(Query::A)?, a.as_ref())?;
            let b = queue.add(Query::BG1, tables.g1(Query::BG1)?, b.as_ref())?;
            Ok([a, b, queue.add(Query::L, tables.g1(Query::L)?, l.as_ref())?])
        };
        let h = || vectors.map_or(Ok(None), |vectors| self.h(&queue, &mut lane, vectors, witness, &assignment));
        let (b_g2, (g1, h)) = beside(g2, || beside(g1, h));
        let panicked = |panic: Box<dyn Any + Send>| Error::panicked("groth16", &*panic);
        let (b_g2, g1) = (b_g2.map_err(panicked)?, g1.map_err(panicked)?);
        Ok(UnderWay { number, b_g2: b_g2?, g1: g1?, h: h?, lane, assignment })
    }

    /// Queues the transforms and the sum over h.
    fn h<'s>(
        &'s self,
        queue: &Queue<'_>,
        lane: &mut Lane<'_>,
        vectors: Vectors<E::Fr>,
        witness: &Witness<'_, E::Fr>,
        assignment: &DeviceVector<E::Fr>,
    ) -> Result<Option<Queued<'s, E::G1Affine>>> {
        let matrices = self.matrices.as_ref();
        let h = vectors.quotient(lane, &self.domain, matrices, witness, assignment)?;
        let ready = Arc::new(lane.compute.mark()?);
        let h = self.scalars(h.buffer().clone(), 0..h.len() - 1, &ready)?;
        queue.add(Query::H, self.tables.g1(Query::H)?, Some(&h))
    }

    /// The scalars of a, b and l, as far as a share has sums of them.
    fn selections(&self, stream: &mut Stream, assignment: &DeviceVector<E::Fr>, share: Share) -> Result<Selections> {
        let (circuit, chosen) = (self.circuit, &self.chosen);
        let a = share.has(Query::A).then(|| select(stream, chosen.a.as_ref(), assignment)).transpose()?;
        let b = share.has(Query::BG1) || share.has(Query::BG2);
        let b = b.then(|| select(stream, chosen.b.as_ref(), assignment)).transpose()?;
        let l = share.has(Query::L).then(|| assignment.buffer().clone());
        let ready = Arc::new(stream.mark()?);
        let scalars = |buffer: Option<_>, range| buffer.map(|buffer| self.scalars(buffer, range, &ready)).transpose();
        Ok(Selections {
            a: scalars(a, 0..circuit.a.len())?,
            b: scalars(b, 0..circuit.b.len())?,
            l: scalars(l, circuit.inputs..circuit.variables())?,
        })
    }

    /// Elements of a buffer as scalars, once a mark has been passed.
    pub fn scalars(&self, buffer: Arc<Buffer>, range: Range<usize>, ready: &Arc<Mark>) -> Result<DeviceScalars> {
        let scalars = DeviceScalars::from_range(self.device, buffer, range, Form::Montgomery)?;
        Ok(scalars.after(ready.clone()))
    }
}

/// The values of chosen variables, or of all.
pub(super) fn select<F: NttField>(
    stream: &mut Stream,
    chosen: Option<&Buffer>,
    assignment: &DeviceVector<F>,
) -> Result<Arc<Buffer>> {
    chosen.map_or_else(|| Ok(assignment.buffer().clone()), |chosen| gather(stream, chosen, assignment))
}
