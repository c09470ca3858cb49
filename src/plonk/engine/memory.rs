//! Estimates the device memory of a proof, plans for a device that has less, and splits work into groups that fit.

use std::fmt;
use std::ops::Range;

use super::memory_peaks::{FOR_PRODUCT, MemoryPeak, PEAKS, device_vector_count};
use crate::expression::Expression;
use crate::field::NttField;
use crate::plonk::circuit::{Circuit, MAX_COSETS};
use crate::plonk::columns_layout_and_key::ColumnLayout;

/// Columns of device memory for each column of a transform, 2: a copy, and a second one to transform into.
pub(crate) const FOR_TRANSFORM: usize = 2;
/// Columns of device memory for each column that is read on a coset, 3: its coefficients, its values, and a second
/// column to transform into.
pub(crate) const COSET_COLUMNS: usize = 3;
/// Columns of device memory that a lookup takes, 6: A, S, A', S', and the tables of the permutation.
pub(crate) const FOR_LOOKUP: usize = 6;
/// Minimum columns of device memory that a commitment takes, 6: its scalars, and the MSM's matrix and buckets.
const FOR_COMMITMENT: usize = 6;
/// Minimum bytes of device memory that commitments take, 4 MiB: buckets of short columns take more than the columns.
const MIN_COMMITMENT_BYTES: u64 = 1 << 22;
/// Reserves 1/RESERVE_DIV of the free memory for tables of powers and for kernel parameters.
const RESERVE_DIV: u64 = 8;
/// Adds 3/8 to the maximum memory of a proof. Blocks may be larger than requested, and a part of a block in use keeps
/// the rest of it from the driver.
const SLACK_EIGHTHS: u64 = 3;
/// Adds 1/2 instead for columns of at least `LARGE_COLUMN` bytes. At 2^20 rows one of twelve shapes took 1.46 times
/// its maximum (one H200).
const LARGE_SLACK_EIGHTHS: u64 = 4;
/// Divides columns by their size: from 32 MiB on they are large.
const LARGE_COLUMN: u64 = 32 << 20;
/// Columns of device memory that a setup's points take, 4: a point is two elements, and there are two bases.
const BASES: usize = 4;
/// Limits the workspace of each MSM to 48 columns, however many columns it commits to. If columns are short, the limit
/// is `COMMITMENTS_BYTES`. More memory makes commitments faster by a few percent only.
const COMMITMENTS: u64 = 48;
const COMMITMENTS_BYTES: u64 = 3 << 29;

/// Maximum number of limits to an MSM's workspace that a proof without split steps tries, 4: from 1.6 GB to 0.2 GB. Each
/// takes some plans.
const COMMITMENT_LIMITS: usize = 4;
/// Maximum number of circuits, and of columns of a kind, that an estimate counts, 2^24. No sum of products of such
/// numbers overflows.
const MAX_COUNT: usize = 1 << 24;

/// Returns the maximum bytes of workspace that an MSM may take for commitments to columns of `column` bytes. Up to
/// three MSMs run at once.
pub(crate) fn max_commitment_bytes(column: u64) -> u64 {
    COMMITMENTS_BYTES.max(COMMITMENTS.saturating_mul(column))
}

/// Describes how a proof uses a device's memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemoryPlan {
    /// Whether a proof's own columns stay on the device between steps. If not, host memory holds them.
    pub columns_resident: bool,
    /// Maximum columns that a step has on the device at once, in addition to those that stay there. A step processes
    /// more columns in groups. The smallest group is a unit that cannot be split: a lookup, a circuit's permutation, or
    /// a constraint.
    pub max_columns: usize,
}

impl fmt::Display for MemoryPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let columns = if self.columns_resident { "columns stay on the device" } else { "columns stay on the host" };
        match self.max_columns {
            usize::MAX => write!(f, "{columns}, and a step has all of its columns there at once"),
            most => write!(f, "{columns}, and a step has at most {most} more there at once"),
        }
    }
}

impl MemoryPlan {
    /// Keeps all columns on the device, and splits no step.
    pub const ALL: Self = Self { columns_resident: true, max_columns: usize::MAX };

