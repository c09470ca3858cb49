//! Lowers the expressions of a constraint system to programs.

use std::ops::Deref;

use super::circuit::{Circuit, Lookup};
use super::memory::{COSET_COLUMNS, MemoryPlan};
use super::terms::ConstraintBuilder;
use super::weighted_terms::WeightedSum;
use crate::Result;
use crate::field::NttField;

/// Holds a circuit, and programs for its expressions, for any number of proofs.
#[derive(Debug)]
pub struct CompiledCircuit<F> {
    circuit: Circuit<F>,
    /// Sum of all terms of the quotient polynomial. Its challenges are the circuit's own, then θ, β and γ.
    pub(super) quotient: WeightedSum<F>,
    /// Compressed input A and compressed table S of each lookup. Their challenges are the circuit's own.
    pub(super) compressed: Vec<[WeightedSum<F>; 2]>,
}

impl<F: NttField> CompiledCircuit<F> {
    /// Compiles the expressions of `circuit` to programs for engines with the memory plan `plan`. It takes time in
    /// proportion to their size. A program reads at most as many columns at once as `plan` allows, as far as single
    /// terms permit.
    ///
    /// # Errors
    /// - [`Error::Invalid`](crate::Error::Invalid): [`Circuit::check`] refuses `circuit`.
    pub fn new(circuit: Circuit<F>, plan: MemoryPlan) -> Result<Self> {
        circuit.check()?;
        let own = circuit.challenge_phases.len();
        let compressed = |lookup: &Lookup<F>| {
            [&lookup.inputs, &lookup.tables].map(|terms| WeightedSum::new(terms.clone(), own, plan.max_columns))
        };
        let compressed = circuit.lookups.iter().map(compressed).collect();
        Ok(Self {
            quotient: WeightedSum::new(
                ConstraintBuilder::for_circuit(&circuit),
                own + 3,
                plan.max_columns / COSET_COLUMNS,
            ),
            compressed,
            circuit,
        })
    }
}

impl<F> Deref for CompiledCircuit<F> {
    type Target = Circuit<F>;

    fn deref(&self) -> &Circuit<F> {
        &self.circuit
    }
}
