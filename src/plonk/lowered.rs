//! Lowers the expressions of a constraint system to programs.

use std::ops::Deref;

use super::circuit::{Circuit, Lookup};
use super::memory::{FOR_COSET, Plan};
use super::sums::Sum;
use super::terms::Terms;
use crate::Result;
use crate::field::NttField;

/// Holds a circuit and the programs of its expressions, for any number of its proofs.
#[derive(Debug)]
pub struct Lowered<F> {
    circuit: Circuit<F>,
    /// All terms of the quotient; challenges are the circuit's own, then θ, β and γ.
    pub(super) quotient: Sum<F>,
    /// A and S of each lookup; challenges are the circuit's own.
    pub(super) compressed: Vec<[Sum<F>; 2]>,
}

impl<F: NttField> Lowered<F> {
    /// Lowers the expressions of `circuit`, in time of the order of their size, for engines within `plan`. Programs
    /// read columns in groups of the plan's size.
    ///
    /// # Errors
    /// Returns the error of [`Circuit::check`].
    pub fn new(circuit: Circuit<F>, plan: Plan) -> Result<Self> {
        circuit.check()?;
        let own = circuit.challenge_phases.len();
        let compressed = |lookup: &Lookup<F>| {
            [&lookup.inputs, &lookup.tables].map(|terms| Sum::new(terms.clone(), own, plan.at_once))
        };
        let compressed = circuit.lookups.iter().map(compressed).collect();
        Ok(Self { quotient: Sum::new(Terms::of(&circuit), own + 3, plan.at_once / FOR_COSET), compressed, circuit })
    }
}

impl<F> Deref for Lowered<F> {
    type Target = Circuit<F>;

    fn deref(&self) -> &Circuit<F> {
        &self.circuit
    }
}
