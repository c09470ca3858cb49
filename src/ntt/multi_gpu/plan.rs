//! Plans the passes of one transform over several devices: which device computes which tiles, and where elements lie in
//! between.
//!
//! An index is [k1][middle][i]: the digit of the first pass, the digits of the passes between, the digit of the last.
//! The leading bits of one digit select the device's part that holds an element. Vectors at rest are divided by the
//! middle digit.
//!
//! The first pass works on the first digit, in place, each device in its own part. The second pass reads its input from
//! all parts and writes by the first digit, which neither it nor a third pass changes. The last pass reads from all
//! parts again. It writes by the middle digit, since it transposes planes of equal middle digits. So each device reads
//! (D − 1)/D of its share over the link twice, and writes nothing over it. A pass waits until all devices have done the
//! pass before.

use std::ops::Range;

use crate::backend::{PeerMemory, Stream};
use crate::field::TransformField;
use crate::kernel_arguments::{In, Out, Value};
use crate::kernels::ntt::{FAMILY, PeerColumns, PeerParams, PeerRows};
use crate::module_launcher::KernelModule;
use crate::ntt::gpu::{Twiddles, kernel_flags};
use crate::ntt::plan::{ColumnPass, NttPlan, TILE};
use crate::ntt::{Order, Transform};
use crate::{Error, Result};

/// Minimum log n, 17: with passes of the default radix, an index of fewer bits has no middle digit.
const MIN_LOG_N: u32 = 17;
/// Minimum binary logarithm of the elements reserved per device, 16: 2^16 elements of 32 bytes take 2 MiB, the driver's
/// unit of memory.
const MIN_PART_LOG: u32 = 16;

/// Describes the distribution of a vector of `2^log_n` elements over `2^owners_log` devices, and the passes of its
/// transform.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PeerPlan {
    plan: NttPlan,
    owners_log: u32,
}

/// Describes one pass of the transform, which all devices run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PeerPass {
    /// Parameters of a pass over columns; `None` for the last pass, which is over rows.
    columns: Option<ColumnPass>,
    /// Position, in an element's index, of the bits that number the device that holds it before the pass.
    from_log: u32,
    /// Position, in an element's index, of the bits that number the device that holds it after the pass.
    to_log: u32,
    /// Whether the pass writes to the vector's second memory, rather than in place.
    pub moves: bool,
}

impl PeerPlan {
    /// Plans a transform of 2^log_n elements on `owners` devices. Their number is a power of two. Passes have a radix
    /// of at most 2^max_radix_log.
    pub(super) fn new(log_n: u32, owners: usize, max_radix_log: u32) -> Result<Self> {
        const ERROR_CONTEXT: &str = "ntt over peers";
        if !owners.is_power_of_two() {
            return Err(Error::invalid(ERROR_CONTEXT, "number of devices", "a power of two", owners));
        }
        let (plan, owners_log) = (NttPlan::new(log_n, max_radix_log, false)?, owners.trailing_zeros());
        let middle_log = log_n.saturating_sub(2 * plan.first_radix_log());
        if plan.radices.len() < 3 || log_n < TILE.log + owners_log {
            return Err(Error::invalid(ERROR_CONTEXT, "log_n", format!("at least {MIN_LOG_N}"), log_n));
        }
        if owners_log > middle_log.min(plan.first_radix_log()) {
            let most = 1 << middle_log.min(plan.first_radix_log());
            return Err(Error::invalid(
                ERROR_CONTEXT,
                "number of devices",
                format!("at most {most} for 2^{log_n}"),
                owners,
            ));
        }
        Ok(Self { plan, owners_log })
    }

    /// Returns the binary logarithm of the vector's length.
    pub(super) fn log_n(&self) -> u32 {
        self.plan.log_n
    }

    /// Returns the number of devices.
    pub(super) fn owner_count(&self) -> usize {
        1 << self.owners_log
    }

    /// Returns the binary logarithm of the distance, in elements, from the start of one device's memory to the start of
    /// the next one's.
    pub(super) fn part_stride_log(&self) -> u32 {
        (self.plan.log_n - self.owners_log).max(MIN_PART_LOG)
    }

    /// Returns the position, in an element's index, of the bits that number the device that holds it between
    /// transforms.
    fn owner_bits_shift(&self) -> u32 {
        self.plan.log_n - self.plan.first_radix_log() - self.owners_log
    }

