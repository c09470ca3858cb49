//! Transforms values to coefficients, and sums terms over values.

use super::Engine;
use super::memory::{FOR_TRANSFORM, group_by_cost};
use super::transfer::{enqueue_copies, ensure_few_vectors, select_columns};
use crate::Result;
use crate::exec::ExecCtx;
use crate::expression::{Coset, DeviceColumn, Group};
use crate::field::DeviceVector;
use crate::ntt::{Direction, Transform, transform_many};
use crate::plonk::circuit::ProofCurve;
use crate::plonk::columns_layout_and_key::{Column, ColumnView, DeviceSlice};
use crate::plonk::compiled_circuit::WeightedSum;
use crate::secret_vec::{SecretCow, SecretVec};

impl<C: ProofCurve> Engine<C> {
    /// Returns the coefficients, lowest first, of the polynomials that have the values `columns` on the subgroup of
    /// order n.
    ///
    /// # Errors
    /// - [`Error::Invalid`](crate::Error::Invalid): a column does not have n elements.
    /// - [`Error::Aborted`](crate::Error::Aborted): the engine's hook aborted.
    /// - A forced backend failed: its error.
    pub fn interpolate(&self, columns: &[ColumnView<'_, C::Scalar>]) -> Result<Vec<Column<C::Scalar>>> {
        let groups = group_by_cost(columns.iter().map(|_| FOR_TRANSFORM), self.plan.max_columns);
        let groups = groups.into_iter().map(|group| self.interpolate_group(&columns[group]));
        Ok(groups.collect::<Result<Vec<_>>>()?.into_iter().flatten().collect())
    }

    /// Returns the coefficients, lowest first, of the polynomials that have the values `columns`. The columns are
    /// processed in groups, and each group's values are dropped at once.
    ///
    /// # Errors
    /// - [`Error::Invalid`](crate::Error::Invalid): a column does not have n elements.
    /// - [`Error::Aborted`](crate::Error::Aborted): the engine's hook aborted.
    /// - A forced backend failed: its error.
    pub(in crate::plonk) fn interpolate_owned(
        &self,
        columns: Vec<Column<C::Scalar>>,
    ) -> Result<Vec<Column<C::Scalar>>> {
        let mut coefficients = Vec::with_capacity(columns.len());
        let groups = group_by_cost(columns.iter().map(|_| FOR_TRANSFORM), self.plan.max_columns);
        let mut columns = columns.into_iter();
        for group in groups {
            let values: Vec<_> = columns.by_ref().take(group.len()).collect();
            coefficients.extend(self.interpolate_group(&values.iter().map(Column::view).collect::<Vec<_>>())?);
        }
        Ok(coefficients)
    }

    fn interpolate_group(&self, columns: &[ColumnView<'_, C::Scalar>]) -> Result<Vec<Column<C::Scalar>>> {
        self.run_step(
            "interpolate",
            columns.len(),
            |stream| {
                let mut vector = enqueue_copies(stream, self.n(), columns)?;
                self.domain.enqueue(Direction::Inverse, stream, &mut vector)?;
                self.collect_columns(stream, vector)
            },
            |ctx| self.transform_on_host(columns, self.domain.transform(Direction::Inverse), ctx),
        )
    }

    pub(in crate::plonk) fn transform_on_host(
        &self,
        columns: &[ColumnView<'_, C::Scalar>],
        transform: Transform<C::Scalar>,
        ctx: ExecCtx<'_>,
    ) -> Result<Vec<Column<C::Scalar>>> {
        let columns = self.fetch_all_to_host(columns)?.into_iter().map(SecretCow::into_owned);
        let mut columns: Vec<SecretVec<_>> = columns.collect();
        let transforms = vec![transform; columns.len()];
        let mut slices: Vec<&mut [_]> = columns.iter_mut().map(|column| &mut **column).collect();
        transform_many(&self.host(), &mut slices, &transforms, ctx.abort())?;
        Ok(columns.into_iter().map(|mut column| Column::new(std::mem::take(&mut column.0))).collect())
    }

    /// Computes the value of `sum` in every row. `columns` holds the values of columns by their numbers, and
    /// `challenges` those of the sum's program.
    ///
    /// # Errors
    /// - [`Error::Invalid`](crate::Error::Invalid): the sum names a missing column or challenge.
    /// - [`Error::Invalid`](crate::Error::Invalid): a column of the sum does not have n elements.
    /// - [`Error::Aborted`](crate::Error::Aborted): the engine's hook aborted.
    /// - A forced backend failed: its error.
    pub(in crate::plonk) fn evaluate_weighted_sum(
        &self,
        sum: &WeightedSum<C::Scalar>,
        columns: &[ColumnView<'_, C::Scalar>],
        challenges: &[C::Scalar],
    ) -> Result<Column<C::Scalar>> {
        let coset = Coset { log_n: self.domain.log_n(), shift: ff::Field::ONE };
        self.run_step(
            "terms",
            sum.program().column_count(),
            |stream| {
                let to = DeviceVector::allocate_uninit(stream, self.n())?;
                stream.zero(to.buffer())?;
                let output = DeviceColumn { vector: &to, first: 0 };
                for (number, group) in sum.program().groups().iter().enumerate() {
                    self.trim_before_step(stream);
                    let views = select_columns(columns, group.columns(), 0)?;
                    let residents = ensure_few_vectors(stream, self.n(), &views)?;
                    let columns: Vec<_> = residents.iter().map(device_column).collect();
                    sum.program().enqueue_group(stream, number, &columns, challenges, coset, &[output])?;
                }
                self.collect_columns(stream, to)
            },
            |ctx| Ok(vec![self.evaluate_sum_on_host(sum, columns, challenges, coset, ctx)?]),
        )
        .and_then(super::exactly_one)
    }

    /// Computes the value of `sum` in every row on the host. X is `coset.shift`·ω^row. `columns` holds the values of
    /// columns by their numbers.
    pub(in crate::plonk) fn evaluate_sum_on_host(
        &self,
        sum: &WeightedSum<C::Scalar>,
        columns: &[ColumnView<'_, C::Scalar>],
        challenges: &[C::Scalar],
        coset: Coset<C::Scalar>,
        ctx: ExecCtx<'_>,
    ) -> Result<Column<C::Scalar>> {
        let program = sum.program();
        let mut numbers: Vec<_> = program.groups().iter().flat_map(Group::columns).copied().collect();
        numbers.sort_unstable();
        numbers.dedup();
        let fetched = self.fetch_all_to_host(&select_columns(columns, &numbers, 0)?)?;
        let mut all: Vec<&[_]> = vec![&[]; columns.len()];
        numbers.iter().zip(&fetched).for_each(|(number, column)| all[*number] = column);
        let mut values = SecretVec(vec![ff::Field::ZERO; self.n()]);
        program.run(&self.host(), &all, challenges, coset, &mut [&mut values], ctx.abort())?;
        Ok(Column::new(std::mem::take(&mut values.0)))
    }
}

fn device_column<F>(column: &DeviceSlice<F>) -> DeviceColumn<'_, F> {
    DeviceColumn { vector: &column.vector, first: column.first }
}
