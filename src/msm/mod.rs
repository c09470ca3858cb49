//! Multi-scalar multiplication Σ scalarᵢ · baseᵢ over the curves of [`crate::curve`].
//!
//! [`msm()`] and [`msm_with_options`] take host slices; [`Msm`] holds bases on the devices for many calls, with [`Options`], scalars in any
//! [`Form`] on the host or on the devices, batches, and calls that do not wait.

mod check;
mod combine;
mod costs;
mod cut;
mod decode;
mod encoded;
mod enqueue;
mod explain;
mod fault;
mod file;
mod gpu;
mod grid;
mod joined;
mod kept;
mod options;
mod pipeline;
mod plan;
mod queued;
mod resident;
mod table;
mod together;

pub(crate) use check::check;
pub use decode::decode;
pub use encoded::{EncodedPoints, Expected, Points};
pub use explain::Explanation;
pub use file::{FilePoints, MappedFile, PointName};
pub use options::{DeviceScalars, Form, Options, Scalars};
pub(crate) use queued::Queued;
pub use resident::{Msm, Running};
pub(crate) use together::even;

use std::sync::Arc;

use group::Group;

use self::grid::Grid;
use crate::backend::{Abort, Device, check_abort, guarded};
use crate::curve::MsmCurve;
use crate::report::Call;
use crate::{Accelerator, Error, Report, Result};

/// Σ scalarᵢ · baseᵢ over host slices; scalars are numbers of 32 bytes, little-endian, any below 2^256: what counts is each
/// modulo the group's order.
///
/// The bases are trusted: each has to be infinity or a point of the curve's subgroup of prime order, its coordinates reduced
/// ([`crate::curve`]). For those that nobody vouches for there is [`Msm::checked`].
///
/// Work is spread over the accelerator's devices; bases go through a device in chunks whose upload hides
/// behind the kernels of the one before. O(n · bits / log n) point additions (Pippenger; sparse-matrix
/// form of cuZK, section 4).
///
/// # Errors
/// The lengths differ, the hook aborted, or a forced backend failed.
pub fn msm<C: MsmCurve>(
    accelerator: &Accelerator,
    bases: &[C],
    scalars: &[[u8; 32]],
    abort: Abort<'_>,
) -> Result<(C::Curve, Report)> {
    msm_with_options(accelerator, bases, scalars, Options::default(), abort)
}

/// [`msm()`] as the caller says, with what it expects of bases. Nothing stays on the devices, so of options `window_groups` and `joined` say nothing here.
///
/// # Errors
/// As [`msm()`]; an option is out of range, or `precompute` asks for copies of the bases.
pub fn msm_with_options<C: MsmCurve>(
    accelerator: &Accelerator,
    bases: &[C],
    scalars: &[[u8; 32]],
    options: Options,
    abort: Abort<'_>,
) -> Result<(C::Curve, Report)> {
    options.check()?;
    if options.precompute > 1 {
        return Err(Error::invalid("msm", "precompute of bases that do not stay", "0 or 1", options.precompute));
    }
    check_lengths(bases.len(), scalars.len())?;
    let vectors = [Scalars::canonical(scalars)];
    let on_devices = |devices: &[Arc<Device>], abort: Abort<'_>| {
        let devices = &devices[..devices.len().min(options.most_devices())];
        // By points alone: uploads bound it, and windows of the same points would need the same bases.
        let grid = Grid::of_points(bases.len(), devices.len());
        let shares: Vec<_> = bases.chunks(grid.piece()).map(gpu::Bases::Host).collect();
        let choices = &grid::Choices::default();
        let work = gpu::Work { bases: &shares, vectors: &vectors, grid, choices, options };
        let (sums, traffic) = gpu::msm(devices, work, abort)?;
        Ok((sums.into_iter().fold(C::Curve::identity(), |total, sum| total + sum), traffic))
    };
    let call = call::<C>(scalars.len());
    guarded(abort, |abort| {
        accelerator.run(call, |devices| on_devices(devices, abort), || on_cpu(bases, scalars, abort))
    })
}

fn check_lengths(bases: usize, scalars: usize) -> Result<()> {
    if bases == scalars { Ok(()) } else { Err(Error::invalid("msm", "number of scalars", bases, scalars)) }
}

fn call<C: MsmCurve>(elements: usize) -> Call {
    Call { operation: format!("msm {}", C::NAME), elements }
}

/// Points per core between two questions to the hook: some 50 ms of G1.
const CPU_PIECE: usize = 1 << 11;

/// The sum on the CPU, in pieces only where a hook wants to be asked: larger sums take less per point.
fn on_cpu<C: MsmCurve>(bases: &[C], scalars: &[[u8; 32]], abort: Abort<'_>) -> Result<C::Curve> {
    let Some(abort) = abort else { return Ok(C::msm_cpu(bases, scalars)) };
    let piece = CPU_PIECE * rayon::current_num_threads();
    let mut sum = C::Curve::identity();
    for (bases, scalars) in bases.chunks(piece).zip(scalars.chunks(piece)) {
        check_abort(Some(abort))?;
        sum += C::msm_cpu(bases, scalars);
    }
    Ok(sum)
}
