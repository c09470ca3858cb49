//! Queues the kernels of a transform of input in either order, and the elementwise operations of provers between
//! transforms.

use super::twiddles::{Powers, Twiddles, has_one_table};
use crate::backend::{Buffer, DeviceInfo, Stream};
use crate::checked_size::byte_len;
use crate::field::{DeviceVector, TransformField, as_bytes};
use crate::kernel_arguments::{In, Kernel, Out, Value};
use crate::kernels;
use crate::kernels::ntt::{
    Add, ColumnParams, FACTOR_HIGH, FACTOR_LAST, FACTOR_LOW, FAMILY, IN_PLACE, Multiply, MultiplyByPowers, Permute,
    REVERSED, RowParams, RowPass, SHIFTED, Short, Subtract,
};
use crate::module_launcher::KernelModule;
use crate::ntt::plan::{ColumnPass, MAX_RADIX_LOG, NttPlan, SMALL_TILE, TILE};
use crate::ntt::{Order, Transform};
use crate::{Error, Result};

/// Describes the places of vectors in one buffer. Vector k starts at element k·`stride`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VectorLayout {
    /// Number of vectors.
    pub vectors: u32,
    /// Distance from the start of a vector to the start of the next, in elements.
    pub stride: u64,
}

/// Returns the flags for the kernels of `transform`, whose twiddles are `tables`.
pub(crate) fn kernel_flags<F: TransformField>(transform: &Transform<F>, tables: &Twiddles) -> u32 {
    let flag = |set: bool, flag: u32| if set { flag } else { 0 };
    flag(transform.shift_in.is_some(), SHIFTED)
        | flag(transform.order == Order::BitReversed, REVERSED)
        | flag(tables.low.is_some(), FACTOR_LOW)
        | flag(tables.high.is_some(), FACTOR_HIGH)
        | flag(tables.last.is_some(), FACTOR_LAST)
}

/// Holds the plan, the kernels and the twiddles of one transform on a device.
pub(crate) struct Passes {
    plan: NttPlan,
    program: KernelModule,
    tables: Twiddles,
    flags: u32,
    layout: VectorLayout,
    /// Whether passes that change the order of elements write over their input.
    can_run_in_place: bool,
}

impl Passes {
    /// Plans `transform` for the vectors of `layout`, and finds or computes its twiddles on the stream's device. Passes
    /// have a radix of at most 2^max_radix_log.
    pub(crate) fn with_radix<F: TransformField>(
        stream: &mut Stream,
        transform: &Transform<F>,
        layout: VectorLayout,
        max_radix_log: u32,
    ) -> Result<Self> {
        let device = stream.device().clone();
        let plan = NttPlan::new(transform.log_n, max_radix_log, has_one_table(transform, &device))?;
        let plan = Self::plan_single_wave(&plan, layout, device.info()).unwrap_or(plan);
        // Tiles are numbered, and so are rows of the last pass: the larger number must fit 32 bits.
        let most = u32::MAX >> plan.log_n.saturating_sub(1);
        if layout.vectors > most {
            let expected = format!("at most {most} of 2^{}", plan.log_n);
            return Err(Error::invalid("ntt on a device", "number of vectors", expected, layout.vectors));
        }
        let tables = Twiddles::new(stream, &plan, transform)?;
        tables.retain_on(stream);
        let flags = kernel_flags(transform, &tables);
        let can_run_in_place = Self::can_run_in_place(&plan, transform.order, device.info());
        Ok(Self {
            program: KernelModule::find(plan.tile.family, F::NAME)?,
            plan,
            tables,
            flags,
            layout,
            can_run_in_place,
        })
    }

    /// Returns `plan` with small tiles if there is one vector and all its tiles run at once, `None` otherwise. On a CPU
    /// device any number of tiles is allowed, since it makes no difference there.
    fn plan_single_wave(plan: &NttPlan, layout: VectorLayout, info: &DeviceInfo) -> Option<NttPlan> {
        let at_once = u64::from(info.compute_units * SMALL_TILE.groups);
        let small = plan.with_small_tiles().filter(|_| layout.vectors == 1);
        small.filter(|small| info.is_cpu || small.tile_count(1) <= at_once)
    }

