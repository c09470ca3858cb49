//! What changes are made to: a matrix that the host has, or a device alone since changes were merged there.

use std::sync::{Arc, Mutex};

use super::change::Change;
use super::merge::{merge, ordered};
use crate::field::NttField;
use crate::matrix::sparse::changes::Changes;
use crate::matrix::{Csr, CsrOnDevice, Options, SparseMatrix};
use crate::waiting::made_once;
use crate::{Accelerator, Result};

/// So many changes at least may be merged on a device before the host merges them too.
const FEW: usize = 1 << 16;

/// A matrix whose rows have their columns in order, each once.
pub(super) struct Base<F: NttField> {
    accelerator: Accelerator,
    /// What the host had last, and what was merged since, in order: what a lost device leaves.
    host: Arc<Csr<F>>,
    since: Vec<Arc<Vec<Change<F>>>>,
    /// The same with those merged, once that is asked for.
    now: Mutex<Option<Arc<Csr<F>>>>,
    place: Place<F>,
}

/// Where products take it from.
enum Place<F: NttField> {
    /// The host, and the devices that it was uploaded to.
    Uploaded(SparseMatrix<F>),
    /// The first device.
    Merged(Arc<CsrOnDevice<F>>),
}

impl<F: NttField> Base<F> {
    /// # Errors
    /// A forced backend has too little memory, or failed.
    pub fn new(accelerator: &Accelerator, csr: Arc<Csr<F>>) -> Result<Self> {
        Self::uploaded(accelerator, ordered(csr)?)
    }

    fn uploaded(accelerator: &Accelerator, host: Arc<Csr<F>>) -> Result<Self> {
        let place = Place::Uploaded(SparseMatrix::new(accelerator, host.clone())?);
        Ok(Self { accelerator: accelerator.clone(), host, since: Vec::new(), now: Mutex::default(), place })
    }

    /// Rows and columns.
    pub fn sizes(&self) -> [usize; 2] {
        [self.host.rows(), self.host.columns()]
    }

    pub fn nonzeros(&self) -> usize {
        match &self.place {
            Place::Uploaded(matrix) => matrix.csr().nonzeros(),
            Place::Merged(matrix) => matrix.nonzeros(),
        }
    }

    /// On the host: merges there what was merged on a device, at the first call.
    ///
    /// # Errors
    /// There are more non-zeros than 2^31.
    pub fn csr(&self) -> Result<Arc<Csr<F>>> {
        if self.since.is_empty() {
            return Ok(self.host.clone());
        }
        made_once(&self.now, || {
            let mut merged = merge(&self.host, &self.since[0])?;
            for changes in &self.since[1..] {
                merged = merge(&merged, changes)?;
            }
            Ok(merged)
        })
    }

    /// On the accelerator's first device.
    ///
    /// # Errors
    /// There is none, or it has too little memory, or failed.
    pub fn on_device(&self) -> Result<Arc<CsrOnDevice<F>>> {
        match &self.place {
            Place::Uploaded(matrix) => matrix.on_device(0),
            Place::Merged(matrix) => Ok(matrix.clone()),
        }
    }

    /// A new one with changes made, on the device that `found` says they are on; where that fails and no backend is forced, or there
    /// is none, on the host.
    ///
    /// # Errors
    /// There are more non-zeros than 2^31, or a forced backend has too little memory, or failed.
    pub fn merged(
        &self,
        changes: &Arc<Vec<Change<F>>>,
        found: impl FnOnce(&CsrOnDevice<F>) -> Result<Arc<Changes>>,
    ) -> Result<Self> {
        if self.accelerator.devices().is_empty() {
            return Self::uploaded(&self.accelerator, self.merged_here(changes)?);
        }
        match self.merged_there(changes, found) {
            Err(error) if self.accelerator.forced().is_none() => {
                log::warn!("dynamic csr {}: merged on the host: {error}", F::NAME);
                Self::uploaded(&self.accelerator, self.merged_here(changes)?)
            }
            made => made,
        }
    }

    fn merged_here(&self, changes: &[Change<F>]) -> Result<Arc<Csr<F>>> {
        let csr = self.csr()?;
        merge(&csr, changes).map(Arc::new)
    }

    fn merged_there(
        &self,
        changes: &Arc<Vec<Change<F>>>,
        found: impl FnOnce(&CsrOnDevice<F>) -> Result<Arc<Changes>>,
    ) -> Result<Self> {
        let before = self.on_device()?;
        let found = found(&before)?;
        let place = Place::Merged(Arc::new(before.merged(&found, Options::default())?));
        let (mut host, mut since) = (self.host.clone(), [&self.since[..], std::slice::from_ref(changes)].concat());
        // As much work as the changes were.
        if since.iter().map(|changes| changes.len()).sum::<usize>() > FEW.max(before.nonzeros()) {
            host = self.merged_here(changes)?;
            since.clear();
        }
        Ok(Self { accelerator: self.accelerator.clone(), host, since, now: Mutex::default(), place })
    }
}
