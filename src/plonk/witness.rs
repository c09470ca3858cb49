//! Where a proof starts: instances, and the witness phase by phase.

use super::circuit::Circuit;
use super::column::{Column, View};
use super::curve::ProofCurve;
use super::engine::Basis;
use super::key::Key;
use super::layout::{Layout, Name};
use super::setting::Setting;
use crate::field::NttField;
use crate::{Error, Result};

/// Random elements, from the caller's source.
pub type Random<'r, F> = &'r mut dyn FnMut() -> F;

/// Values of the columns of one circuit that its prover has.
#[derive(Debug)]
pub(super) struct Witness<C: ProofCurve> {
    pub advice: Vec<Column<C::Scalar>>,
    pub instance: Vec<Column<C::Scalar>>,
}

impl<C: ProofCurve> Witness<C> {
    /// Values of all columns that expressions of gates and lookups name, by number.
    pub fn values<'v>(&'v self, key: &Key<'v, C::Scalar>) -> Vec<View<'v, C::Scalar>> {
        let own = self.advice.iter().chain(&self.instance).map(Column::view);
        key.values().into_iter().chain(own).collect()
    }
}

/// A proof of one or more circuits of one key, before θ.
#[derive(Debug)]
pub struct Witnesses<'a, C: ProofCurve> {
    pub(super) setting: Setting<'a, C>,
    pub(super) challenges: Vec<C::Scalar>,
    pub(super) circuits: Vec<Witness<C>>,
}

impl<'a, C: ProofCurve> Witnesses<'a, C> {
    /// Starts a proof of as many circuits as there are instances, each of which has its columns' first values; 0 follows.
    ///
    /// # Errors
    /// Circuit and key do not fit each other, there is no instance, or one has other columns than the circuit or more values
    /// than usable rows.
    pub fn new(setting: Setting<'a, C>, instances: &[&[&[C::Scalar]]]) -> Result<Self> {
        let circuit = setting.circuit;
        setting.key.check(&circuit.layout, circuit.rows())?;
        if instances.is_empty() {
            return Err(Error::invalid("plonk", "circuits", "at least 1", 0));
        }
        let witness = |instance: &&[&[C::Scalar]]| {
            let instance = setting.engine.take(instance_columns(circuit, instance)?)?;
            Ok(Witness { advice: (0..circuit.layout.advice).map(|_| Column::new(Vec::new())).collect(), instance })
        };
        let circuits = instances.iter().map(witness).collect::<Result<_>>()?;
        let challenges = vec![ff::Field::ZERO; circuit.challenge_phases.len()];
        Ok(Self { setting, challenges, circuits })
    }

    /// Takes columns of a circuit's witness by their numbers, n values each, puts random ones into the rows that hide them,
    /// and commits to them in the order given. Vectors are the caller's to clear: where the host does the work, they are
    /// taken, and left empty.
    ///
    /// # Errors
    /// There is no such circuit or column, a column has another length, or a forced backend failed.
    pub fn commit(
        &mut self,
        circuit: usize,
        columns: Vec<(usize, &mut Vec<C::Scalar>)>,
        random: Random<'_, C::Scalar>,
    ) -> Result<Vec<C>> {
        let (n, usable) = (self.setting.circuit.rows(), self.setting.circuit.usable());
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
        let taken = self.setting.engine.take_from(&mut columns)?;
        let points = self.setting.commit(Basis::Lagrange, &taken.iter().map(Column::view).collect::<Vec<_>>())?;
        numbers.into_iter().zip(taken).for_each(|(number, column)| witness.advice[number] = column);
        Ok(points)
    }

    /// Takes a challenge of the circuit by its number.
    ///
    /// # Errors
    /// There is no such challenge.
    pub fn challenge(&mut self, number: usize, value: C::Scalar) -> Result<()> {
        let count = self.challenges.len();
        let place = self.challenges.get_mut(number);
        *place.ok_or_else(|| Error::invalid("plonk", "challenge", format!("below {count}"), number))? = value;
        Ok(())
    }

    /// That every column of every circuit has been committed to.
    pub(super) fn check(&self) -> Result<()> {
        let columns = self.circuits.iter().flat_map(|witness| &witness.advice);
        match columns.filter(|column| column.view().is_empty()).count() {
            0 => Ok(()),
            missing => Err(Error::invalid("plonk", "advice columns not committed to", 0, missing)),
        }
    }
}

fn instance_columns<F: NttField>(circuit: &Circuit<F>, instance: &[&[F]]) -> Result<Vec<Vec<F>>> {
    let Layout { instances, .. } = circuit.layout;
    if instance.len() != instances {
        return Err(Error::invalid("plonk", "instance columns", instances, instance.len()));
    }
    let column = |values: &&[F]| {
        if values.len() > circuit.usable() {
            let expected = format!("at most {}", circuit.usable());
            return Err(Error::invalid("plonk", "values of an instance column", expected, values.len()));
        }
        let mut column = values.to_vec();
        column.resize(circuit.rows(), F::ZERO);
        Ok(column)
    };
    instance.iter().map(column).collect()
}

/// A column's values among those of [`Witness::values`].
pub(super) fn named<'v, F>(values: &[View<'v, F>], layout: &Layout, name: Name) -> View<'v, F> {
    values[layout.number(name)]
}
