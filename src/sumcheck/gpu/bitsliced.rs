//! Runs rounds on a device over bit-sliced columns of the tower: one kernel a round folds, evaluates and adds up.

use std::sync::Arc;

use ff::Field;

use super::column_transfers::{DeviceColumns, enqueue_unbitslice, locate_or_upload};
use super::passes::work_item_count;
use crate::backend::{Buffer, Device, PinnedBuffer, Stream, StreamStats};
use crate::exec::ExecCtx;
use crate::field::tower::{LEVELS, Tower, karatsuba_combine};
use crate::field::{DeviceVector, Element, as_bytes_mut, bitslice};
use crate::kernel_arguments::{Out, Value};
use crate::kernels;
use crate::kernels::sumcheck::{SLICE_GROUP, SLICED_GROUP, SLICED_PARTS, Slice, Sliced, SlicedParams};
use crate::module_launcher::KernelModule;
use crate::secret_vec::SecretVec;
use crate::sumcheck::caller_columns::Columns;
use crate::sumcheck::claim::RoundShape;
use crate::sumcheck::field::{
    BasisChange, ComputeField, SumcheckField, enqueue_basis_change, to_ghash_table, to_tower_table,
};
use crate::sumcheck::rounds::{HostColumns, Interpolation, SumcheckPlan, bytes, product};
use crate::{Error, Result};

/// Number of 32-bit products from which a product of 128 bits is computed, 9.
const PARTS: usize = SLICED_PARTS as usize;
/// Maximum number of work-groups of the kernel that bit-slices columns, 2^14.
const MAX_BITSLICE_GROUPS: u64 = 1 << 14;

/// Computes rounds on a device over bit-sliced columns, and holds the columns there between two rounds.
pub(crate) struct SlicedRounds<F: SumcheckField> {
    // Dropped first: queued work ends before memory is freed.
    stream: Stream,
    program: KernelModule,
    /// Kernels that change the basis of elements that are not bit-sliced.
    packed_program: KernelModule,
    plan: SumcheckPlan,
    factors: usize,
    rows: u64,
    round: usize,
    now: DeviceColumns,
    /// Destination of folded columns.
    to: DeviceColumns,
    memory: Memory,
    interpolation: Interpolation<F::Compute>,
    /// Memory for the columns' last rows, not bit-sliced, one column after the other.
    packed: DeviceVector<F::Compute>,
}

/// Holds the buffers that rounds need besides columns.
struct Memory {
    /// One tile of products for each work-group.
    products: Buffer,
    /// Sums of all rounds, each as nine 32-bit products.
    totals: Buffer,
    fetched: PinnedBuffer,
    /// Table of the change of basis from the tower to GHASH's field, in which other paths and the host compute.
    from_tower: Arc<Buffer>,
    /// Table of the change of basis to the tower, if columns are in GHASH's basis.
    to_tower: Option<Arc<Buffer>>,
}

impl<F: SumcheckField> SlicedRounds<F> {
    /// Prepares `columns` on `device` for the rounds of `plan`, with the kernels of `program`. Allocates all memory
    /// that the rounds need.
    pub(crate) fn new(
        device: &Arc<Device>,
        program: KernelModule,
        shape: &RoundShape<F::Compute>,
        columns: &Columns<'_, F>,
        plan: SumcheckPlan,
        ctx: ExecCtx<'_>,
    ) -> Result<Self> {
        let mut stream = device.stream()?;
        let rows = 1u64 << plan.variables;
        let factors = shape.columns;
        let work = match plan.work_rows {
            0 => None,
            work_rows => {
                Some(DeviceVector::<F::Compute>::allocate_uninit(&stream, product(factors, work_rows as usize)?)?)
            }
        };
        let own = work.map(|vector| DeviceColumns { buffer: vector.buffer().clone(), stride: rows });
        let now = locate_or_upload(&mut stream, columns, (own.as_ref(), rows), ctx)?;
        let to = own.unwrap_or_else(|| now.clone());
        let memory = Memory::new(&mut stream, &plan, factors)?;
        let finish_on_host = rows.min(1u64.checked_shl(plan.tail).unwrap_or(rows)) as usize;
        let packed = DeviceVector::allocate_uninit(&stream, product(factors, finish_on_host)?)?;
        let packed_program = KernelModule::find(&kernels::sumcheck::FAMILY, F::Compute::NAME)?;
        let element = |number: u32| F::Compute::from_tower(Tower(number.into())).unwrap_or(F::Compute::ZERO);
        let interpolation = Interpolation::with_points(factors, element);
        let mut rounds = Self {
            stream,
            program,
            packed_program,
            plan,
            factors,
            rows,
            round: 0,
            now,
            to,
            memory,
            interpolation,
            packed,
        };
        if !matches!(columns, Columns::KeptSliced(_)) {
            rounds.bitslice_columns()?;
        }
        Ok(rounds)
    }

    /// Returns the copies, times and launches on the device so far.
    pub(crate) fn traffic(&self) -> StreamStats {
        self.stream.stats()
    }

    /// Returns the interpolation that rebuilds a round polynomial from its values at the points of the bit-sliced
    /// kernels. The points are elements of the tower.
    pub(crate) fn interpolation(&self) -> &Interpolation<F::Compute> {
        &self.interpolation
    }

