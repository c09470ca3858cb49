//! Computes transforms on the host's cores.
//!
//! A vector of P·Q elements is a matrix of P rows. With i = i₁·Q + i₂ and j = j₁ + P·j₂ the output at the
//! point g·ωʲ (g is `shift_in`) is
//!
//! ```text
//! X_j = Σ_{i₂} (g·ω^{j₁} · ω_Q^{j₂})^{i₂} · Σ_{i₁} x_i · (g^Q · ω_P^{j₁})^{i₁}
//! ```
//!
//! so it takes P-point transforms of the columns on the coset g^Q, then Q-point transforms of the rows, row j₁ on the
//! coset g·ω^{j₁}. Twiddles between the dimensions and the shift are both cosets, which cost no pass of their own (see
//! [`CpuPlan::evaluate_on_coset`]). Columns and rows are handled in tiles that fit the cache, read in runs of [`TILE`] elements,
//! and written by one core each.

mod limb_arithmetic;
mod one_limb_arithmetic;

use bytemuck::Pod;
use rayon::prelude::*;

use super::{Order, Transform};
use crate::Result;
use crate::exec::ExecCtx;
use crate::field::TransformField;
use crate::rayon_waits::install;
use crate::secret_vec::SecretVec;
use limb_arithmetic::{Arithmetic, Modulus, limbs_of, limbs_of_mut};
use one_limb_arithmetic::OneLimbModulus;

/// Number of columns or rows of a tile, 8: a run of 8 elements of 32 bytes fills 4 cache lines of 64 bytes.
const TILE: usize = 8;
/// Minimum log n at which a vector is split into columns and rows, 9. One core is fastest for shorter vectors.
const MIN_LOG_SPLIT: u32 = 9;
/// Minimum number of elements that one rayon task copies, 4096.
const MIN_PIECE: usize = 1 << 12;

/// Transforms `values` in place by `transforms`, one vector after another, each on all cores. With an abort hook, all
/// results are written at the end. Without one, each result is written as soon as it is computed.
pub(super) fn transform_many<F: TransformField>(
    values: &mut [&mut [F]],
    transforms: &[Transform<F>],
    ctx: ExecCtx<'_>,
) -> Result<()> {
    match size_of::<F>() == size_of::<u32>() {
        true => transform_many_by::<F, OneLimbModulus>(values, transforms, ctx),
        false => transform_many_by::<F, Modulus>(values, transforms, ctx),
    }
}

/// Does the work of [`transform_many`] by the arithmetic `M`.
fn transform_many_by<F: TransformField, M: Arithmetic>(
    values: &mut [&mut [F]],
    transforms: &[Transform<F>],
    ctx: ExecCtx<'_>,
) -> Result<()> {
    let mut done = Vec::new();
    for (values, transform) in values.iter_mut().zip(transforms) {
        let plan = CpuPlan::<F, M>::new(transform)?;
        let result = match transform.input {
            Order::Natural => plan.run(values, ctx)?,
            Order::BitReversed => plan.run(&SecretVec(copy_bit_reversed(values)), ctx)?,
        };
        if ctx.is_abortable() {
            done.push((plan, result));
        } else {
            plan.write_ordered(&result, values);
        }
    }
    ctx.check_abort()?;
    done.iter().zip(values).for_each(|((plan, result), values)| plan.write_ordered(result, values));
    Ok(())
}

/// Holds a transform's split into columns and rows, and its tables of powers. Entry k of a table is the power whose
/// exponent is k with its bits reversed.
struct CpuPlan<F, M> {
    /// P, the length of a column.
    rows: usize,
    /// Q, the length of a row.
    columns: usize,
    order: Order,
    modulus: M,
    /// Powers of the root of unity of order max(P, Q). A prefix of the table serves each smaller order.
    roots: Vec<F>,
    /// Shift of the coset on which columns are evaluated, g^Q, where g is the transform's `shift_in`. `None` if the
    /// transform has no `shift_in`.
    column_shift: Option<F>,
    /// Shift of the coset on which each row is evaluated, g·ω^{j₁} for row j₁. g is 1 if the transform has no
    /// `shift_in`.
    row_shifts: Vec<F>,
    output: OutputScaling<F>,
}

/// Selects the factors by which outputs are multiplied.
enum OutputScaling<F> {
    Plain,
    Scaled(F),
    /// Multiplies output j₁ + P·j₂ by `rows[k₁] · columns[k₂]`, where k is j with its bits reversed.
    Shifted {
        rows: Vec<F>,
        columns: Vec<F>,
    },
}