    /// Returns the maximum bytes of workspace that an MSM may take for commitments to columns of `column` bytes.
    pub(super) fn commitment_bytes(self, column: u64) -> u64 {
        match self {
            Self::ALL => max_commitment_bytes(column),
            // In groups of columns, a commitment takes no more than a group.
            Self { max_columns, .. } => {
                (max_columns.max(FOR_COMMITMENT) as u64).saturating_mul(column).max(MIN_COMMITMENT_BYTES)
            }
        }
    }
}

/// Estimates the device memory of a proof, in columns of n elements.
///
/// ```
/// use halo2curves::bn256::{Fr, G1Affine};
/// use proofwarp::Accelerator;
/// use proofwarp::plonk::{Circuit, ColumnLayout, MemoryEstimate, MemoryPlan};
///
/// let layout = ColumnLayout { fixed: 14, permuted: 0, advice: 12, instances: 1, sets: 0, lookups: 0 };
/// # let (advice_phases, advice_queries) = (vec![0; 12], vec![(0, 0)]);
/// let circuit = Circuit::<Fr> {
///     log_n: 20, degree: 3, blinding: 5, layout,
///     // …
/// #   advice_phases, challenge_phases: vec![], gates: vec![], lookups: vec![], permutation: vec![], advice_queries,
/// #   fixed_queries: vec![],
/// };
/// let memory = MemoryEstimate::for_circuit(&circuit, 1);
/// println!("{memory}");
/// if let Some(device) = Accelerator::from_env()?.devices().first() {
///     let bound = memory.bound::<G1Affine>(device, 24 << 30)?;
///     println!("{bound}");
///     assert!(bound.plan == MemoryPlan::ALL && bound.total() < 5 << 30);
///     // With less memory, steps are split.
///     let bound = memory.bound::<G1Affine>(device, 1 << 30)?;
///     assert!(bound.plan.max_columns < 30 && bound.total() <= 1 << 30);
///     // With too little, the error says how many bytes are lacking.
///     println!("{}", memory.bound::<G1Affine>(device, 100 << 20).unwrap_err());
/// }
/// # Ok::<(), proofwarp::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemoryEstimate {
    /// Bytes of a column.
    pub column: u64,
    /// Columns that the setup's points take in both bases, as long as the setup is used.
    pub bases: usize,
    /// Columns that the key takes as values and as coefficients, if it stays on the device.
    pub key: usize,
    /// Maximum columns that a proof holds between steps, without those of the key.
    pub own: usize,
    /// Moments of a proof at which it may have most memory, if no step is split.
    pub peaks: [MemoryPeak; PEAKS],
    /// Maximum columns that a step takes if each step is split as far as possible and columns come from the host.
    pub least: usize,
    /// Maximum columns that a step takes if each step is split as far as possible. The key's and the proof's own
    /// columns stay on the device and are not counted.
    pub least_beside: usize,
}

impl MemoryEstimate {
    /// Estimates the memory of a proof of `circuits` circuits that are all `circuit`. It takes more than 2^24 circuits,
    /// or columns of a kind, as 2^24.
    pub fn for_circuit<F: NttField>(circuit: &Circuit<F>, circuits: usize) -> Self {
        let (layout, circuits) = (circuit.layout.clamp_counts(MAX_COUNT), circuits.min(MAX_COUNT));
        let ColumnLayout { permuted, advice, instances, sets, lookups, .. } = layout;
        let (shared, pieces) = (layout.shared_column_count(), circuit.quotient_piece_count().min(MAX_COSETS));
        let opened = circuits * (advice + instances + sets + 3 * lookups);
        // A and S exist until the products do. Then values become coefficients, and a vector of values is freed with
        // its last column. The random polynomial and the quotient's parts come after that.
        let own = opened + opened.max(1 + pieces);
        // A circuit's permutation cannot be split: if columns come from the host, all its values and σ are on the
        // device together.
        let (chain, constraint) = (FOR_PRODUCT * sets, COSET_COLUMNS * max_constraint_columns(circuit) + circuits);
        // The quotient's values on the cosets, and the memory that turns them into its pieces.
        let quotient = pieces * (1 + device_vector_count(pieces));
        let beside = [chain, constraint, FOR_LOOKUP.min(FOR_LOOKUP * lookups), quotient, FOR_COMMITMENT];
        let largest = |all: &[usize]| all.iter().copied().max().unwrap_or(0);
        let column = (circuit.rows() as u64).saturating_mul(size_of::<F>() as u64).max(1);
        // Buckets of short columns take more than the columns.
        let least_beside = largest(&beside).max(MIN_COMMITMENT_BYTES.div_ceil(column) as usize);
        let least = least_beside.max(chain + 2 * permuted);
        Self {
            column,
            bases: BASES,
            key: 2 * shared - 3,
            own,
            peaks: MemoryPeak::of_circuit(circuit, layout, circuits),
            least,
            least_beside,
        }
    }

