//! Sums multiples of polynomials, less polynomials of low degree. SHPLONK and GWC divide such sums.

use rayon::prelude::*;

use super::circuit::ProofCurve;
use super::column_places_and_checks::{DeviceColumn, check_length};
use super::columns_layout_and_key::{Column, ColumnView};
use super::engine::memory::group_by_cost;
use super::engine::transfer::{count_uploads, ensure_on_device, to_step_column};
use super::engine::{Engine, exactly_one};
use super::step_launches::{LaunchBatch, allocate_columns, launch_groups, split_into_launches, upload_params};
use crate::backend::Stream;
use crate::field::{DeviceVector, NttField};
use crate::kernel_arguments::{In, Out, Value};
use crate::kernels::plonk::Combine;
use crate::{Error, Result};

const STEP: &str = "combine";

impl<C: ProofCurve> Engine<C> {
    /// Computes Σ factor·column over `terms`, pairs of a column and its factor.
    ///
    /// # Errors
    /// - [`Error::Invalid`](crate::Error::Invalid): a column does not have n elements.
    /// - [`Error::Device`](crate::Error::Device): there are no terms.
    /// - [`Error::Aborted`](crate::Error::Aborted): the engine's hook aborted.
    /// - A forced backend failed: its error.
    pub(super) fn linear_combination(
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
        enqueue(stream, self.n(), &[LinearCombination { terms, minus: Vec::new() }])
    }

    pub(super) fn combine_on_host(
        &self,
        terms: &[(ColumnView<'_, C::Scalar>, C::Scalar)],
    ) -> Result<Column<C::Scalar>> {
        let (views, factors): (Vec<_>, Vec<C::Scalar>) = terms.iter().copied().unzip();
        let columns = self.fetch_all_to_host(&views)?;
        let terms = columns.iter().map(|column| &**column).zip(factors).collect();
        on_cpu(self.n(), &[LinearCombination { terms, minus: Vec::new() }]).map(Column::new)
    }
}

/// Describes the polynomial Σ factor·polynomial − `minus`. `C` is [`DeviceColumn`] on a device, a slice on the host.
#[derive(Debug, Clone)]
pub struct LinearCombination<C, F> {
    /// Polynomials and their factors.
    pub terms: Vec<(C, F)>,
    /// Coefficients that are subtracted from the sum's lowest ones, lowest first. There are at most n.
    pub minus: Vec<F>,
}

fn check_subtrahends<C, F>(sums: &[LinearCombination<C, F>], n: usize) -> Result<()> {
    match sums.iter().position(|sum| sum.minus.len() > n) {
        None => Ok(()),
        Some(number) => {
            let (what, actual) = (format!("coefficients subtracted from sum {number}"), sums[number].minus.len());
            Err(Error::invalid(STEP, what, format!("at most {n}"), actual))
        }
    }
}

/// Queues the computation of `sums`. The result has the `n` coefficients of each sum, one sum after the other.
///
/// Each element of a term takes one multiplication, and reads 32 bytes.
///
/// # Errors
/// - [`Error::Invalid`]: `n` is 0, or above 2^30.
/// - [`Error::Invalid`]: more than `n` elements are subtracted from a sum.
/// - [`Error::Invalid`]: a column exceeds its vector, or is on another device.
/// - [`Error::OutOfMemory`]: the device has too little memory.
/// - [`Error::Device`]: the driver failed.
pub fn enqueue<F: NttField>(
    stream: &mut Stream,
    n: usize,
    sums: &[LinearCombination<DeviceColumn<'_, F>, F>],
) -> Result<DeviceVector<F>> {
    let length = check_length(STEP, n)?;
    check_subtrahends(sums, n)?;
    let terms: Vec<_> = sums.iter().flat_map(|sum| &sum.terms).copied().collect();
    terms.iter().try_for_each(|(column, _)| column.check(stream, STEP, n))?;
    let (columns, factors): (Vec<_>, Vec<F>) = terms.into_iter().unzip();
    let out = allocate_columns(stream, sums.len(), n)?;
    for part in split_into_launches(&columns, 1, sums.iter().map(|sum| sum.terms.len())) {
        launch_batch(stream, length, &part, (sums, &factors), &out)?;
    }
    Ok(out)
}

fn launch_batch<F: NttField>(
    stream: &mut Stream,
    n: u32,
    part: &LaunchBatch<'_, F>,
    (sums, factors): (&[LinearCombination<DeviceColumn<'_, F>, F>], &[F]),
    out: &DeviceVector<F>,
) -> Result<()> {
    let mut elements = factors[part.items.clone()].to_vec();
    let mut minus = Vec::with_capacity(sums.len());
    for sum in sums {
        minus.push((sum.minus.len() as u64) << 32 | elements.len() as u64);
        elements.extend_from_slice(&sum.minus);
    }
    let (params, words_at) = upload_params(stream, &elements, &part.encode_param_words(0, |number| minus[number]))?;
    let shape = part.row_launch(n, n, words_at);
    let [bank0, bank1, bank2, bank3, bank4, bank5, bank6, bank7] = part.bank_args(&params);
    let (launch, params, out) = (Value(&shape), In::new(&params), Out::new(out.buffer()));
    let combine = Combine { launch, params, out, bank0, bank1, bank2, bank3, bank4, bank5, bank6, bank7 };
    launch_groups::<F, _>(stream, part.output_count() * u64::from(shape.blocks), combine)
}

/// Computes `sums` on the host. The result has the `n` coefficients of each sum, one sum after the other.
///
/// # Errors
/// - [`Error::Invalid`]: `n` is 0, or above 2^30.
/// - [`Error::Invalid`]: a polynomial does not have `n` coefficients.
/// - [`Error::Invalid`]: more than `n` elements are subtracted from a sum.
pub fn on_cpu<F: NttField>(n: usize, sums: &[LinearCombination<&[F], F>]) -> Result<Vec<F>> {
    check_length(STEP, n)?;
    check_subtrahends(sums, n)?;
    let mut terms = sums.iter().flat_map(|sum| &sum.terms);
    terms.try_for_each(|(column, _)| Error::check_eq(STEP, "length of a polynomial", n, column.len()))?;
    let mut out = vec![F::ZERO; sums.len() * n];
    for (out, sum) in out.chunks_mut(n).zip(sums) {
        out.par_iter_mut().enumerate().for_each(|(row, out)| {
            let low = sum.minus.get(row).copied().unwrap_or(F::ZERO);
            *out = sum.terms.iter().map(|(column, factor)| column[row] * factor).sum::<F>() - low;
        });
    }
    Ok(out)
}
