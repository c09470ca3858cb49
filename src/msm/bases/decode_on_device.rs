//! Decodes encoded points on a device, in place.

use std::ops::Range;

use super::base_points::{EncodedPoints, PointChecks};
use super::check::{self, CHUNK, FirstInvalidPoint, PointErrorBuffer, fail_on_first_invalid};
use crate::backend::{Buffer, Stream};
use crate::curve::MsmCurve;
use crate::exec::ExecCtx;
use crate::kernel_arguments::Out;
use crate::kernels;
use crate::kernels::msm::DecodePoints;
use crate::module_launcher::KernelModule;
use crate::{Error, Result};

/// Uploads `bytes`, points in their curve's uncompressed encoding ([`MsmCurve::HAS_GPU_DECODE`]), to the start of `to`
/// and decodes them in place. The buffer then holds the bytes that [`MsmCurve::to_device`] returns for the points. Each
/// chunk's upload overlaps the decoding of the previous chunk. Waits for both.
///
/// # Errors
/// - [`Error::Invalid`]: a point fails the checks of `expected`. The error names the first one and the reason.
/// - [`Error::Invalid`]: devices do not decode points of this curve.
/// - [`Error::Invalid`]: the length of `bytes` is no multiple of a point's, or above that of `to`.
/// - [`Error::OutOfMemory`], [`Error::Device`]: the device has too little memory, or its driver fails.
pub fn decode<C: MsmCurve>(stream: &mut Stream, to: &Buffer, bytes: &[u8], expected: PointChecks) -> Result<()> {
    fail_on_first_invalid(upload_and_decode::<C>(stream, to, bytes, expected, ExecCtx::unreported(None))?, |number| {
        format!("point {number}")
    })
}

/// Decodes the points of `source` with indices in `range` to the start of `to`, like [`decode()`], polling the abort hook.
/// Errors name points as the source does.
pub(super) fn decode_from<C: MsmCurve>(
    stream: &mut Stream,
    to: &Buffer,
    source: &dyn EncodedPoints<C>,
    range: Range<usize>,
    ctx: ExecCtx<'_>,
) -> Result<()> {
    let mut first = None;
    source.read(&mut |bytes| {
        let part = range.start * C::AFFINE_BYTES..range.end * C::AFFINE_BYTES;
        let expected = || format!("those of {} points", source.count());
        let bytes = bytes.get(part).ok_or_else(|| Error::invalid("msm", "encoded bytes", expected(), bytes.len()))?;
        first = upload_and_decode::<C>(stream, to, bytes, source.expected(), ctx)?;
        Ok(())
    })?;
    fail_on_first_invalid(first, |number| source.name(range.start + number))
}

fn upload_and_decode<C: MsmCurve>(
    stream: &mut Stream,
    to: &Buffer,
    bytes: &[u8],
    expected: PointChecks,
    ctx: ExecCtx<'_>,
) -> Result<FirstInvalidPoint> {
    if !C::HAS_GPU_DECODE {
        return Err(Error::invalid("msm", "encoded points", "of a curve that devices decode", C::NAME));
    }
    if !bytes.len().is_multiple_of(C::AFFINE_BYTES) || bytes.len() > to.bytes() {
        let (point, most) = (C::AFFINE_BYTES, to.bytes());
        let multiple = format!("a multiple of {point}, at most {most}");
        return Err(Error::invalid("msm", "encoded bytes", multiple, bytes.len()));
    }
    stream.order_write(to)?;
    let faults = PointErrorBuffer::new(stream, bytes.len().div_ceil(CHUNK * C::AFFINE_BYTES))?;
    let mut upload = stream.device().stream()?;
    // The previous owner of the memory may still use it on `stream`.
    upload.wait_event(&stream.record_event()?)?;
    for (number, part) in bytes.chunks(CHUNK * C::AFFINE_BYTES).enumerate() {
        ctx.check_abort()?;
        let start = number * CHUNK;
        upload.upload_at(to, start * C::AFFINE_BYTES, part)?;
        stream.wait_event(&upload.record_event()?)?;
        let range = start..start + part.len() / C::AFFINE_BYTES;
        launch::<C>(stream, (to, range), (&faults, number), expected)?;
    }
    faults.read(stream, CHUNK)
}

/// Queues the decoding of the points of `points` with indices in `range`, whose encodings it holds. The result goes to
/// entry `number` of `faults`.
fn launch<C: MsmCurve>(
    stream: &mut Stream,
    (points, range): (&Buffer, Range<usize>),
    (faults, number): (&PointErrorBuffer, usize),
    expected: PointChecks,
) -> Result<()> {
    let program = KernelModule::find(&kernels::msm::FAMILY, C::NAME)?;
    let decode = DecodePoints {
        start: range.start as u32,
        n: range.len() as u32,
        chunk: number as u32,
        infinity_is_fault: expected.not_infinity.into(),
        points: Out::new(points),
        first: Out::new(&faults.first),
    };
    stream.begin_timing()?;
    program.run(stream, range.len() as u64, decode)?;
    if expected.in_subgroup {
        // The range now holds points; those with a fault are infinity.
        check::launch(program, stream, (points, range), (faults, number))?;
    }
    stream.end_timing()
}