    /// Returns whether all passes may write over their input. This holds if no pass changes the order of elements. It
    /// also holds if the device guarantees forward progress and the work-groups of a plane can wait for each other. For
    /// that at least twice as many must run at once. Work-groups of small tiles do not wait.
    fn can_run_in_place(plan: &NttPlan, order: Order, info: &DeviceInfo) -> bool {
        let swap_log = plan.column_passes(true).iter().map(|pass| pass.swap_log).max().unwrap_or(0);
        let groups = 1 << plan.plane_tile_count_log().max(swap_log);
        let at_once = 2 * groups <= info.compute_units * plan.tile.groups;
        let waits = info.caps.forward_progress && plan.tile == TILE && at_once;
        order == Order::BitReversed || plan.radices.len() == 1 || waits
    }

    fn is_natural_order(&self) -> bool {
        self.flags & REVERSED == 0
    }

    /// Allocates the second buffer that [`Self::enqueue`] needs, as large as `data`. Returns `None` if passes write over
    /// their input.
    pub(crate) fn scratch_like(&self, stream: &Stream, data: &Buffer) -> Result<Option<Buffer>> {
        (!self.can_run_in_place).then(|| stream.scratch(data.bytes())).transpose()
    }

    /// Queues the in-place transform of the vectors in `data`. `other` is the buffer from [`Self::scratch_like`].
    pub(crate) fn enqueue(&self, stream: &mut Stream, data: &Buffer, other: Option<&Buffer>) -> Result<()> {
        self.enqueue_out_of_place(stream, data, data, other)
    }

    /// Queues the transform of the vectors in `source`, which stay unchanged, to `data`. The last argument is the
    /// buffer from [`Self::scratch_like`].
    pub(crate) fn enqueue_out_of_place(
        &self,
        stream: &mut Stream,
        source: &Buffer,
        data: &Buffer,
        scratch_like: Option<&Buffer>,
    ) -> Result<()> {
        let passes = self.plan.column_passes(self.is_natural_order());
        let wait = self.can_run_in_place && self.is_natural_order() && !passes.is_empty();
        let (swap_words, row_words) = if wait { self.sync_state_word_counts(&passes) } else { (0, 0) };
        let state = stream.allocate(4 * (swap_words + row_words) as usize)?;
        // The last pass but one writes to the second buffer, and the last one back.
        let between = scratch_like.filter(|_| !self.can_run_in_place).unwrap_or(data);
        let mut from = source;
        for (number, pass) in passes.iter().enumerate() {
            let clear = if number == 0 { swap_words + row_words } else { 0 };
            let to = if number + 1 == passes.len() { between } else { data };
            self.queue_columns(stream, (from, to), pass, (&state, clear), wait && pass.swap_log > 0)?;
            from = to;
        }
        self.queue_rows(stream, (from, data), wait.then_some((&state, swap_words)))
    }

    /// Returns the numbers of 32-bit words of synchronisation state for the pass that swaps digits and for the last
    /// pass. Each state has a ticket, and a counter per plane. The first number is 0 if no pass swaps digits.
    fn sync_state_word_counts(&self, passes: &[ColumnPass]) -> (u32, u32) {
        let tiles = self.plan.tile_count(self.layout.vectors);
        let swap = passes.iter().find(|pass| pass.swap_log > 0).map_or(0, |pass| 1 + (tiles >> pass.swap_log));
        (swap as u32, 1 + (tiles >> self.plan.plane_tile_count_log()) as u32)
    }

    fn queue_columns(
        &self,
        stream: &mut Stream,
        (from, to): (&Buffer, &Buffer),
        pass: &ColumnPass,
        (state, clear): (&Buffer, u32),
        wait: bool,
    ) -> Result<()> {
        let ColumnPass { radix_log, stride_log, first_log, swap_log } = *pass;
        let params = ColumnParams {
            vector_stride: self.layout.stride,
            log_n: self.plan.log_n,
            stride_log,
            radix_log,
            first_log,
            swap_log,
            flags: self.flags | if wait { IN_PLACE } else { 0 },
            clear,
            padding: 0,
        };
        let kernel = kernels::ntt::ColumnPass {
            params: Value(&params),
            data: In::new(from),
            out: Out::new(to),
            nodes: In::new(&self.tables.nodes),
            state: Out::new(state),
        };
        self.launch(stream, self.plan.tile_count(self.layout.vectors), kernel, wait)
    }

