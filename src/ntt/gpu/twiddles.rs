//! Makes the twiddles of a transform on a device, and keeps them there.

use std::sync::Arc;

use crate::Result;
use crate::backend::{Buffer, Device, Stream};
use crate::field::{TransformField, as_bytes};
use crate::kernel_arguments::{In, Out};
use crate::kernels::ntt::{
    FACTOR_IN, FACTOR_OUT, FACTOR_SCALE, FAMILY, Fixed, POWER_TABLE, TwiddleFactors, TwiddleTree,
};
use crate::module_launcher::KernelModule;
use crate::ntt::plan::NttPlan;
use crate::ntt::{TableSize, Transform};

/// Returns the number of bytes that a twiddle takes: a value and a quotient for Shoup's multiplication.
const fn factor_bytes<F>() -> usize {
    2 * size_of::<F>()
}

/// Maximum log n, 20, at which [`TableSize::Automatic`] puts all twiddles in one table. The table may take
/// 1/[`FULL_SHARE`] of device memory.
const MAX_FULL_LOG: u32 = 20;
const FULL_SHARE: u64 = 64;

/// Returns whether `device` is to have all twiddles of the last pass of `transform` in one table.
pub(crate) fn has_one_table<F>(transform: &Transform<F>, device: &Device) -> bool {
    let fits = || (factor_bytes::<F>() as u64) << transform.log_n <= device.memory() / FULL_SHARE;
    match transform.tables {
        TableSize::Automatic => transform.log_n <= MAX_FULL_LOG && fits(),
        TableSize::Full => true,
        TableSize::Short => false,
    }
}

/// Holds the twiddle tables of one transform on a device. Transforms with equal tables share them.
#[derive(Debug, Clone)]
pub(crate) struct Twiddles {
    /// Butterfly twiddles of the passes before the last. They contain the input's shift.
    pub nodes: Arc<Buffer>,
    /// Butterfly twiddles of the last pass. They contain no shift.
    pub plain: Arc<Buffer>,
    /// Factors of the last pass's inputs, by the low bits of a row's index. `None` if all of them are 1.
    pub low: Option<Arc<Buffer>>,
    /// Factors of the last pass's inputs, by the high bits of a row's index. `None` if `low` covers all bits.
    pub high: Option<Arc<Buffer>>,
    /// Factors of the last pass's outputs. `None` if the transform has no `shift_out`.
    pub last: Option<Arc<Buffer>>,
}

impl Twiddles {
    /// Returns the tables of `transform` with the passes of `plan`. Finds them on the stream's device, or computes them
    /// there.
    pub(crate) fn new<F: TransformField>(
        stream: &mut Stream,
        plan: &NttPlan,
        transform: &Transform<F>,
    ) -> Result<Self> {
        let mut maker = TwiddleBuilder { program: KernelModule::find(&FAMILY, F::NAME)?, stream, transform };
        let (rows_log, width_log) = (plan.rows_log(), plan.last_radix_log());
        let plain = maker.unshifted_tree_nodes(rows_log.max(width_log))?;
        let nodes = match transform.shift_in {
            Some(shift_in) if rows_log > 0 => maker.shifted_tree_nodes(rows_log, shift_in)?,
            _ => plain.clone(),
        };
        let outputs = transform.shift_out.is_some();
        let low_needed = rows_log > 0 || transform.shift_in.is_some() || (transform.scale.is_some() && !outputs);
        let out = if outputs { FACTOR_OUT } else { 0 };
        let input = if transform.shift_in.is_some() { FACTOR_IN } else { 0 };
        let scale = if transform.scale.is_some() { FACTOR_SCALE } else { 0 };
        let scale_low = if low_needed { scale } else { 0 };
        let low = low_needed
            .then(|| maker.find_or_compute_factors(plan.low_log, width_log, 0, input | out | scale_low))
            .transpose()?;
        let high_log = rows_log - plan.low_log;
        let high = (high_log > 0)
            .then(|| maker.find_or_compute_factors(high_log, width_log, plan.low_log, out))
            .transpose()?;
        let last_which = FACTOR_OUT | (scale ^ scale_low);
        let last = outputs.then(|| maker.find_or_compute_factors(width_log, 0, rows_log, last_which)).transpose()?;
        Ok(Self { nodes, plain, low, high, last })
    }

