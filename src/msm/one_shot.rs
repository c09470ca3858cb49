//! Multiplies over host slices: nothing stays on the devices.

use super::bases::HostBases;
use super::exec::{DeviceBases, MsmRequest, PlanMemos, single_sum};
use super::msm_operation::{MsmOperation, check_lengths};
use super::options::MsmOptions;
use super::plan::DeviceMesh;
use super::scalars::Scalars;
use crate::backend::Abort;
use crate::curve::MsmCurve;
use crate::exec::execute;
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
    let devices = &accelerator.devices()[..accelerator.devices().len().min(options.max_devices())];
    // Devices share points alone: uploads bound the time, and devices that shared windows would upload the same bases.
    let grid = DeviceMesh::by_points(bases.len(), devices.len());
    let shares: Vec<_> = bases.chunks(grid.points_per_piece()).map(DeviceBases::Host).collect();
    let (points, vectors, memos) = (bases.len(), &[scalars], &PlanMemos::default());
    let request = MsmRequest { devices, bases: &shares, grid, points, vectors, options, memos };
    let mut operation = MsmOperation { request, host_bases: &HostBases::Borrowed(bases) };
    let (sums, report) = execute(accelerator, devices, &mut operation, abort)?;
    Ok((single_sum(sums)?, report))
}
