//! Plans where rounds run, and the memory that they take. Touches no device.
//!
//! Claims have at most 2^32 rows and 2^24 columns, so no number of bytes here is above 2^63. Sums and products of
//! lengths saturate all the same.

use std::fmt;

use super::two_rounds;
use crate::field::bitslice;
use crate::kernels::sumcheck::{MAX_PRODUCT_FACTORS, PAIR_GROUPS_AND_FACTORS, SLICED_OCCUPANCY, SUMCHECK_GROUP};
use crate::sumcheck::claim::{Claim, ERROR_CONTEXT, RoundShape};
use crate::sumcheck::field::{ComputeField, SumcheckField};
use crate::{Error, Result};

/// Selects the kernels that compute the rounds on a device. All paths give the same messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KernelPath {
    /// Kernels that can run on every device.
    Portable,
    /// Carry-less multiply-add, for binary fields on NVIDIA's devices of compute capability 8.0 and later.
    Clmad,
    /// Bit-sliced columns of the tower, by boolean operations: for binary fields, and products of two to four columns.
    /// Every device runs these kernels. This path is taken only if it is requested.
    Bitsliced,
}

impl fmt::Display for KernelPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Portable => "portable",
            Self::Clmad => "clmad",
            Self::Bitsliced => "bitsliced",
        })
    }
}

/// Configures how rounds are computed. By default everything is chosen automatically.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SumcheckOptions {
    /// Kernels to use; `None` selects the fastest that are available.
    pub path: Option<KernelPath>,
    /// Rounds over at most 2^tail rows run on the host. `None` stands for the environment's setting, or else
    /// [`HOST_TAIL_LOG`]. [`KernelPath::Bitsliced`] takes at least 10.
    pub tail: Option<u32>,
    /// Rounds per pass over the columns on a device, 1 or 2. Two rounds require a product of two to four columns of a
    /// binary field. Such passes read columns half as often, but one more round may then run on the host. `None` stands
    /// for 1, except on [`KernelPath::Clmad`]. There it stands for 2 with two or three columns, and with four columns
    /// of GHASH's field from 2^25 rows on.
    pub rounds_a_pass: Option<u32>,
}

/// Binary logarithm, 9, of the number of rows up to which rounds run on the host. There the host is as fast as a
/// device, for which it has to wait.
pub const HOST_TAIL_LOG: u32 = 9;
/// Binary logarithm of the rows of a bit-sliced tile, 10. Rounds on a device do not divide tiles.
const TILE_LOG: u32 = bitslice::TILE.ilog2();
/// Maximum number of work-groups of a launch, 4096.
const MAX_GROUPS: u32 = 4096;
/// Work-groups per compute unit, 8: enough to hide the latency of memory.
const GROUPS_A_UNIT: u32 = 8;
/// Minimum number of variables, 25, at which two rounds per pass are faster than one with four columns. Their
/// work-items need many registers, so only few of them run at once (benches/notes/sumcheck.md). With fewer columns, two
/// rounds per pass are always faster. With four they never are if the first pass changes the basis too.
const FOUR_COLUMNS_PAY_FROM: u32 = 25;
/// Numbers of factors, 2 to 4, for which products have kernels of their own.
const PRODUCTS: std::ops::RangeInclusive<usize> = 2..=MAX_PRODUCT_FACTORS as usize;

/// Says where columns are, in which form, and whether rounds may overwrite them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnOwnership {
    /// Columns from host memory.
    Host,
    /// Columns from host memory, over the base field.
    HostBase,
    /// Columns on a device, which stay unchanged.
    Kept,
    /// Bit-sliced columns on a device, which stay unchanged.
    KeptSliced,
    /// Columns over the base field on a device, which stay unchanged.
    KeptBase,
    /// Columns on a device, in whose memory rounds work.
    Consumed,
}

/// Describes how a proof runs on a device: its rounds, work-groups and memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SumcheckPlan {
    pub variables: u32,
    /// Rounds over at most 2^tail rows run on the host.
    pub tail: u32,
    /// Whether one kernel folds the columns and evaluates the polynomial.
    pub fused: bool,
    /// Whether the first round is computed in the base field.
    pub base_first: bool,
    /// Whether each pass computes two rounds. A pass computes one round if only one is left.
    pub pairs: bool,
    /// Maximum number of work-groups of a launch.
    pub groups: u32,
    /// Maximum number of work-groups of a pass that computes two rounds.
    pub pair_groups: u32,
    /// Elements per column of the memory that rounds work in. It is 0 if they work in the columns' own memory.
    pub work_rows: u64,
    /// Bytes of device memory, besides columns that are already there.
    pub bytes: u64,
}

