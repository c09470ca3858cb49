//! Computes the operations by their definitions, on the host's cores.

use rayon::prelude::*;

use super::check::{Argument, CheckedArgument, CheckedCall, ColumnAccess};
use super::operation::{Operation, Parameter};
use crate::Result;
use crate::field::{NttField, as_bytes};
use crate::rayon_waits::check_host_threads;

impl<F> ColumnAccess for [F] {
    fn length(&self) -> usize {
        self.len()
    }

    fn is_same_memory(&self, other: &Self) -> bool {
        !self.is_empty() && self.as_ptr() == other.as_ptr()
    }
}

/// Computes `operation` on the host and returns the new contents of each written column with the index of its argument.
/// The columns in `arguments` stay unchanged. [`super::enqueue`] explains `arguments` and `items`.
///
/// # Errors
/// - [`Error::Invalid`](crate::Error::Invalid): the arguments are refused as by [`super::enqueue`]; no device or kernel
///   is needed.
/// - [`Error::Forked`](crate::Error::Forked): [`crate::fork_check`] explains it.
/// - [`Error::Device`](crate::Error::Device): the system gives rayon no thread.
pub fn on_cpu<F: NttField>(
    operation: Operation,
    arguments: &[Argument<'_, [F]>],
    items: usize,
) -> Result<Vec<(usize, Vec<F>)>> {
    check_host_threads()?;
    let checked = CheckedCall::new(operation, arguments, items)?;
    let mut call = CpuArguments { rows: checked.rows as usize, columns: Vec::new(), numbers: Vec::new() };
    for argument in checked.arguments {
        match argument {
            CheckedArgument::Column(column) => call.columns.push(column),
            CheckedArgument::Number(number) => call.numbers.push(number as usize),
        }
    }
    let parameters = operation.parameters().iter().enumerate();
    let written = parameters.filter(|(_, kind)| matches!(kind, Parameter::Written | Parameter::Updated));
    Ok(written.map(|(number, _)| number).zip(compute_columns(operation, &call)).collect())
}

/// Holds the columns and the numbers of a checked call in separate lists, each in the order of the arguments.
struct CpuArguments<'a, F> {
    rows: usize,
    columns: Vec<&'a [F]>,
    numbers: Vec<usize>,
}

/// Computes `operation` and returns the rows of each written column, in the order of the arguments.
fn compute_columns<F: NttField>(operation: Operation, call: &CpuArguments<'_, F>) -> Vec<Vec<F>> {
    match operation {
        Operation::PermutationFactors => permutation_factors(call),
        Operation::LookupSlots => compute_lookup_slots(call),
        Operation::SortStep => vec![sort_step(call)],
        Operation::ToMontgomery => vec![call.par_map_rows(|row| to_montgomery(call.at(0, row)))],
        Operation::FromMontgomery => vec![call.par_map_rows(|row| from_montgomery(call.at(0, row)))],
        _ if operation.parameters()[0] == Parameter::Updated => {
            vec![call.par_map_rows(|row| accumulate_row(operation, call, row))]
        }
        _ => vec![call.par_map_rows(|row| compute_row(operation, call, row))],
    }
}

impl<F: NttField> CpuArguments<'_, F> {
    fn par_map_rows(&self, row: impl Fn(usize) -> F + Send + Sync) -> Vec<F> {
        (0..self.rows).into_par_iter().map(row).collect()
    }

    fn at(&self, column: usize, row: usize) -> F {
        self.columns[column][row]
    }

    /// Returns the element of `column` at `row` plus the rotation `numbers[rotation]`, modulo the number of rows.
    fn rotated_element(&self, column: usize, rotation: usize, row: usize) -> F {
        self.columns[column][(row + self.numbers[rotation]) % self.rows]
    }
}

/// Returns the new element at `row` of an `operation` that does not read the column that it writes.
fn compute_row<F: NttField>(operation: Operation, call: &CpuArguments<'_, F>, row: usize) -> F {
    let a = || call.rotated_element(1, 0, row);
    let b = || call.rotated_element(2, 1, row);
    let c = |column: usize| call.at(column, 0);
    match operation {
        Operation::Constant => c(1),
        Operation::Extend if row < call.numbers[0] => call.at(0, row),
        Operation::Sum => a() + b(),
        Operation::Product => a() * b(),
        Operation::SumConstant | Operation::Shift => a() + c(2),
        Operation::ProductConstant | Operation::Scale => a() * c(2),
        Operation::ScaleAdd => a() * c(3) + b(),
        Operation::ShiftMul => (a() + c(3)) * b(),
        Operation::Rotate => a(),
        _ => F::ZERO,
    }
}

