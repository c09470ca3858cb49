//! The sum on the CPU, which calls fall back to.

use group::Group;

use super::scalars::{Scalars, on_host};
use crate::Result;
use crate::backend::{Abort, check_abort};
use crate::curve::MsmCurve;

/// Points per core between two questions to the hook: some 50 ms of G1.
const CPU_PIECE: usize = 1 << 11;

/// The sum on the CPU.
///
/// # Errors
/// A scalar is longer than promised, a device that has them failed, or the hook aborted.
pub(super) fn on_cpu<C: MsmCurve>(bases: &[C], scalars: &Scalars<'_>, abort: Abort<'_>) -> Result<C::Curve> {
    if let Some((field, elements)) = scalars.elements_in_host_memory() {
        let part = |bases: &[C], elements: &[[u8; 32]]| C::msm_cpu_elements(bases, field, elements);
        if let Some(sum) = in_pieces(bases, elements, abort, part)? {
            return Ok(sum);
        }
    }
    let sum =
        in_pieces(bases, &on_host::<C::Scalar>(scalars)?, abort, |bases, scalars| Some(C::msm_cpu(bases, scalars)));
    Ok(sum?.unwrap_or_else(C::Curve::identity))
}

/// The sum in pieces only where a hook wants to be asked: larger sums take less per point. None if a piece has none.
fn in_pieces<C: MsmCurve>(
    bases: &[C],
    scalars: &[[u8; 32]],
    abort: Abort<'_>,
    part: impl Fn(&[C], &[[u8; 32]]) -> Option<C::Curve>,
) -> Result<Option<C::Curve>> {
    if abort.is_none() {
        return Ok(part(bases, scalars));
    }
    let piece = CPU_PIECE * rayon::current_num_threads();
    let mut sum = C::Curve::identity();
    for (bases, scalars) in bases.chunks(piece).zip(scalars.chunks(piece)) {
        check_abort(abort)?;
        match part(bases, scalars) {
            Some(part) => sum += part,
            None => return Ok(None),
        }
    }
    Ok(Some(sum))
}
