//! Defines a matrix that stays on its device, its views, and Freivalds' check of a product: C·r = A·(B·r) for random
//! vectors r.
//!
//! Source: R. Freivalds, "Probabilistic machines can use less running time", IFIP 1977. If C ≠ A·B, a row of C − A·B is
//! not zero, and a vector of random elements is orthogonal to it with probability 1/p.

use std::ops::Range;
use std::sync::Arc;

use rand_core::RngCore;

use super::cpu::pack_row_major;
use super::crt_params::Operand;
use super::element_and_accumulator::{DenseField, Entry, MatMulElement};
use super::gpu::find_out_of_range;
use super::host_or_device_storage::Storage;
use super::layout::{DeviceView, ERROR_CONTEXT, View, device_view};
use crate::backend::Device;
use crate::secret_vec::SecretVec;
use crate::{Accelerator, Error, Report, Result};

/// Holds a dense matrix on an accelerator's first device. It is on the host if there is no device, or if the upload
/// failed and no backend is forced.
///
/// Clones, blocks and transposes share its memory, which does not change while it is shared. The memory is cleared
/// before it is used again. [`Self::multiply`] and similar methods compute products.
#[derive(Debug, Clone)]
pub struct DenseMatrix<T: Entry> {
    accelerator: Accelerator,
    pub(super) place: Storage<T>,
    view: View,
    bits: Option<u32>,
    report: Option<Report>,
}

impl<T: Entry> DenseMatrix<T> {
    /// Uploads the row-major `entries` of a matrix of `rows` and `columns` to the first device of `accelerator`.
    /// Elements are copied as their type stores them.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: `entries` has the wrong length.
    /// - [`Error::Invalid`]: `entries` has an invalid value (limbs not below the modulus).
    /// - [`Error::Invalid`]: rows or columns exceed 2^30.
    /// - [`Error::OutOfMemory`], [`Error::Device`]: a forced backend has too little memory, or fails.
    pub fn upload(accelerator: &Accelerator, entries: &[T], rows: usize, columns: usize) -> Result<Self> {
        let expected = rows.saturating_mul(columns);
        Error::check_eq(ERROR_CONTEXT, "number of entries", expected, entries.len())?;
        Self::upload_view(accelerator, entries, View::row_major(rows, columns))
    }

    /// Uploads the vector `entries` as a matrix of one column to the first device of `accelerator`.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: `entries` has an invalid value, or more than 2^30 values.
    /// - [`Error::OutOfMemory`], [`Error::Device`]: a forced backend has too little memory, or fails.
    pub fn upload_vector(accelerator: &Accelerator, entries: &[T]) -> Result<Self> {
        Self::upload(accelerator, entries, entries.len(), 1)
    }

    /// Uploads the memory `entries`, in which `view` locates the matrix, to the first device of `accelerator`. The
    /// matrix may have any order and gaps.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: entries of `view` overlap or are beyond the end, or its rows or columns exceed 2^30.
    /// - [`Error::Invalid`]: `entries` has an invalid value (limbs not below the modulus).
    /// - [`Error::OutOfMemory`], [`Error::Device`]: a forced backend has too little memory, or fails.
    pub fn upload_view(accelerator: &Accelerator, entries: &[T], view: View) -> Result<Self> {
        view.check(entries.len())?;
        T::check(entries)?;
        let place = match accelerator.devices().first() {
            None => Storage::from_host(entries.to_vec()),
            Some(device) => match Storage::upload(device, entries, None) {
                Err(error) if accelerator.forced().is_none() => {
                    log::warn!("dense {}: the matrix stays on the host: {error}", T::NAME);
                    Storage::from_host(entries.to_vec())
                }
                place => place?,
            },
        };
        Ok(Self { accelerator: accelerator.clone(), place, view, bits: None, report: None })
    }

    /// Creates a matrix with the layout `view` in the memory `place`, which an operation has computed.
    pub(super) fn from_result(
        accelerator: &Accelerator,
        place: Storage<T>,
        view: View,
        report: Option<Report>,
    ) -> Self {
        Self { accelerator: accelerator.clone(), place, view, bits: None, report }
    }

    /// Returns a row-major copy of the entries in host memory.
    ///
    /// # Errors
    /// - [`Error::Device`]: the device fails.
    pub fn download(&self) -> Result<Vec<T>> {
        match self.view.is_compact() {
            true => self.place.download_range(self.view.first, self.view.len()),
            false => Ok(std::mem::take(&mut pack_row_major(&self.place.host_entries()?, &self.view).0)),
        }
    }

    /// Returns the number of rows.
    pub fn rows(&self) -> usize {
        self.view.rows
    }

    /// Returns the number of columns.
    pub fn columns(&self) -> usize {
        self.view.columns
    }

    /// Returns the layout of the matrix in its memory.
    pub fn view(&self) -> View {
        self.view
    }

    /// Returns the device that holds the matrix; `None` if the host does.
    pub fn device(&self) -> Option<&Arc<Device>> {
        self.place.device()
    }

    /// Returns the report of the operation that computed the matrix; `None` if it was uploaded.
    pub fn report(&self) -> Option<&Report> {
        self.report.as_ref()
    }

    /// Returns the accelerator that computes products of this matrix.
    pub fn accelerator(&self) -> &Accelerator {
        &self.accelerator
    }

    /// Returns the transposed matrix, which shares the memory of this one.
    #[must_use]
    pub fn transposed(&self) -> Self {
        Self { view: self.view.transposed(), ..self.clone() }
    }