    /// Returns the ranges of consecutive indices that device `owner` holds between transforms. They are in ascending
    /// order, which is their order in its memory.
    pub(super) fn owned_index_ranges(&self, owner: usize) -> impl Iterator<Item = Range<usize>> {
        let (run_log, every_log) = (self.owner_bits_shift(), self.owner_bits_shift() + self.owners_log);
        let start = move |run: usize| run << every_log | owner << run_log;
        (0..1 << self.plan.first_radix_log()).map(move |run| start(run)..start(run) + (1 << run_log))
    }

    /// Returns the passes in the order in which they run.
    pub(super) fn steps(&self) -> Vec<PeerPass> {
        let (rest, by_first) = (self.owner_bits_shift(), self.plan.log_n - self.owners_log);
        let columns = self.plan.column_passes(true).into_iter().enumerate().map(|(number, pass)| {
            let from_log = if number < 2 { rest } else { by_first };
            let to_log = if number < 1 { rest } else { by_first };
            PeerPass { columns: Some(pass), from_log, to_log, moves: number > 0 }
        });
        columns.chain([PeerPass { columns: None, from_log: by_first, to_log: rest, moves: true }]).collect()
    }

    /// Returns the number of tiles of a pass that each device computes. Device d starts with tile d times this number.
    fn tiles_per_owner(&self) -> u32 {
        1 << (self.plan.log_n - TILE.log - self.owners_log)
    }
}

/// Holds the kernels, twiddles and flags that one device needs for its part of a transform.
pub(crate) struct PeerPasses {
    plan: PeerPlan,
    program: KernelModule,
    tables: Twiddles,
    flags: u32,
}

impl PeerPasses {
    /// Prepares `transform` on the stream's device: finds or computes its twiddles. Returns an error unless input and
    /// output are in natural order.
    pub(super) fn new<F: TransformField>(
        stream: &mut Stream,
        plan: &PeerPlan,
        transform: &Transform<F>,
    ) -> Result<Self> {
        if (transform.input, transform.order) != (Order::Natural, Order::Natural) {
            let orders = format!("{} and {}", transform.input, transform.order);
            return Err(Error::invalid("ntt over peers", "orders of input and output", "natural", orders));
        }
        let tables = Twiddles::new(stream, &plan.plan, transform)?;
        tables.retain_on(stream);
        let flags = kernel_flags(transform, &tables);
        Ok(Self { plan: plan.clone(), program: KernelModule::find(&FAMILY, F::NAME)?, tables, flags })
    }

    /// Queues the tiles of the pass `step` that device `owner` computes. `places` are the vector's memory and the
    /// second one.
    pub(super) fn enqueue_pass(
        &self,
        stream: &mut Stream,
        step: &PeerPass,
        places: [&PeerMemory; 2],
        owner: usize,
    ) -> Result<()> {
        let params = self.pass_params(step, owner);
        let params = Value(&params);
        let data = In::from_handle(places[0].handle());
        let out = Out::from_handle(places[usize::from(step.moves)].handle());
        let items = u64::from(self.plan.tiles_per_owner()) * u64::from(TILE.work_group_size());
        if step.columns.is_some() {
            let nodes = In::new(&self.tables.nodes);
            return self.program.run(stream, items, PeerColumns { params, data, out, nodes });
        }
        let [low, high, last] = self.tables.factor_args();
        let nodes = In::new(&self.tables.plain);
        self.program.run(stream, items, PeerRows { params, data, out, nodes, low, high, last })
    }

