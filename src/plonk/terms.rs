//! Lists the constraints of a proof, in the order in which powers of y weigh them.

use ff::PrimeField;

use super::circuit::{Circuit, Lookup};
use super::layout::Name;
use crate::expression::Expression;

/// Makes the terms of one circuit; challenges are the circuit's own, then θ, β and γ.
pub(super) struct Terms<'a, F> {
    circuit: &'a Circuit<F>,
    theta: Expression<F>,
    beta: Expression<F>,
    gamma: Expression<F>,
}

impl<'a, F: PrimeField> Terms<'a, F> {
    /// Returns all terms of `circuit`.
    pub fn of(circuit: &'a Circuit<F>) -> Vec<Expression<F>> {
        let challenges = circuit.challenge_phases.len();
        let [theta, beta, gamma] = [0, 1, 2].map(|i| Expression::Challenge(challenges + i));
        let terms = Self { circuit, theta, beta, gamma };
        let mut all = circuit.gates.clone();
        all.extend(terms.permutation());
        all.extend(circuit.lookups.iter().enumerate().flat_map(|(number, lookup)| terms.lookup(number, lookup)));
        all
    }

    fn column(&self, name: Name, rotation: i32) -> Expression<F> {
        Expression::column(self.circuit.layout.number(name), rotation)
    }

    fn here(&self, name: Name) -> Expression<F> {
        self.column(name, 0)
    }

    /// Returns l₀·(1 − z).
    fn starts_with_one(&self, z: Name) -> Expression<F> {
        self.here(Name::First) * (Expression::Constant(F::ONE) - self.here(z))
    }

    /// Returns l_last·(z² − z).
    fn ends_with_zero_or_one(&self, z: Name) -> Expression<F> {
        self.here(Name::Last) * (self.here(z) * self.here(z) - self.here(z))
    }

    fn permutation(&self) -> Vec<Expression<F>> {
        let sets = self.circuit.layout.sets;
        let Some(last) = sets.checked_sub(1) else { return Vec::new() };
        let end = self.circuit.back_to_end();
        let goes_on =
            |set: usize| self.here(Name::First) * (self.here(Name::Set(set)) - self.column(Name::Set(set - 1), end));
        let mut terms = vec![self.starts_with_one(Name::Set(0)), self.ends_with_zero_or_one(Name::Set(last))];
        terms.extend((1..sets).map(goes_on));
        terms.extend((0..sets).map(|set| self.set(set)));
        terms
    }

    /// Returns l_active·(z(ωX)·∏(v + β·σ + γ) − z·∏(v + β·δ^c·X + γ)).
    fn set(&self, set: usize) -> Expression<F> {
        let columns = self.circuit.permutation.iter().enumerate();
        let columns = columns.skip(set * self.circuit.set_size()).take(self.circuit.set_size());
        let (mut next, mut now) = (self.column(Name::Set(set), 1), self.here(Name::Set(set)));
        for (number, name) in columns {
            let factor = |cell: Expression<F>| self.here(*name) + self.beta.clone() * cell + self.gamma.clone();
            next = next * factor(self.here(Name::Sigma(number)));
            now = now * factor(Expression::X * F::DELTA.pow_vartime([number as u64]));
        }
        self.here(Name::Active) * (next - now)
    }

    fn lookup(&self, number: usize, lookup: &Lookup<F>) -> [Expression<F>; 5] {
        let [z, input, table] = [Name::Lookup(number), Name::Input(number), Name::Table(number)];
        let (beta, gamma) = (&self.beta, &self.gamma);
        let permuted = (self.here(input) + beta.clone()) * (self.here(table) + gamma.clone());
        let plain =
            (self.compressed(&lookup.inputs) + beta.clone()) * (self.compressed(&lookup.tables) + gamma.clone());
        let differ = || self.here(input) - self.here(table);
        [
            self.starts_with_one(z),
            self.ends_with_zero_or_one(z),
            self.here(Name::Active) * (self.column(z, 1) * permuted - self.here(z) * plain),
            self.here(Name::First) * differ(),
            self.here(Name::Active) * (differ() * (self.here(input) - self.column(input, -1))),
        ]
    }

    /// Returns Σ θ^(m−1−i)·termᵢ.
    fn compressed(&self, terms: &[Expression<F>]) -> Expression<F> {
        let sum = |sum: Expression<F>, term: &Expression<F>| sum * self.theta.clone() + term.clone();
        let first = terms.first().cloned().unwrap_or(Expression::Constant(F::ZERO));
        terms.iter().skip(1).fold(first, sum)
    }
}
