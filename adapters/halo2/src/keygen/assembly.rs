//! Collects fixed columns, selectors and the permutation from a circuit's synthesis.

use halo2_axiom::circuit::Value;
use halo2_axiom::halo2curves::bn256::Fr;
use halo2_axiom::plonk::{
    Advice, Any, Assigned, Assignment, Challenge, Column, ConstraintSystem, Error, Fixed, Instance, Selector,
};

use super::fixed::FixedColumns;
use super::permutation::PermutationCycles;

/// Collects the fixed columns, selectors and permutation of a key while a circuit is synthesized.
pub(super) struct Assembly {
    pub fixed: FixedColumns,
    pub selectors: Vec<Vec<bool>>,
    pub cycles: PermutationCycles,
    k: u32,
    usable: usize,
    /// First error of a call that cannot return one.
    failed: Option<Error>,
}

impl Assembly {
    /// Creates an assembly for `system` with 2^`k` rows, in which nothing is assigned.
    ///
    /// # Errors
    /// - [`Error::BoundsFailure`]: the permutation has more cells than can be numbered.
    pub(super) fn new(system: &ConstraintSystem<Fr>, k: u32) -> Result<Self, Error> {
        let rows = 1 << k;
        Ok(Self {
            fixed: FixedColumns::new(system.num_fixed_columns(), rows),
            selectors: vec![vec![false; rows]; system.num_selectors()],
            cycles: PermutationCycles::new(&system.permutation().get_columns(), k)?,
            k,
            usable: rows - (system.blinding_factors() + 1),
            failed: None,
        })
    }

    /// Returns the first error of a call that could not return it, or else `result`, which the synthesis returned.
    pub(super) fn first_error_or_result(&mut self, result: Result<(), Error>) -> Result<(), Error> {
        self.failed.take().map_or(result, Err)
    }

    fn check_row(&self, row: usize) -> Result<(), Error> {
        if row < self.usable { Ok(()) } else { Err(Error::NotEnoughRowsAvailable { current_k: self.k }) }
    }

    fn join_cells(&mut self, left: (Column<Any>, usize), right: (Column<Any>, usize)) -> Result<(), Error> {
        self.check_row(left.1)?;
        self.check_row(right.1)?;
        self.cycles.join(left, right)
    }

    fn record_error(&mut self, result: Result<(), Error>) {
        if let Err(error) = result {
            self.failed.get_or_insert(error);
        }
    }
}

impl Assignment<Fr> for Assembly {
    fn enter_region<NR: Into<String>, N: FnOnce() -> NR>(&mut self, _: N) {}

    fn exit_region(&mut self) {}

    fn annotate_column<A: FnOnce() -> AR, AR: Into<String>>(&mut self, _: A, _: Column<Any>) {}

    fn enable_selector<A: FnOnce() -> AR, AR: Into<String>>(
        &mut self,
        _: A,
        selector: &Selector,
        row: usize,
    ) -> Result<(), Error> {
        self.check_row(row)?;
        let rows = self.selectors.get_mut(selector.index()).ok_or(Error::BoundsFailure)?;
        rows[row] = true;
        Ok(())
    }

    fn query_instance(&self, _: Column<Instance>, row: usize) -> Result<Value<Fr>, Error> {
        self.check_row(row)?;
        Ok(Value::unknown())
    }

    fn assign_advice<'v>(&mut self, _: Column<Advice>, _: usize, _: Value<Assigned<Fr>>) -> Value<&'v Assigned<Fr>> {
        Value::unknown()
    }

    fn assign_fixed(&mut self, column: Column<Fixed>, row: usize, to: Assigned<Fr>) {
        let result = self.check_row(row).and_then(|()| self.fixed.assign(column.index(), row..row + 1, to));
        self.record_error(result);
    }

    fn copy(&mut self, left: Column<Any>, left_row: usize, right: Column<Any>, right_row: usize) {
        let result = self.join_cells((left, left_row), (right, right_row));
        self.record_error(result);
    }

    fn fill_from_row(&mut self, column: Column<Fixed>, row: usize, to: Value<Assigned<Fr>>) -> Result<(), Error> {
        self.check_row(row)?;
        let mut value = None;
        to.map(|to| value = Some(to));
        self.fixed.assign(column.index(), row..self.usable, value.ok_or(Error::Synthesis)?)
    }

    fn get_challenge(&self, _: Challenge) -> Value<Fr> {
        Value::unknown()
    }

    fn push_namespace<NR: Into<String>, N: FnOnce() -> NR>(&mut self, _: N) {}

    fn pop_namespace(&mut self, _: Option<String>) {}
}
