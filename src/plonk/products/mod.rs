//! Commits to the products of the permutation and of lookups, after β and γ.

pub(super) mod factors;

use std::ops::Deref;
use std::slice::from_ref;

use ff::BatchInverter;
use rayon::prelude::*;

use super::advice::RandomSource;
use super::blinding;
use super::circuit::ProofCurve;
use super::column_places_and_checks::{RowCounts, StridedColumns};
use super::columns_layout_and_key::{Column, ColumnId, ColumnView, Polynomial};
use super::engine::memory::group_by_cost;
use super::engine::memory_peaks::FOR_PRODUCT;
use super::engine::transfer::{count_uploads, ensure_on_device, to_step_column};
use super::engine::{Basis, Engine};
use super::lookups::LookupStage;
use super::proof_state::ProofState;
use super::step_launches::launch_groups;
use crate::backend::{Buffer, Stream};
use crate::field::{DeviceVector, NttField};
use crate::kernel_arguments::{In, Out};
use crate::kernels::plonk::{PRODUCT_TILE, ProductRatios, ScanRows, ScanTiles};
use crate::secret_vec::SecretVec;
use crate::{Error, Result};
use factors::{Challenges, Factors, Lookup, PermutationSet};

const STEP: &str = "products";
/// Number of rows that one CPU task handles, 4096.
const TASK: usize = 1 << 12;

/// Holds a proof after the challenges β and γ, with its grand products.
#[derive(Debug)]
pub struct ProductStage<'a, C: ProofCurve> {
    pub(super) state: ProofState<'a, C>,
}

impl<'a, C: ProofCurve> LookupStage<'a, C> {
    /// Computes the grand products for the challenges `beta` and `gamma`. Returns the next stage and the commitments:
    /// those of all circuits' permutation sets, then those of all circuits' lookups.
    ///
    /// # Errors
    /// - [`Error::Aborted`]: the engine's hook aborted.
    /// - A forced backend failed: its error.
    pub fn commit_products(
        self,
        [beta, gamma]: [C::Scalar; 2],
        random: RandomSource<'_, C::Scalar>,
    ) -> Result<(ProductStage<'a, C>, Vec<C>)> {
        let Self { mut state, compressed } = self;
        let (context, circuits) = (state.context, state.columns.len());
        let layout = context.circuit.layout;
        let sets: Vec<_> = (0..circuits).flat_map(|circuit| permutation_sets(&state, circuit)).collect();
        let lookups = lookup_views(&state, &compressed);
        // A circuit's sets form one chain, each lookup its own.
        let of_sets = (layout.sets > 0).then_some(layout.sets);
        let chains = of_sets.into_iter().cycle().take(if sets.is_empty() { 0 } else { circuits });
        let chains: Vec<_> = chains.chain(lookups.iter().map(|_| 1)).collect();
        let (challenges, usable) = (Challenges { beta, gamma }, context.circuit.usable_rows());
        let products = context.engine.compute_grand_products(challenges, &sets, &lookups, &chains, usable, random)?;
        let points = context.commit(Basis::Lagrange, &products.iter().map(Column::view).collect::<Vec<_>>())?;
        // A and S are not needed any more: their memory is freed first.
        drop(compressed);
        let mut products = products.into_iter();
        for circuit in 0..circuits {
            state.set_columns(circuit, ColumnId::Set, products.by_ref().take(layout.sets));
        }
        for circuit in 0..circuits {
            state.set_columns(circuit, ColumnId::Lookup, products.by_ref().take(layout.lookups));
        }
        state.challenges.extend([beta, gamma]);
        Ok((ProductStage { state }, points))
    }
}

/// Returns the permutation sets of the circuit with index `circuit`, each with the values and σ of its columns.
fn permutation_sets<'v, C: ProofCurve>(
    state: &'v ProofState<'_, C>,
    number: usize,
) -> Vec<PermutationSet<ColumnView<'v, C::Scalar>>> {
    let (circuit, key, values) = (state.context.circuit, state.context.key, state.values(number));
    let column = |(name, sigma): (&ColumnId, &Polynomial<'v, C::Scalar>)| {
        [values[circuit.layout.column_number(*name)], sigma.values]
    };
    let columns: Vec<_> = circuit.permutation.iter().zip(&key.sigma).map(column).collect();
    let set = |(number, columns): (usize, &[[ColumnView<'v, C::Scalar>; 2]])| PermutationSet {
        columns: columns.to_vec(),
        first: (number * circuit.permutation_chunk_len()) as u64,
    };
    columns.chunks(circuit.permutation_chunk_len()).enumerate().map(set).collect()
}

/// Returns the columns of all lookups, circuit by circuit. `compressed` has A and S of each.
fn lookup_views<'v, C: ProofCurve>(
    state: &'v ProofState<'_, C>,
    compressed: &'v [[Column<C::Scalar>; 2]],
) -> Vec<Lookup<ColumnView<'v, C::Scalar>>> {
    let count = state.context.circuit.layout.lookups;
    let view = |(index, [input, table]): (usize, &'v [Column<C::Scalar>; 2])| Lookup {
        input: input.view(),
        table: table.view(),
        permuted_input: state.own_column(index / count, ColumnId::Input(index % count)),
        permuted_table: state.own_column(index / count, ColumnId::Table(index % count)),
    };
    compressed.iter().enumerate().map(view).collect()
}

/// Lists permutation sets, lookups, and the number of grand products in each chain of them. A product in a chain starts
/// with the last value of the product before.
type ProductInputs<'a, 'v, F> = (&'a [PermutationSet<ColumnView<'v, F>>], &'a [Lookup<ColumnView<'v, F>>], &'a [usize]);