    /// Returns the maximum bytes that a proof takes at once if no step is split. It includes commitments, but neither
    /// the setup's points nor the key.
    ///
    /// `in_place` is true if transforms need no second column for each column. `workspace` returns the bytes that
    /// commitments to a number of columns take.
    pub fn peak_unsplit_bytes(&self, in_place: bool, workspace: impl Fn(usize) -> u64) -> u64 {
        let bytes =
            |peak: &MemoryPeak| peak.column_bytes(self.column, in_place).saturating_add(workspace(peak.commitments));
        let most = self.peaks.iter().map(bytes).max().unwrap_or(0);
        let slack = if self.column < LARGE_COLUMN { SLACK_EIGHTHS } else { LARGE_SLACK_EIGHTHS };
        most.saturating_add((most / 8).saturating_mul(slack))
    }

    /// Returns the bytes that a proof with the memory plan `plan` takes at once. They exclude the setup's points, and
    /// the key if `key_stays` on the device. `unsplit` is [`Self::peak_unsplit_bytes`], and `sums` is the maximum
    /// workspace of all MSMs in flight at once.
    pub(super) fn planned_bytes(&self, plan: MemoryPlan, key_stays: bool, unsplit: u64, sums: u64) -> u64 {
        // A step uploads the key's values or its coefficients if the key is in host memory.
        let uploaded = if key_stays { 0 } else { self.key.div_ceil(2) + 1 };
        let whole = unsplit.saturating_add(self.column.saturating_mul(uploaded as u64));
        if plan == MemoryPlan::ALL {
            return whole;
        }
        let own = if plan.columns_resident { self.own } else { 0 };
        let step = plan.max_columns.max(if plan.columns_resident { self.least_beside } else { self.least });
        let commitments = self.column.saturating_mul(own as u64).saturating_add(sums);
        self.required_bytes(own.saturating_add(step)).max(commitments).min(whole)
    }

    /// Returns the minimum free bytes that a proof needs in addition to the setup's points, with its steps split as far
    /// as possible.
    pub fn min_bytes(&self) -> u64 {
        self.required_bytes(self.least)
    }

    /// Returns whether a proof with its steps split as far as possible fits in `free` free bytes.
    pub fn fits(&self, free: u64) -> bool {
        self.min_bytes() <= free
    }

    /// Returns whether a key may stay on a device with `free` free bytes. A proof's own columns and its smallest steps
    /// must still fit beside it.
    pub fn has_room_for_key(&self, free: u64) -> bool {
        self.key + self.own + self.least_beside <= self.fitting_column_count(free)
    }

    /// Returns the limits to the workspace of an MSM, in bytes, that a proof without split steps tries in turn.
    pub(super) fn commitment_limits(&self) -> impl Iterator<Item = u64> {
        let least = MIN_COMMITMENT_BYTES.max(self.column.saturating_mul(FOR_COMMITMENT as u64));
        let halve = move |limit: &u64| (*limit / 2 >= least).then_some(*limit / 2);
        std::iter::successors(Some(max_commitment_bytes(self.column)), halve).take(COMMITMENT_LIMITS)
    }

    /// Returns the memory plan that splits steps into groups of columns. The device has `free` free bytes beside the
    /// setup's points, and beside the key if `key_stays`. If even a proof's own columns do not fit, it keeps them in
    /// host memory.
    pub fn split_plan(&self, free: u64, key_stays: bool) -> MemoryPlan {
        let columns = self.fitting_column_count(free);
        let least = if key_stays { self.least_beside } else { self.least };
        match columns.checked_sub(self.own).filter(|rest| *rest >= least) {
            Some(rest) => MemoryPlan { columns_resident: true, max_columns: rest },
            None => MemoryPlan { columns_resident: false, max_columns: columns.max(1) },
        }
    }

