//! Starts a proof: takes the instances, then the witness phase by phase.

use super::blinding::draw_random_elements;
use super::circuit::{Circuit, ProofCurve};
use super::columns_layout_and_key::{Column, ColumnId, ColumnLayout};
use super::engine::{Basis, Engine};
use super::proof_state::ProofState;
use super::work_sharing::ProverContext;
use crate::field::NttField;
use crate::{Error, Result};

/// Refers to a caller's function that returns a new random element at each call.
pub type RandomSource<'r, F> = &'r mut dyn FnMut() -> F;

/// Holds a proof, of one or more circuits of one key, before the challenge θ. Its advice columns are committed to in
/// this stage.
#[derive(Debug)]
pub struct AdviceStage<'a, C: ProofCurve> {
    pub(super) state: ProofState<'a, C>,
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
    pub fn new(context: ProverContext<'a, C>, instances: &[&[&[C::Scalar]]]) -> Result<Self> {
        let circuit = context.circuit;
        context.key.check_layout(&circuit.layout, circuit.rows())?;
        if instances.is_empty() {
            return Err(Error::invalid("plonk", "circuits", "at least 1", 0));
        }
        let mut state = ProofState::new(context, instances.len());
        for (number, instance) in instances.iter().enumerate() {
            let columns = context.engine.upload(instance_columns(circuit, instance)?)?;
            state.set_columns(number, ColumnId::Instance, columns);
        }
        Ok(Self { state })
    }

    /// Returns the engine that does the proof's work.
    pub fn engine(&self) -> &'a Engine<C> {
        self.state.context.engine
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
        let blinding = draw_random_elements(columns.len().saturating_mul(self.blinding_rows()), random);
        self.commit_with_blinding(circuit, columns, &blinding)
    }

    /// Commits to `columns` as [`Self::commit`] does. `blinding` holds the elements of the first column's blinding
    /// rows, then those of the next column.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: the number of elements in `blinding` is not that of all blinding rows.
    /// - Others are those of [`Self::commit`].
    ///
    /// After an error that is not [`Error::Invalid`], columns of these numbers from earlier calls are gone.
    pub fn commit_with_blinding(
        &mut self,
        circuit: usize,
        columns: Vec<(usize, &mut Vec<C::Scalar>)>,
        blinding: &[C::Scalar],
    ) -> Result<Vec<C>> {
        let context = self.state.context;
        self.check_places(circuit, columns.iter().map(|(number, values)| (*number, values.len())))?;
        let rows = self.blinding_rows();
        Error::check_eq("plonk", "blinding elements", columns.len().saturating_mul(rows), blinding.len())?;
        let (numbers, mut columns): (Vec<_>, Vec<_>) = columns.into_iter().unzip();
        // Earlier columns of these numbers make room.
        let places = numbers.iter().map(|number| ColumnId::Advice(*number));
        places.for_each(|place| self.state.set_column(circuit, place, Column::new(Vec::new())));
        for (values, random) in columns.iter_mut().zip(blinding.chunks(rows.max(1))) {
            values[context.circuit.usable_rows()..].copy_from_slice(random);
        }
        let taken = context.engine.upload_or_take(&mut columns)?;
        self.store_committed(circuit, numbers, taken)
    }

    /// Returns the number of rows of a column that hold random elements.
    fn blinding_rows(&self) -> usize {
        self.state.context.circuit.rows() - self.state.context.circuit.usable_rows()
    }

    /// Commits to `columns` of the circuit with index `circuit`, as [`Self::commit`] does. The columns are on the
    /// engine's device, for example from [`Engine::adopt_columns`], and are used there. Their blinding rows are
    /// overwritten.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: a column is in host memory.
    /// - Others are those of [`Self::commit`].
    pub fn commit_resident(
        &mut self,
        circuit: usize,
        columns: Vec<(usize, Column<C::Scalar>)>,
        random: RandomSource<'_, C::Scalar>,
    ) -> Result<Vec<C>> {
        let context = self.state.context;
        self.check_places(circuit, columns.iter().map(|(number, column)| (*number, column.view().len())))?;
        let usable = context.circuit.usable_rows();
        let blinding = draw_random_elements(columns.len() * self.blinding_rows(), random);
        let (numbers, columns) = columns.into_iter().unzip();
        let columns = context.engine.blind_resident(columns, usable, &blinding)?;
        self.store_committed(circuit, numbers, columns)
    }

    /// Checks that `columns`, pairs of a number and a length, are advice columns of the circuit with index `circuit`.
    fn check_places(&self, circuit: usize, columns: impl IntoIterator<Item = (usize, usize)>) -> Result<()> {
        let (context, count) = (self.state.context, self.state.columns.len());
        let (n, known) = (context.circuit.rows(), context.circuit.layout.advice);
        if circuit >= count {
            return Err(Error::invalid("plonk", "circuit", format!("below {count}"), circuit));
        }
        match columns.into_iter().find(|(number, length)| *length != n || *number >= known) {
            Some((number, length)) => {
                let expected = format!("{n} rows, a number below {known}");
                Err(Error::invalid("plonk", "advice column", expected, format!("{length}, {number}")))
            }
            None => Ok(()),
        }
    }

    /// Commits to `columns`, whose blinding rows are filled, and stores them under their `numbers`.
    fn store_committed(
        &mut self,
        circuit: usize,
        numbers: Vec<usize>,
        columns: Vec<Column<C::Scalar>>,
    ) -> Result<Vec<C>> {
        let views: Vec<_> = columns.iter().map(Column::view).collect();
        let points = self.state.context.commit(Basis::Lagrange, &views)?;
        for (number, column) in numbers.into_iter().zip(columns) {
            self.state.set_column(circuit, ColumnId::Advice(number), column);
        }
        Ok(points)
    }

    /// Sets the circuit's own challenge with index `number` to `value`.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: there is no such challenge.
    pub fn set_challenge(&mut self, number: usize, value: C::Scalar) -> Result<()> {
        let count = self.state.challenges.len();
        let place = self.state.challenges.get_mut(number);
        *place.ok_or_else(|| Error::invalid("plonk", "challenge", format!("below {count}"), number))? = value;
        Ok(())
    }

    /// Checks that every advice column of every circuit has been committed to.
    pub(super) fn check_all_committed(&self) -> Result<()> {
        let advice = 0..self.state.context.circuit.layout.advice;
        let circuits = 0..self.state.columns.len();
        let all = circuits.flat_map(|circuit| advice.clone().map(move |number| (circuit, ColumnId::Advice(number))));
        match all.filter(|(circuit, name)| self.state.own_column(*circuit, *name).is_empty()).count() {
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
