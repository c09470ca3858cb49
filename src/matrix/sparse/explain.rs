//! Explains how a matrix is multiplied, for people.

use std::fmt;

use rayon::prelude::*;

use super::csr::{Csr, MINUS_ONE};
use super::options::SparseOptions;
use super::plan::{Format, Kernel, Statistics, matrix_bytes, min_traffic_bytes};
use crate::blocking::install;
use crate::field::NttField;

/// Explains how a matrix is multiplied, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SparseExplanation {
    /// The field.
    pub field: &'static str,
    /// Columns.
    pub columns: usize,
    /// Lengths of its rows.
    pub statistics: Statistics,
    /// Non-zeros that are 1 or −1.
    pub signs: usize,
    /// Distinct coefficients, 1 and −1 among them; one for each non-zero if a device merged changes into the matrix.
    pub dictionary: usize,
    /// The kernel.
    pub kernel: Kernel,
    /// Reason for the kernel.
    pub reason: &'static str,
    /// Bytes of a non-zero on a device.
    pub nonzero_bytes: u64,
    /// Bytes of the matrix on a device: row pointers, non-zeros and dictionary.
    pub matrix_bytes: u64,
    /// Minimum bytes that a product moves.
    pub least_bytes: u64,
    pub(super) format: Format,
}

impl SparseExplanation {
    pub(super) fn new<F: NttField>(csr: &Csr<F>, options: SparseOptions) -> Self {
        let format = Format::new(csr.columns(), csr.dictionary().len());
        let signs = install(|| csr.coefficient_indices().par_iter().filter(|index| **index <= MINUS_ONE).count());
        let numbers = (csr.columns(), csr.dictionary().len(), signs);
        Self::from_statistics::<F>(Statistics::from_row_pointers(csr.row_pointers()), format, numbers, options)
    }

    /// Explains a matrix with `columns` columns, `dictionary` coefficients in the dictionary, and `signs` signs.
    pub(super) fn from_statistics<F: NttField>(
        statistics: Statistics,
        format: Format,
        (columns, dictionary, signs): (usize, usize, usize),
        options: SparseOptions,
    ) -> Self {
        let (kernel, reason) =
            options.kernel.map_or_else(|| statistics.select_kernel(), |kernel| (kernel, "the caller's choice"));
        Self {
            field: F::NAME,
            columns,
            statistics,
            signs,
            dictionary,
            kernel,
            reason,
            nonzero_bytes: format.bytes(),
            matrix_bytes: matrix_bytes(&statistics, format) + (dictionary * size_of::<F>()) as u64,
            least_bytes: min_traffic_bytes(&statistics, format, columns, size_of::<F>()),
            format,
        }
    }
}

impl fmt::Display for SparseExplanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { field, columns, statistics, signs, dictionary, kernel, reason, .. } = self;
        let Statistics { rows, empty, nonzeros, longest, .. } = statistics;
        let (mean, deviation) = (statistics.mean(), statistics.variance().sqrt());
        writeln!(f, "csr {field}, {rows} rows, {columns} columns, {nonzeros} non-zeros")?;
        writeln!(f, "  rows      {mean:.2} ± {deviation:.2} non-zeros, the longest {longest}, {empty} empty")?;
        writeln!(f, "  values    {dictionary} distinct, {signs} non-zeros are 1 or -1")?;
        writeln!(
            f,
            "  kernel    {kernel}: {reason} ({}% of the steps of warps with a row an item)",
            statistics.warp_efficiency()
        )?;
        let Self { nonzero_bytes, matrix_bytes, least_bytes, .. } = self;
        write!(
            f,
            "  bytes     {matrix_bytes} on a device, {nonzero_bytes} a non-zero; a product moves at least {least_bytes}"
        )
    }
}
