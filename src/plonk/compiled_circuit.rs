//! Lists the constraints of a proof in the order in which powers of y weigh them, and lowers them to programs.
//!
//! A sum is lowered once for any number of evaluations.

use std::ops::Deref;

use ff::PrimeField;

use super::circuit::{Circuit, Lookup, iterate_powers};
use super::columns_layout_and_key::ColumnId;
use super::engine::MemoryPlan;
use super::engine::memory::COSET_COLUMNS;
use crate::Result;
use crate::expression::{Expression, Program, Term};
use crate::field::NttField;

/// Builds the constraint terms of one circuit as expressions. Their challenges are the circuit's own, then θ, β and γ.
struct ConstraintBuilder<'a, F> {
    circuit: &'a Circuit<F>,
    theta: Expression<F>,
    beta: Expression<F>,
    gamma: Expression<F>,
}

impl<'a, F: PrimeField> ConstraintBuilder<'a, F> {
    /// Returns all constraint terms of `circuit`: those of gates, then of the permutation, then of lookups.
    fn for_circuit(circuit: &'a Circuit<F>) -> Vec<Expression<F>> {
        let challenges = circuit.challenge_phases.len();
        let [theta, beta, gamma] = [0, 1, 2].map(|i| Expression::Challenge(challenges + i));
        let terms = Self { circuit, theta, beta, gamma };
        let mut all = circuit.gates.clone();
        all.extend(terms.permutation_constraints());
        all.extend(
            circuit.lookups.iter().enumerate().flat_map(|(number, lookup)| terms.lookup_constraints(number, lookup)),
        );
        all
    }

    fn query_column(&self, name: ColumnId, rotation: i32) -> Expression<F> {
        Expression::column(self.circuit.layout.column_number(name), rotation)
    }

    fn query_current_row(&self, name: ColumnId) -> Expression<F> {
        self.query_column(name, 0)
    }

    /// Returns the constraint l₀·(1 − z): the grand product `z` is 1 in row 0.
    fn product_start_constraint(&self, z: ColumnId) -> Expression<F> {
        self.query_current_row(ColumnId::First) * (Expression::Constant(F::ONE) - self.query_current_row(z))
    }

    /// Returns the constraint l_last·(z² − z): the grand product `z` ends with 0 or 1.
    fn product_end_constraint(&self, z: ColumnId) -> Expression<F> {
        self.query_current_row(ColumnId::Last)
            * (self.query_current_row(z) * self.query_current_row(z) - self.query_current_row(z))
    }

    fn permutation_constraints(&self) -> Vec<Expression<F>> {
        let sets = self.circuit.layout.sets;
        let Some(last) = sets.checked_sub(1) else { return Vec::new() };
        let end = self.circuit.rotation_to_last();
        let goes_on = |set: usize| {
            self.query_current_row(ColumnId::First)
                * (self.query_current_row(ColumnId::Set(set)) - self.query_column(ColumnId::Set(set - 1), end))
        };
        let mut terms =
            vec![self.product_start_constraint(ColumnId::Set(0)), self.product_end_constraint(ColumnId::Set(last))];
        terms.extend((1..sets).map(goes_on));
        terms.extend((0..sets).map(|set| self.permutation_set_constraint(set)));
        terms
    }

    /// Returns the constraint of the permutation set with index `set`, l_active·(z(ωX)·∏(v + β·σ + γ) − z·∏(v + β·δ^c·X
    /// + γ)).
    fn permutation_set_constraint(&self, set: usize) -> Expression<F> {
        let columns = self.circuit.permutation.iter().enumerate();
        let columns =
            columns.skip(set * self.circuit.permutation_chunk_len()).take(self.circuit.permutation_chunk_len());
        let (mut next, mut now) =
            (self.query_column(ColumnId::Set(set), 1), self.query_current_row(ColumnId::Set(set)));
        for (number, name) in columns {
            let factor =
                |cell: Expression<F>| self.query_current_row(*name) + self.beta.clone() * cell + self.gamma.clone();
            next = next * factor(self.query_current_row(ColumnId::Sigma(number)));
            now = now * factor(Expression::X * F::DELTA.pow_vartime([number as u64]));
        }
        self.query_current_row(ColumnId::Active) * (next - now)
    }