    /// Returns the numbers of the pass `step` for device `owner`.
    fn pass_params(&self, step: &PeerPass, owner: usize) -> PeerParams {
        let plan = &self.plan.plan;
        let last = ColumnPass {
            radix_log: plan.last_radix_log(),
            stride_log: 0,
            first_log: plan.first_radix_log(),
            swap_log: 0,
        };
        let ColumnPass { radix_log, stride_log, first_log, swap_log } = step.columns.unwrap_or(last);
        PeerParams {
            first_tile: owner as u32 * self.plan.tiles_per_owner(),
            owners_log: self.plan.owners_log,
            part_log: self.plan.part_stride_log(),
            from_log: step.from_log,
            to_log: step.to_log,
            log_n: plan.log_n,
            stride_log,
            radix_log,
            first_log,
            swap_log,
            low_log: plan.low_log,
            flags: self.flags,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ntt::plan::MAX_RADIX_LOG;

    /// Returns the number of the device that holds `index`, if `low_log` is the position of the bits that number it.
    fn owner_of_index(index: usize, low_log: u32, plan: &PeerPlan) -> usize {
        index >> low_log & (plan.owner_count() - 1)
    }

    /// Returns plans of all sizes from [`MIN_LOG_N`] on for 1, 2, 4, 8 and 16 devices.
    fn plans() -> impl Iterator<Item = PeerPlan> {
        let sizes = (MIN_LOG_N..=31).flat_map(|log_n| (0..=4).map(move |log| (log_n, 1 << log)));
        sizes.map(|(log_n, owners)| PeerPlan::new(log_n, owners, MAX_RADIX_LOG).expect("within range"))
    }

    #[test]
    fn owners_share_every_index() {
        for plan in plans() {
            let runs = |owner| plan.owned_index_ranges(owner).map(|run| run.len()).sum::<usize>();
            assert!((0..plan.owner_count()).all(|owner| runs(owner) == 1 << (plan.plan.log_n - plan.owners_log)));
            assert!(
                plan.owner_bits_shift() >= TILE.log - plan.plan.first_radix_log(),
                "a tile's columns have one owner: {plan:?}"
            );
            assert!(plan.part_stride_log() + plan.owners_log <= 31);
            for number in 0..plan.owner_count() {
                let mut runs = plan.owned_index_ranges(number);
                assert!(runs.all(|run| [run.start, run.end - 1].iter().all(|i| owner_of_index(
                    *i,
                    plan.owner_bits_shift(),
                    &plan
                ) == number)));
            }
        }
        for (log_n, owners) in [(20, 0), (20, 3), (20, 256), (16, 2)] {
            assert!(PeerPlan::new(log_n, owners, MAX_RADIX_LOG).is_err(), "2^{log_n} on {owners}");
        }
    }

    /// Checks that a device writes only elements of its own part of the vector. Checks that steps in place keep the
    /// distribution of elements among devices.
    #[test]
    fn devices_write_their_own_parts() {
        for plan in plans().filter(|plan| plan.plan.log_n <= 26) {
            for step in plan.steps() {
                for device in 0..plan.owner_count() {
                    let first = device as u32 * plan.tiles_per_owner();
                    for tile in [first, first + plan.tiles_per_owner() / 2, first + plan.tiles_per_owner() - 1] {
                        let written = written_indices(&plan, &step, tile);
                        assert!(
                            written.iter().all(|i| owner_of_index(*i, step.to_log, &plan) == device),
                            "{plan:?}, {step:?}"
                        );
                        let in_place = !step.moves;
                        assert!(
                            !in_place || step.from_log == step.to_log && step.columns.is_some_and(|c| c.swap_log == 0)
                        );
                    }
                }
            }
        }
    }

    /// Returns the indices of the elements that tile number `tile` writes in `step`, as the kernels compute them.
    fn written_indices(plan: &PeerPlan, step: &PeerPass, tile: u32) -> Vec<usize> {
        let (log_n, first) = (plan.plan.log_n, plan.plan.first_radix_log());
        let Some(pass) = step.columns else {
            let radix_log = plan.plan.last_radix_log();
            let rows = (tile as usize) << (TILE.log - radix_log)..(tile as usize + 1) << (TILE.log - radix_log);
            return rows
                .flat_map(|row| (0..1 << radix_log).map(move |at: usize| at << (log_n - radix_log) | row))
                .collect();
        };
        let ColumnPass { radix_log, stride_log, swap_log, .. } = pass;
        assert!(swap_log == 0 || pass.first_log == first);
        let chunks_log = stride_log + radix_log - TILE.log;
        let (k2, rest) = (tile & ((1 << swap_log) - 1), tile >> swap_log);
        let (chunk, k1) = (rest & ((1 << chunks_log) - 1), rest >> chunks_log);
        let column = |at: usize| (chunk as usize) << (TILE.log - radix_log) | at;
        let index = |row: usize, at: usize| {
            ((((k1 as usize) << radix_log | row) << swap_log | k2 as usize) << stride_log) | column(at)
        };
        (0..1 << radix_log).flat_map(|row| (0..1 << (TILE.log - radix_log)).map(move |at| index(row, at))).collect()
    }
}
