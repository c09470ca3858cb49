//! What a multiplication is going to do, for people.

use std::fmt;
use std::sync::Arc;

use ff::PrimeField;

use super::gpu::{Bases, share};
use super::options::{Options, Place, Scalars, on_host};
use super::pipeline::plan_for;
use super::plan::Plan;
use super::table::Need;
use crate::backend::Device;
use crate::curve::{MsmCurve, scalar_from_bytes};
use crate::{Error, Result};

/// How a multiplication is cut into windows, chunks and kernels, on each device alike.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Explanation {
    /// The curve.
    pub curve: &'static str,
    /// Points, of all devices.
    pub points: usize,
    /// Devices, by name; none where the CPU does it.
    pub devices: Vec<String>,
    /// Bits of the widest windows, and windows of a scalar.
    pub window: (u32, u32),
    /// How many of them, the highest, have a bit less.
    pub narrow_windows: u32,
    /// Windows that have buckets of their own, the others sharing them by precomputed multiples.
    pub sets: u32,
    /// Rows of the transposed matrix (buckets), and the mean number of entries of a row for random scalars.
    pub rows: (u64, u64),
    /// Entries of the longest row: of the given scalars if they are on the host, else expected of random ones.
    pub longest_row: u64,
    /// Most points that go through a device at a time.
    pub chunk: usize,
    /// Windows whose matrix is made and multiplied at a time.
    pub band: u32,
    /// Rounds of batched affine additions.
    pub affine_rounds: u32,
    /// Bytes of a device that it takes beside resident bases, and what the bases take on all of them.
    pub bytes: (u64, u64),
}