impl<F: TransformField, M: Arithmetic> CpuPlan<F, M> {
    fn new(transform: &Transform<F>) -> Result<Self> {
        let log_n = transform.log_n;
        let p = if log_n < MIN_LOG_SPLIT { 0 } else { log_n / 2 };
        let q = log_n - p;
        // The order of the root is 2^q, since q ≥ p.
        let root = square_times(transform.omega, p);
        let shift = transform.shift_in.unwrap_or(F::ONE);
        Ok(Self {
            rows: 1 << p,
            columns: 1 << q,
            order: transform.order,
            modulus: M::for_field::<F>()?,
            roots: reversed_powers(F::ONE, root, q.saturating_sub(1)),
            column_shift: transform.shift_in.map(|shift| square_times(shift, q)),
            row_shifts: reversed_powers(shift, transform.omega, p),
            output: OutputScaling::new(transform, p, q),
        })
    }

    /// Returns the transform of `values` as a matrix of P rows. Row k₁ holds the outputs of the j₁ that is k₁ with its
    /// bits reversed. [`Self::write_ordered`] brings them into the requested order.
    fn run(&self, values: &[F], ctx: ExecCtx<'_>) -> Result<SecretVec<M::Limbs>> {
        let values = limbs_of::<F, M::Limbs>(values);
        let mut result = par_copy_limbs(values);
        if self.rows == 1 {
            ctx.check_abort()?;
            self.transform_row(&mut result, 0);
            return Ok(result);
        }
        let mut turned = par_copy_limbs(values);
        self.transform_columns(values, &mut turned, ctx)?;
        self.transform_rows(&turned, &mut result, ctx)?;
        Ok(result)
    }

    /// Transforms each column of `values` into a row of `turned`.
    fn transform_columns(&self, values: &[M::Limbs], turned: &mut [M::Limbs], ctx: ExecCtx<'_>) -> Result<()> {
        turned.par_chunks_mut(TILE * self.rows).enumerate().try_for_each(|(tile, columns)| {
            ctx.check_abort()?;
            copy_columns_to_rows(values, self.columns, tile * TILE, columns, self.rows);
            columns.chunks_exact_mut(self.rows).for_each(|column| self.evaluate_on_coset(column, self.column_shift));
            Ok(())
        })
    }

    /// Transforms each column of `turned` into a row of `result`.
    fn transform_rows(&self, turned: &[M::Limbs], result: &mut [M::Limbs], ctx: ExecCtx<'_>) -> Result<()> {
        result.par_chunks_mut(TILE * self.columns).enumerate().try_for_each(|(tile, rows)| {
            ctx.check_abort()?;
            copy_columns_to_rows(turned, self.rows, tile * TILE, rows, self.columns);
            let rows = rows.chunks_exact_mut(self.columns).enumerate();
            rows.for_each(|(row, values)| self.transform_row(values, tile * TILE + row));
            Ok(())
        })
    }

    fn transform_row(&self, values: &mut [M::Limbs], row: usize) {
        let shift = self.row_shifts[row];
        self.evaluate_on_coset(values, (shift != F::ONE).then_some(shift));
        self.output.apply(self.modulus, values, row);
        if self.order == Order::Natural {
            reverse_in_place(values);
        }
    }

    /// Writes `result`, which [`Self::run`] returned, to `values` in the output order of the transform.
    fn write_ordered(&self, result: &[M::Limbs], values: &mut [F]) {
        // SAFETY: `OutputScaling::apply` leaves reduced elements.
        let values: &mut [M::Limbs] = unsafe { limbs_of_mut(values) };
        if self.rows == 1 || self.order == Order::BitReversed {
            // Row k₁ of bit-reversed columns is already at its place in a bit-reversed vector.
            let pieces = values.par_chunks_mut(MIN_PIECE).zip(result.par_chunks(MIN_PIECE));
            return pieces.for_each(|(to, from)| to.copy_from_slice(from));
        }
        let log_rows = self.rows.trailing_zeros();
        values.par_chunks_mut(TILE * self.rows).enumerate().for_each(|(tile, piece)| {
            for j1 in 0..self.rows {
                let run = &result[reverse(j1, log_rows) * self.columns + tile * TILE..][..TILE];
                run.iter().enumerate().for_each(|(j2, value)| piece[j2 * self.rows + j1] = *value);
            }
        });
    }
}

impl<F: TransformField> OutputScaling<F> {
    fn new(transform: &Transform<F>, p: u32, q: u32) -> Self {
        match (transform.shift_out, transform.scale) {
            (None, None) => Self::Plain,
            (None, Some(scale)) => Self::Scaled(scale),
            (Some(shift), scale) => Self::Shifted {
                rows: reversed_powers(scale.unwrap_or(F::ONE), shift, p),
                columns: reversed_powers(F::ONE, square_times(shift, p), q),
            },
        }
    }

    /// Multiplies `values`, the outputs of row number `row`, by their factors, and reduces them below p.
    fn apply<M: Arithmetic>(&self, modulus: M, values: &mut [M::Limbs], row: usize) {
        match self {
            Self::Plain => values.iter_mut().for_each(|value| *value = modulus.reduce(value)),
            Self::Scaled(scale) => {
                let scale: M::Limbs = limbs_of(std::slice::from_ref(scale))[0];
                for value in values {
                    *value = modulus.reduce(&modulus.multiply(value, &scale));
                }
            }
            Self::Shifted { rows, columns } => {
                let row: M::Limbs = limbs_of(rows)[row];
                for (value, power) in values.iter_mut().zip(limbs_of(columns)) {
                    *value = modulus.reduce(&modulus.multiply(&modulus.multiply(value, power), &row));
                }
            }
        }
    }
}

