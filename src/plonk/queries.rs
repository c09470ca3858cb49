//! Lists which polynomials are opened at which points, in the two orders of the transcript.

use super::circuit::Circuit;
use super::layout::ColumnId;

/// Identifies a polynomial of a proof.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum PolynomialId {
    /// A column of a circuit, or of the key (circuit 0).
    Column(usize, ColumnId),
    /// The quotient's pieces, combined at the point of evaluation.
    Quotient,
    /// The random polynomial.
    Random,
}

/// Asks for a polynomial's value at x·ω^rotation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct OpeningQuery {
    pub polynomial: PolynomialId,
    /// Rotation modulo n, 0 to n − 1, so that equal points have equal numbers.
    pub rotation: usize,
}

/// Lists the columns of a lookup that are opened, and their rotations.
type LookupOpenings = [(fn(usize) -> ColumnId, i32); 5];

/// Makes queries of a proof of several circuits.
pub(super) struct Queries<'a, F> {
    circuit: &'a Circuit<F>,
    count: usize,
}

impl<'a, F> Queries<'a, F> {
    pub fn new(circuit: &'a Circuit<F>, count: usize) -> Self {
        Self { circuit, count }
    }

    fn at(&self, polynomial: PolynomialId, rotation: i32) -> OpeningQuery {
        // The number of rows is a power of two.
        let rows = self.circuit.rows();
        OpeningQuery { polynomial, rotation: 0_usize.wrapping_add_signed(rotation as isize) & (rows - 1) }
    }

    /// Returns the queries whose values the transcript gets, in its order.
    pub fn evaluated(&self) -> Vec<OpeningQuery> {
        let mut all: Vec<_> = (0..self.count).flat_map(|circuit| self.advice(circuit)).collect();
        all.extend(self.fixed());
        all.push(self.at(PolynomialId::Random, 0));
        all.extend(self.sigma());
        all.extend((0..self.count).flat_map(|circuit| self.sets_evaluated(circuit)));
        all.extend((0..self.count).flat_map(|circuit| {
            self.lookups(
                circuit,
                [
                    (ColumnId::Lookup, 0),
                    (ColumnId::Lookup, 1),
                    (ColumnId::Input, 0),
                    (ColumnId::Input, -1),
                    (ColumnId::Table, 0),
                ],
            )
        }));
        all
    }

    /// Returns the queries that are opened, in the order of the openings.
    pub fn opened(&self) -> Vec<OpeningQuery> {
        let of_circuit = |circuit: usize| {
            let mut all = self.advice(circuit);
            all.extend(self.sets_opened(circuit));
            let kinds: LookupOpenings = [
                (ColumnId::Lookup, 0),
                (ColumnId::Input, 0),
                (ColumnId::Table, 0),
                (ColumnId::Input, -1),
                (ColumnId::Lookup, 1),
            ];
            all.extend(self.lookups(circuit, kinds));
            all
        };
        let mut all: Vec<_> = (0..self.count).flat_map(of_circuit).collect();
        all.extend(self.fixed());
        all.extend(self.sigma());
        all.extend([PolynomialId::Quotient, PolynomialId::Random].map(|polynomial| self.at(polynomial, 0)));
        all
    }

    fn advice(&self, circuit: usize) -> Vec<OpeningQuery> {
        let query = |(column, rotation): &(usize, i32)| {
            self.at(PolynomialId::Column(circuit, ColumnId::Advice(*column)), *rotation)
        };
        self.circuit.advice_queries.iter().map(query).collect()
    }

    fn fixed(&self) -> Vec<OpeningQuery> {
        let query =
            |(column, rotation): &(usize, i32)| self.at(PolynomialId::Column(0, ColumnId::Fixed(*column)), *rotation);
        self.circuit.fixed_queries.iter().map(query).collect()
    }

    fn sigma(&self) -> impl Iterator<Item = OpeningQuery> {
        (0..self.circuit.layout.permuted).map(|number| self.at(PolynomialId::Column(0, ColumnId::Sigma(number)), 0))
    }

    fn set(&self, circuit: usize, number: usize, rotation: i32) -> OpeningQuery {
        self.at(PolynomialId::Column(circuit, ColumnId::Set(number)), rotation)
    }

    /// Lists each set at x and ωx and, except for the last one, where products end.
    fn sets_evaluated(&self, circuit: usize) -> Vec<OpeningQuery> {
        let sets = self.circuit.layout.sets;
        let of_set = |set: usize| {
            let end = (set + 1 < sets).then(|| self.set(circuit, set, self.circuit.rotation_to_last()));
            [self.set(circuit, set, 0), self.set(circuit, set, 1)].into_iter().chain(end)
        };
        (0..sets).flat_map(of_set).collect()
    }

    /// Lists all sets at x and ωx, then all but the last, backwards, where products end.
    fn sets_opened(&self, circuit: usize) -> Vec<OpeningQuery> {
        let sets = self.circuit.layout.sets;
        let here = (0..sets).flat_map(|set| [0, 1].map(|rotation| self.set(circuit, set, rotation)));
        let end = (0..sets.saturating_sub(1)).rev().map(|set| self.set(circuit, set, self.circuit.rotation_to_last()));
        here.chain(end).collect()
    }

    fn lookups(&self, circuit: usize, kinds: LookupOpenings) -> Vec<OpeningQuery> {
        let of_lookup = |number: usize| {
            kinds.map(|(name, rotation)| self.at(PolynomialId::Column(circuit, name(number)), rotation))
        };
        (0..self.circuit.layout.lookups).flat_map(of_lookup).collect()
    }
}