impl Explanation {
    pub(super) fn new<C: MsmCurve>(
        devices: &[Arc<Device>],
        bases: &[Bases<'_, C>],
        points: usize,
        options: Options,
        scalars: Option<Scalars<'_>>,
    ) -> Result<Self> {
        let first = devices.first().zip(bases.first());
        let (device, bases_there) =
            first.ok_or_else(|| Error::invalid("msm", "plan", "a device and bases to plan for", "none"))?;
        let bits = scalars.map_or(C::SCALAR_BITS, |scalars| scalars.bits(C::SCALAR_BITS));
        let share = share(points, devices.len());
        let on_device = scalars.is_none_or(|scalars| matches!(scalars.place, Place::Devices(_)));
        let need = Need { points: share, bits, on_device, vectors: 1, lanes: 1, at_once: 1, abortable: false };
        let plan = plan_for(device, bases_there, need, &options)?;
        let table_bytes = bases.iter().map(|bases| match bases {
            Bases::Host(_) => 0,
            Bases::Device(table) => table.buffer.bytes() as u64,
        });
        let longest_row = match scalars {
            Some(scalars) if matches!(scalars.place, Place::Host(_)) => {
                let scalars = on_host::<C::Scalar>(&scalars)?;
                longest_row::<C::Scalar>(&plan, &scalars[..share.min(scalars.len())])
            }
            _ => expected_longest_row::<C::Scalar>(&plan, plan.chunk.min(share), bits),
        };
        let (rows, entries) =
            (u64::from(plan.rows()), plan.chunk.min(share) as u64 * u64::from(plan.copies() * plan.sets));
        Ok(Self {
            curve: C::NAME,
            points,
            devices: devices.iter().take(bases.len()).map(|device| device.info().name.clone()).collect(),
            window: (plan.c, plan.windows),
            narrow_windows: plan.sets - plan.wide,
            sets: plan.sets,
            rows: (rows, entries / rows),
            longest_row,
            chunk: plan.chunk.min(share),
            band: plan.band,
            affine_rounds: plan.levels,
            bytes: (plan.bytes(), table_bytes.sum()),
        })
    }
}

/// Mean and some standard deviations of a binomial: rows of so many random scalars hardly get longer.
fn expected_longest_row<F: PrimeField>(plan: &Plan, points: usize, scalar_bits: u32) -> u64 {
    let (points, others) = (points as u64, u64::from(plan.windows.div_ceil(plan.sets)) - 1);
    // The highest window has what is left of the bits, and rows as few as that; a row of 0 and 1 alone is at most
    // two thirds.
    let highest = 2 * points / (2 * highest_digit::<F>(plan, scalar_bits)).max(3);
    let mean = plan.mean_row().max(highest + others * points / u64::from(plan.buckets(0))) + 1;
    // Rows of few entries vary more than a normal distribution.
    (mean + (25 * mean).isqrt() + 3).min(points * (others + 1))
}

/// The highest window's digit of the largest scalars.
fn highest_digit<F: PrimeField>(plan: &Plan, scalar_bits: u32) -> u64 {
    let (highest, below) = (plan.windows - 1, plan.first_bit(plan.windows - 1));
    if scalar_bits < F::NUM_BITS - 1 {
        return 1 << scalar_bits.saturating_sub(below);
    }
    let mut half = [0; 32];
    half.copy_from_slice((-F::ONE * F::TWO_INV).to_repr().as_ref());
    bits(&half, below, plan.bits(highest % plan.sets)).into()
}

/// Entries of the longest row of canonical scalars: digits are counted as the kernels do.
fn longest_row<F: PrimeField>(plan: &Plan, scalars: &[[u8; 32]]) -> u64 {
    let mut counts = vec![0u64; plan.rows() as usize];
    for scalar in scalars {
        let scalar = smaller_of_both_signs::<F>(scalar);
        let mut carry = 0;
        for window in 0..plan.windows {
            let set = window % plan.sets;
            let digit = bits(&scalar, plan.first_bit(window), plan.bits(set)) + carry;
            carry = u32::from(digit > plan.buckets(set));
            let size = if carry == 1 { (1 << plan.bits(set)) - digit } else { digit };
            if size != 0 {
                counts[(plan.first_row(set) + size - 1) as usize] += 1;
            }
        }
    }
    counts.into_iter().max().unwrap_or(0)
}

/// s or r − s, canonical.
fn smaller_of_both_signs<F: PrimeField>(scalar: &[u8; 32]) -> [u8; 32] {
    let mut negative = [0; 32];
    negative.copy_from_slice((-scalar_from_bytes::<F>(scalar)).to_repr().as_ref());
    let less = negative.iter().rev().lt(scalar.iter().rev());
    if less { negative } else { *scalar }
}

/// `count` bits of a little-endian number from bit `from` on.
fn bits(scalar: &[u8; 32], from: u32, count: u32) -> u32 {
    let bytes = scalar.iter().skip(from as usize / 8).take(5);
    let word = bytes.rev().fold(0u64, |word, byte| word << 8 | u64::from(*byte));
    // A window that ends after the number has fewer bytes, which are its lowest.
    (word >> (from % 8)) as u32 & ((1 << count) - 1)
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { curve, points, narrow_windows, sets, longest_row, chunk, band, affine_rounds, .. } = self;
        let ((c, windows), (rows, mean), (work, table)) = (self.window, self.rows, self.bytes);
        writeln!(f, "msm {curve} of {points} points on {}", self.devices.join(", "))?;
        write!(f, "  windows   {} of {c} bits", windows - narrow_windows)?;
        if *narrow_windows > 0 {
            write!(f, " and {narrow_windows} of {}", c - 1)?;
        }
        writeln!(f, ", {sets} with buckets of their own, {band} at a time")?;
        writeln!(f, "  rows      {rows}, of {mean} entries on average, the longest {longest_row}")?;
        writeln!(f, "  chunks    {} of {chunk} points", points.div_ceil(self.devices.len().max(1)).div_ceil(*chunk))?;
        writeln!(
            f,
            "  kernels   digits, bins, rows, {affine_rounds} rounds of batched affine additions, XYZZ, reduction"
        )?;
        write!(f, "  bytes     {work} to work with on each device, {table} of bases")
    }
}
