//! Defines one version of a matrix, for products.

use std::cell::RefCell;
use std::sync::{Arc, Mutex};

use super::base::Base;
use super::change::{Change, ERROR_CONTEXT};
use super::delta::Delta;
use super::gpu;
use crate::backend::{Abort, catch_hook_panic, check_abort};
use crate::blocking::get_or_try_init;
use crate::field::{NttField, SecretVec};
use crate::matrix::sparse::cpu;
use crate::matrix::sparse::device_merge::Changes;
use crate::matrix::{Csr, CsrOnDevice};
use crate::report::OpScope;
use crate::{Accelerator, Error, Report, Result};

/// Holds one version of a dynamic matrix, as it was when the snapshot was taken. Later changes and merges do not affect
/// it.
#[derive(Clone)]
pub struct Snapshot<F: NttField>(Arc<Version<F>>);

/// Holds the base matrix and the changes that make up one version of a dynamic matrix.
pub(super) struct Version<F: NttField> {
    accelerator: Accelerator,
    pub base: Arc<Base<F>>,
    /// Changes to `base`, sorted by (row, column), one per entry.
    pub changes: Arc<Vec<Change<F>>>,
    delta: Mutex<Option<Arc<Delta<F>>>>,
    on_device: Mutex<Option<Arc<Changes>>>,
}

impl<F: NttField> std::fmt::Debug for Snapshot<F> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (rows, columns, changes) = (self.rows(), self.columns(), self.0.changes.len());
        write!(f, "Snapshot({rows} rows, {columns} columns, {changes} changed entries)")
    }
}

impl<F: NttField> Snapshot<F> {
    pub(super) fn new(accelerator: &Accelerator, base: Arc<Base<F>>, changes: Vec<Change<F>>) -> Self {
        let changes = Arc::new(changes);
        let (accelerator, delta, on_device) = (accelerator.clone(), Mutex::default(), Mutex::default());
        Self(Arc::new(Version { accelerator, base, changes, delta, on_device }))
    }

    pub(super) fn version(&self) -> &Version<F> {
        &self.0
    }

    /// Returns the number of rows.
    pub fn rows(&self) -> usize {
        self.0.base.sizes()[0]
    }

    /// Returns the number of columns.
    pub fn columns(&self) -> usize {
        self.0.base.sizes()[1]
    }

    /// Returns the number of entries changed since the last merge. Some may still have the same value as in the base.
    pub fn changed_entry_count(&self) -> usize {
        self.0.changes.len()
    }

    /// Computes y = A·x for this version A of the matrix. On a device, the kernels for the base and for its changes are
    /// queued together.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: the length of `x` is not the number of columns, or that of `y` not the number of rows.
    /// - [`Error::Aborted`]: the hook aborts.
    /// - [`Error::OutOfMemory`], [`Error::Device`]: a forced backend has too little memory, or fails.
    ///
    /// After an error, `y` is unchanged.
    pub fn multiply(&self, x: &[F], y: &mut [F], abort: Abort<'_>) -> Result<Report> {
        expect_equal("length of the vector", self.columns(), x.len())?;
        expect_equal("length of the result", self.rows(), y.len())?;
        catch_hook_panic(abort, |abort| self.dispatch_multiply(x, y, abort))
    }

    fn dispatch_multiply(&self, x: &[F], y: &mut [F], abort: Abort<'_>) -> Result<Report> {
        let version = &*self.0;
        let elements = version.base.nonzeros() + version.changes.len();
        let call = OpScope { operation: format!("dynamic csr {}", F::NAME), elements };
        // Both closures borrow the result, but only one runs at a time.
        let y = RefCell::new(y);
        let on_device = || {
            let base = version.base.on_device()?;
            let delta = version.device_changes(&base, abort)?;
            gpu::multiply(&base, delta.as_deref(), x, &mut y.borrow_mut(), abort)
        };
        let on_host = || {
            let base = version.base.csr()?;
            let delta = version.delta(&base)?;
            multiply_on_host(&base, &delta, x, &mut y.borrow_mut(), abort)
        };
        let run = version.accelerator.dispatch(call, |_| Ok(((), on_device()?)), on_host);
        run.map(|((), report)| report)
    }
}

impl<F: NttField> Version<F> {
    fn delta(&self, base: &Csr<F>) -> Result<Arc<Delta<F>>> {
        get_or_try_init(&self.delta, || Ok(Delta::new(base, &self.changes)))
    }

    /// Returns the changes in device memory, located in `base`; `None` if there are no changes. The first call uploads
    /// them.
    pub fn device_changes(&self, base: &CsrOnDevice<F>, abort: Abort<'_>) -> Result<Option<Arc<Changes>>> {
        if self.changes.is_empty() {
            return Ok(None);
        }
        get_or_try_init(&self.on_device, || gpu::locate_changes(base, &self.changes, abort)).map(Some)
    }
}

fn multiply_on_host<F: NttField>(
    base: &Csr<F>,
    delta: &Delta<F>,
    x: &[F],
    y: &mut [F],
    abort: Abort<'_>,
) -> Result<()> {
    let mut product = SecretVec(vec![F::ZERO; y.len()]);
    cpu::multiply(base, &[x], &mut [&mut product], abort)?;
    delta.add_product(x, &mut product);
    check_abort(abort)?;
    y.copy_from_slice(&product);
    Ok(())
}

/// Checks that `expected` and `actual` are equal.
///
/// # Errors
/// - [`Error::Invalid`]: they differ.
fn expect_equal(what: &'static str, expected: usize, actual: usize) -> Result<()> {
    if expected == actual { Ok(()) } else { Err(Error::invalid(ERROR_CONTEXT, what, expected, actual)) }
}