    /// Returns the number of columns that fit in `free` bytes.
    fn fitting_column_count(&self, free: u64) -> usize {
        ((free - free.div_ceil(RESERVE_DIV)) / self.column) as usize
    }

    /// Returns the free bytes that `columns` columns need.
    fn required_bytes(&self, columns: usize) -> u64 {
        self.column.saturating_mul(columns as u64).saturating_mul(RESERVE_DIV).div_ceil(RESERVE_DIV - 1)
    }
}

impl fmt::Display for MemoryEstimate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mib = self.column as f64 / f64::from(1 << 20);
        writeln!(f, "plonk memory on the device, in columns of {mib:.3} MiB")?;
        let rows = [
            ("bases, kept", self.bases),
            ("key, kept where there is room", self.key),
            ("a proof's own", self.own),
            ("a step in the smallest groups", self.least),
            ("the same beside key and own", self.least_beside),
        ];
        let peaks = self.peaks.iter().map(|peak| (peak.step, peak.columns));
        let mut lines = rows.into_iter().chain(peaks).map(|(what, columns)| (what, columns, columns as f64 * mib));
        lines.try_for_each(|(what, columns, mib)| writeln!(f, "  {what:30} {columns:>6} {mib:>12.1} MiB"))
    }
}

/// Returns the maximum number of columns that a constraint of `circuit` reads. Constraints of lookups and of the
/// permutation count too.
fn max_constraint_columns<F: NttField>(circuit: &Circuit<F>) -> usize {
    let gates = circuit.gates.iter().map(|gate| gate.columns().len());
    let lookups = circuit.lookups.iter().map(|lookup| {
        let mut columns: Vec<_> = lookup.inputs.iter().chain(&lookup.tables).flat_map(Expression::columns).collect();
        columns.sort_unstable();
        columns.dedup();
        // A', S', the product and the active rows are added.
        columns.len() + 4
    });
    // A set reads its values and σ, its product and the active rows.
    let set = if circuit.permutation.is_empty() {
        0
    } else {
        2 * circuit.permutation_chunk_len().min(circuit.permutation.len()) + 2
    };
    gates.chain(lookups).chain([set]).max().unwrap_or(0)
}

/// Splits items with the given `costs` into groups of adjacent items that cost at most `most` in total. Returns the
/// groups as ranges of indices, in ascending order. An item that costs more than `most` is a group by itself.
pub(crate) fn group_by_cost(costs: impl IntoIterator<Item = usize>, most: usize) -> Vec<Range<usize>> {
    let (mut groups, mut total) = (Vec::<Range<usize>>::new(), 0_usize);
    for (number, cost) in costs.into_iter().enumerate() {
        let sum = total.saturating_add(cost);
        match groups.last_mut() {
            Some(last) if sum <= most => {
                last.end = number + 1;
                total = sum;
            }
            _ => {
                groups.push(number..number + 1);
                total = cost;
            }
        }
    }
    groups
}

#[cfg(test)]
mod tests {
    use halo2curves::bn256::Fr;

    use super::{group_by_cost, *};
    use crate::plonk::circuit::Lookup;
    use crate::plonk::columns_layout_and_key::ColumnId;

    /// Returns a circuit with 12 advice and 14 fixed columns, 3 lookups, 13 columns in the permutation, degree 5.
    fn sample_circuit(log_n: u32) -> Circuit<Fr> {
        let layout = ColumnLayout { fixed: 14, permuted: 13, advice: 12, instances: 1, sets: 5, lookups: 3 };
        let here = |name| Expression::column(layout.column_number(name), 0);
        let lookup = |number: usize| Lookup {
            name: String::new(),
            inputs: vec![here(ColumnId::Advice(number))],
            tables: vec![here(ColumnId::Fixed(0))],
        };
        Circuit {
            log_n,
            degree: 5,
            blinding: 5,
            layout,
            advice_phases: vec![0; 12],
            challenge_phases: Vec::new(),
            gates: vec![here(ColumnId::Advice(0)) * here(ColumnId::Advice(1)) - here(ColumnId::Advice(2))],
            lookups: (0..3).map(lookup).collect(),
            permutation: (0..12).map(ColumnId::Advice).chain([ColumnId::Instance(0)]).collect(),
            advice_queries: Vec::new(),
            fixed_queries: Vec::new(),
        }
    }

