//! Computes grand products, `z[0] = 1` and `z[i + 1] = z[i]·numerator[i]/denominator[i]`, for all columns at once.

use std::ops::Deref;

use ff::BatchInverter;
use rayon::prelude::*;

use super::column_places_and_checks::{RowCounts, };
use super::product_factors::Factors;
use super::step_launches::launch_groups;
use crate::backend::{Buffer, Stream};
use crate::field::{DeviceVector, NttField};
use crate::secret_vec::SecretVec;
use crate::kernel_arguments::{In, Out};
use crate::kernels::plonk::{PRODUCT_TILE, ProductRatios, ScanRows, ScanTiles};
use crate::{Error, Result};

const STEP: &str = "products";
/// Number of rows that one CPU task handles, 4096.
const TASK: usize = 1 << 12;

/// Checks that the lengths of numerators and denominators match `chains`, and returns the number of columns.
fn check_lengths<F: NttField>(
    rows: RowCounts,
    [numerators, denominators]: [usize; 2],
    chains: &[usize],
) -> Result<usize> {
    rows.check::<F>(STEP)?;
    let columns = chains.iter().try_fold(0, |sum: usize, chain| sum.checked_add(*chain));
    let length = columns.and_then(|columns| columns.checked_mul(rows.n()));
    let (columns, length) = columns.zip(length).ok_or_else(|| {
        Error::invalid(STEP, "columns of the chains", "fewer than memory has", format!("{} chains", chains.len()))
    })?;
    Error::check_eq(STEP, "length of the numerators", length, numerators)?;
    Error::check_eq(STEP, "length of the denominators", length, denominators)?;
    Ok(columns)
}

/// Queues the computation of grand products from their `factors`. Columns of n rows follow each other, in `factors` and
/// in the result.
///
/// `chains[k]` is the number of columns in chain k. Each column of a chain starts with the value of the previous one at
/// row `usable`. A circuit's permutation sets form one chain, and each lookup is its own. A denominator of zero has the
/// inverse zero, as halo2's `batch_invert` leaves it. Rows after row `usable` are zero, for
/// [`super::blinding::enqueue`] to fill.
///
/// It takes three launches. Each row takes some 10 multiplications, and 8 · 32 bytes that are read or written. 512 rows
/// share an inversion.
///
/// # Errors
/// - [`Error::Invalid`]: `rows.log_n` is above 30 or the field's two-adicity.
/// - [`Error::Invalid`]: `rows.usable` is not below n.
/// - [`Error::Invalid`]: lengths do not match the chains.
/// - [`Error::Invalid`]: there are 2^32 tiles of 512 rows, or more.
/// - [`Error::Invalid`]: a vector is on another device.
/// - [`Error::OutOfMemory`]: the device has too little memory.
/// - [`Error::Device`]: the driver failed.
pub fn enqueue<F: NttField>(
    stream: &mut Stream,
    rows: RowCounts,
    factors: &Factors<DeviceVector<F>>,
    chains: &[usize],
) -> Result<DeviceVector<F>> {
    let Factors { numerators, denominators } = factors;
    numerators.wait_before_read(stream)?;
    denominators.wait_before_read(stream)?;
    let columns = check_lengths::<F>(rows, [numerators.len(), denominators.len()], chains)?;
    let [n, usable] = [rows.n(), rows.usable].map(|rows| rows as u32);
    let tiles = n.div_ceil(PRODUCT_TILE);
    let data = DeviceVector::allocate_uninit(stream, numerators.len())?;
    let products = DeviceVector::<F>::scratch(stream, columns * tiles as usize)?;
    let starts = upload_chain_starts(stream, chains, tiles)?;
    let groups = columns as u64 * u64::from(tiles);
    let ratios = ProductRatios::<F> {
        n,
        usable,
        tiles,
        numerators: In::new(numerators.buffer()),
        denominators: In::new(denominators.buffer()),
        quotients: Out::new(data.buffer()),
        products: Out::new(products.buffer()),
    };
    launch_groups::<F, _>(stream, groups, ratios)?;
    let ahead = ScanTiles::<F> { chains: In::new(&starts), products: Out::new(products.buffer()) };
    launch_groups::<F, _>(stream, chains.len() as u64, ahead)?;
    let (products, to) = (In::<F>::new(products.buffer()), Out::new(data.buffer()));
    launch_groups::<F, _>(stream, groups, ScanRows { n, usable, tiles, products, data: to })?;
    Ok(data)
}

