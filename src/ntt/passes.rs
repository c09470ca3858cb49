//! A transform's kernels in their order.

use super::plan::{Plan, TILE_LOG};
use super::tables::Tables;
use super::{Order, Transform};
use crate::backend::{Arg, BackendKind, Buffer, Device, Stream};
use crate::field::NttField;
use crate::program::{Program, mem};
use crate::{Error, Result};

/// Work-items of a group of `ntt_columns` and `ntt_rows`.
const GROUP: u32 = 256;

/// Flags of the kernels, as `cl/ntt.cl` numbers them.
const SHIFTED: u32 = 1;
const REVERSED: u32 = 2;
const FACTOR_LOW: u32 = 4;
const FACTOR_HIGH: u32 = 8;
const FACTOR_LAST: u32 = 16;
const IN_PLACE: u32 = 32;

/// Vectors of one buffer, every `stride` elements from its start on.
#[derive(Debug, Clone, Copy)]
pub(super) struct Layout {
    pub vectors: u32,
    pub stride: u64,
}

/// Everything that the kernels of one transform need.
pub(super) struct Passes {
    plan: Plan,
    program: Program,
    tables: Tables,
    flags: u32,
    layout: Layout,
    /// The last pass writes over what it reads.
    in_place: bool,
}

impl Passes {
    /// Finds or makes the tables.
    pub fn new<F: NttField>(stream: &mut Stream, transform: &Transform<F>, layout: Layout) -> Result<Self> {
        let plan = Plan::new(transform.log_n)?;
        let rows = u64::from(layout.vectors) << plan.rows_log();
        if rows > u64::from(u32::MAX) {
            let expected = format!("at most {} for 2^{}", u32::MAX >> plan.rows_log(), plan.log_n);
            return Err(Error::invalid("ntt on a device", "number of vectors", expected, layout.vectors));
        }
        let tables = Tables::new(stream, &plan, transform)?;
        tables.keep(stream);
        let flag = |set: bool, flag: u32| if set { flag } else { 0 };
        let flags = flag(transform.shift_in.is_some(), SHIFTED)
            | flag(transform.order == Order::BitReversed, REVERSED)
            | flag(tables.low.is_some(), FACTOR_LOW)
            | flag(tables.high.is_some(), FACTOR_HIGH)
            | flag(tables.last.is_some(), FACTOR_LAST);
        let in_place = Self::in_place(&plan, transform.order, stream.device());
        Ok(Self { program: Program::find("ntt", F::NAME)?, plan, tables, flags, layout, in_place })
    }

    /// Whether the last pass may write where it reads: nothing is transposed, or the groups of a plane can wait for
    /// each other, since as many run at once.
    fn in_place(plan: &Plan, order: Order, device: &Device) -> bool {
        let info = device.info();
        let fits = |plane_log: u32| info.backend == BackendKind::Cuda && 1 << plane_log <= info.compute_units;
        order == Order::BitReversed || plan.radices.len() == 1 || plan.plane_log().is_some_and(fits)
    }

    /// Whether [`Self::queue`] wants a second buffer.
    pub fn needs_other(&self) -> bool {
        !self.in_place
    }

    /// Queues the transform of `data`. With a second buffer the result is there.
    pub fn queue(&self, stream: &mut Stream, data: &Buffer, other: Option<&Buffer>) -> Result<()> {
        let wait = self.in_place && self.flags & REVERSED == 0 && self.plan.radices.len() > 1;
        let state_length = if wait { self.planes() + 1 } else { 0 };
        let state = stream.allocate(4 * state_length as usize)?;
        for (number, pass) in self.plan.column_passes().enumerate() {
            let length = if number == 0 { state_length } else { 0 };
            self.queue_columns(stream, data, pass, (&state, length))?;
        }
        self.queue_rows(stream, data, other.unwrap_or(data), wait.then_some(&state))
    }

    /// Planes of all vectors, a counter each.
    fn planes(&self) -> u32 {
        let planes_log = self.plan.plane_log().map_or(0, |plane_log| self.plan.log_n - TILE_LOG - plane_log);
        self.layout.vectors << planes_log
    }

    fn queue_columns(
        &self,
        stream: &mut Stream,
        data: &Buffer,
        (log_done, radix_log): (u32, u32),
        (state, state_length): (&Buffer, u32),
    ) -> Result<()> {
        let [log_n, log_done, radix_log, flags, state_length] =
            [self.plan.log_n, log_done, radix_log, self.flags, state_length].map(Arg::U32);
        let (stride, nodes) = (Arg::U64(self.layout.stride), mem(&self.tables.nodes));
        let args = [mem(data), stride, log_n, log_done, radix_log, nodes, flags, mem(state), state_length];
        let tiles = u64::from(self.layout.vectors) << (self.plan.log_n - TILE_LOG);
        // SAFETY: the arguments are those of `ntt_columns`; vectors are 2^log_n long and tables as planned.
        unsafe { self.program.launch(stream, "ntt_columns", tiles * u64::from(GROUP), GROUP, &args) }
    }

    fn queue_rows(&self, stream: &mut Stream, data: &Buffer, out: &Buffer, state: Option<&Buffer>) -> Result<()> {
        let Self { plan, tables, layout, .. } = self;
        let radix_log = plan.last_radix_log();
        let rows = u64::from(layout.vectors) << plan.rows_log();
        let first_log = if plan.radices.len() > 1 { plan.radices[0] } else { 0 };
        let flags = self.flags | if state.is_some() { IN_PLACE } else { 0 };
        let table = |table: &Option<std::sync::Arc<Buffer>>| mem(table.as_ref().unwrap_or(&tables.plain));
        let numbers = [rows as u32, plan.log_n, radix_log, first_log].map(Arg::U32);
        let mut args = vec![mem(data), mem(out), Arg::U64(layout.stride)];
        args.extend(numbers);
        args.extend([mem(&tables.plain), Arg::U32(plan.low_log), table(&tables.low), table(&tables.high)]);
        args.extend([table(&tables.last), Arg::U32(flags), mem(state.unwrap_or(data))]);
        args.push(Arg::U32(plan.plane_log().unwrap_or(0)));
        let items = rows.div_ceil(1 << (TILE_LOG - radix_log)) * u64::from(GROUP);
        // SAFETY: the arguments are those of `ntt_rows`; vectors are 2^log_n long and tables as planned; the first
        // pass has cleared the state, and a plane's groups run at once and alone of their kind.
        unsafe {
            match state {
                Some(_) => self.program.launch_in_turn(stream, "ntt_rows", items, GROUP, &args),
                None => self.program.launch(stream, "ntt_rows", items, GROUP, &args),
            }
        }
    }
}