    /// Returns the workspace of commitments to `count` columns of 32 MiB, as if each took 6 columns.
    fn sample_workspace(count: usize) -> u64 {
        6 * count as u64 * (32 << 20)
    }

    #[test]
    fn a_split_plan_takes_what_it_says() {
        let memory = MemoryEstimate::for_circuit(&sample_circuit(20), 1);
        assert_eq!((memory.column, memory.key), (32 << 20, 57));
        for columns in memory.least..2 * memory.own {
            let plan = memory.split_plan(memory.required_bytes(columns), false);
            let stays = if plan.columns_resident { memory.own } else { 0 };
            assert!(plan.max_columns >= memory.least && stays + plan.max_columns <= columns, "{columns}: {plan:?}");
        }
    }

    /// Checks that a second proof which plans beside a first one gets no byte that the first one reserved.
    #[test]
    fn two_plans_fit_together() {
        let memory = MemoryEstimate::for_circuit(&sample_circuit(20), 1);
        let bytes = |plan| memory.planned_bytes(plan, true, memory.peak_unsplit_bytes(true, sample_workspace), 0);
        for gigabytes in 2..16_u64 {
            let free = gigabytes << 30;
            let first = bytes(memory.split_plan(free, true));
            assert!(first <= free + 1, "{gigabytes}: {first}");
            let left = free.saturating_sub(first);
            let second = memory.split_plan(left, true);
            assert!(!memory.fits(left) || bytes(second) <= left + 1, "{gigabytes}: {second:?}");
        }
    }

    /// Checks the peaks of a proof of 12 advice and 14 fixed columns. They are the columns that the proof was seen to
    /// take. A transform that is not done in place takes a second column for each of its columns.
    #[test]
    fn peaks_are_those_that_were_seen() {
        let memory = MemoryEstimate::for_circuit(&sample_circuit(20), 1);
        let columns = |step| memory.peaks.iter().find(|peak| peak.step == step).expect("a step").columns;
        assert_eq!(memory.bases + memory.key, 61);
        // It counts columns of 27 polynomials, the random one, four parts of the quotient, and 10 of tables.
        assert_eq!(columns("commit to pieces"), 27 + 1 + 2 * 4 + 10);
        assert_eq!(columns("evaluate on cosets"), 27 + 1 + 4 + 30 + 27 + 10);
        let bytes = |in_place| memory.peak_unsplit_bytes(in_place, |_| 0) / memory.column;
        assert_eq!((bytes(true), bytes(false)), (99 * 12 / 8, 126 * 12 / 8));
        // Commitments to 12 advice columns take most if each needs as many columns of workspace.
        let whole = memory.peak_unsplit_bytes(true, |count| 2 * sample_workspace(count)) / memory.column;
        assert_eq!(whole, (13 + 10 + 12 * 12) * 12 / 8);
    }

    #[test]
    fn two_gigabytes_are_enough_at_2_20() {
        let memory = MemoryEstimate::for_circuit(&sample_circuit(20), 1);
        assert!(memory.required_bytes(memory.bases) + memory.min_bytes() < 2 << 30, "{memory}");
        assert!(!memory.has_room_for_key(2 << 30));
        assert!(memory.has_room_for_key(5_600_000_000));
    }

    #[test]
    fn nothing_is_lost() {
        assert_eq!(group_by_cost([], 3), []);
        assert_eq!(group_by_cost([1, 1, 1, 1, 1], 2), [0..2, 2..4, 4..5]);
        assert_eq!(group_by_cost([9, 1, 1, 9], 2), [0..1, 1..3, 3..4]);
        assert_eq!(group_by_cost([0, 0, 2, 0], 1), [0..2, 2..3, 3..4]);
        let all = group_by_cost([1, 2, 3], usize::MAX);
        assert!(all.len() == 1 && all[0] == (0..3));
    }
}
