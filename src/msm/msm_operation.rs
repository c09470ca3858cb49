//! Runs multiplications on devices or on the CPU, and checks their lengths.

use std::sync::Arc;

use group::Group;

use super::bases::HostBases;
use super::exec::{self, MsmRequest};
use super::scalars::{Scalars, load_canonical_scalars};
use crate::backend::Device;
use crate::curve::MsmCurve;
use crate::exec::{ExecCtx, Operation};
use crate::report::OpScope;
use crate::{Error, Result};

/// Computes the sum of each vector of `request`, on its devices, or else on the CPU over `host_bases`.
pub(super) struct MsmOperation<'a, C> {
    pub request: MsmRequest<'a, C>,
    pub host_bases: &'a HostBases<'a, C>,
}

impl<C: MsmCurve> Operation for MsmOperation<'_, C> {
    type Output = Vec<C::Curve>;

    fn scope(&self) -> OpScope {
        op_scope::<C>(self.request.vectors.iter().map(Scalars::len).sum())
    }

    fn on_devices(&mut self, _: &[Arc<Device>], ctx: ExecCtx<'_>) -> Result<Vec<C::Curve>> {
        exec::msm(&self.request, ctx)
    }

    fn on_cpu(&mut self, ctx: ExecCtx<'_>) -> Result<Vec<C::Curve>> {
        let bases = self.host_bases.on_host()?;
        self.request.vectors.iter().map(|scalars| on_cpu(bases, scalars, ctx)).collect()
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
    let sums = bases.chunks(piece).zip(scalars.chunks(piece)).map(|(bases, scalars)| {
        ctx.check_abort()?;
        Ok(part(bases, scalars))
    });
    sums.sum()
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
