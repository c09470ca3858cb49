//! Permutes the columns of lookups, after θ.

use crate::Result;
use crate::plonk::circuit::ProofCurve;
use crate::plonk::columns_layout_and_key::Column;
use crate::plonk::engine::{Basis, PermutedLookup};
use crate::plonk::steps::lookup_permute::MissingValues;
use super::advice_stage::{AdviceStage, RandomSource};
use super::constraint_terms::WeightedSum;

/// Holds a lookup's columns, as values.
#[derive(Debug)]
pub(crate) struct LookupColumns<C: ProofCurve> {
    /// Input A and table S, each compressed to one column by powers of θ.
    pub compressed: [Column<C::Scalar>; 2],
    /// Permuted input A' and permuted table S'.
    pub permuted: [Column<C::Scalar>; 2],
}

/// Holds a proof after the challenge θ, with the permuted columns of its lookups.
#[derive(Debug)]
pub struct LookupStage<'a, C: ProofCurve> {
    pub(crate) start: AdviceStage<'a, C>,
    pub(crate) theta: C::Scalar,
    /// Columns of the lookups of each circuit.
    pub(crate) lookups: Vec<Vec<LookupColumns<C>>>,
}

impl<'a, C: ProofCurve> AdviceStage<'a, C> {
    /// Permutes the input and the table of each lookup of each circuit, compressed by `theta`. Returns the next stage,
    /// and commitments to A' and S' of each lookup, circuit by circuit. An input value that is not in its table is
    /// logged as a warning, and then the proof does not verify.
    ///
    /// # Errors
    /// - [`Error::Invalid`](crate::Error::Invalid): an advice column has not been committed to.
    /// - [`Error::Aborted`](crate::Error::Aborted): the engine's hook aborted.
    /// - A forced backend failed: its error.
    pub fn commit_lookups(
        self,
        theta: C::Scalar,
        random: RandomSource<'_, C::Scalar>,
    ) -> Result<(LookupStage<'a, C>, Vec<C>)> {
        self.check_all_committed()?;
        let circuits = 0..self.circuits.len();
        let lookups: Vec<_> =
            circuits.map(|circuit| self.permute_circuit_lookups(circuit, theta, random)).collect::<Result<_>>()?;
        let all = lookups.iter().flatten().flat_map(|columns| &columns.permuted);
        let points = self.setting.commit(Basis::Lagrange, &all.map(Column::view).collect::<Vec<_>>())?;
        Ok((LookupStage { start: self, theta, lookups }, points))
    }

    fn permute_circuit_lookups(
        &self,
        circuit: usize,
        theta: C::Scalar,
        random: RandomSource<'_, C::Scalar>,
    ) -> Result<Vec<LookupColumns<C>>> {
        let engine = self.setting.engine;
        let values = self.circuits[circuit].column_values(self.setting.key);
        let compressed = |sum: &WeightedSum<C::Scalar>| {
            engine.evaluate_weighted_sum(sum, &values, &sum.program_challenges(&self.challenges, theta))
        };
        let sums = self.setting.circuit.compressed.iter();
        let compressed = sums.map(|[inputs, tables]| Ok([compressed(inputs)?, compressed(tables)?]));
        let compressed = compressed.collect::<Result<Vec<[Column<C::Scalar>; 2]>>>()?;
        let pairs: Vec<_> = compressed.iter().map(|pair| pair.each_ref().map(Column::view)).collect();
        let permuted = engine.permute_lookups(&pairs, self.setting.circuit.usable_rows(), random)?;
        let missing = permuted.iter().enumerate().filter_map(|(number, lookup)| Some((number, lookup.missing?)));
        missing.for_each(|(number, missing)| self.warn_missing_values(circuit, number, missing));
        let columns = |(compressed, PermutedLookup { columns, .. })| LookupColumns { compressed, permuted: columns };
        Ok(compressed.into_iter().zip(permuted).map(columns).collect())
    }

    fn warn_missing_values(&self, circuit: usize, lookup: usize, missing: MissingValues) {
        let (MissingValues { first, rows }, name) = (missing, &self.setting.circuit.lookups[lookup].name);
        log::warn!(
            "circuit {circuit}, lookup {lookup} {name:?}: the values in row {first} are not in the table, {rows} rows in \
             all: the proof will not verify"
        );
    }
}
