//! Holds the matrix that changes apply to: on the host, or on a device alone after changes were merged there.

use std::sync::{Arc, Mutex};

use super::change_and_delta::Change;
use super::merge_on_host::{canonicalize, merge};
use crate::field::NttField;
use crate::matrix::sparse::device_merge::Changes;
use crate::matrix::{Csr, CsrOnDevice, SparseMatrix, SparseOptions};
use crate::rayon_waits::get_or_try_init;
use crate::{Accelerator, Result};

/// Number of changes that a device may always merge alone. Beyond it, the host merges them too if they outnumber the
/// non-zeros.
const MIN_DEVICE_MERGE: usize = 1 << 16;

/// Holds the matrix that changes refer to. In each row, columns are in ascending order without repetition.
pub(super) struct Base<F: NttField> {
    accelerator: Accelerator,
    /// Last matrix that the host merged. It survives the loss of a device.
    host: Arc<Csr<F>>,
    /// Changes that a device has merged since then, in order of the merges.
    since: Vec<Arc<Vec<Change<F>>>>,
    /// Cached result of merging `since` into `host`; `None` until a call needs it.
    now: Mutex<Option<Arc<Csr<F>>>>,
    place: BaseStorage<F>,
}

/// Holds the matrix in the memory from which products read it.
enum BaseStorage<F: NttField> {
    /// In host memory, with copies on the devices that it was uploaded to.
    Uploaded(SparseMatrix<F>),
    /// On the first device only, which has merged changes into it.
    Merged(Arc<CsrOnDevice<F>>),
}

impl<F: NttField> Base<F> {
    /// Creates a base from `csr`, with sorted columns in each row, and uploads it to the devices of `accelerator`.
    ///
    /// # Errors
    /// - [`Error::OutOfMemory`](crate::Error::OutOfMemory), [`Error::Device`](crate::Error::Device): a forced backend
    ///   has too little memory, or fails.
    pub(super) fn new(accelerator: &Accelerator, csr: Arc<Csr<F>>) -> Result<Self> {
        Self::upload(accelerator, canonicalize(csr)?)
    }

    fn upload(accelerator: &Accelerator, host: Arc<Csr<F>>) -> Result<Self> {
        let place = BaseStorage::Uploaded(SparseMatrix::new(accelerator, host.clone())?);
        Ok(Self { accelerator: accelerator.clone(), host, since: Vec::new(), now: Mutex::default(), place })
    }

    /// Returns the number of rows and the number of columns, in this order.
    pub(super) fn sizes(&self) -> [usize; 2] {
        [self.host.rows(), self.host.columns()]
    }

    pub(super) fn nonzeros(&self) -> usize {
        match &self.place {
            BaseStorage::Uploaded(matrix) => matrix.csr().nonzeros(),
            BaseStorage::Merged(matrix) => matrix.nonzeros(),
        }
    }

    /// Returns the matrix in host memory. If a device has merged changes into it, the first call merges them on the
    /// host too.
    ///
    /// # Errors
    /// - [`Error::Invalid`](crate::Error::Invalid): there are more than 2^31 non-zeros.
    pub(super) fn csr(&self) -> Result<Arc<Csr<F>>> {
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

    /// Returns the matrix in the memory of the accelerator's first device.
    ///
    /// # Errors
    /// - [`Error::Invalid`](crate::Error::Invalid): there is no device.
    /// - [`Error::OutOfMemory`](crate::Error::OutOfMemory), [`Error::Device`](crate::Error::Device): the device has too
    ///   little memory, or its driver fails.
    pub(super) fn on_device(&self) -> Result<Arc<CsrOnDevice<F>>> {
        match &self.place {
            BaseStorage::Uploaded(matrix) => matrix.on_device(0),
            BaseStorage::Merged(matrix) => Ok(matrix.clone()),
        }
    }

    /// Returns a new base with `changes` applied, on the first device if there is one. `found` returns the changes
    /// located in this base's device matrix. The host merges if there is no device, or if the device fails and no
    /// backend is forced.
    ///
    /// # Errors
    /// - [`Error::Invalid`](crate::Error::Invalid): the merged matrix has more than 2^31 non-zeros.
    /// - [`Error::Invalid`](crate::Error::Invalid): a forced backend merges on a device, and non-zeros and changes
    ///   together exceed 2^31.
    /// - [`Error::OutOfMemory`](crate::Error::OutOfMemory), [`Error::Device`](crate::Error::Device): a forced backend
    ///   has too little memory, or fails.
    /// - `found` returns an error, and a backend is forced.
    pub(super) fn merged(
        &self,
        changes: &Arc<Vec<Change<F>>>,
        found: impl FnOnce(&CsrOnDevice<F>) -> Result<Arc<Changes>>,
    ) -> Result<Self> {
        if self.accelerator.devices().is_empty() {
            return Self::upload(&self.accelerator, self.merge_on_host(changes)?);
        }
        match self.merge_on_device(changes, found) {
            Err(error) if self.accelerator.forced().is_none() => {
                log::warn!("dynamic csr {}: merged on the host: {error}", F::NAME);
                Self::upload(&self.accelerator, self.merge_on_host(changes)?)
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