    /// Returns a block, which shares the memory of this matrix. `rows` and `columns` are half-open ranges.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: a range is not inside.
    pub fn block(&self, rows: Range<usize>, columns: Range<usize>) -> Result<Self> {
        Ok(Self { view: self.view.block(rows, columns)?, ..self.clone() })
    }

    /// Returns the matrix with another `view` of its memory, such as a block to write a product into.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: entries of `view` overlap or are beyond the end, or its rows or columns exceed 2^30.
    pub fn with_view(self, view: View) -> Result<Self> {
        view.check(self.place.len())?;
        Ok(Self { view, bits: None, ..self })
    }

    pub(super) fn operand(&self) -> Operand {
        Operand { kind: T::KIND, bits: self.bits }
    }

    /// Describes this matrix for kernels on `device`, which must hold its memory.
    pub(super) fn device_view<'a>(&'a self, device: &Device) -> Result<DeviceView<'a>> {
        match &self.place {
            Storage::Device(_, buffer) => device_view(device, buffer, self.view, T::KIND),
            Storage::Host(_) => Err(Error::invalid(ERROR_CONTEXT, "memory", "a device's", "the host's")),
        }
    }
}

impl<F: DenseField> DenseMatrix<F> {
    /// Checks that all canonical values are within ±(2^bits − 1), and records this bound. Products by residues then
    /// need fewer moduli.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: an entry is not within the bound. The error names the first one, row-major.
    /// - [`Error::OutOfMemory`], [`Error::Device`]: the device has too little memory, or its driver fails.
    pub fn with_bound(self, bits: u32) -> Result<Self> {
        let beyond = match &self.place {
            Storage::Device(device, _) => find_out_of_range(device, F::NAME, self.device_view(device)?, bits)?,
            Storage::Host(entries) => {
                let entries = pack_row_major(entries, &self.view);
                entries.iter().position(|entry| !is_within(entry, bits))
            }
        };
        let Some(number) = beyond else { return Ok(Self { bits: Some(bits), ..self }) };
        let (row, column) = (number / self.columns(), number % self.columns());
        Err(Error::invalid(
            ERROR_CONTEXT,
            format!("entry ({row}, {column})"),
            format!("within ±(2^{bits} - 1)"),
            "another",
        ))
    }
}

/// Returns whether the canonical value of `element` is within ±(2^bits − 1). All fields here have little-endian
/// representations.
fn is_within<F: DenseField>(element: &F, bits: u32) -> bool {
    let below = |element: F| {
        let repr = element.to_repr();
        let bit = |number: usize| repr.as_ref()[number / 8] >> (number % 8) & 1;
        (bits as usize..8 * repr.as_ref().len()).all(|number| bit(number) == 0)
    };
    below(*element) || below(-*element)
}

/// Holds the result of Freivalds' check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FreivaldsResult {
    /// Index of the first row that differs from the product; `None` if the product passed the check.
    pub wrong_row: Option<usize>,
    /// Bound on the error: a wrong product passes the check with probability at most 2^−error_bits.
    pub error_bits: u32,
}

impl FreivaldsResult {
    /// Returns whether the product passed the check. A wrong product does so with probability at most 2^−`error_bits`.
    pub fn is_valid(&self) -> bool {
        self.wrong_row.is_none()
    }
}

impl<C: Entry> DenseMatrix<C> {
    /// Checks that this matrix equals `a`·`b`, with `rounds` random vectors from `rng`. A round takes 3·n²
    /// multiplications for n × n matrices, instead of the n³ of a product. A wrong product passes a round with
    /// probability at most 1/p, where p is the modulus of the field. For an error of 2^-120 or less, fields of 255 bits
    /// need one round, Goldilocks two and BabyBear four.
    ///
    /// # Errors
    /// - [`Error::Invalid`](crate::Error::Invalid): the shapes do not fit.
    /// - [`Error::OutOfMemory`](crate::Error::OutOfMemory), [`Error::Device`](crate::Error::Device): a forced backend
    ///   has too little memory, or fails.
    /// - Other errors are those of [`DenseMatrix::times_vector`].
    pub fn check_product<F, A, B>(
        &self,
        a: &DenseMatrix<A>,
        b: &DenseMatrix<B>,
        rounds: u32,
        rng: &mut impl RngCore,
    ) -> Result<FreivaldsResult>
    where
        F: DenseField,
        A: MatMulElement<F, Product = F>,
        B: MatMulElement<F, Product = F>,
        C: MatMulElement<F, Product = F>,
    {
        Error::check_eq(ERROR_CONTEXT, "rows of the product", a.rows(), self.rows())?;
        Error::check_eq(ERROR_CONTEXT, "columns of the product", b.columns(), self.columns())?;
        Error::check_eq(ERROR_CONTEXT, "rows of the second factor", a.columns(), b.rows())?;
        let mut verdict = FreivaldsResult { wrong_row: None, error_bits: 0 };
        for _ in 0..rounds {
            let random: Vec<F> = (0..self.columns()).map(|_| F::random(&mut *rng)).collect();
            let r = DenseMatrix::upload_vector(self.accelerator(), &random)?;
            let direct = SecretVec(self.times_vector(&r)?.download()?);
            let by_factors = SecretVec(a.times_vector(&b.times_vector(&r)?)?.download()?);
            verdict.wrong_row = direct.iter().zip(&*by_factors).position(|(a, b)| a != b);
            // The probability 1/p is below 2^−(bits of p − 1).
            verdict.error_bits += F::NUM_BITS - 1;
            if verdict.wrong_row.is_some() {
                break;
            }
        }
        Ok(verdict)
    }
}
