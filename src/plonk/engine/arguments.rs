//! Computes the columns that lookups and products add to a proof.

use std::slice::from_ref;

use crate::Result;
use crate::field::NttField;
use crate::secret_vec::SecretVec;
use crate::plonk::circuit::ProofCurve;
use crate::plonk::columns_layout_and_key::{Column, ColumnView};
use crate::plonk::steps::lookup_permute::{self, MissingValues};
use crate::plonk::steps::product_factors::{self, Challenges, Lookup, PermutationSet};
use crate::plonk::steps::{blinding, products, RowCounts, StridedColumns};
use super::Engine;
use super::memory::{FOR_LOOKUP, FOR_PRODUCT, group_by_cost};
use super::openings::count_uploads;
use super::transfer::{ensure_contiguous, ensure_on_device, to_step_column};

/// Holds a lookup's permuted input A' and permuted table S'. Also describes the values of the input A that are missing
/// from the table S.
#[derive(Debug)]
pub(crate) struct PermutedLookup<F: NttField> {
    pub columns: [Column<F>; 2],
    pub missing: Option<MissingValues>,
}

/// Lists permutation sets, lookups, and the number of grand products in each chain of them. A product in a chain starts
/// with the last value of the product before.
type ProductInputs<'a, 'v, F> = (&'a [PermutationSet<ColumnView<'v, F>>], &'a [Lookup<ColumnView<'v, F>>], &'a [usize]);

impl<C: ProofCurve> Engine<C> {
    fn row_counts(&self, usable: usize) -> RowCounts {
        RowCounts { log_n: self.domain.log_n(), usable }
    }

    /// Computes the permuted input A' and the permuted table S' of each of `lookups`, a pair of the compressed input A
    /// and table S. Elements from `random` fill the rows from `usable` on: those of A', then those of S', lookup by
    /// lookup.
    ///
    /// # Errors
    /// - [`Error::Invalid`](crate::Error::Invalid): a column does not have n elements.
    /// - [`Error::Aborted`](crate::Error::Aborted): the engine's hook aborted.
    /// - A forced backend failed: its error.
    pub(in crate::plonk) fn permute_lookups(
        &self,
        lookups: &[[ColumnView<'_, C::Scalar>; 2]],
        usable: usize,
        random: &mut dyn FnMut() -> C::Scalar,
    ) -> Result<Vec<PermutedLookup<C::Scalar>>> {
        let groups = group_by_cost(lookups.iter().map(|_| FOR_LOOKUP), self.plan.max_columns);
        let permuted = groups.into_iter().map(|group| self.permute_lookup_group(&lookups[group], usable, random));
        Ok(permuted.collect::<Result<Vec<_>>>()?.into_iter().flatten().collect())
    }

    fn permute_lookup_group(
        &self,
        lookups: &[[ColumnView<'_, C::Scalar>; 2]],
        usable: usize,
        random: &mut dyn FnMut() -> C::Scalar,
    ) -> Result<Vec<PermutedLookup<C::Scalar>>> {
        let (n, rows_used, place) =
            (self.n(), self.row_counts(usable), StridedColumns::packed(self.n(), 2 * lookups.len()));
        let blinding = draw_random_elements(place.count * (n - usable), random);
        let (columns, missing) = self.run_step(
            "permute",
            place.count,
            |stream| {
                let [inputs, tables] = [0, 1].map(|k| lookups.iter().map(|pair| pair[k]).collect::<Vec<_>>());
                let (inputs, inputs_at) = ensure_contiguous(stream, n, &inputs)?;
                let (tables, tables_at) = ensure_contiguous(stream, n, &tables)?;
                let from = ((&*inputs.vector, inputs_at), (&*tables.vector, tables_at));
                let mut permuted = lookup_permute::enqueue(stream, rows_used, from.0, from.1)?;
                blinding::enqueue(stream, n, &mut permuted.columns, place, usable..n, &blinding)?;
                let missing = permuted.download_missing_values(stream)?;
                Ok((self.collect_columns(stream, permuted.columns)?, missing))
            },
            |_| {
                let mut all = SecretVec(Vec::with_capacity(place.count * n));
                let mut missing = Vec::with_capacity(lookups.len());
                for [input, table] in lookups {
                    let (columns, lost) =
                        lookup_permute::on_cpu(rows_used, &self.fetch_to_host(*input)?, &self.fetch_to_host(*table)?)?;
                    columns.map(SecretVec).iter().for_each(|column| all.0.extend_from_slice(column));
                    missing.push(lost);
                }
                blinding::on_cpu(n, &mut all, place, usable..n, &blinding)?;
                Ok((self.split_host_columns(&all), missing))
            },
        )?;
        let (mut columns, mut permuted) = (columns.into_iter(), Vec::with_capacity(lookups.len()));
        for (missing, pair) in missing.into_iter().zip(std::iter::from_fn(|| columns.next().zip(columns.next()))) {
            permuted.push(PermutedLookup { columns: pair.into(), missing });
        }
        Ok(permuted)
    }

    /// Computes the grand products of the permutation `sets`, then those of `lookups`, as values. Elements from
    /// `random` fill the rows after row `usable`, column by column. `chains` gives the number of products in each
    /// chain, as in [`products::enqueue`].
    ///
    /// # Errors
    /// - [`Error::Invalid`](crate::Error::Invalid): a column does not have n elements.
    /// - [`Error::Aborted`](crate::Error::Aborted): the engine's hook aborted.
    /// - A forced backend failed: its error.
    pub(in crate::plonk) fn compute_grand_products(
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
        let (n, rows_used) = (self.n(), self.row_counts(usable));
        let place = StridedColumns::packed(n, sets.len() + lookups.len());
        let blinding = draw_random_elements(place.count * (n - usable - 1), random);
        let views = flatten_columns(sets, lookups);
        self.run_step(
            "products",
            place.count,
            |stream| {
                let residents = ensure_on_device(stream, n, &views)?;
                let (sets, lookups) = unflatten_columns(sets, lookups, &mut residents.iter().map(to_step_column));
                let factors = product_factors::enqueue(stream, rows_used, challenges, &sets, &lookups)?;
                let mut products = products::enqueue(stream, rows_used, &factors, chains)?;
                blinding::enqueue(stream, n, &mut products, place, usable + 1..n, &blinding)?;
                self.collect_columns(stream, products)
            },
            |_| {
                let columns = self.fetch_all_to_host(&views)?;
                let (sets, lookups) = unflatten_columns(sets, lookups, &mut columns.iter().map(|column| &**column));
                let factors = product_factors::on_cpu(rows_used, challenges, &sets, &lookups)?.map(SecretVec);
                let mut products = SecretVec(products::on_cpu(rows_used, &factors, chains)?);
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

/// Draws `count` elements from `random`, before it is known whether the device or the host uses them.
fn draw_random_elements<F: NttField>(count: usize, random: &mut dyn FnMut() -> F) -> SecretVec<F> {
    SecretVec((0..count).map(|_| random()).collect())
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
