//! θ: columns of lookups, permuted.

use ff::Field;

use super::column::Column;
use super::curve::ProofCurve;
use super::engine::Basis;
use super::sums::Sum;
use super::witness::{Random, Witnesses};
use crate::Result;

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
        let challenges = self.challenges.len();
        let sums = self
            .setting
            .circuit
            .lookups
            .iter()
            .map(|lookup| [&lookup.inputs, &lookup.tables].map(|terms| Sum::new(terms.clone(), challenges)));
        let sums: Vec<_> = sums.collect();
        let circuits = 0..self.circuits.len();
        let lookups: Vec<_> =
            circuits.map(|circuit| self.permuted(circuit, &sums, theta, random)).collect::<Result<_>>()?;
        let all = lookups.iter().flatten().flat_map(|columns| &columns.permuted);
        let points = self.setting.engine.commit(Basis::Lagrange, &all.map(Column::view).collect::<Vec<_>>())?;
        Ok((Permuted { start: self, theta, lookups }, points))
    }

    fn permuted(
        &self,
        circuit: usize,
        sums: &[[Sum<C::Scalar>; 2]],
        theta: C::Scalar,
        random: Random<'_, C::Scalar>,
    ) -> Result<Vec<Columns<C>>> {
        let engine = self.setting.engine;
        let values = self.circuits[circuit].values(self.setting.key);
        let compressed = |sum: &Sum<C::Scalar>| {
            engine.weighted_sum(sum, &values, &sum.challenges(&self.challenges, theta), C::Scalar::ONE)
        };
        let mut all = Vec::with_capacity(sums.len());
        for (number, [inputs, tables]) in sums.iter().enumerate() {
            let compressed = [compressed(inputs)?, compressed(tables)?];
            let [input, table] = compressed.each_ref().map(Column::view);
            let (permuted, missing) = engine.permute(input, table, self.setting.circuit.usable(), random);
            if let Some(row) = missing {
                self.warn(circuit, number, row);
            }
            all.push(Columns { compressed, permuted });
        }
        Ok(all)
    }

    fn warn(&self, circuit: usize, lookup: usize, row: usize) {
        let name = &self.setting.circuit.lookups[lookup].name;
        log::warn!(
            "circuit {circuit}, lookup {lookup} {name:?}: the values in row {row} are not in the table: the proof will not \
             verify"
        );
    }
}
