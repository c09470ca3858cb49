//! Evaluates many polynomials at several points.

use rayon::prelude::*;

use super::column_places_and_checks::{DeviceColumn, check_length};
use super::step_launches::{LaunchBatch, allocate_columns, launch_groups, split_into_launches, upload_params};
use crate::backend::Stream;
use crate::field::{DeviceVector, NttField};
use crate::kernel_arguments::{In, Out, Value};
use crate::kernels::plonk::{EVALUATE_TILE, EvaluateSums, EvaluateTiles, POINT_POWERS};
use crate::{Error, Result};

const STEP: &str = "evaluate";
/// Number of coefficients that one CPU task handles, 4096.
const TASK: usize = 1 << 12;

/// Asks for a polynomial's value at a point. `C` is [`DeviceColumn`] on a device, a slice on the host.
#[derive(Debug, Clone, Copy)]
pub struct EvaluationQuery<C> {
    /// Coefficients of the polynomial, lowest first.
    pub polynomial: C,
    /// Index of the point in the list of points.
    pub point: usize,
}

fn check_points<C>(queries: &[EvaluationQuery<C>], points: usize) -> Result<()> {
    match queries.iter().find(|query| query.point >= points) {
        None => Ok(()),
        Some(query) => Err(Error::invalid(STEP, "number of the point", format!("below {points}"), query.point)),
    }
}

/// Returns the powers that the kernels take for `point`: [`POINT_POWERS`] powers of `point`, then as many of
/// `point`^[`EVALUATE_TILE`]. Powers start with exponent 0. The latter is the factor from one tile of coefficients to the
/// next.
fn kernel_point_powers<F: NttField>(point: F) -> Vec<F> {
    let of = |base: F| std::iter::successors(Some(F::ONE), move |power| Some(*power * base)).take(POINT_POWERS as usize);
    of(point).chain(of(point.pow_vartime([u64::from(EVALUATE_TILE)]))).collect()
}

/// Queues the evaluation of each query's polynomial, of `n` coefficients, at its point among `points`. The result has
/// one value for each query, in the order of `queries`.
///
/// Each coefficient of a query takes one multiplication, and reads 32 bytes. Some 7 % more multiplications are added.
///
/// # Errors
/// - [`Error::Invalid`]: `n` is 0, or above 2^30.
/// - [`Error::Invalid`]: a query's point does not exist.
/// - [`Error::Invalid`]: a polynomial exceeds its vector, or is on another device.
/// - [`Error::OutOfMemory`]: the device has too little memory.
/// - [`Error::Device`]: the driver failed.
pub fn enqueue<F: NttField>(
    stream: &mut Stream,
    n: usize,
    queries: &[EvaluationQuery<DeviceColumn<'_, F>>],
    points: &[F],
) -> Result<DeviceVector<F>> {
    let length = check_length(STEP, n)?;
    check_points(queries, points.len())?;
    queries.iter().try_for_each(|query| query.polynomial.check(stream, STEP, n))?;
    let tables: Vec<F> = points.iter().flat_map(|point| kernel_point_powers(*point)).collect();
    let columns: Vec<_> = queries.iter().map(|query| query.polynomial).collect();
    let values = allocate_columns(stream, queries.len(), 1)?;
    let partials = DeviceVector::scratch(stream, queries.len() * length.div_ceil(EVALUATE_TILE) as usize)?;
    for part in split_into_launches(&columns, 1, queries.iter().map(|_| 1)) {
        let words = part.encode_param_words(0, |number| queries[number].point as u64 * 2 * u64::from(POINT_POWERS));
        launch_batch(stream, length, &part, (&tables, &words), (&partials, &values))?;
    }
    Ok(values)
}

fn launch_batch<F: NttField>(
    stream: &mut Stream,
    n: u32,
    part: &LaunchBatch<'_, F>,
    (tables, words): (&[F], &[u64]),
    (partials, values): (&DeviceVector<F>, &DeviceVector<F>),
) -> Result<()> {
    let tiles = n.div_ceil(EVALUATE_TILE);
    let (buffer, words_at) = upload_params(stream, tables, words)?;
    let (shape, params, partials) = (part.tile_launch(n, tiles, words_at), In::<F>::new(&buffer), partials.buffer());
    let (launch, sums) = (Value(&shape), Out::new(partials));
    let [bank0, bank1, bank2, bank3, bank4, bank5, bank6, bank7] = part.bank_args(&buffer);
    let evaluate =
        EvaluateTiles { launch, params, partials: sums, bank0, bank1, bank2, bank3, bank4, bank5, bank6, bank7 };
    launch_groups::<F, _>(stream, part.output_count() * u64::from(tiles), evaluate)?;
    let (partials, values) = (In::new(partials), Out::new(values.buffer()));
    launch_groups::<F, _>(stream, part.output_count(), EvaluateSums { tiles, params, words_at, partials, values })
}

/// Returns the value of each query's polynomial at its point among `points`, computed on the host. Polynomials may be
/// of any lengths.
///
/// # Errors
/// - [`Error::Invalid`]: a query's point does not exist.
pub fn on_cpu<F: NttField>(queries: &[EvaluationQuery<&[F]>], points: &[F]) -> Result<Vec<F>> {
    check_points(queries, points.len())?;
    Ok(queries.iter().map(|query| evaluate_polynomial(query.polynomial, points[query.point])).collect())
}

fn evaluate_polynomial<F: NttField>(polynomial: &[F], point: F) -> F {
    let horner = |part: &[F]| part.iter().rfold(F::ZERO, |sum, coefficient| sum * point + coefficient);
    let parts = polynomial.par_chunks(TASK).map(horner).collect::<Vec<_>>();
    let step = point.pow_vartime([TASK as u64]);
    parts.into_iter().rfold(F::ZERO, |sum, part| sum * step + part)
}