    /// Returns `low`, `high` and `last` as kernel arguments, with `plain` in place of `None`. The kernels' flags say
    /// which of them are not to be read.
    pub(crate) fn factor_args(&self) -> [In<'_, Fixed>; 3] {
        [&self.low, &self.high, &self.last].map(|table| In::new(table.as_ref().unwrap_or(&self.plain)))
    }

    /// Keeps the tables alive until the work queued on `stream` has run, even if the device's cache drops them.
    pub(crate) fn retain_on(&self, stream: &mut Stream) {
        let optional = [&self.low, &self.high, &self.last].into_iter().flatten();
        [&self.nodes, &self.plain].into_iter().chain(optional).for_each(|table| stream.retain_buffer(table.clone()));
    }
}

/// Holds powers of an element in two tables on a device, one by the low bits of the exponent and one by the high bits.
/// A power is the product of an entry of each.
#[derive(Debug, Clone)]
pub(crate) struct Powers {
    pub low: Arc<Buffer>,
    pub high: Arc<Buffer>,
    pub low_log: u32,
}

impl Powers {
    /// Returns the powers of `base` with exponents below 2^log_count. Finds them on the stream's device, or computes
    /// them there.
    pub(crate) fn new<F: TransformField>(stream: &mut Stream, base: F, log_count: u32) -> Result<Self> {
        let low_log = log_count / 2;
        let transform = Transform { shift_out: Some(base), ..Transform::new(0, F::ONE) };
        let mut maker =
            TwiddleBuilder { program: KernelModule::find(&FAMILY, F::NAME)?, stream, transform: &transform };
        let low = maker.find_or_compute_factors(low_log, 0, 0, FACTOR_OUT)?;
        let high = maker.find_or_compute_factors(log_count - low_log, 0, low_log, FACTOR_OUT)?;
        stream.retain_buffer(low.clone());
        stream.retain_buffer(high.clone());
        Ok(Self { low, high, low_log })
    }
}

/// Holds the elements whose powers make up a table. An element that the table does not contain is 1.
#[derive(Debug, Clone, Copy)]
struct TableParams<F> {
    omega: F,
    shift_in: F,
    shift_out: F,
    scale: F,
}

impl<F: TransformField> TableParams<F> {
    fn for_root(omega: F) -> Self {
        Self { omega, shift_in: F::ONE, shift_out: F::ONE, scale: F::ONE }
    }

    /// Uploads the powers base^(2^k), for k below 32, of `omega`, `shift_in` and `shift_out` as bases, and then
    /// `scale`.
    fn upload(self, stream: &mut Stream) -> Result<Buffer> {
        let tower =
            |base: F| std::iter::successors(Some(base), |power| Some(power.square())).take(POWER_TABLE as usize);
        let towers = [self.omega, self.shift_in, self.shift_out].into_iter().flat_map(tower);
        let params: Vec<F> = towers.chain(std::iter::once(self.scale)).collect();
        let buffer = stream.allocate(size_of_val(params.as_slice()))?;
        stream.upload(&buffer, as_bytes(&params))?;
        Ok(buffer)
    }
}

/// Describes a table of twiddles.
#[derive(Debug, Clone, Copy)]
enum Table {
    /// The first 2^count_log nodes of the tree of remainders of a transform of 2^log_n elements.
    Tree { log_n: u32, count_log: u32 },
    /// The products of ω^(k·i·2^shift) and the factors that the flags `which` select, for k below 2^rows_log and i
    /// below 2^width_log.
    Factors { rows_log: u32, width_log: u32, shift: u32, which: u32 },
}

