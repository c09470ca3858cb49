//! The multiplication on the CPU, which calls fall back to.

use group::Group;

use super::scalars::{Scalars, load_canonical_scalars};
use crate::Result;
use crate::backend::{Abort, check_abort};
use crate::curve::MsmCurve;

/// Points per CPU thread between two polls of the abort hook, 2^11: some 50 ms of G1.
const CPU_PIECE: usize = 1 << 11;

/// Computes Σ scalarᵢ · baseᵢ over `bases` and `scalars` on the CPU, polling `abort`.
///
/// # Errors
/// - [`crate::Error::Invalid`]: a scalar exceeds its promised bit length.
/// - [`crate::Error::Aborted`]: the hook aborted.
/// - [`crate::Error::OutOfMemory`], [`crate::Error::Device`]: the scalars cannot be read from their device.
pub(super) fn on_cpu<C: MsmCurve>(bases: &[C], scalars: &Scalars<'_>, abort: Abort<'_>) -> Result<C::Curve> {
    if let Some((field, elements)) = scalars.elements_in_host_memory() {
        let part = |bases: &[C], elements: &[[u8; 32]]| C::msm_cpu_elements(bases, field, elements);
        if let Some(sum) = chunked_sum(bases, elements, abort, part)? {
            return Ok(sum);
        }
    }
    let sum = chunked_sum(bases, &load_canonical_scalars::<C::Scalar>(scalars)?, abort, |bases, scalars| {
        Some(C::msm_cpu(bases, scalars))
    });
    Ok(sum?.unwrap_or_else(C::Curve::identity))
}

/// Adds up the sums that `part` returns for pieces of `bases` and `scalars`, polling `abort` between them. Without a
/// hook there is one piece, since larger sums take less time per point. Returns `None` if `part` returns `None` for a
/// piece.
fn chunked_sum<C: MsmCurve>(
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
