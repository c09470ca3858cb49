//! Matrices, and their products by the definition.

use proofwarp::Accelerator;
use proofwarp::field::as_bytes;
use proofwarp::matrix::dense::{DenseField, DenseMatrix, DenseOptions, Entry, Method, View};
use rand::Rng;

use crate::common::rng;

/// Every method that does not need tensor cores, and the plan's choice.
pub const METHODS: [Option<Method>; 3] = [None, Some(Method::Lazy), Some(Method::Montgomery)];

pub fn options(method: Option<Method>) -> DenseOptions {
    DenseOptions { method, ..DenseOptions::default() }
}

/// Random elements, and among them the ends of the range and its middle.
pub fn elements<F: DenseField>(count: usize, seed: u64) -> Vec<F> {
    let mut rng = rng(seed);
    let ends = ends::<F>();
    (0..count)
        .map(|_| if rng.gen_bool(0.3) { ends[rng.gen_range(0..ends.len())] } else { F::random(&mut rng) })
        .collect()
}

/// 0, 1, p − 1, (p + 1)/2 and (p − 1)/2, and those whose limbs are so.
pub fn ends<F: DenseField>() -> Vec<F> {
    let values = [F::ZERO, F::ONE, -F::ONE, F::TWO_INV, -F::TWO_INV];
    // The element with limb 1.
    let r = as_bytes(&[F::ONE]).iter().rev().fold(F::ZERO, |sum, byte| sum * F::from(256) + F::from((*byte).into()));
    let r = r.invert().expect("a unit");
    values.into_iter().chain(values.map(|value| value * r)).collect()
}

pub fn bytes(count: usize, seed: u64) -> Vec<i8> {
    let mut rng = rng(seed);
    (0..count).map(|_| if rng.gen_bool(0.2) { i8::MIN } else { rng.r#gen() }).collect()
}

pub fn words(count: usize, seed: u64) -> Vec<i32> {
    let mut rng = rng(seed);
    (0..count).map(|_| if rng.gen_bool(0.2) { i32::MIN } else { rng.r#gen() }).collect()
}

/// A number as element.
pub fn element<F: DenseField>(number: i64) -> F {
    let magnitude = F::from(number.unsigned_abs());
    if number < 0 { -magnitude } else { magnitude }
}

/// A·B by the definition, row after row.
pub fn product<A: Copy, B: Copy, C: std::iter::Sum<C>>(
    (a, b): (&[A], &[B]),
    [rows, inner, columns]: [usize; 3],
    times: impl Fn(A, B) -> C,
) -> Vec<C> {
    let entry =
        |row: usize, column: usize| (0..inner).map(|k| times(a[row * inner + k], b[k * columns + column])).sum();
    (0..rows)
        .flat_map(|row| (0..columns).map(move |column| (row, column)))
        .map(|(row, column)| entry(row, column))
        .collect()
}

pub fn upload<T: Entry>(accelerator: &Accelerator, entries: &[T], rows: usize, columns: usize) -> DenseMatrix<T> {
    DenseMatrix::upload(accelerator, entries, rows, columns).expect("a matrix")
}

/// What a view has of memory, row after row.
pub fn rows_of<T: Copy>(memory: &[T], view: View) -> Vec<T> {
    (0..view.len()).map(|i| memory[view.entry_index(i / view.columns, i % view.columns)]).collect()
}