impl<C: ProofCurve> Engine<C> {
    /// Computes the grand products of the permutation `sets`, then those of `lookups`, as values. Elements from
    /// `random` fill the rows after row `usable`, column by column. `chains` gives the number of products in each
    /// chain, as in [`enqueue`].
    ///
    /// # Errors
    /// - [`Error::Invalid`]: a column does not have n elements.
    /// - [`Error::Aborted`]: the engine's hook aborted.
    /// - A forced backend failed: its error.
    fn compute_grand_products(
        &self,
        challenges: Challenges<C::Scalar>,
        sets: &[PermutationSet<ColumnView<'_, C::Scalar>>],
        lookups: &[Lookup<ColumnView<'_, C::Scalar>>],
        chains: &[usize],
        usable: usize,
        random: &mut dyn FnMut() -> C::Scalar,
    ) -> Result<Vec<Column<C::Scalar>>> {
        let (mut sets, mut lookups, mut products) = (sets, lookups, Vec::with_capacity(sets.len() + lookups.len()));
        for group in group_by_cost(chain_column_counts(sets, lookups, chains), self.plan.max_columns) {
            let chains = &chains[group];
            let count: usize = chains.iter().sum();
            let (these_sets, other_sets) = sets.split_at(count.min(sets.len()));
            let (these_lookups, other_lookups) = lookups.split_at((count - these_sets.len()).min(lookups.len()));
            products.extend(self.compute_product_group(
                challenges,
                (these_sets, these_lookups, chains),
                usable,
                random,
            )?);
            (sets, lookups) = (other_sets, other_lookups);
        }
        Ok(products)
    }

    fn compute_product_group(
        &self,
        challenges: Challenges<C::Scalar>,
        (sets, lookups, chains): ProductInputs<'_, '_, C::Scalar>,
        usable: usize,
        random: &mut dyn FnMut() -> C::Scalar,
    ) -> Result<Vec<Column<C::Scalar>>> {
        let (n, rows_used) = (self.n(), RowCounts { log_n: self.domain.log_n(), usable });
        let place = StridedColumns::packed(n, sets.len() + lookups.len());
        let blinding = blinding::draw_random_elements(place.count * (n - usable - 1), random);
        let views = flatten_columns(sets, lookups);
        self.run_step(
            "products",
            place.count,
            |stream| {
                let residents = ensure_on_device(stream, n, &views)?;
                let (sets, lookups) = unflatten_columns(sets, lookups, &mut residents.iter().map(to_step_column));
                let factors = factors::enqueue(stream, rows_used, challenges, &sets, &lookups)?;
                let mut products = enqueue(stream, rows_used, &factors, chains)?;
                blinding::enqueue(stream, n, &mut products, place, usable + 1..n, &blinding)?;
                self.collect_columns(stream, products)
            },
            |_| {
                let columns = self.fetch_all_to_host(&views)?;
                let (sets, lookups) = unflatten_columns(sets, lookups, &mut columns.iter().map(|column| &**column));
                let factors = factors::on_cpu(rows_used, challenges, &sets, &lookups)?.map(SecretVec);
                let mut products = SecretVec(on_cpu(rows_used, &factors, chains)?);
                blinding::on_cpu(n, &mut products, place, usable + 1..n, &blinding)?;
                Ok(self.split_host_columns(&products))
            },
        )
    }
}

/// Returns, for each chain of grand products, the number of columns that it adds to the device's memory.
fn chain_column_counts<F>(
    sets: &[PermutationSet<ColumnView<'_, F>>],
    lookups: &[Lookup<ColumnView<'_, F>>],
    chains: &[usize],
) -> Vec<usize> {
    let cost = |columns: Vec<ColumnView<'_, F>>| FOR_PRODUCT + columns.iter().map(count_uploads).sum::<usize>();
    let of_sets = sets.iter().map(|set| cost(flatten_columns(from_ref(set), &[])));
    let of_lookups = lookups.iter().map(|lookup| cost(flatten_columns(&[], from_ref(lookup))));
    let mut all = of_sets.chain(of_lookups);
    chains.iter().map(|chain| all.by_ref().take(*chain).sum()).collect()
}

/// Returns the columns of `sets`, then those of `lookups`, in one list.
fn flatten_columns<C: Copy>(sets: &[PermutationSet<C>], lookups: &[Lookup<C>]) -> Vec<C> {
    let of_lookup = |lookup: &Lookup<C>| [lookup.input, lookup.table, lookup.permuted_input, lookup.permuted_table];
    let of_sets = sets.iter().flat_map(|set| set.columns.iter().flatten().copied());
    of_sets.chain(lookups.iter().flat_map(of_lookup)).collect()
}

/// Returns copies of `sets` and `lookups` that have `columns` in place of their own columns. `columns` are in the order
/// of [`flatten_columns`].
fn unflatten_columns<A, B: Copy>(
    sets: &[PermutationSet<A>],
    lookups: &[Lookup<A>],
    columns: &mut impl Iterator<Item = B>,
) -> (Vec<PermutationSet<B>>, Vec<Lookup<B>>) {
    let mut pairs = Vec::with_capacity(sets.len());
    for set in sets {
        let pair = |_| columns.next().zip(columns.next()).map(<[B; 2]>::from);
        pairs.push(PermutationSet { columns: set.columns.iter().filter_map(pair).collect(), first: set.first });
    }
    let rest: Vec<B> = columns.collect();
    let lookup = |[input, table, permuted_input, permuted_table]: &[B; 4]| Lookup {
        input: *input,
        table: *table,
        permuted_input: *permuted_input,
        permuted_table: *permuted_table,
    };
    debug_assert_eq!(rest.len(), 4 * lookups.len());
    (pairs, rest.as_chunks::<4>().0.iter().map(lookup).collect())
}

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
/// [`blinding::enqueue`] to fill.
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