impl SumcheckPlan {
    /// Plans the rounds of `shape` over columns of the ownership `place`, on a device of `units` compute units.
    pub(crate) fn new<F: SumcheckField>(
        shape: &RoundShape<F::Compute>,
        place: ColumnOwnership,
        units: u32,
        options: &SumcheckOptions,
    ) -> Self {
        let rows = 1u64 << shape.variables;
        let fused = has_kernel(shape);
        let pairs = uses_two_round_passes::<F>(shape, options);
        let tail = options.tail.unwrap_or(HOST_TAIL_LOG);
        let is_base = matches!(place, ColumnOwnership::HostBase | ColumnOwnership::KeptBase);
        let base_first = is_base && fused && shape.variables > tail;
        let work_rows = match place {
            ColumnOwnership::HostBase | ColumnOwnership::KeptBase if base_first => rows / 2,
            ColumnOwnership::Host
            | ColumnOwnership::HostBase
            | ColumnOwnership::KeptBase
            | ColumnOwnership::KeptSliced => rows,
            ColumnOwnership::Consumed => 0,
            // Converted before the first round.
            ColumnOwnership::Kept if F::conversion().is_some() => rows,
            ColumnOwnership::Kept => rows / 2,
        };
        let columns = rows.saturating_mul(shape.columns as u64);
        let below =
            if place == ColumnOwnership::HostBase { columns.saturating_mul(size_of::<F::Base>() as u64) } else { 0 };
        // Passes for two rounds run an even number of rounds: the host takes an odd one.
        let on_device = shape.variables.saturating_sub(tail);
        let tail = if pairs && !on_device.is_multiple_of(2) { tail.saturating_add(1) } else { tail };
        let groups = units.saturating_mul(GROUPS_A_UNIT).clamp(1, MAX_GROUPS);
        let pair_groups = max_pair_group_count(shape, units);
        let sums_of = |groups: u32, values: usize| u64::from(groups).saturating_add(1).saturating_mul(values as u64);
        let sums = sums_of(groups, shape.points.len());
        let pair_sums = sums_of(pair_groups, two_rounds::pair_value_count(shape.degree));
        let weights = shape.weights.as_ref().map_or(0, |weights| weights.concat_tables().len() as u64);
        // The larger of both, so that the bytes are enough for either pass.
        let sums = if has_two_round_kernel(shape) { sums.max(pair_sums) } else { sums };
        let terms = shape.terms.len() as u64;
        let elements = [sums, weights, terms]
            .into_iter()
            .fold(work_rows.saturating_mul(shape.columns as u64), u64::saturating_add);
        Self {
            variables: shape.variables,
            tail,
            fused,
            base_first,
            pairs,
            groups,
            pair_groups,
            work_rows,
            bytes: elements.saturating_mul(size_of::<F::Compute>() as u64).saturating_add(below),
        }
    }

    /// Plans the rounds of `shape` over bit-sliced columns, on a device of `units` compute units. The memory includes
    /// one tile of products per work-group.
    pub(crate) fn for_bitsliced<F: SumcheckField>(
        shape: &RoundShape<F::Compute>,
        place: ColumnOwnership,
        units: u32,
        options: &SumcheckOptions,
    ) -> Self {
        let work_rows = if place == ColumnOwnership::Consumed { 0 } else { 1u64 << shape.variables };
        let groups = units.saturating_mul(SLICED_OCCUPANCY).clamp(1, MAX_GROUPS);
        let products = u64::from(groups).saturating_mul(bitslice::TILE as u64);
        let elements = work_rows.saturating_mul(shape.columns as u64).saturating_add(products);
        Self {
            variables: shape.variables,
            tail: bitsliced_tail_log(options),
            fused: true,
            base_first: false,
            pairs: false,
            groups,
            pair_groups: groups,
            work_rows,
            bytes: elements.saturating_mul(size_of::<F::Compute>() as u64),
        }
    }

    /// Returns the number of rounds that run on the device.
    pub(crate) fn device_round_count(&self) -> u32 {
        self.variables.saturating_sub(self.tail)
    }

    /// Returns the number of work-groups of a launch over `rows` rows.
    pub(crate) fn group_count(&self, rows: u64) -> u32 {
        rows.div_ceil(SUMCHECK_GROUP.into()).min(self.groups.into()) as u32
    }

    /// Returns the number of work-groups of a pass that computes two rounds over `quads` sets of four rows.
    pub(crate) fn pair_group_count(&self, quads: u64) -> u32 {
        self.group_count(quads).min(self.pair_groups)
    }
}

/// Returns the tail for bit-sliced columns, a binary logarithm: rounds over at most 2^tail rows run on the host.
pub(crate) fn bitsliced_tail_log(options: &SumcheckOptions) -> u32 {
    options.tail.unwrap_or(TILE_LOG).max(TILE_LOG)
}

impl<F: SumcheckField> Claim<F> {
    /// Returns the bytes of memory that a proof takes on a device of `compute_units` compute units. Columns that are
    /// already there, by `place`, do not count.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: the claim is malformed.
    pub fn device_bytes(&self, place: ColumnOwnership, compute_units: u32) -> Result<u64> {
        self.check()?;
        let shape = RoundShape::new(&self.to_compute_field(), self.column_count());
        Ok(SumcheckPlan::new::<F>(&shape, place, compute_units, &SumcheckOptions::default()).bytes)
    }
}

