//! Proofs on devices: a witness goes up once, and everything until the sums is queued without waiting.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::{Arc, Mutex};

use super::circuit::OnDevice;
use super::key::Tables;
use super::proof::Sums;
use super::quotient::{Vectors, gather};
use super::{Circuit, Engine, ProvingKeyOnDevice, Results, Witness};
use crate::backend::{Abort, Buffer, Device, Mark, Stream, Traffic, lock};
use crate::curve::MsmCurve;
use crate::field::{DeviceVector, NttField, as_bytes};
use crate::msm::{DeviceScalars, Form, Msm, Queued};
use crate::ntt::NttDomain;
use crate::side_by_side::side_by_side;
use crate::{Error, Result};

/// Multiplications of a proof.
const SUMS: usize = 5;
/// Proofs under way at once on a device: what the host does for one hides behind another's kernels.
const IN_FLIGHT: usize = 2;
/// They have to leave so many parts of the free memory, each as large as a proof's vectors.
const MEMORY_PARTS: u64 = 4;

/// Makes the sums of all witnesses, a run of them on each device.
pub(super) fn prove<E: Engine>(
    devices: &[Arc<Device>],
    key: &ProvingKeyOnDevice<E>,
    circuit: &Circuit<E::Fr>,
    witnesses: &[Witness<'_, E::Fr>],
    results: &Results<E>,
    abort: Abort<'_>,
) -> Result<Traffic> {
    let share = witnesses.len().div_ceil(devices.len()).max(1);
    let shares = devices.iter().zip(witnesses.chunks(share)).enumerate();
    let parts = side_by_side("groth16", shares, |(number, (device, witnesses))| {
        let put = |position: usize, sums| results.put(number * share + position, sums);
        Prover::new(device, key, circuit)?.prove(witnesses, &put, abort)
    });
    parts.into_iter().try_fold(Traffic::default(), |sum, part| Ok(sum + part?))
}

/// Two streams: one copies inputs to the device, the other computes.
pub(super) struct Lane {
    upload: Stream,
    pub compute: Stream,
}

impl Lane {
    fn new(device: &Arc<Device>) -> Result<Self> {
        Ok(Self { upload: device.stream()?, compute: device.stream()? })
    }

    /// Lets uploads wait for whatever had the memory before that the computing stream has allocated until now.
    fn allocated(&mut self) -> Result<()> {
        self.upload.wait_for(&self.compute.mark()?)
    }

    /// Queues the upload of slices one after another into a vector of the computing stream, which waits for it.
    pub fn upload<F: NttField>(&mut self, vector: &DeviceVector<F>, slices: &[&[F]]) -> Result<()> {
        let mut offset = 0;
        for slice in slices {
            self.upload.upload_at(vector.buffer(), offset, as_bytes(slice))?;
            offset += size_of_val(*slice);
        }
        self.compute.wait_for(&self.upload.mark()?)
    }
}

/// How the sums of proofs under way share a device's free memory.
#[derive(Debug, Clone, Copy)]
enum Sharing {
    /// All at once, of so many proofs.
    AtOnce(usize),
    /// Transforms and each sum one after the other, where there is too little for that.
    InTurn,
}

impl Sharing {
    /// Equal parts, of which the sum of a number takes one, and one is left to what transforms take beside.
    fn parts(self, sum: usize) -> usize {
        match self {
            Self::AtOnce(proofs) => SUMS * proofs + 1 - sum,
            Self::InTurn => 1,
        }
    }
}

/// A sum under way, or done.
enum Sum<'a, C: MsmCurve> {
    Queued(Queued<'a, C>),
    Done(C::Curve, Traffic),
}

impl<C: MsmCurve> Sum<'_, C> {
    fn finish(self, abort: Abort<'_>) -> Result<(C::Curve, Traffic)> {
        match self {
            Self::Queued(sum) => sum.finish(abort),
            Self::Done(sum, traffic) => Ok((sum, traffic)),
        }
    }
}

/// Queues sums as they share the memory.
struct Queue<'a> {
    sharing: Sharing,
    turn: Mutex<()>,
    abort: Abort<'a>,
}

impl Queue<'_> {
    fn add<'m, C: MsmCurve>(&self, number: usize, msm: &'m Msm<'_, C>, scalars: &DeviceScalars) -> Result<Sum<'m, C>> {
        let parts = self.sharing.parts(number);
        match self.sharing {
            Sharing::AtOnce(_) => msm.queue(scalars, parts, self.abort).map(Sum::Queued),
            Sharing::InTurn => {
                let _turn = lock(&self.turn);
                let (sum, traffic) = msm.queue(scalars, parts, self.abort)?.finish(self.abort)?;
                Ok(Sum::Done(sum, traffic))
            }
        }
    }

    /// Queues transforms.
    fn transforms<T>(&self, lane: &mut Lane, work: impl FnOnce(&mut Lane) -> Result<T>) -> Result<T> {
        match self.sharing {
            Sharing::AtOnce(_) => work(lane),
            Sharing::InTurn => {
                let _turn = lock(&self.turn);
                let result = work(lane)?;
                lane.compute.wait(self.abort)?;
                Ok(result)
            }
        }
    }
}

