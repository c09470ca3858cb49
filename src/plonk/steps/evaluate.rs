//! Values of many polynomials at several points.

use rayon::prelude::*;

use super::columns::{Column, check_length};
use super::launch::{Part, launch, parts, upload, vector};
use crate::backend::{Arg, Stream};
use crate::field::{DeviceVector, NttField};
use crate::program::mem;
use crate::{Error, Result};

const STEP: &str = "evaluate";
/// As in `cl/plonk_evaluate.cl`.
const GROUP: u32 = 128;
const TILE: u32 = GROUP * 16;
const POINT_POWERS: usize = GROUP as usize + 1;
/// Coefficients of a task of a core.
const TASK: usize = 1 << 12;

/// A polynomial and the number of the point at which it is asked for. `C` is [`Column`] on a device, a slice on the host.
#[derive(Debug, Clone, Copy)]
pub struct Query<C> {
    /// Its coefficients, lowest first.
    pub polynomial: C,
    /// Which of the points.
    pub point: usize,
}

fn check<C>(queries: &[Query<C>], points: usize) -> Result<()> {
    match queries.iter().find(|query| query.point >= points) {
        None => Ok(()),
        Some(query) => Err(Error::invalid(STEP, "number of the point", format!("below {points}"), query.point)),
    }
}

/// The powers that kernels take: of the point, and of its power that a tile is away from the next.
fn powers<F: NttField>(point: F) -> Vec<F> {
    let of = |base: F| std::iter::successors(Some(F::ONE), move |power| Some(*power * base)).take(POINT_POWERS);
    of(point).chain(of(point.pow_vartime([u64::from(TILE)]))).collect()
}

/// Queues the value of each query's polynomial, of `n` coefficients, at its point; they are in the queries' order.
///
/// A product and 32 bytes read for each coefficient of a query, and 7 % more products.
///
/// # Errors
/// n is 0, a polynomial is not there or of another device, there is no such point, or the device has too little memory or
/// failed.
pub fn enqueue<F: NttField>(
    stream: &mut Stream,
    n: usize,
    queries: &[Query<Column<'_, F>>],
    points: &[F],
) -> Result<DeviceVector<F>> {
    let length = check_length(STEP, n)?;
    check(queries, points.len())?;
    queries.iter().try_for_each(|query| query.polynomial.check(stream, STEP, n))?;
    let tables: Vec<F> = points.iter().flat_map(|point| powers(*point)).collect();
    let columns: Vec<_> = queries.iter().map(|query| query.polynomial).collect();
    let values = vector(stream, queries.len(), 1)?;
    let partials = DeviceVector::scratch(stream, queries.len() * length.div_ceil(TILE) as usize)?;
    for part in parts(&columns, 1, queries.iter().map(|_| 1)) {
        let words = part.words(0, |number| (queries[number].point * 2 * POINT_POWERS) as u64);
        launch_part(stream, length, &part, (&tables, &words), (&partials, &values))?;
    }
    Ok(values)
}

fn launch_part<F: NttField>(
    stream: &mut Stream,
    n: u32,
    part: &Part<'_, F>,
    (tables, words): (&[F], &[u64]),
    (partials, values): (&DeviceVector<F>, &DeviceVector<F>),
) -> Result<()> {
    let tiles = n.div_ceil(TILE);
    let (params, words_at) = upload(stream, tables, words)?;
    let [params_at, words_at, between] = [mem(&params), Arg::U32(words_at), mem(partials.buffer())];
    let numbers = [n, tiles, part.outputs() as u32].map(Arg::U32);
    let args = [&numbers[..], &[params_at, words_at, between], &part.banks(&params)].concat();
    let groups = part.outputs() * u64::from(tiles);
    // SAFETY: the arguments are those of the kernel; columns have n coefficients, and there is a partial sum for each
    // tile of each output.
    unsafe { launch::<F>(stream, "plonk_evaluate_tiles", (groups, GROUP), &args)? };
    let args = [Arg::U32(tiles), params_at, words_at, between, mem(values.buffer())];
    // SAFETY: as above; there is a value for each output.
    unsafe { launch::<F>(stream, "plonk_evaluate_sums", (part.outputs(), GROUP), &args) }
}

/// The values, as [`enqueue`] gives them; polynomials may be of any lengths.
///
/// # Errors
/// There is no such point.
pub fn on_cpu<F: NttField>(queries: &[Query<&[F]>], points: &[F]) -> Result<Vec<F>> {
    check(queries, points.len())?;
    Ok(queries.iter().map(|query| value(query.polynomial, points[query.point])).collect())
}

fn value<F: NttField>(polynomial: &[F], point: F) -> F {
    let horner = |part: &[F]| part.iter().rfold(F::ZERO, |sum, coefficient| sum * point + coefficient);
    let parts = polynomial.par_chunks(TASK).map(horner).collect::<Vec<_>>();
    let step = point.pow_vartime([TASK as u64]);
    parts.into_iter().rfold(F::ZERO, |sum, part| sum * step + part)
}
