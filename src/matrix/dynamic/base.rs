//! Holds the matrix that changes apply to: on the host, or on a device alone after changes were merged there.

use std::sync::{Arc, Mutex};

use super::change::Change;
use super::merge::{canonicalize, merge};
use crate::blocking::get_or_try_init;
use crate::field::NttField;
use crate::matrix::sparse::device_merge::Changes;
use crate::matrix::{Csr, CsrOnDevice, SparseMatrix, SparseOptions};
use crate::{Accelerator, Result};

/// Minimum number of changes that a device may merge before the host merges them too.
const MIN_DEVICE_MERGE: usize = 1 << 16;

/// Holds a matrix whose rows have their columns in order, each once.
pub(super) struct Base<F: NttField> {
    accelerator: Accelerator,
    /// The last matrix of the host, and the changes merged since, in order: both survive the loss of a device.
    host: Arc<Csr<F>>,
    since: Vec<Arc<Vec<Change<F>>>>,
    /// `host` with the changes of `since` merged, once a call needs it.
    now: Mutex<Option<Arc<Csr<F>>>>,
    place: BaseStorage<F>,
}

/// Holds the matrix where products read it.
enum BaseStorage<F: NttField> {
    /// The host, and the devices that it was uploaded to.
    Uploaded(SparseMatrix<F>),
    /// The first device.
    Merged(Arc<CsrOnDevice<F>>),
}

impl<F: NttField> Base<F> {
    /// Creates a base of `csr` with its rows put in order.
    ///
    /// # Errors
    /// - [`Error::OutOfMemory`](crate::Error::OutOfMemory), [`Error::Device`](crate::Error::Device): a forced backend
    ///   has too little memory, or fails.
    pub fn new(accelerator: &Accelerator, csr: Arc<Csr<F>>) -> Result<Self> {
        Self::uploaded(accelerator, canonicalize(csr)?)
    }

    fn uploaded(accelerator: &Accelerator, host: Arc<Csr<F>>) -> Result<Self> {
        let place = BaseStorage::Uploaded(SparseMatrix::new(accelerator, host.clone())?);
        Ok(Self { accelerator: accelerator.clone(), host, since: Vec::new(), now: Mutex::default(), place })
    }

    /// Returns the numbers of rows and columns.
    pub fn sizes(&self) -> [usize; 2] {
        [self.host.rows(), self.host.columns()]
    }

    pub fn nonzeros(&self) -> usize {
        match &self.place {
            BaseStorage::Uploaded(matrix) => matrix.csr().nonzeros(),
            BaseStorage::Merged(matrix) => matrix.nonzeros(),
        }
    }

    /// Returns the matrix on the host. The first call merges there what was merged on a device.
    ///
    /// # Errors
    /// - [`Error::Invalid`](crate::Error::Invalid): there are more than 2^31 non-zeros.
    pub fn csr(&self) -> Result<Arc<Csr<F>>> {
        if self.since.is_empty() {
            return Ok(self.host.clone());
        }
        get_or_try_init(&self.now, || {
            let mut merged = merge(&self.host, &self.since[0])?;
            for changes in &self.since[1..] {
                merged = merge(&merged, changes)?;
            }
            Ok(merged)
        })
    }

    /// Returns the matrix on the accelerator's first device.
    ///
    /// # Errors
    /// - [`Error::Invalid`](crate::Error::Invalid): there is no device.
    /// - [`Error::OutOfMemory`](crate::Error::OutOfMemory), [`Error::Device`](crate::Error::Device): the device has too
    ///   little memory, or its driver fails.
    pub fn on_device(&self) -> Result<Arc<CsrOnDevice<F>>> {
        match &self.place {
            BaseStorage::Uploaded(matrix) => matrix.on_device(0),
            BaseStorage::Merged(matrix) => Ok(matrix.clone()),
        }
    }

    /// Returns a new base with `changes` made, on the device if there is one; `found` finds the changes in the base
    /// there. The host merges if there is no device, or if the device fails and no backend is forced.
    ///
    /// # Errors
    /// - [`Error::Invalid`](crate::Error::Invalid): the merged matrix has more than 2^31 non-zeros.
    /// - [`Error::Invalid`](crate::Error::Invalid): a forced backend merges on a device, and non-zeros and changes
    ///   together exceed 2^31.
    /// - [`Error::OutOfMemory`](crate::Error::OutOfMemory), [`Error::Device`](crate::Error::Device): a forced backend
    ///   has too little memory, or fails.
    /// - `found` returns an error, and a backend is forced.
    pub fn merged(
        &self,
        changes: &Arc<Vec<Change<F>>>,
        found: impl FnOnce(&CsrOnDevice<F>) -> Result<Arc<Changes>>,
    ) -> Result<Self> {
        if self.accelerator.devices().is_empty() {
            return Self::uploaded(&self.accelerator, self.merge_on_host(changes)?);
        }
        match self.merge_on_device(changes, found) {
            Err(error) if self.accelerator.forced().is_none() => {
                log::warn!("dynamic csr {}: merged on the host: {error}", F::NAME);
                Self::uploaded(&self.accelerator, self.merge_on_host(changes)?)
            }
            made => made,
        }
    }

    fn merge_on_host(&self, changes: &[Change<F>]) -> Result<Arc<Csr<F>>> {
        let csr = self.csr()?;
        merge(&csr, changes).map(Arc::new)
    }

    fn merge_on_device(
        &self,
        changes: &Arc<Vec<Change<F>>>,
        found: impl FnOnce(&CsrOnDevice<F>) -> Result<Arc<Changes>>,
    ) -> Result<Self> {
        let before = self.on_device()?;
        let found = found(&before)?;
        let place = BaseStorage::Merged(Arc::new(before.merged(&found, SparseOptions::default())?));
        let (mut host, mut since) = (self.host.clone(), [&self.since[..], std::slice::from_ref(changes)].concat());
        // The merge on the host then costs about as much work as the changes did.
        if since.iter().map(|changes| changes.len()).sum::<usize>() > MIN_DEVICE_MERGE.max(before.nonzeros()) {
            host = self.merge_on_host(changes)?;
            since.clear();
        }
        Ok(Self { accelerator: self.accelerator.clone(), host, since, now: Mutex::default(), place })
    }
}
