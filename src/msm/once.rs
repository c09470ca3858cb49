//! Multiplications over host slices, of which nothing stays on the devices.

use std::sync::Arc;

use group::Group;

use super::cpu::on_cpu;
use super::options::Options;
use super::plan::Grid;
use super::request::{call, check_lengths};
use super::run::{self, Bases, Choices, Work};
use super::scalars::Scalars;
use crate::backend::{Abort, Device, guarded};
use crate::curve::MsmCurve;
use crate::{Accelerator, Error, Report, Result};

/// Σ scalarᵢ · baseᵢ over bases in host memory.
///
/// Scalars are what a caller has ([`Scalars`]): field elements, `&[Scalar]`; canonical numbers of 32 bytes, little-endian,
/// `&[[u8; 32]]`, any below 2^256, each of which counts modulo the group's order; or scalars on the devices.
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
/// `abort` is asked whether to stop, every few milliseconds; with `None` nobody may ([`Abort`]).
///
/// The bases are trusted: each has to be infinity or a point of the curve's subgroup of prime order, its coordinates reduced
/// ([`crate::curve`]). For those that nobody vouches for there is [`super::Msm::checked`].
///
/// Work is spread over the accelerator's devices; bases go through a device in chunks whose upload hides
/// behind the kernels of the one before. O(n · bits / log n) point additions (Pippenger; sparse-matrix
/// form of cuZK, section 4).
///
/// # Errors
/// The lengths differ, scalars on devices are shared otherwise than the bases, the hook aborted, or a forced backend failed.
pub fn msm<'s, C: MsmCurve>(
    accelerator: &Accelerator,
    bases: &[C],
    scalars: impl Into<Scalars<'s>>,
    abort: Abort<'_>,
) -> Result<(C::Curve, Report)> {
    msm_with_options(accelerator, bases, scalars, Options::default(), abort)
}

/// [`msm()`] with options. It expects the same of bases. Nothing stays on the devices, so that `window_groups` and `joined`
/// have no effect.
///
/// # Errors
/// The lengths differ, scalars on devices are shared otherwise than the bases, the hook aborted, a forced backend failed, an
/// option is out of range, or `precompute` asks for copies of the bases.
pub fn msm_with_options<'s, C: MsmCurve>(
    accelerator: &Accelerator,
    bases: &[C],
    scalars: impl Into<Scalars<'s>>,
    options: Options,
    abort: Abort<'_>,
) -> Result<(C::Curve, Report)> {
    options.check()?;
    if options.precompute > 1 {
        return Err(Error::invalid("msm", "precompute of bases that do not stay", "0 or 1", options.precompute));
    }
    let scalars = scalars.into();
    check_lengths(bases.len(), scalars.len())?;
    let vectors = [scalars];
    let on_devices = |devices: &[Arc<Device>], abort: Abort<'_>| {
        let devices = &devices[..devices.len().min(options.most_devices())];
        // By points alone: uploads bound it, and windows of the same points would need the same bases.
        let grid = Grid::of_points(bases.len(), devices.len());
        let shares: Vec<_> = bases.chunks(grid.piece()).map(Bases::Host).collect();
        let choices = &Choices::default();
        let work = Work { bases: &shares, vectors: &vectors, grid, choices, options };
        let (sums, traffic) = run::msm(devices, work, abort)?;
        Ok((sums.into_iter().fold(C::Curve::identity(), |total, sum| total + sum), traffic))
    };
    let call = call::<C>(scalars.len());
    let on_host = |abort: Abort<'_>| on_cpu(bases, &scalars, abort);
    guarded(abort, |abort| accelerator.run(call, |devices| on_devices(devices, abort), || on_host(abort)))
}
