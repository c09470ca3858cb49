//! Bases on a device, with their precomputed multiples where there are any.

use std::sync::Arc;

use super::options::Options;
use super::plan::{Plan, Problem};
use crate::backend::{Arg, Buffer, Device, Stream};
use crate::curve::MsmCurve;
use crate::program::{Program, mem};
use crate::{Error, Result};

/// Bases of one device: copy k of base i, which is 2^(k·shift)·P, at k·points + i.
#[derive(Debug)]
pub(super) struct Table {
    pub buffer: Buffer,
    pub points: usize,
    pub copies: u32,
    /// The window that the copies are made for; 0 where there is the base alone.
    pub window: u32,
}

impl Table {
    /// Uploads the bases and computes their copies.
    pub fn new<C: MsmCurve>(device: &Arc<Device>, bases: &[C], options: &Options) -> Result<Self> {
        let (points, mut copies, mut window, mut shift) = (bases.len(), options.precompute.max(1), 0, 0);
        if copies > 1 {
            let problem = streamed_problem::<C>(device, points, C::SCALAR_BITS, options);
            let plan = Plan::new(Problem { resident: true, scalars_resident: true, copies, ..problem });
            (copies, window, shift) = (plan.copies(), plan.c, plan.c * plan.sets);
        }
        if (points as u64) * u64::from(copies) >= 1 << 31 {
            return Err(Error::invalid("msm", "bases and their copies", "below 2^31", format!("{points}·{copies}")));
        }
        let mut stream = device.stream()?;
        let buffer = stream.allocate(points * copies as usize * C::AFFINE_BYTES)?;
        stream.upload(&buffer, &C::to_device(bases))?;
        let table = Self { buffer, points, copies, window };
        table.copy::<C>(&mut stream, shift)?;
        stream.wait(None)?;
        Ok(table)
    }

    /// Queues the copies: each is the one before doubled `shift` times.
    fn copy<C: MsmCurve>(&self, stream: &mut Stream, shift: u32) -> Result<()> {
        let program = Program::find("msm", C::NAME)?;
        let points = self.points as u32;
        for copy in 1..self.copies {
            let numbers = [points, shift, (copy - 1) * points, copy * points].map(Arg::U32);
            let args = [&numbers[..], &[mem(&self.buffer)]].concat();
            // SAFETY: the arguments are those of `msm_double_bases`; the table holds `copies` times so many points.
            unsafe { program.launch(stream, "msm_double_bases", u64::from(points), 128, &args)? };
        }
        Ok(())
    }
}

/// The problem of multiplying bases of a table, or of host memory where it has no copies.
pub(super) fn problem<C: MsmCurve>(
    device: &Device,
    table: &Table,
    points: usize,
    scalar_bits: u32,
    scalars_resident: bool,
    options: &Options,
) -> Problem {
    Problem {
        resident: true,
        scalars_resident,
        copies: table.copies,
        window: if table.window > 0 { table.window } else { options.window },
        ..streamed_problem::<C>(device, points, scalar_bits, options)
    }
}

/// The problem of multiplying bases of host memory.
pub(super) fn streamed_problem<C: MsmCurve>(
    device: &Device,
    points: usize,
    scalar_bits: u32,
    options: &Options,
) -> Problem {
    Problem {
        points,
        scalar_bits,
        full_bits: C::SCALAR_BITS,
        affine_bytes: C::AFFINE_BYTES as u64,
        resident: false,
        scalars_resident: false,
        copies: 1,
        window: options.window,
        rounds: options.affine_rounds,
        compute_units: device.info().compute_units,
    }
}
