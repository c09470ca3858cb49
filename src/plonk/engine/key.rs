//! Keeps keys on a device.

use super::Engine;
use super::transfer::enqueue_copies;
use crate::Result;
use crate::backend::ResidentBytes;
use crate::field::NttField;
use crate::plonk::circuit::ProofCurve;
use crate::plonk::columns_layout_and_key::{Column, Key, Polynomial};

/// Holds a key's columns on a device, for any number of proofs.
#[derive(Debug)]
pub struct KeyOnDevice<F: NttField> {
    /// Values of the fixed columns, then of σ.
    values: Vec<Column<F>>,
    /// Coefficients of the fixed columns, of σ, then of the columns that mark first, last and active rows.
    coefficients: Vec<Column<F>>,
    fixed: usize,
    /// The columns, counted among the device's resident data. It is never read.
    _resident: ResidentBytes,
}

impl<F: NttField> KeyOnDevice<F> {
    /// Returns a [`Key`] that borrows the columns on the device.
    pub fn key(&self) -> Key<'_, F> {
        let (values, coefficients) = (self.values.iter().map(Column::view), self.coefficients.iter().map(Column::view));
        let pairs = values.zip(coefficients);
        let mut fixed: Vec<_> = pairs.map(|(values, coefficients)| Polynomial { values, coefficients }).collect();
        let sigma = fixed.split_off(self.fixed);
        let rows = &self.coefficients[self.values.len()..];
        Key { fixed, sigma, first: rows[0].view(), last: rows[1].view(), active: rows[2].view() }
    }
}

impl<C: ProofCurve> Engine<C> {
    /// Uploads the columns of `key` to the device, as values and as coefficients: 2·(fixed + σ) + 3 columns of 32·n
    /// bytes. Returns `None` if the host does the work, or if the device has too little memory. Proofs then use `key`
    /// itself.
    ///
    /// # Errors
    /// - [`Error::Invalid`](crate::Error::Invalid): a device works, and a column does not have n elements.
    /// - [`Error::Aborted`](crate::Error::Aborted): the engine's hook aborted.
    /// - A forced backend failed: its error.
    pub fn upload_key(&self, key: &Key<'_, C::Scalar>) -> Result<Option<KeyOnDevice<C::Scalar>>> {
        let columns = key.fixed.iter().chain(&key.sigma);
        let values: Vec<_> = columns.map(|polynomial| polynomial.values).collect();
        let (coefficients, n) = (key.coefficients(), self.n());
        self.run_step(
            "key",
            values.len() + coefficients.len(),
            |stream| {
                let [values, coefficients] =
                    [enqueue_copies(stream, n, &values)?, enqueue_copies(stream, n, &coefficients)?];
                // Streams of other proofs will read them.
                stream.synchronize(None)?;
                let bytes = values.buffer().bytes() + coefficients.buffer().bytes();
                let resident = stream.device().mark_resident(bytes as u64);
                let [values, coefficients] = [values, coefficients].map(|vector| Column::split_vector(vector, n));
                Ok(Some(KeyOnDevice { values, coefficients, fixed: key.fixed.len(), _resident: resident }))
            },
            |_| Ok(None),
        )
    }
}