    /// Converts the columns to the tower's basis, if they are in GHASH's, and bit-slices them.
    fn bitslice_columns(&mut self) -> Result<()> {
        let count = self.factors as u64 * self.rows;
        if F::conversion().is_none() {
            let table = to_tower_table(&mut self.stream)?;
            self.memory.to_tower = Some(table.clone());
            self.change_basis(&table, count, &self.now.buffer.clone(), &self.to.buffer.clone())?;
            self.now = self.to.clone();
        }
        let tiles = count / bitslice::TILE as u64;
        let items = tiles.min(MAX_BITSLICE_GROUPS) * u64::from(SLICE_GROUP);
        let slice = Slice { tiles, from: self.now.as_in(), to: self.to.as_out() };
        self.program.run(&mut self.stream, items, slice)?;
        self.now = self.to.clone();
        Ok(())
    }

    fn change_basis(&mut self, table: &Buffer, count: u64, from: &Buffer, to: &Buffer) -> Result<()> {
        let all = BasisChange { count, items: work_item_count(self.plan.group_count(count)), from, to };
        enqueue_basis_change::<F::Compute>(&mut self.stream, self.packed_program, table, all)
    }

    /// Binds the first variable to `challenge`, if there is one. Returns the next round polynomial's values at all
    /// points except 1.
    pub(crate) fn fold_and_evaluate(
        &mut self,
        challenge: Option<F::Compute>,
        ctx: ExecCtx<'_>,
    ) -> Result<Vec<F::Compute>> {
        let half = if challenge.is_some() { self.rows / 4 } else { self.rows / 2 };
        self.enqueue_round(half, if challenge.is_some() { 2 } else { 0 }, challenge)?;
        self.stream.copy_to_pinned(&mut self.memory.fetched, &self.memory.totals)?;
        ctx.synchronize(&mut self.stream)?;
        let first = self.round * self.factors * PARTS;
        self.round += 1;
        let words = self.memory.fetched.as_slice().as_chunks::<4>().0;
        let points = words[first..][..self.factors * PARTS].as_chunks::<PARTS>().0;
        let sums = points.iter().map(|parts| F::Compute::from_tower(combine_partials(&parts.map(u32::from_le_bytes))));
        sums.collect::<Option<_>>().ok_or_else(|| Error::internal("sumcheck"))
    }

    /// Queues a round's kernel. If `folds` is 1 or 2, it folds the columns by `challenge` to `folds`·`rows` rows. If
    /// `folds` is 0 or 2, it then evaluates the product over two halves of `rows` rows.
    fn enqueue_round(&mut self, rows: u64, folds: u32, challenge: Option<F::Compute>) -> Result<()> {
        let r = challenge.and_then(F::Compute::to_tower).unwrap_or_default();
        let tiles = (rows / bitslice::TILE as u64) as u32;
        let params = SlicedParams {
            from_stride: self.now.stride,
            to_stride: self.to.stride,
            tiles,
            factors: self.factors as u32,
            folds,
            round: self.round as u32,
        };
        let sliced = Sliced {
            params: Value(&params),
            r: Value(&r.0),
            from: self.now.as_in(),
            to: self.to.as_out(),
            products: Out::new(&self.memory.products),
            totals: Out::new(&self.memory.totals),
        };
        let items = u64::from(tiles.min(self.plan.groups)) * u64::from(SLICED_GROUP);
        self.program.run(&mut self.stream, items, sliced)?;
        if folds > 0 {
            self.now = self.to.clone();
            self.rows /= 2;
        }
        Ok(())
    }

    /// Binds the first variable to `challenge`, if there is one, then returns the remaining rows of all columns in host
    /// memory.
    pub(crate) fn fold_and_download(
        &mut self,
        challenge: Option<F::Compute>,
        ctx: ExecCtx<'_>,
    ) -> Result<HostColumns<'static, F::Compute>> {
        if challenge.is_some() {
            self.enqueue_round(self.rows / 2, 1, challenge)?;
        }
        self.pack()?;
        let rows = self.rows as usize;
        let mut all = SecretVec(vec![F::Compute::ZERO; product(self.factors, rows)?]);
        // SAFETY: the bytes written are elements, which kernels left.
        let bytes = unsafe { as_bytes_mut(&mut all.0) };
        self.stream.download_abortable(bytes, self.packed.buffer(), ctx.abort())?;
        let own = all.0.chunks(rows).map(|column| SecretVec(column.to_vec())).collect();
        Ok(HostColumns::Own(own, rows))
    }

    /// Converts the last rows from tiles to elements in the basis that the host computes in, one column after the
    /// other.
    fn pack(&mut self) -> Result<()> {
        let (count, packed) = (self.factors as u64 * self.rows, self.packed.buffer().clone());
        enqueue_unbitslice(&mut self.stream, self.program, (self.factors, self.rows), &self.now, &packed)?;
        self.change_basis(&self.memory.from_tower.clone(), count, &packed, &packed)
    }
}

impl Memory {
    fn new(stream: &mut Stream, plan: &SumcheckPlan, factors: usize) -> Result<Self> {
        let totals = product(product(plan.device_round_count() as usize, factors)?, bytes::<[u32; PARTS]>(1)?)?;
        let all = Self {
            products: stream.scratch(product(plan.groups as usize, bytes::<u128>(bitslice::TILE)?)?)?,
            totals: stream.scratch(totals)?,
            fetched: stream.allocate_pinned(totals)?,
            from_tower: to_ghash_table(stream)?,
            to_tower: None,
        };
        stream.zero(&all.totals)?;
        Ok(all)
    }
}

/// Returns the tower element whose nine 32-bit products (Karatsuba) are `parts`. The kernel orders them in branches
/// low, high, both. Each branch has high, low, both.
fn combine_partials(parts: &[u32; PARTS]) -> Tower {
    let branch = |number: usize| {
        let [high, low, both] = std::array::from_fn(|part| u128::from(parts[3 * number + part]));
        karatsuba_combine(LEVELS - 1, low, high, both)
    };
    Tower(karatsuba_combine(LEVELS, branch(0), branch(1), branch(2)))
}