/// A proof under way. Dropped from top to bottom: multiplications run to their end before streams, and streams before
/// the assignment goes.
struct UnderWay<'a, E: Engine> {
    number: usize,
    b_g2: Sum<'a, E::G2Affine>,
    /// a, b_g1 and l.
    g1: [Sum<'a, E::G1Affine>; 3],
    h: Sum<'a, E::G1Affine>,
    lane: Lane,
    _assignment: DeviceVector<E::Fr>,
}

/// Takes the sums of a witness by its number.
type Put<'a, E> = &'a dyn Fn(usize, Sums<E>);

/// The proofs of a batch on one device.
struct Batch<'a, 'b, E: Engine> {
    prover: &'a Prover<'b, E>,
    /// Most proofs under way; 0 where even one has to make its sums in turn.
    at_once: usize,
    running: VecDeque<UnderWay<'a, E>>,
    traffic: Traffic,
    put: Put<'a, E>,
    abort: Abort<'a>,
}

impl<E: Engine> Batch<'_, '_, E> {
    /// Starts a proof once there is a place for it.
    fn add(&mut self, number: usize, witness: &Witness<'_, E::Fr>) -> Result<()> {
        self.finish_to(self.at_once.saturating_sub(1))?;
        if self.at_once > 0 {
            let sharing = Sharing::AtOnce(self.at_once - self.running.len());
            match self.prover.start(number, witness, sharing, self.abort) {
                Err(Error::OutOfMemory { requested, available, .. }) => {
                    log::warn!("groth16: one sum after the other: {requested} bytes wanted, {available} free");
                    self.at_once = 0;
                    self.finish_to(0)?;
                }
                started => {
                    self.running.push_back(started?);
                    return Ok(());
                }
            }
        }
        self.running.push_back(self.prover.start(number, witness, Sharing::InTurn, self.abort)?);
        Ok(())
    }

    /// Waits until at most so many proofs are under way.
    fn finish_to(&mut self, most: usize) -> Result<()> {
        while self.running.len() > most {
            let Some(proof) = self.running.pop_front() else { break };
            let number = proof.number;
            let (sums, traffic) = proof.finish(self.abort)?;
            (self.put)(number, sums);
            self.traffic = self.traffic + traffic;
        }
        Ok(())
    }
}

/// One device with what it has of the key and the circuit.
struct Prover<'a, E: Engine> {
    device: &'a Arc<Device>,
    circuit: &'a Circuit<E::Fr>,
    tables: Arc<Tables<E>>,
    part: Arc<OnDevice<E::Fr>>,
    domain: NttDomain<E::Fr>,
}

impl<'a, E: Engine> Prover<'a, E> {
    fn new(device: &'a Arc<Device>, key: &ProvingKeyOnDevice<E>, circuit: &'a Circuit<E::Fr>) -> Result<Self> {
        let tables = key.on_device(device)?;
        let part = circuit.on_device(device)?;
        let domain = NttDomain::new(key.accelerator(), key.domain().trailing_zeros())?;
        Ok(Self { device, circuit, tables, part, domain })
    }