/// Uploads the index of the first tile of each chain, then the number of all tiles. Each column has `tiles` tiles.
fn upload_chain_starts(stream: &mut Stream, chains: &[usize], tiles: u32) -> Result<Buffer> {
    let mut starts = vec![0];
    for chain in chains {
        let next = starts[starts.len() - 1] + *chain as u64 * u64::from(tiles);
        starts.push(next);
    }
    let words = starts.iter().map(|start| u32::try_from(*start)).collect::<std::result::Result<Vec<u32>, _>>();
    let words = words.map_err(|_| Error::invalid(STEP, "tiles of the columns", "below 2^32", format!("{starts:?}")))?;
    let buffer = stream.allocate(4 * words.len())?;
    stream.upload(&buffer, bytemuck::cast_slice(&words))?;
    Ok(buffer)
}

/// Computes grand products from their `factors` on the host. They equal those of [`enqueue`].
///
/// # Errors
/// - [`Error::Invalid`]: `rows.log_n` is above 30 or the field's two-adicity.
/// - [`Error::Invalid`]: `rows.usable` is not below n.
/// - [`Error::Invalid`]: lengths do not match the chains.
pub fn on_cpu<F: NttField>(
    rows: RowCounts,
    factors: &Factors<impl Deref<Target = [F]>>,
    chains: &[usize],
) -> Result<Vec<F>> {
    let Factors { numerators, denominators } = factors;
    let columns = check_lengths::<F>(rows, [numerators.len(), denominators.len()], chains)?;
    let (n, usable) = (rows.n(), rows.usable);
    let mut data = vec![F::ZERO; columns * n];
    let columns = data.chunks_mut(n).zip(numerators.chunks(n)).zip(denominators.chunks(n));
    for ((column, numerators), denominators) in columns {
        let tasks = column[..usable].par_chunks_mut(TASK).zip(numerators.par_chunks(TASK));
        tasks.zip(denominators.par_chunks(TASK)).for_each(divide_factors_on_cpu);
    }
    data.par_chunks_mut(n).for_each(|column| prefix_products_on_cpu(column, usable));
    chain_products_on_cpu(&mut data, rows, chains);
    Ok(data)
}

fn divide_factors_on_cpu<F: NttField>(((quotients, numerators), denominators): ((&mut [F], &[F]), &[F])) {
    let length = quotients.len();
    quotients.copy_from_slice(&denominators[..length]);
    BatchInverter::invert_with_external_scratch(quotients, &mut SecretVec(vec![F::ZERO; length]));
    quotients.iter_mut().zip(numerators).for_each(|(quotient, numerator)| *quotient *= numerator);
}

/// Replaces each of the first `usable` values by the product of those before it. Row `usable` gets the product of all
/// of them.
fn prefix_products_on_cpu<F: NttField>(column: &mut [F], usable: usize) {
    let total = column[..usable].iter_mut().fold(F::ONE, |product, value| {
        let next = product * *value;
        *value = product;
        next
    });
    column[usable] = total;
}

/// Multiplies each column by the value at row `usable` of the previous one in its chain.
fn chain_products_on_cpu<F: NttField>(data: &mut [F], rows: RowCounts, chains: &[usize]) {
    let mut rest = data;
    for chain in chains {
        let (columns, others) = rest.split_at_mut(chain * rows.n());
        rest = others;
        columns.chunks_mut(rows.n()).fold(F::ONE, |carry, column| {
            column.par_iter_mut().for_each(|value| *value *= carry);
            column[rows.usable]
        });
    }
}
