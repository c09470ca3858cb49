//! Lists the constraints of a proof, in the order in which powers of y weigh them.

use ff::PrimeField;

use super::circuit::{Circuit, Lookup};
use super::layout::ColumnId;
use crate::expression::Expression;

/// Builds the constraint terms of one circuit as expressions. Their challenges are the circuit's own, then θ, β and γ.
pub(super) struct Terms<'a, F> {
    circuit: &'a Circuit<F>,
    theta: Expression<F>,
    beta: Expression<F>,
    gamma: Expression<F>,
}

impl<'a, F: PrimeField> Terms<'a, F> {
    /// Returns all constraint terms of `circuit`: those of gates, then of the permutation, then of lookups.
    pub fn for_circuit(circuit: &'a Circuit<F>) -> Vec<Expression<F>> {
        let challenges = circuit.challenge_phases.len();
        let [theta, beta, gamma] = [0, 1, 2].map(|i| Expression::Challenge(challenges + i));
        let terms = Self { circuit, theta, beta, gamma };
        let mut all = circuit.gates.clone();
        all.extend(terms.permutation());
        all.extend(circuit.lookups.iter().enumerate().flat_map(|(number, lookup)| terms.lookup(number, lookup)));
        all
    }

    fn column(&self, name: ColumnId, rotation: i32) -> Expression<F> {
        Expression::column(self.circuit.layout.number(name), rotation)
    }

    fn query_cur(&self, name: ColumnId) -> Expression<F> {
        self.column(name, 0)
    }

    /// Returns the constraint l₀·(1 − z): the grand product `z` is 1 in row 0.
    fn starts_with_one(&self, z: ColumnId) -> Expression<F> {
        self.query_cur(ColumnId::First) * (Expression::Constant(F::ONE) - self.query_cur(z))
    }

    /// Returns the constraint l_last·(z² − z): the grand product `z` ends with 0 or 1.
    fn ends_with_zero_or_one(&self, z: ColumnId) -> Expression<F> {
        self.query_cur(ColumnId::Last) * (self.query_cur(z) * self.query_cur(z) - self.query_cur(z))
    }

    fn permutation(&self) -> Vec<Expression<F>> {
        let sets = self.circuit.layout.sets;
        let Some(last) = sets.checked_sub(1) else { return Vec::new() };
        let end = self.circuit.rotation_to_last();
        let goes_on = |set: usize| {
            self.query_cur(ColumnId::First)
                * (self.query_cur(ColumnId::Set(set)) - self.column(ColumnId::Set(set - 1), end))
        };
        let mut terms = vec![self.starts_with_one(ColumnId::Set(0)), self.ends_with_zero_or_one(ColumnId::Set(last))];
        terms.extend((1..sets).map(goes_on));
        terms.extend((0..sets).map(|set| self.set(set)));
        terms
    }

    /// Returns the constraint of the permutation set with index `set`, l_active·(z(ωX)·∏(v + β·σ + γ) − z·∏(v + β·δ^c·X
    /// + γ)).
    fn set(&self, set: usize) -> Expression<F> {
        let columns = self.circuit.permutation.iter().enumerate();
        let columns =
            columns.skip(set * self.circuit.permutation_chunk_len()).take(self.circuit.permutation_chunk_len());
        let (mut next, mut now) = (self.column(ColumnId::Set(set), 1), self.query_cur(ColumnId::Set(set)));
        for (number, name) in columns {
            let factor = |cell: Expression<F>| self.query_cur(*name) + self.beta.clone() * cell + self.gamma.clone();
            next = next * factor(self.query_cur(ColumnId::Sigma(number)));
            now = now * factor(Expression::X * F::DELTA.pow_vartime([number as u64]));
        }
        self.query_cur(ColumnId::Active) * (next - now)
    }

    fn lookup(&self, number: usize, lookup: &Lookup<F>) -> [Expression<F>; 5] {
        let [z, input, table] = [ColumnId::Lookup(number), ColumnId::Input(number), ColumnId::Table(number)];
        let (beta, gamma) = (&self.beta, &self.gamma);
        let permuted = (self.query_cur(input) + beta.clone()) * (self.query_cur(table) + gamma.clone());
        let plain =
            (self.compressed(&lookup.inputs) + beta.clone()) * (self.compressed(&lookup.tables) + gamma.clone());
        let differ = || self.query_cur(input) - self.query_cur(table);
        [
            self.starts_with_one(z),
            self.ends_with_zero_or_one(z),
            self.query_cur(ColumnId::Active) * (self.column(z, 1) * permuted - self.query_cur(z) * plain),
            self.query_cur(ColumnId::First) * differ(),
            self.query_cur(ColumnId::Active) * (differ() * (self.query_cur(input) - self.column(input, -1))),
        ]
    }

    /// Returns the sum of `terms` weighed by powers of θ: Σ θ^(m−1−i)·termᵢ over m terms.
    fn compressed(&self, terms: &[Expression<F>]) -> Expression<F> {
        let sum = |sum: Expression<F>, term: &Expression<F>| sum * self.theta.clone() + term.clone();
        let first = terms.first().cloned().unwrap_or(Expression::Constant(F::ZERO));
        terms.iter().skip(1).fold(first, sum)
    }
}