    fn queue_rows(
        &self,
        stream: &mut Stream,
        (from, to): (&Buffer, &Buffer),
        state: Option<(&Buffer, u32)>,
    ) -> Result<()> {
        let Self { plan, tables, layout, .. } = self;
        if plan.is_short() {
            return self.queue_short(stream, from, to);
        }
        let radix_log = plan.last_radix_log();
        let rows = u64::from(layout.vectors) << plan.rows_log();
        let flags = self.flags | if state.is_some() { IN_PLACE } else { 0 };
        let (state, state_offset) = state.unwrap_or((from, 0));
        let params = RowParams {
            vector_stride: layout.stride,
            columns: rows as u32,
            log_n: plan.log_n,
            radix_log,
            first_log: plan.first_radix_log(),
            low_log: plan.low_log,
            flags,
            state_offset,
            plane_log: plan.plane_tile_count_log(),
        };
        let [low, high, last] = tables.factor_args();
        let kernel = RowPass {
            params: Value(&params),
            data: In::new(from),
            out: Out::new(to),
            nodes: In::new(&tables.plain),
            low,
            high,
            last,
            state: Out::new(state),
        };
        let tiles = rows.div_ceil(1 << (plan.tile.log - radix_log));
        self.launch(stream, tiles, kernel, flags & IN_PLACE != 0)
    }

    /// Queues transforms of fewer than four elements, the number that one work-item of a tile handles.
    fn queue_short(&self, stream: &mut Stream, from: &Buffer, to: &Buffer) -> Result<()> {
        let VectorLayout { vectors, stride } = self.layout;
        let [low, _, last] = self.tables.factor_args();
        let kernel = Short {
            data: In::new(from),
            out: Out::new(to),
            vector_stride: stride,
            vectors,
            log_n: self.plan.log_n,
            low,
            last,
            flags: self.flags,
        };
        self.program.run(stream, vectors.into(), kernel)
    }

    /// Queues `kernel` over `tiles` tiles, one per work-group. The launch is cooperative if work-groups `wait` for each
    /// other: the first pass has then cleared the state, and a plane's groups run at once.
    fn launch(&self, stream: &mut Stream, tiles: u64, kernel: impl Kernel, wait: bool) -> Result<()> {
        let group = self.plan.tile.work_group_size();
        let items = tiles * u64::from(group);
        match wait {
            true => self.program.run_cooperative(group, stream, items, kernel),
            false => self.program.run_in_groups_of(group, stream, items, kernel),
        }
    }
}

/// Holds a transform with the plan, kernels and twiddles that run it on a device. Its input may be in either order.
pub(crate) struct DeviceTransform {
    passes: Passes,
    program: KernelModule,
    layout: VectorLayout,
    /// log n if the input is in bit-reversed order, and so is permuted first; `None` if it is in natural order.
    permuted: Option<u32>,
}

impl DeviceTransform {
    /// Prepares `transform` for the vectors of `layout` on the stream's device: plans its passes, and finds or computes
    /// its twiddles. `max_radix_log` is the option of that name in [`crate::ntt::NttOptions`].
    pub(super) fn new<F: TransformField>(
        stream: &mut Stream,
        transform: &Transform<F>,
        layout: VectorLayout,
        max_radix_log: u32,
    ) -> Result<Self> {
        let radix_log = if max_radix_log == 0 { MAX_RADIX_LOG } else { max_radix_log };
        let passes = Passes::with_radix(stream, transform, layout, radix_log)?;
        let permuted = (transform.input == Order::BitReversed).then_some(transform.log_n);
        Ok(Self { passes, program: KernelModule::find(&FAMILY, F::NAME)?, layout, permuted })
    }

    /// Allocates the second buffer that [`Self::enqueue`] needs, as large as `data`. Returns `None` if it needs none
    /// because its passes work in place.
    pub(super) fn scratch_like(&self, stream: &Stream, data: &Buffer) -> Result<Option<Buffer>> {
        self.passes.scratch_like(stream, data)
    }

    /// Queues the in-place transform of the vectors in `data`. `other` is the buffer from [`Self::scratch_like`].
    pub(super) fn enqueue(&self, stream: &mut Stream, data: &Buffer, other: Option<&Buffer>) -> Result<()> {
        if let Some(log_n) = self.permuted {
            let count = u64::from(self.layout.vectors) << log_n;
            let permute = Permute { data: Out::new(data), vector_stride: self.layout.stride, count, log_n };
            launch(self.program, stream, count, permute)?;
        }
        self.passes.enqueue(stream, data, other)
    }
}

/// Holds a vector's transform, and the one or two buffers that it needs on the device.
pub(super) struct VectorOnDevice {
    pub data: Buffer,
    other: Option<Buffer>,
    transform: DeviceTransform,
}

