//! β, γ: products of the permutation and of lookups.

use ff::{Field, PrimeField};

use super::column::{Column, View};
use super::curve::ProofCurve;
use super::engine::Basis;
use super::host::Set;
use super::key::Polynomial;
use super::layout::Name;
use super::lookups::{Columns, Permuted};
use super::witness::{Random, Setting, named};
use crate::Result;

/// A circuit's products in values.
#[derive(Debug)]
pub(super) struct Running<C: ProofCurve> {
    pub sets: Vec<Column<C::Scalar>>,
    pub lookups: Vec<Column<C::Scalar>>,
}

/// A proof after β and γ.
#[derive(Debug)]
pub struct Products<'a, C: ProofCurve> {
    pub(super) permuted: Permuted<'a, C>,
    pub(super) beta: C::Scalar,
    pub(super) gamma: C::Scalar,
    /// By circuit.
    pub(super) running: Vec<Running<C>>,
}

/// What all products depend on.
struct Factors<F> {
    beta: F,
    gamma: F,
    usable: usize,
}

impl<'a, C: ProofCurve> Permuted<'a, C> {
    /// Commits to the products of each circuit's sets, then to those of each circuit's lookups.
    ///
    /// # Errors
    /// A forced backend failed.
    pub fn products(
        mut self,
        [beta, gamma]: [C::Scalar; 2],
        random: Random<'_, C::Scalar>,
    ) -> Result<(Products<'a, C>, Vec<C>)> {
        let setting = self.start.setting;
        let factors = Factors { beta, gamma, usable: setting.circuit.usable() };
        let values = self.start.circuits.iter().map(|witness| witness.values(setting.key));
        let sets: Vec<_> = values.map(|values| sets(setting, &values, &factors, random)).collect();
        let lookups = self.lookups.iter().map(|lookups| of_lookups(setting, lookups, &factors, random));
        let lookups: Vec<_> = lookups.collect();
        let all: Vec<_> = sets.iter().chain(&lookups).flatten().map(Column::view).collect();
        let points = setting.engine.commit(Basis::Lagrange, &all)?;
        // A and S have done their part: their memory goes first.
        let compressed = self.lookups.iter_mut().flatten().map(|columns| &mut columns.compressed);
        compressed.for_each(|columns| *columns = [(); 2].map(|()| Column::new(Vec::new())));
        let running = sets.into_iter().zip(lookups).map(|(sets, lookups)| Running { sets, lookups }).collect();
        Ok((Products { permuted: self, beta, gamma, running }, points))
    }
}

fn sets<C: ProofCurve>(
    setting: Setting<'_, C>,
    values: &[View<'_, C::Scalar>],
    factors: &Factors<C::Scalar>,
    random: Random<'_, C::Scalar>,
) -> Vec<Column<C::Scalar>> {
    let (circuit, mut first, mut delta) = (setting.circuit, C::Scalar::ONE, C::Scalar::ONE);
    let numbered: Vec<_> = circuit.permutation.iter().zip(&setting.key.sigma).collect();
    let product = |columns: &[(&Name, &Polynomial<'_, C::Scalar>)]| {
        let columns = columns.iter().map(|(name, sigma)| {
            let identity = delta;
            delta *= C::Scalar::DELTA;
            (named(values, &circuit.layout, **name), sigma.values, identity)
        });
        let columns = columns.collect();
        let set = Set { columns, beta: factors.beta, gamma: factors.gamma };
        let (z, last) = setting.engine.permutation_product(&set, first, factors.usable, random);
        first = last;
        z
    };
    numbered.chunks(circuit.set_size()).map(product).collect()
}

fn of_lookups<C: ProofCurve>(
    setting: Setting<'_, C>,
    lookups: &[Columns<C>],
    factors: &Factors<C::Scalar>,
    random: Random<'_, C::Scalar>,
) -> Vec<Column<C::Scalar>> {
    let product = |columns: &Columns<C>| {
        let [a, s] = columns.compressed.each_ref().map(Column::view);
        let [permuted_a, permuted_s] = columns.permuted.each_ref().map(Column::view);
        let Factors { beta, gamma, usable } = *factors;
        setting.engine.lookup_product([a, s, permuted_a, permuted_s], beta, gamma, usable, random)
    };
    lookups.iter().map(product).collect()
}
