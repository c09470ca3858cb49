//! Holds what all stages of a proof share.

use super::circuit::ProofCurve;
use super::columns_layout_and_key::{Column, ColumnId, ColumnView};
use super::work_sharing::ProverContext;

/// Holds the inputs of a proof, the challenges that are known, and the columns that exist.
#[derive(Debug)]
pub(super) struct ProofState<'a, C: ProofCurve> {
    pub context: ProverContext<'a, C>,
    /// Values of the circuit's own challenges. Those of θ, β and γ follow once they are known.
    pub challenges: Vec<C::Scalar>,
    /// Each circuit's own columns, in the order of their numbers. A column that does not exist yet is empty. Columns
    /// are values until the challenge y is known, then coefficients.
    pub columns: Vec<Vec<Column<C::Scalar>>>,
}

impl<'a, C: ProofCurve> ProofState<'a, C> {
    /// Creates the state of a proof of `count` circuits, whose columns are empty and whose challenges are 0.
    pub(super) fn new(context: ProverContext<'a, C>, count: usize) -> Self {
        let layout = &context.circuit.layout;
        let own = layout.column_count() - layout.shared_column_count();
        let columns = || (0..own).map(|_| Column::new(Vec::new())).collect();
        let challenges = vec![ff::Field::ZERO; context.circuit.challenge_phases.len()];
        Self { context, challenges, columns: (0..count).map(|_| columns()).collect() }
    }

    /// Sets the columns `kind(0)`, `kind(1)` and so on of the circuit with index `circuit` to `columns`.
    pub(super) fn set_columns(
        &mut self,
        circuit: usize,
        kind: fn(usize) -> ColumnId,
        columns: impl IntoIterator<Item = Column<C::Scalar>>,
    ) {
        let first = self.own_index(kind(0));
        self.columns[circuit][first..].iter_mut().zip(columns).for_each(|(place, column)| *place = column);
    }

    /// Sets the own column `name` of the circuit with index `circuit` to `column`.
    pub(super) fn set_column(&mut self, circuit: usize, name: ColumnId, column: Column<C::Scalar>) {
        let index = self.own_index(name);
        self.columns[circuit][index] = column;
    }

    /// Returns the own column `name` of the circuit with index `circuit`.
    pub(super) fn own_column(&self, circuit: usize, name: ColumnId) -> ColumnView<'_, C::Scalar> {
        self.columns[circuit][self.own_index(name)].view()
    }

    /// Returns the values of all columns of the circuit with index `circuit`, by their numbers. Before the challenge y
    /// is known, those of gates and lookups exist.
    pub(super) fn values(&self, circuit: usize) -> Vec<ColumnView<'_, C::Scalar>> {
        let own = self.columns[circuit].iter().map(Column::view);
        self.context.key.values().into_iter().chain(own).collect()
    }

    /// Returns the coefficients of the column `name` of the circuit with index `circuit`. They exist once the challenge
    /// y is known.
    pub(super) fn coefficients(&self, circuit: usize, name: ColumnId) -> ColumnView<'_, C::Scalar> {
        let number = self.context.circuit.layout.column_number(name);
        match self.context.key.coefficients().get(number) {
            Some(shared) => *shared,
            None => self.own_column(circuit, name),
        }
    }

    fn own_index(&self, name: ColumnId) -> usize {
        let layout = &self.context.circuit.layout;
        layout.column_number(name) - layout.shared_column_count()
    }
}
