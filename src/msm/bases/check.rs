//! Checks untrusted bases before a multi-scalar multiplication trusts them, and names the faults that kernels report.

use std::ops::Range;
use std::sync::Arc;

use rayon::prelude::*;

use crate::backend::{Buffer, Device, Stream};
use crate::checked_size::product;
use crate::curve::MsmCurve;
use crate::exec::{ExecCtx, Operation, execute, fan_out};
use crate::field::is_below;
use crate::kernel_arguments::{In, Out};
use crate::kernels;
use crate::kernels::msm::{CheckPoints, FAULT_NONE, FAULTS};
use crate::module_launcher::KernelModule;
use crate::msm::plan::DeviceMesh;
use crate::report::OpScope;
use crate::{Accelerator, Error, Result};

/// Maximum points of one upload, 2^18: several waves of a large GPU, and at most 48 MiB.
pub(super) const CHUNK: usize = 1 << 18;
/// Points that a CPU thread checks between two looks at the results of other threads.
const CPU_PIECE: usize = 1 << 8;

/// Checks that all `bases` are points of the curve's prime-order subgroup, which infinity is in.
///
/// The check runs on the devices if there are some, else on the CPU, by the accelerator's rules. The bases are uploaded
/// once. A point costs a few multiplications. If the curve has points outside the subgroup, it costs some 70 (BLS12-381
/// G2), 145 (BLS12-381 G1) or 200 (BN254 G2) point operations.
///
/// # Errors
/// - [`Error::Invalid`]: a base is refused. The error names the first one and the reason.
/// - [`Error::Forked`]: the process was forked from one that had used the engine.
/// - [`Error::OutOfMemory`], [`Error::Device`]: a forced backend has too little memory, or its driver fails.
pub(crate) fn check<C: MsmCurve>(accelerator: &Accelerator, bases: &[C]) -> Result<()> {
    let modulus = KernelModule::find(&kernels::msm::FAMILY, C::NAME)?.modulus();
    let (first, _) = execute(accelerator, accelerator.devices(), &mut PointCheck { bases, modulus }, None)?;
    fail_on_first_invalid(first, |index| format!("base {index}"))
}

/// Checks points. Its result is the first invalid one.
struct PointCheck<'a, C> {
    bases: &'a [C],
    /// Modulus of the base field, in 32-bit limbs.
    modulus: &'a [u32],
}

impl<C: MsmCurve> Operation for PointCheck<'_, C> {
    type Output = FirstInvalidPoint;

    fn scope(&self) -> OpScope {
        OpScope { operation: format!("check {}", C::NAME), elements: self.bases.len() }
    }

    fn on_devices(&mut self, devices: &[Arc<Device>], ctx: ExecCtx<'_>) -> Result<FirstInvalidPoint> {
        let share = DeviceMesh::by_points(self.bases.len(), devices.len()).points_per_piece();
        let shares = devices.iter().zip(self.bases.chunks(share));
        let parts = fan_out("check", shares, |(device, bases)| on_device(device, bases, ctx));
        let mut first = None;
        for (number, part) in parts.into_iter().enumerate() {
            first = first.or(part?.map(|(index, fault)| (number * share + index, fault)));
        }
        Ok(first)
    }

    fn on_cpu(&mut self, _: ExecCtx<'_>) -> Result<FirstInvalidPoint> {
        Ok(on_cpu(self.bases, self.modulus))
    }
}

fn on_cpu<C: MsmCurve>(bases: &[C], modulus: &[u32]) -> FirstInvalidPoint {
    bases.par_chunks(CPU_PIECE).enumerate().find_map_first(|(number, bases)| {
        let bytes = C::to_device(bases);
        let points = bases.iter().zip(bytes.chunks_exact(C::AFFINE_BYTES)).enumerate();
        let mut faults =
            points.map(|(i, (point, bytes))| (number * CPU_PIECE + i, find_point_fault(point, bytes, modulus)));
        faults.find_map(|(index, fault)| Some((index, fault?)))
    })
}

/// Returns the fault of `point`, whose device form is `bytes`, or `None` if it is valid. `modulus` is that of the base
/// field, in 32-bit limbs.
fn find_point_fault<C: MsmCurve>(point: &C, bytes: &[u8], modulus: &[u32]) -> Option<PointError> {
    if !bytes.chunks_exact(4 * modulus.len()).all(|coefficient| is_below(coefficient, modulus)) {
        return Some(PointError::NotReduced);
    }
    if !point.is_on_curve() {
        return Some(PointError::NotOnCurve);
    }
    (!point.is_torsion_free()).then_some(PointError::OutsideSubgroup)
}

/// Checks `bases` on `device` in chunks on two alternating streams, so that uploads overlap kernels. Returns the first
/// invalid base.
fn on_device<C: MsmCurve>(device: &Arc<Device>, bases: &[C], ctx: ExecCtx<'_>) -> Result<FirstInvalidPoint> {
    // Half of the free memory is for the two chunks, the other half for other work on the device.
    let most = device.free_memory()? / (4 * C::AFFINE_BYTES as u64);
    let chunk = CHUNK.min(most as usize).min(bases.len()).max(1);
    let chunks = bases.len().div_ceil(chunk);
    let mut lanes = [CheckLane::new::<C>(device, chunk, chunks)?, CheckLane::new::<C>(device, chunk, chunks)?];
    for (number, bases) in bases.chunks(chunk).enumerate() {
        lanes[number % 2].add(number, bases)?;
    }
    let found = lanes.iter_mut().map(|lane| lane.faults.read(&mut lane.stream, chunk)).collect::<Result<Vec<_>>>()?;
    ctx.record(lanes.iter().map(|lane| &lane.stream));
    Ok(found.into_iter().flatten().min_by_key(|(index, _)| *index))
}