impl Table {
    /// Returns the number of twiddles.
    fn len(self) -> u32 {
        match self {
            Self::Tree { count_log, .. } => 1 << count_log,
            Self::Factors { rows_log, width_log, .. } => 1 << (rows_log + width_log),
        }
    }
}

/// Computes the tables of a transform on a device.
struct TwiddleBuilder<'a, F> {
    program: KernelModule,
    stream: &'a mut Stream,
    transform: &'a Transform<F>,
}

impl<F: TransformField> TwiddleBuilder<'_, F> {
    /// Returns the first 2^count_log butterfly twiddles of the transform without a shift. They are the same for all
    /// lengths, so the root of unity of order 2^count_log is their key.
    fn unshifted_tree_nodes(&mut self, count_log: u32) -> Result<Arc<Buffer>> {
        let root = (count_log..self.transform.log_n).fold(self.transform.omega, |root, _| root.square());
        self.find_or_compute_table(Table::Tree { log_n: count_log, count_log }, TableParams::for_root(root))
    }

    /// Returns the first 2^count_log butterfly twiddles of the transform with an input shifted by `shift_in`.
    fn shifted_tree_nodes(&mut self, count_log: u32, shift_in: F) -> Result<Arc<Buffer>> {
        let params = TableParams { shift_in, ..TableParams::for_root(self.transform.omega) };
        self.find_or_compute_table(Table::Tree { log_n: self.transform.log_n, count_log }, params)
    }

    /// Returns ω^(k·i·2^shift), times the factors that the flags `which` select, at index k·2^width_log + i. k is below
    /// 2^rows_log, and i below 2^width_log.
    fn find_or_compute_factors(
        &mut self,
        rows_log: u32,
        width_log: u32,
        shift: u32,
        which: u32,
    ) -> Result<Arc<Buffer>> {
        let Transform { omega, shift_in, shift_out, scale, .. } = *self.transform;
        let or_one = |flag: u32, value: Option<F>| if which & flag == 0 { F::ONE } else { value.unwrap_or(F::ONE) };
        let params = TableParams {
            omega,
            shift_in: or_one(FACTOR_IN, shift_in),
            shift_out: or_one(FACTOR_OUT, shift_out),
            scale: or_one(FACTOR_SCALE, scale),
        };
        self.find_or_compute_table(Table::Factors { rows_log, width_log, shift, which }, params)
    }

    /// Returns `table` for `params`. Finds it in the device's cache, or computes it.
    fn find_or_compute_table(&mut self, table: Table, params: TableParams<F>) -> Result<Arc<Buffer>> {
        let mut key = format!("{table:?} {} ", F::NAME).into_bytes();
        key.extend_from_slice(as_bytes(&[params.omega, params.shift_in, params.shift_out, params.scale]));
        let device = self.stream.device().clone();
        device.get_or_create_table(key, || {
            let params = params.upload(self.stream)?;
            let factors = self.stream.allocate(table.len() as usize * factor_bytes::<F>())?;
            self.compute_table(table, &params, &factors)?;
            self.stream.synchronize(None)?;
            Ok(factors)
        })
    }

    /// Queues the kernel that computes `table` from `params`, the contents of [`TableParams`], in `factors`.
    fn compute_table(&mut self, table: Table, params: &Buffer, factors: &Buffer) -> Result<()> {
        let (params, factors, count) = (In::new(params), Out::new(factors), table.len());
        match table {
            Table::Tree { log_n, .. } => {
                self.program.run(self.stream, count.into(), TwiddleTree { params, log_n, count, nodes: factors })
            }
            Table::Factors { width_log, shift, which, .. } => {
                let kernel = TwiddleFactors { params, width_log, shift, which, count, factors };
                self.program.run(self.stream, count.into(), kernel)
            }
        }
    }
}
