//! Multi-scalar multiplication on devices: points and windows spread over devices, each in chunks that fit.

use super::choose_sharding::choose_sharding;
use super::device_batch::{DeviceBatch, vector_share};
use super::host_reduce::{add_parts, single_sum};
use super::msm_request::MsmRequest;
use super::pipeline::Pipeline;
use crate::backend::Stream;
use crate::curve::MsmCurve;
use crate::exec::{ExecCtx, fan_out};
use crate::msm::plan::{IN_FLIGHT, PlanInput};
use crate::{Error, Result};

/// Computes Σ scalarᵢ · baseᵢ for every vector of `request`, and returns the sums in order.
pub(crate) fn msm<C: MsmCurve>(request: &MsmRequest<'_, C>, ctx: ExecCtx<'_>) -> Result<Vec<C::Curve>> {
    let vectors = request.vectors;
    let at_once = IN_FLIGHT.min(vectors.len()).max(1) as u32;
    let splits = vectors.iter().map(|vector| choose_sharding(request, Some(vector), at_once, ctx));
    let splits: Vec<_> = splits.collect::<Result<_>>()?;
    let parts = fan_out("msm", request.device_numbers(), |number| {
        let shares = vectors.iter().zip(&splits).map(|(vector, split)| vector_share(request, number, vector, split));
        let shares: Vec<_> = shares.collect::<Result<_>>()?;
        DeviceBatch { request, number, vectors: &shares }.run(ctx)
    });
    add_parts(vectors.len(), parts.into_iter())
}

/// Starts the multiplication by the only vector of `request` on every device, and returns their pipelines in order. Each
/// uses 1/`at_once` of its free memory. The first device uses the caller's `stream` if it is given.
pub(crate) fn start<C: MsmCurve>(
    request: &MsmRequest<'_, C>,
    mut stream: Option<Stream>,
    at_once: u32,
    ctx: ExecCtx<'_>,
) -> Result<Vec<Pipeline>> {
    let [vector] = request.vectors else { return Err(Error::internal("msm")) };
    let split = choose_sharding(request, Some(vector), at_once, ctx)?;
    let start = |number| {
        let vectors = &[vector_share(request, number, vector, &split)?];
        let batch = DeviceBatch { request, number, vectors };
        let input = PlanInput { at_once, ..batch.plan_input(ctx) };
        Pipeline::start(&batch, input, stream.take(), ctx)
    };
    request.device_numbers().map(start).collect()
}

/// Waits for the `pipelines` of one vector on all devices, polling the abort hook, and returns its sum.
///
/// # Errors
/// [`Pipeline::finish`] lists the errors.
pub(crate) fn finish<C: MsmCurve>(pipelines: Vec<Pipeline>, ctx: ExecCtx<'_>) -> Result<C::Curve> {
    let parts = pipelines.into_iter().map(|pipeline| pipeline.finish::<C>(ctx));
    single_sum(add_parts(1, parts)?)
}
