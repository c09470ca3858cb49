//! A matrix that stays where it is, and its views.

use std::ops::Range;
use std::sync::Arc;

use super::cpu::packed;
use super::crt::Operand;
use super::entry::{DenseField, Entry};
use super::gpu::first_beyond;
use super::lying::{Lying, on};
use super::storage::Place;
use super::view::{PLACE, View};
use crate::backend::Device;
use crate::{Accelerator, Error, Report, Result};

/// A dense matrix on an accelerator's first device, or on the host where there is none, or too little memory, and none is forced.
///
/// Clones, blocks and transposes share its memory, which is never changed while they do. It is cleared before anybody else gets
/// it. Products are in [`Self::multiply`] and the like.
#[derive(Debug, Clone)]
pub struct Dense<T: Entry> {
    accelerator: Accelerator,
    pub(super) place: Place<T>,
    view: View,
    bits: Option<u32>,
    report: Option<Report>,
}

impl<T: Entry> Dense<T> {
    /// Copies a matrix, row after row. Elements are in their type's own memory (Montgomery form).
    ///
    /// # Errors
    /// There are not as many entries, one is no value of its type (limbs not below the modulus), or a forced backend has too
    /// little memory, or failed.
    pub fn upload(accelerator: &Accelerator, entries: &[T], rows: usize, columns: usize) -> Result<Self> {
        let expected = rows.saturating_mul(columns);
        expect_equal("number of entries", expected, entries.len())?;
        Self::upload_view(accelerator, entries, View::row_major(rows, columns))
    }

    /// A vector: a matrix of one column.
    ///
    /// # Errors
    /// As [`Self::upload`].
    pub fn vector(accelerator: &Accelerator, entries: &[T]) -> Result<Self> {
        Self::upload(accelerator, entries, entries.len(), 1)
    }

    /// Copies memory in which a matrix lies in any order, with or without gaps.
    ///
    /// # Errors
    /// Entries of the view share places or are beyond the end, or as [`Self::upload`].
    pub fn upload_view(accelerator: &Accelerator, entries: &[T], view: View) -> Result<Self> {
        view.check(entries.len())?;
        T::check(entries)?;
        let place = match accelerator.devices().first() {
            None => Place::host(entries.to_vec()),
            Some(device) => match Place::upload(device, entries, None) {
                Err(error) if accelerator.forced().is_none() => {
                    log::warn!("dense {}: the matrix stays on the host: {error}", T::NAME);
                    Place::host(entries.to_vec())
                }
                place => place?,
            },
        };
        Ok(Self { accelerator: accelerator.clone(), place, view, bits: None, report: None })
    }

    /// What a product or another pass made.
    pub(super) fn made(accelerator: &Accelerator, place: Place<T>, view: View, report: Option<Report>) -> Self {
        Self { accelerator: accelerator.clone(), place, view, bits: None, report }
    }

    /// Copies the entries to the host, row after row.
    ///
    /// # Errors
    /// The device failed.
    pub fn download(&self) -> Result<Vec<T>> {
        match self.view.is_compact() {
            true => self.place.part(self.view.first, self.view.len()),
            false => Ok(std::mem::take(&mut packed(&self.place.on_host()?.0, &self.view).0)),
        }
    }

    /// Rows.
    pub fn rows(&self) -> usize {
        self.view.rows
    }

    /// Columns.
    pub fn columns(&self) -> usize {
        self.view.columns
    }

    /// How it lies in its memory.
    pub fn view(&self) -> View {
        self.view
    }

    /// The device that it is on; `None` where it is on the host.
    pub fn device(&self) -> Option<&Arc<Device>> {
        self.place.device()
    }

    /// What the operation that made it ran on; `None` for what was uploaded.
    pub fn report(&self) -> Option<&Report> {
        self.report.as_ref()
    }

    /// Who runs its products.
    pub fn accelerator(&self) -> &Accelerator {
        &self.accelerator
    }

    /// The transpose, in the same memory.
    #[must_use]
    pub fn transposed(&self) -> Self {
        Self { view: self.view.transposed(), ..self.clone() }
    }

    /// Some rows and columns, in the same memory.
    ///
    /// # Errors
    /// A range is not inside.
    pub fn block(&self, rows: Range<usize>, columns: Range<usize>) -> Result<Self> {
        Ok(Self { view: self.view.block(rows, columns)?, ..self.clone() })
    }

    /// Its memory, seen in another way: to write products into parts of it.
    ///
    /// # Errors
    /// Entries of the view share places or are beyond the end.
    pub fn with_view(self, view: View) -> Result<Self> {
        view.check(self.place.len())?;
        Ok(Self { view, bits: None, ..self })
    }

    pub(super) fn operand(&self) -> Operand {
        Operand { kind: T::KIND, bits: self.bits }
    }

    /// Where it lies on a device.
    pub(super) fn on<'a>(&'a self, device: &Device) -> Result<Lying<'a>> {
        match &self.place {
            Place::Device(_, buffer) => on(device, buffer, self.view, T::KIND),
            Place::Host(_) => Err(Error::invalid(PLACE, "memory", "a device's", "the host's")),
        }
    }
}

impl<F: DenseField> Dense<F> {
    /// Notes that canonical values are within ±(2^bits − 1), so that products by residues take fewer moduli.
    ///
    /// # Errors
    /// An entry is not: the first one, row after row, is named. Or the device failed.
    pub fn bounded(self, bits: u32) -> Result<Self> {
        let beyond = match &self.place {
            Place::Device(device, _) => first_beyond(device, F::NAME, self.on(device)?, bits)?,
            Place::Host(entries) => {
                let entries = packed(&entries.0, &self.view);
                entries.0.iter().position(|entry| !is_within(entry, bits))
            }
        };
        let Some(number) = beyond else { return Ok(Self { bits: Some(bits), ..self }) };
        let (row, column) = (number / self.columns(), number % self.columns());
        Err(Error::invalid(PLACE, format!("entry ({row}, {column})"), format!("within ±(2^{bits} - 1)"), "another"))
    }
}

/// Whether a canonical value is within ±(2^bits − 1). Representations are little-endian in all fields here.
fn is_within<F: DenseField>(element: &F, bits: u32) -> bool {
    let below = |element: F| {
        let repr = element.to_repr();
        let bit = |number: usize| repr.as_ref()[number / 8] >> (number % 8) & 1;
        (bits as usize..8 * repr.as_ref().len()).all(|number| bit(number) == 0)
    };
    below(*element) || below(-*element)
}

/// # Errors
/// They differ.
pub(super) fn expect_equal(what: &'static str, expected: usize, actual: usize) -> Result<()> {
    if expected == actual { Ok(()) } else { Err(Error::invalid(PLACE, what, expected, actual)) }
}
