//! Describes to people how a multiplication will run.

use std::fmt;

use ff::PrimeField;

use super::exec::{DeviceBases, MsmRequest, batch_size, choose_sharding, plan_for};
use super::plan::{MAX_BATCH, MsmPlan, PlanInput, Sharding};
use super::scalars::{ScalarLocation, Scalars, load_canonical_scalars};
use crate::curve::{MsmCurve, scalar_from_bytes, scalar_to_bytes};
use crate::exec::ExecCtx;
use crate::kernels;
use crate::module_launcher::KernelModule;
use crate::{Error, Result};

/// Describes how a multiplication is divided among the devices and into windows, chunks of points and kernels.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MsmExplanation {
    /// Name of the curve.
    pub curve: &'static str,
    /// Number of points on all devices together.
    pub points: usize,
    /// Names of the devices; empty if the CPU does the work.
    pub devices: Vec<String>,
    /// Number of windows that each device computes, for the devices that hold the first piece of the points; every
    /// piece has as many devices. If two devices share a window, each computes it for a part of the points, and it
    /// counts twice. The windows and rows below are those of all devices of a piece together.
    pub window_groups: Vec<u32>,
    /// Bits of the widest windows, and number of windows of a scalar.
    pub window: (u32, u32),
    /// Number of windows with one bit less.
    pub narrow_windows: u32,
    /// Whether GLV is used: windows are then those of half-length scalars.
    pub halved: bool,
    /// Number of windows with buckets of their own. The others share these through precomputed multiples.
    pub sets: u32,
    /// Number of buckets, and mean entries of a bucket for random scalars. A bucket is a row of the transposed matrix,
    /// or two rows if GLV is used.
    pub rows: (u64, u64),
    /// Entries of the fullest bucket: counted for given scalars on the host, otherwise expected for random ones.
    pub longest_row: u64,
    /// Maximum points of a chunk.
    pub chunk: usize,
    /// Number of windows whose sparse matrix is built and multiplied at a time.
    pub band: u32,
    /// Rounds of batched affine additions.
    pub affine_rounds: u32,
    /// Number of vectors of a long batch that are multiplied as one matrix, which has windows and rounds of its own.
    pub joined: usize,
    /// Maximum bytes of workspace on a device beside resident bases, and the bytes of the bases on all devices.
    pub bytes: (u64, u64),
}

impl MsmExplanation {
    /// Describes how a multiplication of the bases of `request` by `scalars` would run, or by any on the devices.
    pub(super) fn new<C: MsmCurve>(request: &MsmRequest<'_, C>, scalars: Option<Scalars<'_>>) -> Result<Self> {
        let points = request.points;
        let split = choose_sharding(request, scalars.as_ref(), 1, ExecCtx::unreported(None))?;
        let inputs = first_piece_inputs(request, scalars.as_ref(), &split);
        let plans =
            request.devices.iter().zip(&inputs).map(|(device, input)| plan_for(device, *input, &request.options));
        let plans: Vec<MsmPlan> = plans.collect::<Result<_>>()?;
        let most = plans.iter().max_by_key(|plan| plan.workspace_bytes());
        let (Some(input), Some(most)) = (inputs.first(), most) else {
            return Err(Error::invalid("msm", "plan", "a device and bases to plan for", "none"));
        };
        let (plan, share) = (most.unrestricted(), split.grid.points_per_piece().min(points));
        let table_bytes = request.bases.iter().map(|bases| match bases {
            DeviceBases::Host(_) => 0,
            DeviceBases::Device(table) => table.buffer.bytes() as u64,
        });
        let longest_row = match scalars {
            Some(scalars) if matches!(scalars.place, ScalarLocation::Host(_)) => {
                longest_row::<C>(&plan, &load_canonical_scalars::<C::Scalar>(&scalars)?[..share])?
            }
            _ => expected_longest_row::<C::Scalar>(&plan, plan.chunk.min(share), input.scalar_bits),
        };
        let (rows, entries) = (
            u64::from(plan.own_bucket_count()),
            plan.chunk.min(share) as u64 * u64::from(plan.scalar_digits_per_window_set() * plan.sets),
        );
        Ok(Self {
            curve: C::NAME,
            points,
            devices: request.device_numbers().map(|number| request.devices[number].info().name.clone()).collect(),
            window_groups: plans.iter().map(|plan| plan.windows - plan.sets + plan.own_set_count()).collect(),
            window: (plan.c, plan.windows),
            narrow_windows: plan.sets - plan.wide_windows,
            halved: plan.glv,
            sets: plan.sets,
            rows: (rows, entries / rows),
            longest_row,
            chunk: plan.chunk.min(share),
            band: most.band,
            affine_rounds: plan.levels,
            joined: batch_size(request, 0, input.with_joined(MAX_BATCH as u32), MAX_BATCH)?,
            bytes: (most.workspace_bytes(), table_bytes.sum()),
        })
    }

    /// Returns the number of pieces that the points are divided into.
    fn piece_count(&self) -> usize {
        (self.devices.len() / self.window_groups.len().max(1)).max(1)
    }
}

/// Returns the plan input of each device of the first piece of points for its part of `scalars`, which devices share by
/// `split`. There is none if there is no device or no base.
fn first_piece_inputs<C: MsmCurve>(
    request: &MsmRequest<'_, C>,
    scalars: Option<&Scalars<'_>>,
    split: &Sharding,
) -> Vec<PlanInput> {
    let input = |number| {
        let points = split.device_range(number, request.points).len();
        PlanInput { own: split.assignment(number), ..request.plan_input(number, points, scalars) }
    };
    request.device_numbers().take(split.grid.groups).map(input).collect()
}

