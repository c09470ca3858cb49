//! The sum on the CPU, which calls fall back to.

use group::Group;

use crate::Result;
use crate::backend::{Abort, check_abort};
use crate::curve::MsmCurve;

/// Points per core between two questions to the hook: some 50 ms of G1.
const CPU_PIECE: usize = 1 << 11;

/// The sum on the CPU, in pieces only where a hook wants to be asked: larger sums take less per point.
pub(super) fn on_cpu<C: MsmCurve>(bases: &[C], scalars: &[[u8; 32]], abort: Abort<'_>) -> Result<C::Curve> {
    let Some(abort) = abort else { return Ok(C::msm_cpu(bases, scalars)) };
    let piece = CPU_PIECE * rayon::current_num_threads();
    let mut sum = C::Curve::identity();
    for (bases, scalars) in bases.chunks(piece).zip(scalars.chunks(piece)) {
        check_abort(Some(abort))?;
        sum += C::msm_cpu(bases, scalars);
    }
    Ok(sum)
}
