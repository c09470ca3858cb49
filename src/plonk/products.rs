//! Commits to the products of the permutation and of lookups, after β and γ.

use super::column::{Column, View};
use super::curve::ProofCurve;
use super::engine::Basis;
use super::key::Polynomial;
use super::layout::Name;
use super::lookups::{Columns, Permuted};
use super::setting::Setting;
use super::steps::factors::{self, Challenges};
use super::witness::{Random, Witness, named};
use crate::Result;

/// Holds a circuit's products as values.
#[derive(Debug)]
pub(super) struct Running<C: ProofCurve> {
    pub sets: Vec<Column<C::Scalar>>,
    pub lookups: Vec<Column<C::Scalar>>,
}

/// Holds a proof after β and γ.
#[derive(Debug)]
pub struct Products<'a, C: ProofCurve> {
    pub(super) permuted: Permuted<'a, C>,
    pub(super) beta: C::Scalar,
    pub(super) gamma: C::Scalar,
    /// Products of each circuit.
    pub(super) running: Vec<Running<C>>,
}

impl<'a, C: ProofCurve> Permuted<'a, C> {
    /// Commits to the products of each circuit's sets, then to those of each circuit's lookups.
    ///
    /// # Errors
    /// Returns the error of a forced backend that failed.
    pub fn products(
        mut self,
        [beta, gamma]: [C::Scalar; 2],
        random: Random<'_, C::Scalar>,
    ) -> Result<(Products<'a, C>, Vec<C>)> {
        let setting = self.start.setting;
        let circuit = setting.circuit;
        let sets: Vec<_> = self.start.circuits.iter().flat_map(|witness| sets(setting, witness)).collect();
        let lookups: Vec<_> = self.lookups.iter().flatten().map(lookup).collect();
        // A circuit's sets form one chain, each lookup its own.
        let of_sets = (circuit.layout.sets > 0).then_some(circuit.layout.sets);
        let chains = of_sets.into_iter().cycle().take(if sets.is_empty() { 0 } else { self.start.circuits.len() });
        let chains: Vec<_> = chains.chain(lookups.iter().map(|_| 1)).collect();
        let challenges = Challenges { beta, gamma };
        let usable = circuit.usable();
        let mut products = setting.engine.products(challenges, &sets, &lookups, &chains, usable, random)?;
        let points = setting.commit(Basis::Lagrange, &products.iter().map(Column::view).collect::<Vec<_>>())?;
        // A and S are not needed any more: their memory is freed first.
        let compressed = self.lookups.iter_mut().flatten().map(|columns| &mut columns.compressed);
        compressed.for_each(|columns| *columns = [(); 2].map(|()| Column::new(Vec::new())));
        let lookups = products.split_off(circuit.layout.sets * self.start.circuits.len());
        let (mut sets, mut lookups) = (products.into_iter(), lookups.into_iter());
        let running = self.start.circuits.iter().map(|_| Running {
            sets: sets.by_ref().take(circuit.layout.sets).collect(),
            lookups: lookups.by_ref().take(circuit.layout.lookups).collect(),
        });
        let running = running.collect();
        Ok((Products { permuted: self, beta, gamma, running }, points))
    }
}

/// Returns the permutation sets of a circuit: the values and σ of each column.
fn sets<'v, C: ProofCurve>(setting: Setting<'v, C>, witness: &'v Witness<C>) -> Vec<factors::Set<View<'v, C::Scalar>>> {
    let (circuit, values) = (setting.circuit, witness.values(setting.key));
    let column =
        |(name, sigma): (&Name, &Polynomial<'v, C::Scalar>)| [named(&values, &circuit.layout, *name), sigma.values];
    let columns: Vec<_> = circuit.permutation.iter().zip(&setting.key.sigma).map(column).collect();
    let set = |(number, columns): (usize, &[[View<'v, C::Scalar>; 2]])| factors::Set {
        columns: columns.to_vec(),
        first: (number * circuit.set_size()) as u64,
    };
    columns.chunks(circuit.set_size()).enumerate().map(set).collect()
}

fn lookup<C: ProofCurve>(columns: &Columns<C>) -> factors::Lookup<View<'_, C::Scalar>> {
    let [input, table] = columns.compressed.each_ref().map(Column::view);
    let [permuted_input, permuted_table] = columns.permuted.each_ref().map(Column::view);
    factors::Lookup { input, table, permuted_input, permuted_table }
}