impl VectorOnDevice {
    /// Prepares `transform` for one vector of `length` elements, and allocates its buffers from the stream.
    pub(super) fn allocate<F: TransformField>(
        stream: &mut Stream,
        transform: &Transform<F>,
        length: usize,
    ) -> Result<Self> {
        let layout = VectorLayout { vectors: 1, stride: length as u64 };
        let transform = DeviceTransform::new(stream, transform, layout, 0)?;
        let data = stream.allocate(byte_len::<F>("ntt", length)?)?.mark_secret();
        Ok(Self { other: transform.scratch_like(stream, &data)?, data, transform })
    }

    /// Queues the in-place transform of `data`, and times it.
    pub(super) fn enqueue_timed(&self, stream: &mut Stream) -> Result<()> {
        stream.begin_timing()?;
        self.transform.enqueue(stream, &self.data, self.other.as_ref())?;
        stream.end_timing()
    }
}

/// Maximum work-items of a launch, 2^22. A work-item processes several elements if there are more.
const MAX_ITEMS: u64 = 1 << 22;

/// Queues `kernel`, which runs on a grid of any size, on `stream` over `count` elements.
pub(crate) fn launch(program: KernelModule, stream: &mut Stream, count: u64, kernel: impl Kernel) -> Result<()> {
    program.run(stream, count.min(MAX_ITEMS), kernel)
}

/// Queues the multiplication of element i of vector v in `data` by base^(i·(first + v·step)). Vectors have
/// `2^length_log` elements. All exponents are below `2^exponent_log`.
pub(crate) fn multiply_by_powers<F: TransformField>(
    stream: &mut Stream,
    (data, layout, length_log): (&Buffer, VectorLayout, u32),
    (base, exponent_log): (F, u32),
    (first, step): (u32, u32),
) -> Result<()> {
    let powers = Powers::new(stream, base, exponent_log)?;
    let count = u64::from(layout.vectors) << length_log;
    let multiply = MultiplyByPowers {
        data: Out::new(data),
        vector_stride: layout.stride,
        count,
        length_log,
        first,
        step,
        low_log: powers.low_log,
        low: In::new(&powers.low),
        high: In::new(&powers.high),
    };
    launch(KernelModule::find(&FAMILY, F::NAME)?, stream, count, multiply)
}

/// Selects an operation on two vectors, element by element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pointwise {
    Multiply,
    Add,
    Subtract,
}

/// Queues `values[i] = values[i] ∘ other[i mod period]` on `stream`, where `operation` is ∘. `period` is the length of
/// `other`: that of `values`, or a power of two that divides it.
pub(super) fn enqueue_pointwise<F: TransformField>(
    stream: &mut Stream,
    operation: Pointwise,
    values: &DeviceVector<F>,
    (other, period): (&Buffer, usize),
) -> Result<()> {
    let length = values.len();
    let fits = period == length || (period.is_power_of_two() && length.is_multiple_of(period));
    if !fits || u32::try_from(period).is_err() {
        let expected = format!("{length}, or a power of two that divides it, below 2^32");
        return Err(Error::invalid("ntt", "length of the other vector", expected, period));
    }
    let mask = if period == length { u32::MAX } else { period as u32 - 1 };
    let (data, other, count) = (Out::new(values.buffer()), In::new(other), length as u64);
    let program = KernelModule::find(&FAMILY, F::NAME)?;
    match operation {
        Pointwise::Multiply => launch(program, stream, count, Multiply { data, other, count, mask }),
        Pointwise::Add => launch(program, stream, count, Add { data, other, count, mask }),
        Pointwise::Subtract => launch(program, stream, count, Subtract { data, other, count, mask }),
    }
}

/// Queues the multiplication of `values[i]` by `factors[i mod factors.len()]`. The number of `factors` is a power of
/// two that divides that of `values`.
pub(crate) fn scale_periodically<F: TransformField>(
    stream: &mut Stream,
    values: &DeviceVector<F>,
    factors: &[F],
) -> Result<()> {
    values.wait_before_write(stream)?;
    let buffer = stream.allocate(size_of_val(factors))?;
    stream.upload(&buffer, as_bytes(factors))?;
    enqueue_pointwise(stream, Pointwise::Multiply, values, (&buffer, factors.len()))
}

/// Returns 1/(power − 1), where `power` is x^n. Returns an error if `power` is 1.
pub(crate) fn inverse_of_vanishing<F: TransformField>(power: F) -> Result<F> {
    Option::<F>::from((power - F::ONE).invert())
        .ok_or_else(|| Error::invalid("ntt", "coset", "one that the polynomial x^n - 1 is not 0 on", "the subgroup"))
}