/// Estimates the number of entries of the longest row for `points` random scalars of `scalar_bits` bits. It is the mean
/// of a binomial distribution plus some standard deviations, which rows hardly exceed.
fn expected_longest_row<F: PrimeField>(plan: &MsmPlan, points: usize, scalar_bits: u32) -> u64 {
    let (points, others) = (points as u64, u64::from(plan.scalar_digits_per_window_set()) - 1);
    // The highest window has the remaining bits, and as few rows as they allow. If its digits are 0 and 1 alone, a row
    // has at most two thirds of the points.
    let highest = 2 * points / (2 * highest_digit::<F>(plan, scalar_bits)).max(3);
    let others_highest = if plan.glv { highest } else { others * points / u64::from(plan.bucket_count(0)) };
    let mean = plan.mean_row().max(highest + others_highest) + 1;
    // Rows of few entries vary more than a normal distribution.
    (mean + (25 * mean).isqrt() + 3).min(points * (others + 1))
}

/// Returns the digit of the highest window for the largest scalars of `scalar_bits` bits, or a close estimate.
fn highest_digit<F: PrimeField>(plan: &MsmPlan, scalar_bits: u32) -> u64 {
    let (highest, below) = (plan.windows - 1, plan.first_bit(plan.windows - 1));
    if plan.glv {
        // The digit is at least half of 2^(half_bits − below).
        return 1 << plan.half_bits().saturating_sub(below + 1);
    }
    if scalar_bits < F::NUM_BITS - 1 {
        return 1 << scalar_bits.saturating_sub(below);
    }
    let mut half = [0; 32];
    half.copy_from_slice((-F::ONE * F::TWO_INV).to_repr().as_ref());
    extract_bits(&half, below, plan.window_bits(highest % plan.sets)).into()
}

/// Counts the entries of the fullest bucket for canonical `scalars`, with the digits that the kernels compute.
fn longest_row<C: MsmCurve>(plan: &MsmPlan, scalars: &[[u8; 32]]) -> Result<u64> {
    let halves = if plan.glv { KernelModule::find(&kernels::msm::FAMILY, C::NAME)?.glv_params() } else { None };
    let mut counts = vec![0u64; plan.own_bucket_count() as usize];
    for scalar in scalars.iter().map(scalar_from_bytes::<C::Scalar>) {
        match halves {
            Some(halves) => {
                let halves = halves.glv_decompose(&scalar_to_bytes(scalar));
                for (_, half) in &halves {
                    count_digits(plan, half, &mut counts);
                }
            }
            None => count_digits(plan, &smaller_of_both_signs(scalar), &mut counts),
        }
    }
    Ok(counts.into_iter().max().unwrap_or(0))
}

/// Adds one to the `counts` of the bucket of each nonzero digit of `number`, which is little-endian.
fn count_digits(plan: &MsmPlan, number: &[u8], counts: &mut [u64]) {
    let mut carry = 0;
    for window in 0..plan.windows {
        let set = window % plan.sets;
        let digit = extract_bits(number, plan.first_bit(window), plan.window_bits(set)) + carry;
        carry = u32::from(digit > plan.bucket_count(set));
        let size = if carry == 1 { (1 << plan.window_bits(set)) - digit } else { digit };
        if size != 0 {
            counts[(plan.global_first_bucket(set) + size - 1) as usize] += 1;
        }
    }
}

/// Returns the smaller of `scalar` and its negative as a canonical little-endian number.
fn smaller_of_both_signs<F: PrimeField>(scalar: F) -> [u8; 32] {
    let [scalar, negative] = [scalar, -scalar].map(scalar_to_bytes);
    let less = negative.iter().rev().lt(scalar.iter().rev());
    if less { negative } else { scalar }
}

/// Returns `count` bits of the little-endian `scalar`, from bit index `from` on.
fn extract_bits(scalar: &[u8], from: u32, count: u32) -> u32 {
    let bytes = scalar.iter().skip(from as usize / 8).take(5);
    let word = bytes.rev().fold(0u64, |word, byte| word << 8 | u64::from(*byte));
    // A window that ends after the number has fewer bytes, which are its lowest.
    (word >> (from % 8)) as u32 & ((1 << count) - 1)
}

impl fmt::Display for MsmExplanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { curve, points, narrow_windows, sets, longest_row, chunk, band, affine_rounds, joined, .. } = self;
        let piece = points.div_ceil(self.piece_count());
        let ((c, windows), (rows, mean), (work, table)) = (self.window, self.rows, self.bytes);
        writeln!(f, "msm {curve} of {points} points on {}", self.devices.join(", "))?;
        if self.devices.len() > 1 {
            writeln!(
                f,
                "  shares    {} of {piece} points, of {:?} windows each",
                self.piece_count(),
                self.window_groups
            )?;
        }
        write!(f, "  windows   {} of {c} bits", windows - narrow_windows)?;
        if *narrow_windows > 0 {
            write!(f, " and {narrow_windows} of {}", c - 1)?;
        }
        write!(f, ", {sets} with buckets of their own, {band} at a time")?;
        writeln!(f, "{}", if self.halved { ", for both halves of the scalars" } else { "" })?;
        writeln!(f, "  buckets   {rows}, of {mean} entries on average, the longest {longest_row}")?;
        writeln!(f, "  chunks    {} of {chunk} points", piece.div_ceil(*chunk))?;
        writeln!(
            f,
            "  kernels   digits, bins, rows, {affine_rounds} rounds of batched affine additions, XYZZ, reduction"
        )?;
        writeln!(f, "  batches   {joined} vectors as one matrix")?;
        write!(f, "  bytes     {work} to work with on each device, {table} of bases")
    }
}
