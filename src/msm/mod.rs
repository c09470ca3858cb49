//! Multi-scalar multiplication Σ scalarᵢ · baseᵢ over the curves of [`crate::curve`].

mod enqueue;
mod gpu;
mod plan;

use group::Group;

use crate::accelerator::Call;
use crate::backend::Abort;
use crate::curve::MsmCurve;
use crate::{Accelerator, Error, Report, Result};

/// Σ scalarᵢ · baseᵢ over host slices; scalars are canonical (reduced, 32 bytes little-endian each).
///
/// Work is spread over the accelerator's devices; what does not fit a device goes through it in pieces.
/// O(n · bits / log n) point additions (Pippenger; sparse-matrix form of cuZK, section 4).
///
/// # Errors
/// The lengths differ, the hook aborted, or a forced backend failed.
pub fn msm<C: MsmCurve>(
    accelerator: &Accelerator,
    bases: &[C],
    scalars: &[[u8; 32]],
    abort: Abort<'_>,
) -> Result<(C::Curve, Report)> {
    if bases.len() != scalars.len() {
        return Err(Error::invalid("msm", "number of scalars", bases.len(), scalars.len()));
    }
    let call = Call { operation: format!("msm {}", C::NAME), elements: bases.len() };
    accelerator.run(call, |devices| gpu::msm(devices, bases, scalars, abort), || msm_cpu(bases, scalars, abort))
}

/// Points per core between two questions to the hook: some 50 ms of G1.
const CPU_PIECE: usize = 1 << 11;

/// The sum on the CPU, in pieces only where a hook wants to be asked: larger sums take less per point.
fn msm_cpu<C: MsmCurve>(bases: &[C], scalars: &[[u8; 32]], abort: Abort<'_>) -> Result<C::Curve> {
    let Some(abort) = abort else { return Ok(C::msm_cpu(bases, scalars)) };
    let piece = CPU_PIECE * rayon::current_num_threads();
    let mut sum = C::Curve::identity();
    for (bases, scalars) in bases.chunks(piece).zip(scalars.chunks(piece)) {
        if abort() {
            return Err(Error::Aborted);
        }
        sum += C::msm_cpu(bases, scalars);
    }
    Ok(sum)
}
