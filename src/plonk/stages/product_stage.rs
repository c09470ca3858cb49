//! Commits to the products of the permutation and of lookups, after β and γ.

use crate::Result;
use crate::plonk::circuit::ProofCurve;
use crate::plonk::columns_layout_and_key::{Column, ColumnId, ColumnView, Polynomial};
use crate::plonk::engine::Basis;
use crate::plonk::steps::product_factors::{self, Challenges};
use crate::plonk::work_sharing::ProverContext;
use super::advice_stage::{find_column, RandomSource, Witness};
use super::lookup_stage::{LookupColumns, LookupStage};

/// Holds the grand products of a circuit's permutation sets and lookups, as values.
#[derive(Debug)]
pub(crate) struct GrandProducts<C: ProofCurve> {
    pub sets: Vec<Column<C::Scalar>>,
    pub lookups: Vec<Column<C::Scalar>>,
}

/// Holds a proof after the challenges β and γ, with its grand products.
#[derive(Debug)]
pub struct ProductStage<'a, C: ProofCurve> {
    pub(crate) permuted: LookupStage<'a, C>,
    pub(crate) beta: C::Scalar,
    pub(crate) gamma: C::Scalar,
    /// Grand products of each circuit.
    pub(crate) running: Vec<GrandProducts<C>>,
}

impl<'a, C: ProofCurve> LookupStage<'a, C> {
    /// Computes the grand products for the challenges `beta` and `gamma`. Returns the next stage and the commitments:
    /// those of all circuits' permutation sets, then those of all circuits' lookups.
    ///
    /// # Errors
    /// - [`Error::Aborted`](crate::Error::Aborted): the engine's hook aborted.
    /// - A forced backend failed: its error.
    pub fn commit_products(
        mut self,
        [beta, gamma]: [C::Scalar; 2],
        random: RandomSource<'_, C::Scalar>,
    ) -> Result<(ProductStage<'a, C>, Vec<C>)> {
        let setting = self.start.setting;
        let circuit = setting.circuit;
        let sets: Vec<_> = self.start.circuits.iter().flat_map(|witness| permutation_sets(setting, witness)).collect();
        let lookups: Vec<_> = self.lookups.iter().flatten().map(lookup_views).collect();
        // A circuit's sets form one chain, each lookup its own.
        let of_sets = (circuit.layout.sets > 0).then_some(circuit.layout.sets);
        let chains = of_sets.into_iter().cycle().take(if sets.is_empty() { 0 } else { self.start.circuits.len() });
        let chains: Vec<_> = chains.chain(lookups.iter().map(|_| 1)).collect();
        let challenges = Challenges { beta, gamma };
        let usable = circuit.usable_rows();
        let mut products =
            setting.engine.compute_grand_products(challenges, &sets, &lookups, &chains, usable, random)?;
        let points = setting.commit(Basis::Lagrange, &products.iter().map(Column::view).collect::<Vec<_>>())?;
        // A and S are not needed any more: their memory is freed first.
        let compressed = self.lookups.iter_mut().flatten().map(|columns| &mut columns.compressed);
        compressed.for_each(|columns| *columns = [(); 2].map(|()| Column::new(Vec::new())));
        let lookups = products.split_off(circuit.layout.sets * self.start.circuits.len());
        let (mut sets, mut lookups) = (products.into_iter(), lookups.into_iter());
        let running = self.start.circuits.iter().map(|_| GrandProducts {
            sets: sets.by_ref().take(circuit.layout.sets).collect(),
            lookups: lookups.by_ref().take(circuit.layout.lookups).collect(),
        });
        let running = running.collect();
        Ok((ProductStage { permuted: self, beta, gamma, running }, points))
    }
}

/// Returns the permutation sets of a circuit, each with the values and σ of its columns.
fn permutation_sets<'v, C: ProofCurve>(
    setting: ProverContext<'v, C>,
    witness: &'v Witness<C>,
) -> Vec<product_factors::PermutationSet<ColumnView<'v, C::Scalar>>> {
    let (circuit, values) = (setting.circuit, witness.column_values(setting.key));
    let column = |(name, sigma): (&ColumnId, &Polynomial<'v, C::Scalar>)| {
        [find_column(&values, &circuit.layout, *name), sigma.values]
    };
    let columns: Vec<_> = circuit.permutation.iter().zip(&setting.key.sigma).map(column).collect();
    let set = |(number, columns): (usize, &[[ColumnView<'v, C::Scalar>; 2]])| product_factors::PermutationSet {
        columns: columns.to_vec(),
        first: (number * circuit.permutation_chunk_len()) as u64,
    };
    columns.chunks(circuit.permutation_chunk_len()).enumerate().map(set).collect()
}

fn lookup_views<C: ProofCurve>(columns: &LookupColumns<C>) -> product_factors::Lookup<ColumnView<'_, C::Scalar>> {
    let [input, table] = columns.compressed.each_ref().map(Column::view);
    let [permuted_input, permuted_table] = columns.permuted.each_ref().map(Column::view);
    product_factors::Lookup { input, table, permuted_input, permuted_table }
}
