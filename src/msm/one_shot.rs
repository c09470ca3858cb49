//! Multiplies over host slices: nothing stays on the devices. Checks the arguments of every multiplication, and falls
//! back to the CPU.

use std::sync::Arc;

use group::Group;

use super::exec::{self, DeviceBases, MsmInput, PlanMemos};
use super::options::MsmOptions;
use super::plan::DeviceMesh;
use super::scalars::{Scalars, load_canonical_scalars};
use crate::backend::{Abort, Device};
use crate::curve::MsmCurve;
use crate::exec::{ExecCtx, Operation, execute};
use crate::report::OpScope;
use crate::{Accelerator, Error, Report, Result};

/// Computes Σ scalarᵢ · baseᵢ over `bases` in host memory.
///
/// `scalars` are one of ([`Scalars`]):
/// - field elements, `&[Scalar]`;
/// - canonical little-endian numbers of 32 bytes, `&[[u8; 32]]`: any value below 2^256, which counts modulo the group's
///   order;
/// - scalars on the devices.
///
/// ```
/// use group::{Curve, Group};
/// use proofwarp::{Accelerator, msm::msm};
///
/// let accelerator = Accelerator::from_env()?;
/// let g = blstrs::G1Projective::generator();
/// let bases = [g.to_affine(), g.double().to_affine()];
/// let (sum, report) = msm(&accelerator, &bases, &[3, 4].map(blstrs::Scalar::from), None)?;
/// assert_eq!(sum, g * blstrs::Scalar::from(11));
/// println!("{report}"); // msm bls12_381_g1 of 2 on …
/// # Ok::<(), proofwarp::Error>(())
/// ```
///
/// The abort hook `abort` is polled every few milliseconds; with `None` the call cannot be aborted ([`Abort`]).
///
/// The bases are trusted. Each must be infinity or a point of the curve's prime-order subgroup with reduced coordinates
/// ([`crate::curve`]). For untrusted bases use [`super::Msm::checked`].
///
/// The accelerator's devices divide the bases among them. Bases pass through a device in chunks; each upload overlaps
/// the previous chunk's kernels. The sum takes O(n · bits / log n) point additions (Pippenger; sparse-matrix form of
/// cuZK, section 4).
///
/// # Errors
/// - [`Error::Invalid`]: `bases` and `scalars` differ in length.
/// - [`Error::Invalid`]: scalars on devices are shared otherwise than the bases.
/// - [`Error::Invalid`]: a scalar exceeds its promised bit length ([`Scalars::with_bit_length`]).
/// - [`Error::Aborted`]: the hook aborted.
/// - [`Error::Forked`]: the process was forked from one that had used the engine.
/// - [`Error::OutOfMemory`], [`Error::Device`]: a forced backend has too little memory, or its driver fails.
/// - [`Error::OutOfMemory`], [`Error::Device`]: the CPU takes over, but cannot read the scalars from their device.
pub fn msm<'s, C: MsmCurve>(
    accelerator: &Accelerator,
    bases: &[C],
    scalars: impl Into<Scalars<'s>>,
    abort: Abort<'_>,
) -> Result<(C::Curve, Report)> {
    msm_with_options(accelerator, bases, scalars, MsmOptions::default(), abort)
}

/// Computes Σ scalarᵢ · baseᵢ with `options`. It trusts the bases, as [`msm()`] does. Nothing stays on the devices, so
/// the options `window_groups` and `joined` have no effect.
///
/// # Errors
/// - [`Error::Invalid`]: `bases` and `scalars` differ in length.
/// - [`Error::Invalid`]: scalars on devices are shared otherwise than the bases.
/// - [`Error::Invalid`]: a scalar exceeds its promised bit length ([`Scalars::with_bit_length`]).
/// - [`Error::Invalid`]: an option is out of range.
/// - [`Error::Invalid`]: `precompute` asks for copies of the bases.
/// - [`Error::Aborted`]: the hook aborted.
/// - [`Error::Forked`]: the process was forked from one that had used the engine.
/// - [`Error::OutOfMemory`], [`Error::Device`]: a forced backend has too little memory, or its driver fails.
/// - [`Error::OutOfMemory`], [`Error::Device`]: the CPU takes over, but cannot read the scalars from their device.
pub fn msm_with_options<'s, C: MsmCurve>(
    accelerator: &Accelerator,
    bases: &[C],
    scalars: impl Into<Scalars<'s>>,
    options: MsmOptions,
    abort: Abort<'_>,
) -> Result<(C::Curve, Report)> {
    options.check()?;
    if options.precompute > 1 {
        return Err(Error::invalid("msm", "precompute of bases that do not stay", "0 or 1", options.precompute));
    }
    let scalars = scalars.into();
    check_lengths(bases.len(), scalars.len())?;
    execute(accelerator, accelerator.devices(), &mut OneShotMsm { bases, scalars, options }, abort)
}

