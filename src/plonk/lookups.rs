//! θ: columns of lookups, permuted.

use ff::Field;

use super::column::{Column, View};
use super::curve::ProofCurve;
use super::engine::Basis;
use super::witness::{Random, Witnesses};
use crate::Result;
use crate::expression::Expression;

/// A lookup's columns in values.
#[derive(Debug)]
pub(super) struct Columns<C: ProofCurve> {
    /// A, S.
    pub compressed: [Column<C::Scalar>; 2],
    /// A', S'.
    pub permuted: [Column<C::Scalar>; 2],
}

/// A proof after θ.
#[derive(Debug)]
pub struct Permuted<'a, C: ProofCurve> {
    pub(super) start: Witnesses<'a, C>,
    pub(super) theta: C::Scalar,
    /// By circuit.
    pub(super) lookups: Vec<Vec<Columns<C>>>,
}

impl<'a, C: ProofCurve> Witnesses<'a, C> {
    /// Puts the columns of lookups in the order that their argument is about, and commits to A' and S' of each lookup of
    /// each circuit. A value that is not in its table makes a proof that does not verify, and a warning in the log.
    ///
    /// # Errors
    /// A column has not been committed to, or a forced backend failed.
    pub fn lookups(self, theta: C::Scalar, random: Random<'_, C::Scalar>) -> Result<(Permuted<'a, C>, Vec<C>)> {
        self.check()?;
        let lookups: Vec<_> = (0..self.circuits.len()).map(|circuit| self.permuted(circuit, theta, random)).collect();
        let all = lookups.iter().flatten().flat_map(|columns| &columns.permuted);
        let points = self.setting.engine.commit(Basis::Lagrange, &all.map(Column::view).collect::<Vec<_>>())?;
        Ok((Permuted { start: self, theta, lookups }, points))
    }

    fn permuted(&self, circuit: usize, theta: C::Scalar, random: Random<'_, C::Scalar>) -> Vec<Columns<C>> {
        let engine = self.setting.engine;
        let values = self.circuits[circuit].values(self.setting.key);
        let mut all = Vec::with_capacity(self.setting.circuit.lookups.len());
        for (number, lookup) in self.setting.circuit.lookups.iter().enumerate() {
            let compressed = [&lookup.inputs, &lookup.tables].map(|terms| self.compressed(terms, theta, &values));
            let [input, table] = compressed.each_ref().map(Column::view);
            let (permuted, missing) = engine.permute(input, table, self.setting.circuit.usable(), random);
            if let Some(row) = missing {
                let name = &lookup.name;
                log::warn!(
                    "circuit {circuit}, lookup {number} {name:?}: the values in row {row} are not in the table: \
                     the proof will not verify"
                );
            }
            all.push(Columns { compressed, permuted });
        }
        all
    }

    /// Σ θ^(m−1−i)·termᵢ in every row.
    fn compressed(
        &self,
        terms: &[Expression<C::Scalar>],
        theta: C::Scalar,
        values: &[View<'_, C::Scalar>],
    ) -> Column<C::Scalar> {
        self.setting.engine.weighted_sum(terms, theta, values, &self.challenges, C::Scalar::ONE)
    }
}