/// Returns a copy of `values`, made in parallel so that all cores touch the pages of the copy first.
fn par_copy_limbs<L: Pod + Send + Sync>(values: &[L]) -> SecretVec<L> {
    SecretVec(values.par_iter().with_min_len(MIN_PIECE).copied().collect())
}

/// Copies columns of the matrix `from`, whose rows have `width` elements, to rows of `to`, which have `height`
/// elements. It starts at column `first`, and copies as many columns as `to` has rows.
fn copy_columns_to_rows<F: Copy>(from: &[F], width: usize, first: usize, to: &mut [F], height: usize) {
    let count = to.len() / height;
    for (i, row) in from.chunks_exact(width).enumerate() {
        row[first..first + count].iter().enumerate().for_each(|(t, value)| to[t * height + i] = *value);
    }
}

impl<F: TransformField, M: Arithmetic> CpuPlan<F, M> {
    /// Replaces the coefficients in `values` by the polynomial's values at shift·ω^k. Coefficients are in natural
    /// order, values in bit-reversed order and below 2p. `None` stands for a shift of 1.
    ///
    /// Each level reduces the polynomial modulo x^h − c and x^h + c, down to h = 1. A block of 2h coefficients is a
    /// remainder modulo x^2h − c². So each block has one c, which is shift^h · roots[block].
    fn evaluate_on_coset(&self, values: &mut [M::Limbs], shift: Option<F>) {
        let levels = values.len().trailing_zeros() as usize;
        let squares = shift
            .map(|shift| -> Vec<F> { std::iter::successors(Some(shift), |s| Some(s.square())).take(levels).collect() });
        for level in (0..levels).rev() {
            let factor = squares.as_ref().map(|squares| limbs_of::<F, M::Limbs>(squares)[level]);
            apply_butterfly_level(self.modulus, values, 1 << level, limbs_of(&self.roots), factor);
        }
    }
}

/// Replaces each block of 2·`half` coefficients by its remainders modulo x^half − c and x^half + c: one level of
/// [`CpuPlan::evaluate_on_coset`]. `factor` is shift^half, or `None` if the shift is 1.
fn apply_butterfly_level<M: Arithmetic>(
    modulus: M,
    values: &mut [M::Limbs],
    half: usize,
    roots: &[M::Limbs],
    factor: Option<M::Limbs>,
) {
    let mut blocks = values.chunks_exact_mut(2 * half).zip(roots);
    if factor.is_none() {
        // The first root is 1.
        if let Some((block, _)) = blocks.next() {
            let (low, high) = block.split_at_mut(half);
            low.iter_mut().zip(high).for_each(|(x, y)| (*x, *y) = modulus.butterfly(x, y));
        }
    }
    for (block, root) in blocks {
        let c = factor.map_or(*root, |factor| modulus.reduce(&modulus.multiply(root, &factor)));
        let (low, high) = block.split_at_mut(half);
        for (x, y) in low.iter_mut().zip(high) {
            (*x, *y) = modulus.butterfly(x, &modulus.multiply(y, &c));
        }
    }
}

/// Returns a table of `2^log_count` powers. Entry k is start · base^e, where e is k with its `log_count` bits reversed.
fn reversed_powers<F: TransformField>(start: F, base: F, log_count: u32) -> Vec<F> {
    let mut powers = Vec::with_capacity(1 << log_count);
    powers.push(start);
    for bit in (0..log_count).rev() {
        let factor = square_times(base, bit);
        powers.extend_from_within(..);
        let known = powers.len() / 2;
        powers[known..].iter_mut().for_each(|power| *power *= factor);
    }
    powers
}

/// Returns base^(2^count), by squaring `base` `count` times.
fn square_times<F: TransformField>(base: F, count: u32) -> F {
    (0..count).fold(base, |power, _| power.square())
}

/// Returns a copy of `values` in bit-reversed order, or in natural order if `values` are in bit-reversed order.
pub(super) fn copy_bit_reversed<F: TransformField>(values: &[F]) -> Vec<F> {
    let bits = values.len().trailing_zeros();
    let places = (0..values.len()).into_par_iter().with_min_len(MIN_PIECE);
    install(|| places.map(|index| values[reverse(index, bits)]).collect())
}

fn reverse(index: usize, bits: u32) -> usize {
    index.reverse_bits().unbounded_shr(usize::BITS - bits)
}

fn reverse_in_place<F>(values: &mut [F]) {
    let bits = values.len().trailing_zeros();
    for index in 0..values.len() {
        let other = reverse(index, bits);
        if index < other {
            values.swap(index, other);
        }
    }
}