/// Returns whether each pass over the columns computes two rounds.
fn uses_two_round_passes<F: SumcheckField>(shape: &RoundShape<F::Compute>, options: &SumcheckOptions) -> bool {
    let pays = shape.columns < 4 || shape.variables >= FOUR_COLUMNS_PAY_FROM && F::conversion().is_none();
    let chosen = options.path == Some(KernelPath::Clmad) && pays;
    options.rounds_a_pass.map_or(chosen, |rounds| rounds == 2) && has_two_round_kernel(shape)
}

/// Returns the maximum number of work-groups of a pass that computes two rounds: the number that `units` compute units
/// run at once.
fn max_pair_group_count<W: ComputeField>(shape: &RoundShape<W>, units: u32) -> u32 {
    let factors = (shape.columns as u32).min(MAX_PRODUCT_FACTORS);
    units.saturating_mul(PAIR_GROUPS_AND_FACTORS - factors).clamp(1, MAX_GROUPS)
}

/// Returns whether there is a kernel that computes two rounds of the claim in one pass.
fn has_two_round_kernel<W: ComputeField>(shape: &RoundShape<W>) -> bool {
    has_kernel(shape) && is_binary::<W>()
}

/// Describes for users where the rounds of a proof run, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SumcheckExplanation {
    /// Kernels of the rounds on the device; `None` if all rounds run on the host.
    pub path: Option<KernelPath>,
    /// Number of rounds on the device.
    pub device_rounds: u32,
    /// Number of rounds on the host.
    pub host_rounds: u32,
    /// Whether one kernel folds the columns and evaluates the polynomial.
    pub fused: bool,
    /// Whether each pass over the columns computes two rounds.
    pub pairs: bool,
    /// Bytes of device memory, besides columns that are already there.
    pub bytes: u64,
    /// Reasons why another path, or a device, was not used.
    pub reasons: Vec<String>,
}

impl fmt::Display for SumcheckExplanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, device_rounds, host_rounds, fused, pairs, bytes, reasons } = self;
        match path {
            Some(path) => {
                let passes = match (*pairs, *fused) {
                    (true, _) => "a pass for two rounds",
                    (false, true) => "a pass a round",
                    (false, false) => "two passes a round",
                };
                write!(
                    f,
                    "{device_rounds} rounds on the device ({path}, {passes}, {bytes} B), {host_rounds} on the host"
                )?;
            }
            None => write!(f, "all {host_rounds} rounds on the host")?,
        }
        reasons.iter().try_for_each(|reason| write!(f, "; {reason}"))
    }
}

/// Returns whether the characteristic of the field F is two.
pub(crate) fn is_binary<F: SumcheckField>() -> bool {
    F::ONE.double() == F::ZERO
}

/// Checks that the requested path and rounds per pass are possible for F and for `claim` on `columns` columns.
///
/// # Errors
/// - [`Error::Invalid`]: the field does not have the path or the rounds a pass.
/// - [`Error::Invalid`]: the claim on `columns` columns does not have the path or the rounds a pass.
pub(crate) fn check_options<F: SumcheckField>(
    claim: &Claim<F>,
    columns: usize,
    options: &SumcheckOptions,
) -> Result<()> {
    match options.path {
        Some(path @ (KernelPath::Clmad | KernelPath::Bitsliced)) if !is_binary::<F>() => {
            Err(Error::invalid(ERROR_CONTEXT, "path", "portable for a prime field", path))
        }
        Some(KernelPath::Bitsliced) if !has_kernel(&RoundShape::new(&claim.to_compute_field(), columns)) => {
            let expected = "another where the claim is not on the product of all columns, two to four, without eq";
            Err(Error::invalid(ERROR_CONTEXT, "path", expected, KernelPath::Bitsliced))
        }
        _ => check_rounds_per_pass(claim, columns, options),
    }
}

fn check_rounds_per_pass<F: SumcheckField>(claim: &Claim<F>, columns: usize, options: &SumcheckOptions) -> Result<()> {
    let expected = match (options.path, options.rounds_a_pass) {
        (_, None | Some(1)) => return Ok(()),
        (Some(KernelPath::Bitsliced), Some(_)) => "1 on the path bitsliced",
        (_, Some(2)) if has_two_round_kernel(&RoundShape::new(&claim.to_compute_field(), columns)) => return Ok(()),
        (_, Some(2)) => "1 where the claim is not on the product of two to four columns of a binary field, without eq",
        (_, Some(_)) => "1 or 2",
    };
    Err(Error::invalid(ERROR_CONTEXT, "rounds a pass", expected, options.rounds_a_pass.unwrap_or_default()))
}

/// Returns whether the claim is on a product for which there are kernels of its own.
fn has_kernel<W: ComputeField>(shape: &RoundShape<W>) -> bool {
    shape.is_product() && PRODUCTS.contains(&shape.columns)
}
