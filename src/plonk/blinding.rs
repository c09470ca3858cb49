//! Fills rows with random elements of the host, and makes polynomials of random elements.

use std::ops::Range;

use rayon::prelude::*;

use super::column_places_and_checks::{StridedColumns, check_disjoint, check_length};
use super::step_launches::{allocate_columns, launch_strided};
use crate::backend::Stream;
use crate::field::{DeviceVector, NttField};
use crate::kernel_arguments::{In, Out};
use crate::kernels::plonk::{FromUniform, WriteBlinding};
use crate::rayon_waits::check_host_threads;
use crate::secret_vec::SecretVec;
use crate::{Error, Result};

const STEP: &str = "rows";
/// Number of random bytes that make one field element, 64.
pub const UNIFORM_BYTES: usize = 64;

/// Draws `count` elements from `random`, before it is known whether the device or the host uses them.
pub(super) fn draw_random_elements<F: NttField>(count: usize, random: &mut dyn FnMut() -> F) -> SecretVec<F> {
    SecretVec((0..count).map(|_| random()).collect())
}

fn check_rows(length: usize, place: StridedColumns, n: usize, rows: &Range<usize>, values: usize) -> Result<()> {
    check_length(STEP, n)?;
    check_disjoint(STEP, length, place, n)?;
    if rows.start > rows.end || rows.end > n {
        let actual = format!("{} to {}", rows.start, rows.end);
        return Err(Error::invalid(STEP, "rows", format!("a range within 0 to {n}"), actual));
    }
    Error::check_eq(STEP, "number of values", rows.len().saturating_mul(place.count), values)
}

/// Queues writes of `values` to the rows `rows` of the columns at `place`, of `n` elements each. `values` holds the
/// elements of the first column, then those of the next. Blinding rows are `usable..n`, or `usable + 1..n` of grand
/// products. The device's copy of `values` is cleared.
///
/// # Errors
/// - [`Error::Invalid`]: `n` is 0, or above 2^30.
/// - [`Error::Invalid`]: columns overlap, exceed the vector, or are on another device.
/// - [`Error::Invalid`]: `rows` is no range within a column.
/// - [`Error::Invalid`]: there are not as many values as elements to fill.
/// - [`Error::OutOfMemory`]: the device has too little memory.
/// - [`Error::Device`]: the driver failed.
pub fn enqueue<F: NttField>(
    stream: &mut Stream,
    n: usize,
    columns: &mut DeviceVector<F>,
    place: StridedColumns,
    rows: Range<usize>,
    values: &[F],
) -> Result<()> {
    columns.wait_before_write(stream)?;
    check_rows(columns.len(), place, n, &rows, values.len())?;
    if values.is_empty() {
        return Ok(());
    }
    let values = DeviceVector::upload(stream, values)?;
    let write = WriteBlinding::<F> {
        count: place.count as u64,
        row: rows.start as u32,
        rows: rows.len() as u32,
        values: In::new(values.buffer()),
        data: Out::new(columns.buffer()),
        first: place.first as u64,
        stride: place.stride as u64,
    };
    launch_strided::<F, _>(stream, values.len() as u64, write)
}

/// Writes `values` to the rows `rows` of the columns at `place` in host memory, of `n` elements each. `values` holds
/// the elements of the first column, then those of the next.
///
/// # Errors
/// - [`Error::Invalid`]: `n` is 0, or above 2^30.
/// - [`Error::Invalid`]: columns overlap, or exceed the slice.
/// - [`Error::Invalid`]: `rows` is no range within a column.
/// - [`Error::Invalid`]: there are not as many values as elements to fill.
pub fn on_cpu<F: NttField>(
    n: usize,
    columns: &mut [F],
    place: StridedColumns,
    rows: Range<usize>,
    values: &[F],
) -> Result<()> {
    check_rows(columns.len(), place, n, &rows, values.len())?;
    if rows.is_empty() {
        return Ok(());
    }
    for (k, values) in values.chunks(rows.len()).enumerate() {
        columns[place.start(k)..][rows.clone()].copy_from_slice(values);
    }
    Ok(())
}

fn check_uniform_bytes(bytes: &[u8]) -> Result<u32> {
    if bytes.len().is_multiple_of(UNIFORM_BYTES) {
        return check_length(STEP, (bytes.len() / UNIFORM_BYTES).max(1));
    }
    Err(Error::invalid(STEP, "random bytes", format!("a multiple of {UNIFORM_BYTES}"), bytes.len()))
}

/// Queues the conversion of random `bytes` to field elements, 64 bytes each, as `FromUniformBytes` converts them. An
/// element is the little-endian number modulo p, which is uniform up to 2^-256. The host thus provides only the bytes
/// of a random polynomial or column.
///
/// # Errors
/// - [`Error::Invalid`]: the number of bytes is no multiple of [`UNIFORM_BYTES`].
/// - [`Error::Invalid`]: the bytes make more than 2^30 elements.
/// - [`Error::OutOfMemory`]: the device has too little memory.
/// - [`Error::Device`]: the driver failed.
pub fn enqueue_uniform<F: NttField>(stream: &mut Stream, bytes: &[u8]) -> Result<DeviceVector<F>> {
    let length = check_uniform_bytes(bytes)?;
    let elements = allocate_columns::<F>(stream, bytes.len() / UNIFORM_BYTES, 1)?;
    if bytes.is_empty() {
        return Ok(elements);
    }
    let wide = stream.allocate(bytes.len())?.mark_secret();
    stream.upload(&wide, bytes)?;
    let reduce = FromUniform::<F> { n: length, wide: In::new(&wide), out: Out::new(elements.buffer()) };
    launch_strided::<F, _>(stream, length.into(), reduce)?;
    Ok(elements)
}

/// Converts random `bytes` to field elements on the host, 64 bytes each, as [`enqueue_uniform`] does.
///
/// # Errors
/// - [`Error::Invalid`]: the number of bytes is no multiple of [`UNIFORM_BYTES`].
/// - [`Error::Invalid`]: the bytes make more than 2^30 elements.
/// - [`Error::Forked`], [`Error::Device`]: the process cannot use rayon.
pub fn uniform_on_cpu<F: NttField>(bytes: &[u8]) -> Result<Vec<F>> {
    check_host_threads()?;
    check_uniform_bytes(bytes)?;
    let digit = F::from(1 << 32);
    let word = |word: &[u8]| F::from(u64::from(u32::from_le_bytes([word[0], word[1], word[2], word[3]])));
    let element = |bytes: &[u8]| bytes.chunks_exact(4).rfold(F::ZERO, |sum, bytes| sum * digit + word(bytes));
    Ok(bytes.par_chunks_exact(UNIFORM_BYTES).map(element).collect())
}
