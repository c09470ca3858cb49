//! Lists which polynomials are opened at which points, in the two orders of the transcript.

use crate::plonk::circuit::Circuit;
use crate::plonk::columns_layout_and_key::ColumnId;

/// Identifies a polynomial of a proof.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum PolynomialId {
    /// Column of the circuit with the given index. Columns of the key have index 0.
    Column(usize, ColumnId),
    /// The quotient's pieces, combined at the point of evaluation.
    Quotient,
    /// The random polynomial.
    Random,
}

/// Asks for a polynomial's value at x·ω^rotation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct OpeningQuery {
    pub polynomial: PolynomialId,
    /// Rotation modulo n, 0 to n − 1, so that equal points have equal numbers.
    pub rotation: usize,
}

/// Lists the opened columns of a lookup, each as a constructor of its id and a rotation.
type LookupOpenings = [(fn(usize) -> ColumnId, i32); 5];

/// Lists the queries of a proof of `count` circuits that are all `circuit`.
pub(crate) struct ProofQueries<'a, F> {
    circuit: &'a Circuit<F>,
    count: usize,
}

impl<'a, F> ProofQueries<'a, F> {
    pub(crate) fn new(circuit: &'a Circuit<F>, count: usize) -> Self {
        Self { circuit, count }
    }

    fn rotated_query(&self, polynomial: PolynomialId, rotation: i32) -> OpeningQuery {
        // The number of rows is a power of two.
        let rows = self.circuit.rows();
        OpeningQuery { polynomial, rotation: 0_usize.wrapping_add_signed(rotation as isize) & (rows - 1) }
    }

    /// Returns the queries whose values are written to the transcript, in transcript order.
    pub(crate) fn transcript_queries(&self) -> Vec<OpeningQuery> {
        let mut all: Vec<_> = (0..self.count).flat_map(|circuit| self.advice_queries(circuit)).collect();
        all.extend(self.fixed_queries());
        all.push(self.rotated_query(PolynomialId::Random, 0));
        all.extend(self.sigma_queries());
        all.extend((0..self.count).flat_map(|circuit| self.set_transcript_queries(circuit)));
        all.extend((0..self.count).flat_map(|circuit| {
            self.lookup_queries(
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

    /// Returns the queries that are opened, in the order in which the opening scheme takes them.
    pub(crate) fn opening_queries(&self) -> Vec<OpeningQuery> {
        let of_circuit = |circuit: usize| {
            let mut all = self.advice_queries(circuit);
            all.extend(self.set_opening_queries(circuit));
            let kinds: LookupOpenings = [
                (ColumnId::Lookup, 0),
                (ColumnId::Input, 0),
                (ColumnId::Table, 0),
                (ColumnId::Input, -1),
                (ColumnId::Lookup, 1),
            ];
            all.extend(self.lookup_queries(circuit, kinds));
            all
        };
        let mut all: Vec<_> = (0..self.count).flat_map(of_circuit).collect();
        all.extend(self.fixed_queries());
        all.extend(self.sigma_queries());
        all.extend([PolynomialId::Quotient, PolynomialId::Random].map(|polynomial| self.rotated_query(polynomial, 0)));
        all
    }

    fn advice_queries(&self, circuit: usize) -> Vec<OpeningQuery> {
        let query = |(column, rotation): &(usize, i32)| {
            self.rotated_query(PolynomialId::Column(circuit, ColumnId::Advice(*column)), *rotation)
        };
        self.circuit.advice_queries.iter().map(query).collect()
    }

    fn fixed_queries(&self) -> Vec<OpeningQuery> {
        let query = |(column, rotation): &(usize, i32)| {
            self.rotated_query(PolynomialId::Column(0, ColumnId::Fixed(*column)), *rotation)
        };
        self.circuit.fixed_queries.iter().map(query).collect()
    }

    fn sigma_queries(&self) -> impl Iterator<Item = OpeningQuery> {
        (0..self.circuit.layout.permuted)
            .map(|number| self.rotated_query(PolynomialId::Column(0, ColumnId::Sigma(number)), 0))
    }

    fn set_query(&self, circuit: usize, number: usize, rotation: i32) -> OpeningQuery {
        self.rotated_query(PolynomialId::Column(circuit, ColumnId::Set(number)), rotation)
    }

    /// Returns the queries of the grand product of each permutation set, set by set: at x and ωx, then at the row where
    /// products end. The last set lacks the latter.
    fn set_transcript_queries(&self, circuit: usize) -> Vec<OpeningQuery> {
        let sets = self.circuit.layout.sets;
        let of_set = |set: usize| {
            let end = (set + 1 < sets).then(|| self.set_query(circuit, set, self.circuit.rotation_to_last()));
            [self.set_query(circuit, set, 0), self.set_query(circuit, set, 1)].into_iter().chain(end)
        };
        (0..sets).flat_map(of_set).collect()
    }

    /// Returns the queries of the grand products of all permutation sets at x and ωx. Those at the row where products
    /// end follow, for all sets but the last, in reverse order.
    fn set_opening_queries(&self, circuit: usize) -> Vec<OpeningQuery> {
        let sets = self.circuit.layout.sets;
        let here = (0..sets).flat_map(|set| [0, 1].map(|rotation| self.set_query(circuit, set, rotation)));
        let end =
            (0..sets.saturating_sub(1)).rev().map(|set| self.set_query(circuit, set, self.circuit.rotation_to_last()));
        here.chain(end).collect()
    }

    fn lookup_queries(&self, circuit: usize, kinds: LookupOpenings) -> Vec<OpeningQuery> {
        let of_lookup = |number: usize| {
            kinds.map(|(name, rotation)| self.rotated_query(PolynomialId::Column(circuit, name(number)), rotation))
        };
        (0..self.circuit.layout.lookups).flat_map(of_lookup).collect()
    }
}