/// Computes Σ scalarᵢ · baseᵢ over bases in host memory.
struct OneShotMsm<'a, C> {
    bases: &'a [C],
    scalars: Scalars<'a>,
    options: MsmOptions,
}

impl<C: MsmCurve> Operation for OneShotMsm<'_, C> {
    type Output = C::Curve;

    fn scope(&self) -> OpScope {
        op_scope::<C>(self.scalars.len())
    }

    fn on_devices(&mut self, devices: &[Arc<Device>], ctx: ExecCtx<'_>) -> Result<C::Curve> {
        let devices = &devices[..devices.len().min(self.options.max_devices())];
        // Devices share points alone: uploads bound the time, and devices that shared windows would upload the same
        // bases.
        let grid = DeviceMesh::by_points(self.bases.len(), devices.len());
        let shares: Vec<_> = self.bases.chunks(grid.points_per_piece()).map(DeviceBases::Host).collect();
        let (choices, vectors) = (&PlanMemos::default(), &[self.scalars]);
        let input = MsmInput { bases: &shares, vectors, grid, choices, options: self.options };
        Ok(exec::msm(devices, input, ctx)?.into_iter().sum())
    }

    fn on_cpu(&mut self, ctx: ExecCtx<'_>) -> Result<C::Curve> {
        on_cpu(self.bases, &self.scalars, ctx)
    }
}

/// Points per CPU thread between two polls of the abort hook, 2^11: some 50 ms of G1.
const CPU_PIECE: usize = 1 << 11;

/// Computes Σ scalarᵢ · baseᵢ over `bases` and `scalars` on the CPU, polling the abort hook.
///
/// # Errors
/// - [`crate::Error::Invalid`]: a scalar exceeds its promised bit length.
/// - [`crate::Error::Aborted`]: the hook aborted.
/// - [`crate::Error::OutOfMemory`], [`crate::Error::Device`]: the scalars cannot be read from their device.
pub(super) fn on_cpu<C: MsmCurve>(bases: &[C], scalars: &Scalars<'_>, ctx: ExecCtx<'_>) -> Result<C::Curve> {
    if let Some((field, elements)) = scalars.elements_in_host_memory() {
        let part = |bases: &[C], elements: &[[u8; 32]]| C::msm_cpu_elements(bases, field, elements);
        if let Some(sum) = chunked_sum(bases, elements, ctx, part)? {
            return Ok(sum);
        }
    }
    let sum = chunked_sum(bases, &load_canonical_scalars::<C::Scalar>(scalars)?, ctx, |bases, scalars| {
        Some(C::msm_cpu(bases, scalars))
    });
    Ok(sum?.unwrap_or_else(C::Curve::identity))
}

/// Adds up the sums that `part` returns for pieces of `bases` and `scalars`, polling the abort hook between them. Without a
/// hook there is one piece, since larger sums take less time per point. Returns `None` if `part` returns `None` for a
/// piece.
fn chunked_sum<C: MsmCurve>(
    bases: &[C],
    scalars: &[[u8; 32]],
    ctx: ExecCtx<'_>,
    part: impl Fn(&[C], &[[u8; 32]]) -> Option<C::Curve>,
) -> Result<Option<C::Curve>> {
    if !ctx.is_abortable() {
        return Ok(part(bases, scalars));
    }
    let piece = CPU_PIECE * rayon::current_num_threads();
    let mut sum = C::Curve::identity();
    for (bases, scalars) in bases.chunks(piece).zip(scalars.chunks(piece)) {
        ctx.check_abort()?;
        match part(bases, scalars) {
            Some(part) => sum += part,
            None => return Ok(None),
        }
    }
    Ok(Some(sum))
}

/// Checks that the number `scalars` equals the number `bases`.
///
/// # Errors
/// - [`Error::Invalid`]: `scalars` differs from `bases`.
pub(super) fn check_lengths(bases: usize, scalars: usize) -> Result<()> {
    Error::check_eq("msm", "number of scalars", bases, scalars)
}

/// Returns the name of a multiplication on curve `C` in reports, and its number of scalars, `elements`.
pub(super) fn op_scope<C: MsmCurve>(elements: usize) -> OpScope {
    OpScope { operation: format!("msm {}", C::NAME), elements }
}
