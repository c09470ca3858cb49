//! Bases on a device, with their precomputed multiples if there are any.

use std::ops::Range;
use std::sync::Arc;

use super::base_points::EncodedPoints;
use super::decode_on_device::decode_from;
use crate::backend::{ABORT_CHECK_BYTES, Buffer, Device, Stream};
use crate::curve::MsmCurve;
use crate::exec::ExecCtx;
use crate::kernel_arguments::Out;
use crate::kernels;
use crate::kernels::msm::PrecomputeMultiples;
use crate::module_launcher::KernelModule;
use crate::msm::options::MsmOptions;
use crate::msm::plan::{MsmPlan, PlanInput, WindowAssignment};
use crate::{Error, Result};

/// Holds the bases of one device and their copies. Copy k of base i has the index k·points + i. It is the point
/// 2^(k·s)·Pᵢ, where s is the number of bits of all windows with buckets of their own.
#[derive(Debug)]
pub(crate) struct BaseTable {
    pub buffer: Buffer,
    pub points: usize,
    pub copies: u32,
    /// Bits of the windows that the copies are made for; 0 without copies.
    pub window: u32,
}

/// Selects the source of a table's bases.
pub(crate) enum BaseSource<'a, C> {
    Memory(&'a [C]),
    /// A range of encoded points.
    Encoded(&'a dyn EncodedPoints<C>, Range<usize>),
}

impl<C: MsmCurve> BaseSource<'_, C> {
    fn len(&self) -> usize {
        match self {
            Self::Memory(bases) => bases.len(),
            Self::Encoded(_, range) => range.len(),
        }
    }

    fn upload(self, stream: &mut Stream, to: &Buffer, ctx: ExecCtx<'_>) -> Result<()> {
        match self {
            Self::Memory(bases) => upload(stream, to, bases, ctx),
            Self::Encoded(source, range) => decode_from(stream, to, source, range, ctx),
        }
    }
}

impl BaseTable {
    /// Uploads `bases` to `device`, polling the abort hook between pieces, and computes their copies.
    pub(crate) fn new<C: MsmCurve>(
        device: &Arc<Device>,
        bases: BaseSource<'_, C>,
        options: &MsmOptions,
        ctx: ExecCtx<'_>,
    ) -> Result<Self> {
        let (points, mut copies, mut window, mut shift) = (bases.len(), options.precompute.max(1), 0, 0);
        if copies > 1 {
            let problem = resident_plan_input::<C>(device, points, options);
            let plan = MsmPlan::new(PlanInput { copies, ..problem });
            (copies, window, shift) = (plan.scalar_digits_per_window_set(), plan.c, plan.c * plan.sets);
        }
        if (points as u64) * u64::from(copies) >= 1 << 31 {
            return Err(Error::invalid("msm", "bases and their copies", "below 2^31", format!("{points}·{copies}")));
        }
        let mut stream = device.stream()?;
        let buffer = stream.allocate(points * copies as usize * C::AFFINE_BYTES)?;
        bases.upload(&mut stream, &buffer, ctx)?;
        let table = Self { buffer, points, copies, window };
        table.enqueue_copies::<C>(&mut stream, shift)?;
        stream.synchronize(None)?;
        Ok(table)
    }

    /// Queues the kernels that compute the copies of the bases: each is the previous copy doubled `shift` times.
    fn enqueue_copies<C: MsmCurve>(&self, stream: &mut Stream, shift: u32) -> Result<()> {
        let program = KernelModule::find(&kernels::msm::FAMILY, C::NAME)?;
        let (n, table) = (self.points as u32, Out::new(&self.buffer));
        for copy in 1..self.copies {
            let (from, to) = ((copy - 1) * n, copy * n);
            program.run(stream, n.into(), PrecomputeMultiples { n, doublings: shift, from, to, table })?;
        }
        Ok(())
    }
}

/// Uploads `bases` to the start of `buffer`, polling the abort hook between pieces.
fn upload<C: MsmCurve>(stream: &mut Stream, buffer: &Buffer, bases: &[C], ctx: ExecCtx<'_>) -> Result<()> {
    let piece = ABORT_CHECK_BYTES / C::AFFINE_BYTES;
    for (number, bases) in bases.chunks(piece).enumerate() {
        ctx.check_abort()?;
        stream.upload_at(buffer, number * piece * C::AFFINE_BYTES, &C::to_device(bases))?;
    }
    Ok(())
}

/// Returns the plan input for `points` bases, which may not be uploaded to `device` yet.
pub(crate) fn resident_plan_input<C: MsmCurve>(device: &Device, points: usize, options: &MsmOptions) -> PlanInput {
    PlanInput { resident: true, ..plan_input::<C>(device, None, points, options) }
}

/// Returns the plan input for one vector of `points` scalars on `device`. The bases are those of `table`, or in host
/// memory if it is `None`. The scalars have full length and are on `device`. No other multiplication runs there, and
/// nothing aborts this one.
pub(crate) fn plan_input<C: MsmCurve>(
    device: &Device,
    table: Option<&BaseTable>,
    points: usize,
    options: &MsmOptions,
) -> PlanInput {
    let made_for = table.map_or(0, |table| table.window);
    PlanInput {
        points,
        scalar_bits: C::SCALAR_BITS,
        full_bits: C::SCALAR_BITS,
        half_bits: KernelModule::find(&kernels::msm::FAMILY, C::NAME)
            .ok()
            .and_then(KernelModule::glv_params)
            .map_or(0, |halves| halves.bits),
        halved: options.halved,
        affine_bytes: C::AFFINE_BYTES as u64,
        resident: table.is_some(),
        scalars_resident: true,
        copies: table.map_or(1, |table| table.copies),
        window: if made_for > 0 { made_for } else { options.window },
        rounds: options.affine_rounds,
        compute_units: device.info().compute_units,
        vectors: 1,
        joined: 1,
        lanes: 1,
        at_once: 1,
        abortable: false,
        own: WindowAssignment::WindowGroup(1),
    }
}
