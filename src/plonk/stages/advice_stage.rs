//! Starts a proof: takes the instances, then the witness phase by phase.

use crate::field::NttField;
use crate::plonk::circuit::{Circuit, ProofCurve};
use crate::plonk::columns_layout_and_key::{Column, ColumnId, ColumnLayout, ColumnView, Key};
use crate::plonk::engine::Basis;
use crate::plonk::work_sharing::ProverContext;
use crate::{Error, Result};

/// Refers to a caller's function that returns a new random element at each call.
pub type RandomSource<'r, F> = &'r mut dyn FnMut() -> F;

/// Holds the advice and instance values of one circuit.
#[derive(Debug)]
pub(crate) struct Witness<C: ProofCurve> {
    pub advice: Vec<Column<C::Scalar>>,
    pub instance: Vec<Column<C::Scalar>>,
}

impl<C: ProofCurve> Witness<C> {
    /// Returns the values of the columns that gates and lookups may read. An index is the column's number
    /// ([`ColumnLayout::column_number`]): columns of `key` come first, then advice, then instance columns.
    pub(crate) fn column_values<'v>(&'v self, key: &Key<'v, C::Scalar>) -> Vec<ColumnView<'v, C::Scalar>> {
        let own = self.advice.iter().chain(&self.instance).map(Column::view);
        key.values().into_iter().chain(own).collect()
    }
}

/// Holds a proof, of one or more circuits of one key, before the challenge θ. Its advice columns are committed to in
/// this stage.
#[derive(Debug)]
pub struct AdviceStage<'a, C: ProofCurve> {
    pub(crate) setting: ProverContext<'a, C>,
    pub(crate) challenges: Vec<C::Scalar>,
    pub(crate) circuits: Vec<Witness<C>>,
}

impl<'a, C: ProofCurve> AdviceStage<'a, C> {
    /// Starts a proof with one circuit for each of `instances`. An instance lists its columns, each with its first
    /// values. The remaining rows are 0.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: circuit and key do not match.
    /// - [`Error::Invalid`]: there is no instance.
    /// - [`Error::Invalid`]: an instance does not have the circuit's number of columns.
    /// - [`Error::Invalid`]: a column of an instance has more values than there are usable rows.
    /// - [`Error::Aborted`]: the engine's hook aborted.
    /// - A forced backend failed: its error.
    pub fn new(setting: ProverContext<'a, C>, instances: &[&[&[C::Scalar]]]) -> Result<Self> {
        let circuit = setting.circuit;
        setting.key.check_layout(&circuit.layout, circuit.rows())?;
        if instances.is_empty() {
            return Err(Error::invalid("plonk", "circuits", "at least 1", 0));
        }
        let witness = |instance: &&[&[C::Scalar]]| {
            let instance = setting.engine.upload(instance_columns(circuit, instance)?)?;
            Ok(Witness { advice: (0..circuit.layout.advice).map(|_| Column::new(Vec::new())).collect(), instance })
        };
        let circuits = instances.iter().map(witness).collect::<Result<_>>()?;
        let challenges = vec![ff::Field::ZERO; circuit.challenge_phases.len()];
        Ok(Self { setting, challenges, circuits })
    }

    /// Commits to `columns`, pairs of an advice column's number and its n values, of the circuit with index `circuit`.
    /// Returns the commitments in the order of `columns`. Elements from `random` fill the columns' blinding rows first.
    /// The caller has to clear the vectors. If the host does the work, it takes their memory and leaves them empty.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: there is no circuit `circuit`.
    /// - [`Error::Invalid`]: a number is not that of an advice column.
    /// - [`Error::Invalid`]: a column does not have n values.
    /// - [`Error::Aborted`]: the engine's hook aborted.
    /// - A forced backend failed: its error.
    pub fn commit(
        &mut self,
        circuit: usize,
        columns: Vec<(usize, &mut Vec<C::Scalar>)>,
        random: RandomSource<'_, C::Scalar>,
    ) -> Result<Vec<C>> {
        let (n, usable) = (self.setting.circuit.rows(), self.setting.circuit.usable_rows());
        let count = self.circuits.len();
        let witness = self.circuits.get_mut(circuit);
        let witness = witness.ok_or_else(|| Error::invalid("plonk", "circuit", format!("below {count}"), circuit))?;
        let known = witness.advice.len();
        if let Some((number, values)) = columns.iter().find(|(number, values)| values.len() != n || *number >= known) {
            let expected = format!("{n} rows, a number below {known}");
            return Err(Error::invalid("plonk", "advice column", expected, format!("{}, {number}", values.len())));
        }
        let (numbers, mut columns): (Vec<_>, Vec<_>) = columns.into_iter().unzip();
        for values in &mut columns {
            values[usable..].iter_mut().for_each(|value| *value = random());
        }
        let taken = self.setting.engine.upload_or_take(&mut columns)?;
        let points = self.setting.commit(Basis::Lagrange, &taken.iter().map(Column::view).collect::<Vec<_>>())?;
        numbers.into_iter().zip(taken).for_each(|(number, column)| witness.advice[number] = column);
        Ok(points)
    }

    /// Sets the circuit's own challenge with index `number` to `value`.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: there is no such challenge.
    pub fn set_challenge(&mut self, number: usize, value: C::Scalar) -> Result<()> {
        let count = self.challenges.len();
        let place = self.challenges.get_mut(number);
        *place.ok_or_else(|| Error::invalid("plonk", "challenge", format!("below {count}"), number))? = value;
        Ok(())
    }

    /// Checks that every advice column of every circuit has been committed to.
    pub(crate) fn check_all_committed(&self) -> Result<()> {
        let columns = self.circuits.iter().flat_map(|witness| &witness.advice);
        match columns.filter(|column| column.view().is_empty()).count() {
            0 => Ok(()),
            missing => Err(Error::invalid("plonk", "advice columns not committed to", 0, missing)),
        }
    }
}

fn instance_columns<F: NttField>(circuit: &Circuit<F>, instance: &[&[F]]) -> Result<Vec<Vec<F>>> {
    let ColumnLayout { instances, .. } = circuit.layout;
    if instance.len() != instances {
        return Err(Error::invalid("plonk", "instance columns", instances, instance.len()));
    }
    let column = |values: &&[F]| {
        if values.len() > circuit.usable_rows() {
            let expected = format!("at most {}", circuit.usable_rows());
            return Err(Error::invalid("plonk", "values of an instance column", expected, values.len()));
        }
        let mut column = values.to_vec();
        column.resize(circuit.rows(), F::ZERO);
        Ok(column)
    };
    instance.iter().map(column).collect()
}

/// Returns the column `name` out of the `values` that [`Witness::column_values`] returned.
pub(crate) fn find_column<'v, F>(
    values: &[ColumnView<'v, F>],
    layout: &ColumnLayout,
    name: ColumnId,
) -> ColumnView<'v, F> {
    values[layout.column_number(name)]
}