    fn lookup_constraints(&self, number: usize, lookup: &Lookup<F>) -> [Expression<F>; 5] {
        let [z, input, table] = [ColumnId::Lookup(number), ColumnId::Input(number), ColumnId::Table(number)];
        let (beta, gamma) = (&self.beta, &self.gamma);
        let permuted = (self.query_current_row(input) + beta.clone()) * (self.query_current_row(table) + gamma.clone());
        let plain = (self.compress_by_theta(&lookup.inputs) + beta.clone())
            * (self.compress_by_theta(&lookup.tables) + gamma.clone());
        let differ = || self.query_current_row(input) - self.query_current_row(table);
        [
            self.product_start_constraint(z),
            self.product_end_constraint(z),
            self.query_current_row(ColumnId::Active)
                * (self.query_column(z, 1) * permuted - self.query_current_row(z) * plain),
            self.query_current_row(ColumnId::First) * differ(),
            self.query_current_row(ColumnId::Active)
                * (differ() * (self.query_current_row(input) - self.query_column(input, -1))),
        ]
    }

    /// Returns the sum of `terms` weighed by powers of θ: Σ θ^(m−1−i)·termᵢ over m terms.
    fn compress_by_theta(&self, terms: &[Expression<F>]) -> Expression<F> {
        let sum = |sum: Expression<F>, term: &Expression<F>| sum * self.theta.clone() + term.clone();
        let first = terms.first().cloned().unwrap_or(Expression::Constant(F::ZERO));
        terms.iter().skip(1).fold(first, sum)
    }
}

/// Holds a program for Σ weight^(m−1−i)·termᵢ over m terms.
#[derive(Debug)]
pub(crate) struct WeightedSum<F> {
    program: Program<F>,
    terms: usize,
}

impl<F: NttField> WeightedSum<F> {
    /// Compiles the sum of `terms` to a program. The terms refer to challenges below `challenges`. The program reads
    /// its columns in groups of at most `columns_at_once` ([`Program::lower_sum`]).
    pub(crate) fn new(terms: Vec<Expression<F>>, challenges: usize, columns_at_once: usize) -> Self {
        let count = terms.len();
        let term = |(number, expression)| Term { challenge: challenges + number, expression };
        let terms: Vec<_> = terms.into_iter().enumerate().map(term).collect();
        Self { program: Program::lower_sum(&terms, columns_at_once), terms: count }
    }

    pub(crate) fn program(&self) -> &Program<F> {
        &self.program
    }

    /// Returns the values of the program's challenges: `known`, then the terms' weights, powers of `weight` in
    /// descending order.
    pub(crate) fn program_challenges(&self, known: &[F], weight: F) -> Vec<F> {
        let mut weights: Vec<_> = iterate_powers(weight).take(self.terms).collect();
        weights.reverse();
        [known, &weights].concat()
    }

    /// Returns `weight`^m, where m is the number of terms. Horner's rule multiplies the sum before by this factor, then
    /// adds this one.
    pub(crate) fn factor_before_next(&self, weight: F) -> F {
        weight.pow_vartime([self.terms as u64])
    }
}

/// Holds a circuit, and programs for its expressions, for any number of proofs.
#[derive(Debug)]
pub struct CompiledCircuit<F> {
    circuit: Circuit<F>,
    /// Sum of all terms of the quotient polynomial. Its challenges are the circuit's own, then θ, β and γ.
    pub(crate) quotient: WeightedSum<F>,
    /// Compressed input A and compressed table S of each lookup. Their challenges are the circuit's own.
    pub(crate) compressed: Vec<[WeightedSum<F>; 2]>,
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
