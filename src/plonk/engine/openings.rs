//! Runs the operations of openings on coefficients.

use crate::Result;
use crate::backend::Stream;
use crate::field::DeviceVector;
use crate::secret_vec::SecretVec;
use crate::plonk::circuit::ProofCurve;
use crate::plonk::columns_layout_and_key::{Column, ColumnView, ViewStorage};
use crate::plonk::steps::combine::{self, LinearCombination};
use crate::plonk::steps::evaluate::{self, EvaluationQuery};
use crate::plonk::steps::{divide, StridedColumns};
use super::memory::group_by_cost;
use super::transfer::{enqueue_copies, ensure_on_device, to_step_column};
use super::{Engine, exactly_one};

impl<C: ProofCurve> Engine<C> {
    /// Returns the value of each query's polynomial at its point, in the order of `queries`. A query is a polynomial's
    /// coefficients and an index into `points`.
    ///
    /// # Errors
    /// - [`Error::Invalid`](crate::Error::Invalid): a column does not have n elements.
    /// - [`Error::Invalid`](crate::Error::Invalid): a point's number is not below the number of points.
    /// - [`Error::Aborted`](crate::Error::Aborted): the engine's hook aborted.
    /// - A forced backend failed: its error.
    pub(in crate::plonk) fn evaluate(
        &self,
        queries: &[(ColumnView<'_, C::Scalar>, usize)],
        points: &[C::Scalar],
    ) -> Result<Vec<C::Scalar>> {
        let groups = group_by_cost(queries.iter().map(|(view, _)| count_uploads(view)), self.plan.max_columns);
        let values = groups.into_iter().map(|group| self.evaluate_group(&queries[group], points));
        Ok(values.collect::<Result<Vec<_>>>()?.concat())
    }

    fn evaluate_group(
        &self,
        queries: &[(ColumnView<'_, C::Scalar>, usize)],
        points: &[C::Scalar],
    ) -> Result<Vec<C::Scalar>> {
        let (views, numbers): (Vec<_>, Vec<usize>) = queries.iter().copied().unzip();
        self.run_step(
            "evaluate",
            views.len(),
            |stream| {
                let residents = ensure_on_device(stream, self.n(), &views)?;
                let query = |(polynomial, point): (_, &usize)| EvaluationQuery {
                    polynomial: to_step_column(polynomial),
                    point: *point,
                };
                let queries: Vec<_> = residents.iter().zip(&numbers).map(query).collect();
                let mut values = vec![ff::Field::ZERO; queries.len()];
                evaluate::enqueue(stream, self.n(), &queries, points)?.download(stream, &mut values)?;
                Ok(values)
            },
            |_| {
                let columns = self.fetch_all_to_host(&views)?;
                let query = |(polynomial, point): (_, &usize)| EvaluationQuery { polynomial, point: *point };
                let queries = columns.iter().map(|column| &**column).zip(&numbers).map(query);
                evaluate::on_cpu(&queries.collect::<Vec<_>>(), points)
            },
        )
    }

    /// Computes Σ factor·column over `terms`, pairs of a column and its factor.
    ///
    /// # Errors
    /// - [`Error::Invalid`](crate::Error::Invalid): a column does not have n elements.
    /// - [`Error::Device`](crate::Error::Device): there are no terms.
    /// - [`Error::Aborted`](crate::Error::Aborted): the engine's hook aborted.
    /// - A forced backend failed: its error.
    pub(in crate::plonk) fn linear_combination(
        &self,
        terms: &[(ColumnView<'_, C::Scalar>, C::Scalar)],
    ) -> Result<Column<C::Scalar>> {
        let groups = group_by_cost(terms.iter().map(|(view, _)| count_uploads(view)), self.plan.max_columns);
        let mut parts =
            groups.into_iter().map(|group| self.combine_group(&terms[group])).collect::<Result<Vec<_>>>()?;
        if parts.len() > 1 {
            let terms: Vec<_> = parts.iter().map(|part| (part.view(), ff::Field::ONE)).collect();
            parts = vec![self.combine_group(&terms)?];
        }
        exactly_one(parts)
    }

    fn combine_group(&self, terms: &[(ColumnView<'_, C::Scalar>, C::Scalar)]) -> Result<Column<C::Scalar>> {
        self.run_step(
            "combine",
            terms.len(),
            |stream| exactly_one(Column::split_vector(self.enqueue_linear_combination(stream, terms)?, self.n())),
            |_| self.combine_on_host(terms),
        )
    }

    pub(super) fn enqueue_linear_combination(
        &self,
        stream: &mut Stream,
        terms: &[(ColumnView<'_, C::Scalar>, C::Scalar)],
    ) -> Result<DeviceVector<C::Scalar>> {
        let (views, factors): (Vec<_>, Vec<C::Scalar>) = terms.iter().copied().unzip();
        let residents = ensure_on_device(stream, self.n(), &views)?;
        let terms = residents.iter().map(to_step_column).zip(factors).collect();
        combine::enqueue(stream, self.n(), &[LinearCombination { terms, minus: Vec::new() }])
    }

    pub(super) fn combine_on_host(
        &self,
        terms: &[(ColumnView<'_, C::Scalar>, C::Scalar)],
    ) -> Result<Column<C::Scalar>> {
        let (views, factors): (Vec<_>, Vec<C::Scalar>) = terms.iter().copied().unzip();
        let columns = self.fetch_all_to_host(&views)?;
        let terms = columns.iter().map(|column| &**column).zip(factors).collect();
        combine::on_cpu(self.n(), &[LinearCombination { terms, minus: Vec::new() }]).map(Column::new)
    }

    /// Divides the polynomial with the coefficients `column` by ∏(X − root) over `roots`, and drops the remainder. The
    /// result has n coefficients too, of which the highest are 0.
    ///
    /// # Errors
    /// - [`Error::Invalid`](crate::Error::Invalid): a device works, and the column does not have n elements.
    /// - [`Error::Aborted`](crate::Error::Aborted): the engine's hook aborted.
    /// - A forced backend failed: its error.
    pub(in crate::plonk) fn divide(
        &self,
        column: ColumnView<'_, C::Scalar>,
        roots: Vec<C::Scalar>,
    ) -> Result<Column<C::Scalar>> {
        let roots = [roots];
        let done = self.run_step(
            "divide",
            1,
            |stream| {
                let mut vector = enqueue_copies(stream, self.n(), &[column])?;
                divide::enqueue(stream, self.n(), &mut vector, StridedColumns::packed(self.n(), 1), &roots)?;
                Ok(Column::split_vector(vector, self.n()))
            },
            |_| {
                let mut column: SecretVec<_> = self.fetch_to_host(column)?.into_owned();
                divide::on_cpu(&mut [&mut column], &roots)?;
                Ok(vec![Column::new(std::mem::take(&mut column.0))])
            },
        )?;
        exactly_one(done)
    }
}

/// Returns the number of columns that a step uploads for `column`: 1 if it is in host memory, 0 if it is on a device.
pub(super) fn count_uploads<F>(column: &ColumnView<'_, F>) -> usize {
    usize::from(matches!(column.0, ViewStorage::Host(_)))
}