    /// Makes the sums of witnesses in their order, some under way at once.
    fn prove(&self, witnesses: &[Witness<'_, E::Fr>], put: Put<'_, E>, abort: Abort<'_>) -> Result<Traffic> {
        let at_once = self.at_once(witnesses.len())?;
        let traffic = Traffic::default();
        let mut batch = Batch { prover: self, at_once, running: VecDeque::new(), traffic, put, abort };
        for (number, witness) in witnesses.iter().enumerate() {
            batch.add(number, witness)?;
        }
        batch.finish_to(0)?;
        Ok(batch.traffic)
    }

    /// How many proofs are under way at once.
    fn at_once(&self, witnesses: usize) -> Result<usize> {
        let elements = 3 * (1u64 << self.domain.log_n()) + 3 * self.circuit.variables() as u64;
        let fits = self.device.free_memory()? / MEMORY_PARTS >= 32 * elements;
        Ok(if fits { IN_FLIGHT.min(witnesses).max(1) } else { 1 })
    }

    /// Queues a proof.
    ///
    /// The sums that need the assignment alone are queued by threads of their own, since large ones go in chunks that
    /// wait for each other, while a, b and c go up and are transformed.
    fn start(
        &self,
        number: usize,
        witness: &Witness<'_, E::Fr>,
        sharing: Sharing,
        abort: Abort<'_>,
    ) -> Result<UnderWay<'_, E>> {
        check(abort)?;
        let (tables, circuit) = (&*self.tables, self.circuit);
        // Declared before the streams, which run empty before it goes.
        let (assignment, vectors);
        let mut lane = Lane::new(self.device)?;
        assignment = DeviceVector::allocate(&lane.compute, circuit.variables())?;
        vectors = Vectors::allocate(&mut lane.compute, &self.domain, circuit)?;
        lane.allocated()?;
        lane.upload(&assignment, &[witness.inputs, witness.aux])?;
        let [a, b, l] = self.selections(&mut lane.compute, &assignment)?;
        let queue = Queue { sharing, turn: Mutex::default(), abort };
        std::thread::scope(|scope| {
            let g2 = scope.spawn(|| queue.add(0, &tables.b_g2, &b));
            let g1 = scope.spawn(|| {
                Ok([queue.add(1, &tables.a, &a)?, queue.add(2, &tables.b_g1, &b)?, queue.add(3, &tables.l, &l)?])
            });
            let quotient = |lane: &mut _| vectors.quotient(lane, &self.domain, &self.part, witness, &assignment);
            let h = queue.transforms(&mut lane, quotient);
            let h = h.and_then(|h| {
                let ready = Arc::new(lane.compute.mark()?);
                queue.add(4, &tables.h, &self.scalars(h.buffer().clone(), 0..h.len() - 1, &ready)?)
            });
            let panicked = |_| Error::panicked("groth16");
            let (b_g2, g1) = (g2.join().map_err(panicked)?, g1.join().map_err(panicked)?);
            Ok(UnderWay { number, b_g2: b_g2?, g1: g1?, h: h?, lane, _assignment: assignment })
        })
    }

    /// The scalars of a, b and l.
    fn selections(&self, stream: &mut Stream, assignment: &DeviceVector<E::Fr>) -> Result<[DeviceScalars; 3]> {
        let circuit = self.circuit;
        let a = select(stream, self.part.a.as_ref(), assignment)?;
        let b = select(stream, self.part.b.as_ref(), assignment)?;
        let ready = Arc::new(stream.mark()?);
        Ok([
            self.scalars(a, 0..circuit.a.len(), &ready)?,
            self.scalars(b, 0..circuit.b.len(), &ready)?,
            self.scalars(assignment.buffer().clone(), circuit.inputs..circuit.variables(), &ready)?,
        ])
    }

    /// Elements of a buffer as scalars, once a mark has been passed.
    fn scalars(&self, buffer: Arc<Buffer>, range: Range<usize>, ready: &Arc<Mark>) -> Result<DeviceScalars> {
        let scalars = DeviceScalars::from_range(self.device, buffer, range, Form::Montgomery)?;
        Ok(scalars.after(ready.clone()))
    }
}

/// The values of chosen variables, or of all.
fn select<F: NttField>(
    stream: &mut Stream,
    chosen: Option<&Buffer>,
    assignment: &DeviceVector<F>,
) -> Result<Arc<Buffer>> {
    chosen.map_or_else(|| Ok(assignment.buffer().clone()), |chosen| gather(stream, chosen, assignment))
}

impl<E: Engine> UnderWay<'_, E> {
    /// Waits for the sums.
    fn finish(self, abort: Abort<'_>) -> Result<(Sums<E>, Traffic)> {
        // The assignment goes after what uses it, if a sum fails.
        let Self { _assignment, mut lane, b_g2, g1: [a, b_g1, l], h, .. } = self;
        let (a, b_g1, l) = (a.finish(abort)?, b_g1.finish(abort)?, l.finish(abort)?);
        let (b_g2, h) = (b_g2.finish(abort)?, h.finish(abort)?);
        // All is done: this reads the times of kernels.
        lane.compute.wait(None)?;
        let traffic = [a.1, b_g1.1, l.1, b_g2.1, h.1, lane.upload.traffic(), lane.compute.traffic()];
        let traffic = traffic.into_iter().fold(Traffic::default(), |sum, part| sum + part);
        Ok((Sums { h: h.0, l: l.0, a: a.0, b_g1: b_g1.0, b_g2: b_g2.0 }, traffic))
    }
}

fn check(abort: Abort<'_>) -> Result<()> {
    if abort.is_some_and(|abort| abort()) { Err(Error::Aborted) } else { Ok(()) }
}