/// Holds a stream, a buffer for a chunk of points, and a result for each chunk.
///
/// Fields drop from top to bottom: the stream runs empty before buffers go back to its pool.
struct CheckLane {
    stream: Stream,
    points: Buffer,
    faults: PointErrorBuffer,
    program: KernelModule,
}

impl CheckLane {
    fn new<C: MsmCurve>(device: &Arc<Device>, chunk: usize, chunks: usize) -> Result<Self> {
        let mut stream = device.stream()?;
        let points = stream.allocate(product("msm", "bytes", &[chunk, C::AFFINE_BYTES])?)?;
        let faults = PointErrorBuffer::new(&mut stream, chunks)?;
        Ok(Self { stream, points, faults, program: KernelModule::find(&kernels::msm::FAMILY, C::NAME)? })
    }

    /// Queues the upload and the check of chunk number `number`, the points `bases`.
    fn add<C: MsmCurve>(&mut self, number: usize, bases: &[C]) -> Result<()> {
        self.stream.upload(&self.points, &C::to_device(bases))?;
        self.stream.begin_timing()?;
        launch(self.program, &mut self.stream, (&self.points, 0..bases.len()), (&self.faults, number))?;
        self.stream.end_timing()
    }
}

/// Queues the check of the points of `points` with indices in `range`, all of which it holds. The result goes to entry
/// `number` of `faults`.
pub(super) fn launch(
    program: KernelModule,
    stream: &mut Stream,
    (points, range): (&Buffer, Range<usize>),
    (faults, number): (&PointErrorBuffer, usize),
) -> Result<()> {
    let (start, n, chunk) = (range.start as u32, range.len() as u32, number as u32);
    let (points, first) = (In::new(points), Out::new(&faults.first));
    program.run(stream, n.into(), CheckPoints { start, n, chunk, points, first })
}

/// Result of a chunk without an invalid point.
const NO_ERROR: u32 = u32::MAX;

/// Names the fault of a point. The values are those of the kernels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub(super) enum PointError {
    NotReduced = kernels::msm::FAULT_NOT_REDUCED,
    NotOnCurve = kernels::msm::FAULT_NOT_ON_CURVE,
    OutsideSubgroup = kernels::msm::FAULT_OUTSIDE_SUBGROUP,
    Encoding = kernels::msm::FAULT_ENCODING,
    Infinity = kernels::msm::FAULT_INFINITY,
}

/// Index and fault of the first invalid point; `None` if all points are valid.
pub(super) type FirstInvalidPoint = Option<(usize, PointError)>;

impl PointError {
    fn from_device(code: u32) -> Result<Self> {
        [Self::NotReduced, Self::NotOnCurve, Self::OutsideSubgroup, Self::Encoding, Self::Infinity]
            .into_iter()
            .find(|fault| *fault as u32 == code)
            .ok_or_else(|| {
                Error::device("device", "points_check", format!("expected a fault below {FAULT_NONE}, got {code}"))
            })
    }

    /// Returns two texts for an error: the expected point, then the actual one.
    pub(super) fn describe(self) -> [&'static str; 2] {
        match self {
            Self::NotReduced => ["coordinates below the field's modulus", "one that is not below it"],
            Self::NotOnCurve => ["a point on the curve", "coordinates that are not on the curve"],
            Self::OutsideSubgroup => ["a point of the prime-order subgroup", "one outside it"],
            Self::Encoding => ["the flags of an uncompressed point", "others, or infinity with coordinates"],
            Self::Infinity => ["a point of the group other than infinity", "infinity"],
        }
    }
}

/// Returns an error if `first` is an invalid point. `name` returns the name of the point with an index.
pub(super) fn fail_on_first_invalid(first: FirstInvalidPoint, name: impl Fn(usize) -> String) -> Result<()> {
    first.map_or(Ok(()), |(number, fault)| {
        let [expected, actual] = fault.describe();
        Err(Error::invalid("msm", name(number), expected, actual))
    })
}

/// Holds a result on the device for each chunk of points: the first invalid point of the chunk, and its fault.
pub(super) struct PointErrorBuffer {
    pub first: Buffer,
    chunks: usize,
}

impl PointErrorBuffer {
    /// Allocates the results of `chunks` chunks, none of which has an invalid point yet.
    pub(super) fn new(stream: &mut Stream, chunks: usize) -> Result<Self> {
        let first = stream.allocate(4 * chunks)?;
        stream.upload(&first, &NO_ERROR.to_le_bytes().repeat(chunks))?;
        Ok(Self { first, chunks })
    }

    /// Waits until `stream` runs empty and returns the first invalid point. Its index counts all points, in chunks of
    /// `chunk` points.
    pub(super) fn read(&self, stream: &mut Stream, chunk: usize) -> Result<FirstInvalidPoint> {
        stream.synchronize(None)?;
        let mut bytes = vec![0; 4 * self.chunks];
        stream.download(&mut bytes, &self.first)?;
        let keys = bytes.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]));
        let found = keys.enumerate().find(|(_, key)| *key != NO_ERROR);
        let place = |(number, key): (usize, u32)| {
            Ok((number * chunk + (key / FAULTS) as usize, PointError::from_device(key % FAULTS)?))
        };
        found.map(place).transpose()
    }
}
