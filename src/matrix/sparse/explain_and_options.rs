//! Defines the caller's options for products, and explains to people how a matrix is multiplied.

use std::fmt;
use std::sync::Arc;

use super::csr::Csr;
use super::kernel_and_tiles::{Format, Kernel, Statistics, matrix_bytes, min_traffic_bytes};
use crate::Accelerator;
use crate::backend::Device;
use crate::field::NttField;

/// Explains how a sparse matrix is multiplied, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SparseExplanation {
    /// Name of the field.
    pub field: &'static str,
    /// Number of columns.
    pub columns: usize,
    /// Statistics of the lengths of its rows.
    pub statistics: Statistics,
    /// Number of non-zeros that are 1 or −1. They are not counted, and this is 0, if a device merged changes into the
    /// matrix.
    pub signs: usize,
    /// Number of distinct coefficients, including 1 and −1. If changes were merged into the matrix, each non-zero
    /// counts as a distinct one.
    pub dictionary: usize,
    /// Kernel that multiplies the matrix on a device.
    pub kernel: Kernel,
    /// Reason for the choice of the kernel.
    pub reason: &'static str,
    /// Bytes of a non-zero on a device, without its coefficient in the dictionary.
    pub nonzero_bytes: u64,
    /// Bytes of the matrix on a device: row pointers, non-zeros and dictionary.
    pub matrix_bytes: u64,
    /// Minimum bytes of device memory that a product with one vector reads and writes.
    pub least_bytes: u64,
    pub(super) format: Format,
}

impl SparseExplanation {
    pub(super) fn new<F: NttField>(csr: &Csr<F>, options: SparseOptions) -> Self {
        let format = Format::new(csr.columns(), csr.dictionary().len());
        let (statistics, signs) = csr.statistics();
        let numbers = (csr.columns(), csr.dictionary().len(), signs);
        Self::from_statistics::<F>(statistics, format, numbers, options)
    }

    /// Explains a matrix with the row lengths `statistics` and the storage `format`. `dictionary` is the number of
    /// coefficients in the dictionary. `signs` is the number of non-zeros that are 1 or −1.
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
            nonzero_bytes: format.nonzero_bytes(),
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

/// Holds the caller's choices for products with a sparse matrix.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SparseOptions {
    /// Kernel to use. `None` selects it by the lengths of the matrix's rows.
    pub kernel: Option<Kernel>,
    /// Maximum number of devices to use, or 0 for all. The vectors of a batch are spread over them.
    pub devices: usize,
}

impl SparseOptions {
    /// Returns the devices of `accelerator` to use: the first ones, up to the maximum in these options.
    pub(super) fn devices(&self, accelerator: &Accelerator) -> Vec<Arc<Device>> {
        let most = if self.devices == 0 { usize::MAX } else { self.devices };
        accelerator.devices().iter().take(most).cloned().collect()
    }
}
