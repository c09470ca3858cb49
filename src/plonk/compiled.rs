//! Lowers the expressions of a constraint system to programs.

use std::ops::Deref;

use super::circuit::{Circuit, Lookup};
use super::memory::{COSET_COLUMNS, MemoryPlan};
use super::terms::Terms;
use super::weighted_terms::WeightedSum;
use crate::Result;
use crate::field::NttField;

/// Holds a circuit and the programs of its expressions, for any number of its proofs.
#[derive(Debug)]
pub struct CompiledCircuit<F> {
    circuit: Circuit<F>,
    /// All terms of the quotient; challenges are the circuit's own, then θ, β and γ.
    pub(super) quotient: WeightedSum<F>,
    /// A and S of each lookup; challenges are the circuit's own.
    pub(super) compressed: Vec<[WeightedSum<F>; 2]>,
}

impl<F: NttField> CompiledCircuit<F> {
    /// Lowers the expressions of `circuit`, in time of the order of their size, for engines within `plan`. Programs
    /// read columns in groups of the plan's size.
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
            quotient: WeightedSum::new(Terms::for_circuit(&circuit), own + 3, plan.max_columns / COSET_COLUMNS),
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