/// Returns the new element at `row` of an `operation` that updates its first column.
fn accumulate_row<F: NttField>(operation: Operation, call: &CpuArguments<'_, F>, row: usize) -> F {
    let at = |column: usize| call.at(column, row);
    let rotated = |column: usize| call.rotated_element(column, 0, row);
    // Adds each term after a product by y.
    let add = |y: usize, terms: &[F]| terms.iter().fold(at(0), |h, term| h * call.at(y, 0) + term);
    match operation {
        Operation::Periodic => match row % call.numbers[0] {
            0 => at(0),
            place => at(0) * call.at(1, place - 1),
        },
        Operation::PermutationEnds => add(6, &[(F::ONE - at(1)) * at(3), (at(2).square() - at(2)) * at(4)]),
        Operation::Link => add(4, &[(at(1) - rotated(2)) * at(3)]),
        Operation::PermutationSides => add(4, &[(at(1) - at(2)) * at(3)]),
        Operation::Logup => {
            let step = (rotated(5) - at(5)) * at(1) + at(4);
            add(10, &[at(5) * at(7), at(6) * at(8), (step * at(2) - at(1) * at(3)) * at(9)])
        }
        Operation::LogupMore => add(5, &[((rotated(3) - at(3)) * at(1) - at(2)) * at(4)]),
        Operation::Shuffle => {
            let z = at(3);
            let step = at(2) * rotated(3) - at(1) * z;
            add(7, &[(F::ONE - z) * at(4), (z.square() - z) * at(5), step * at(6)])
        }
        _ => at(0),
    }
}

fn permutation_factors<F: NttField>(call: &CpuArguments<'_, F>) -> Vec<Vec<F>> {
    let challenge = |number: usize| call.at(5, number);
    let value = |row: usize| call.at(2, row) + challenge(2);
    let left = call.par_map_rows(|row| call.at(0, row) * (challenge(1) * call.at(3, row) + value(row)));
    let right = call.par_map_rows(|row| call.at(1, row) * (call.at(4, row) + value(row)));
    vec![left, right, call.par_map_rows(|row| call.at(4, row) * challenge(3))]
}

fn compute_lookup_slots<F: NttField>(call: &CpuArguments<'_, F>) -> Vec<Vec<F>> {
    let (beta, gamma, slot) = (call.at(4, 0), call.at(4, 1), call.numbers[0]);
    let factor = |first: usize, row: usize| (call.at(first, row) + beta) * (call.at(first + 1, row) + gamma);
    let mut beside = call.par_map_rows(|row| factor(0, row));
    let mut permuted = call.par_map_rows(|row| factor(2, row));
    permuted.par_chunks_mut(slot).zip(beside.par_chunks_mut(slot)).for_each(|(permuted, beside)| {
        let all = multiply_by_others(permuted, beside);
        beside[0] = all;
    });
    vec![permuted, beside]
}

/// Multiplies each of `values` by all `factors` except the one at its own index. Returns the product of all factors.
fn multiply_by_others<F: NttField>(values: &mut [F], factors: &[F]) -> F {
    let multiply = |product: F, (value, factor): (&mut F, &F)| {
        *value *= product;
        product * factor
    };
    values.iter_mut().zip(factors).fold(F::ONE, multiply);
    values.iter_mut().zip(factors).rev().fold(F::ONE, multiply)
}

/// Returns the factor R of Montgomery form as an element: 2^256 for elements of 32 bytes.
fn radix<F: NttField>() -> F {
    F::from(2).pow_vartime([8 * size_of::<F>() as u64])
}

/// Returns the element whose value is the number in the raw limbs of `number`, which is below the modulus.
fn to_montgomery<F: NttField>(number: F) -> F {
    number * radix::<F>()
}

/// Returns the element whose raw limbs are the canonical value of `element`.
fn from_montgomery<F: NttField>(element: F) -> F {
    element * radix::<F>().invert().unwrap_or(F::ZERO)
}

fn sort_step<F: NttField>(call: &CpuArguments<'_, F>) -> Vec<F> {
    let mut values = call.columns[0][..call.rows].to_vec();
    let [round, step] = [call.numbers[0], call.numbers[1]];
    let distance = 1 << (round - step);
    values.par_chunks_mut(2 * distance).enumerate().for_each(|(block, values)| {
        // Blocks of 2^(round + 1) rows alternate in direction.
        let is_falling = (block * distance) >> round & 1 == 1;
        let (low, high) = values.split_at_mut(distance);
        for (a, b) in low.iter_mut().zip(high) {
            if is_above(a, b) != is_falling && a != b {
                std::mem::swap(a, b);
            }
        }
    });
    values
}

/// Returns whether the raw limbs of `a` are a larger number than those of `b`.
fn is_above<F: NttField>(a: &F, b: &F) -> bool {
    as_bytes(std::slice::from_ref(a)).iter().rev().gt(as_bytes(std::slice::from_ref(b)).iter().rev())
}
