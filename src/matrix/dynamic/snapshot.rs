//! Defines one version of a matrix. Finds changes on a device, and queues products of base and differences together.

use std::sync::{Arc, Mutex};

use super::base::Base;
use super::change_and_delta::{Action, Change, Delta, ERROR_CONTEXT};
use crate::backend::{Abort, Device};
use crate::exec::{ExecCtx, Operation, execute};
use crate::field::{NttField, as_bytes, as_bytes_mut};
use crate::kernel_arguments::{In, Out};
use crate::kernels::csr::CHANGE_REPLACES;
use crate::kernels::gemm::{Differences, FAMILY};
use crate::matrix::sparse::cpu;
use crate::matrix::sparse::device_merge::{Changes, HostChanges};
use crate::matrix::{Csr, CsrOnDevice, DeviceVectors};
use crate::module_launcher::KernelModule;
use crate::rayon_waits::get_or_try_init;
use crate::report::OpScope;
use crate::secret_vec::SecretVec;
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
        Error::check_eq(ERROR_CONTEXT, "length of the vector", self.columns(), x.len())?;
        Error::check_eq(ERROR_CONTEXT, "length of the result", self.rows(), y.len())?;
        execute(&self.0.accelerator, self.0.accelerator.devices(), &mut Multiply { version: &self.0, x, y }, abort)
            .map(|((), report)| report)
    }
}

/// Multiplies a vector by a version of a matrix.
struct Multiply<'a, F: NttField> {
    version: &'a Version<F>,
    x: &'a [F],
    y: &'a mut [F],
}

impl<F: NttField> Operation for Multiply<'_, F> {
    type Output = ();

    fn scope(&self) -> OpScope {
        let elements = self.version.base.nonzeros() + self.version.changes.len();
        OpScope { operation: format!("dynamic csr {}", F::NAME), elements }
    }

    fn on_devices(&mut self, _: &[Arc<Device>], ctx: ExecCtx<'_>) -> Result<()> {
        let base = self.version.base.on_device()?;
        let delta = self.version.device_changes(&base, ctx)?;
        multiply(&base, delta.as_deref(), self.x, self.y, ctx)
    }

    fn on_cpu(&mut self, ctx: ExecCtx<'_>) -> Result<()> {
        let base = self.version.base.csr()?;
        let delta = self.version.delta(&base)?;
        multiply_on_host(&base, &delta, self.x, self.y, ctx)
    }
}

impl<F: NttField> Version<F> {
    fn delta(&self, base: &Csr<F>) -> Result<Arc<Delta<F>>> {
        get_or_try_init(&self.delta, || Ok(Delta::new(base, &self.changes)))
    }

    /// Returns the changes in device memory, located in `base`; `None` if there are no changes. The first call uploads
    /// them.
    pub(super) fn device_changes(&self, base: &CsrOnDevice<F>, ctx: ExecCtx<'_>) -> Result<Option<Arc<Changes>>> {
        if self.changes.is_empty() {
            return Ok(None);
        }
        get_or_try_init(&self.on_device, || locate_changes(base, &self.changes, ctx)).map(Some)
    }
}

fn multiply_on_host<F: NttField>(
    base: &Csr<F>,
    delta: &Delta<F>,
    x: &[F],
    y: &mut [F],
    ctx: ExecCtx<'_>,
) -> Result<()> {
    let mut product = SecretVec(vec![F::ZERO; y.len()]);
    cpu::multiply(base, &[x], &mut [&mut product], ctx)?;
    delta.add_product(x, &mut product);
    ctx.check_abort()?;
    y.copy_from_slice(&product);
    Ok(())
}

/// Uploads `changes`, which are sorted by (row, column), and locates their entries in `base`.
pub(super) fn locate_changes<F: NttField>(
    base: &CsrOnDevice<F>,
    changes: &[Change<F>],
    ctx: ExecCtx<'_>,
) -> Result<Changes> {
    let (mut rows, mut starts, mut columns) = (Vec::new(), Vec::new(), Vec::with_capacity(changes.len()));
    let mut values = SecretVec(Vec::with_capacity(changes.len()));
    for change in changes {
        if rows.last() != Some(&(change.row as u32)) {
            rows.push(change.row as u32);
            starts.push(columns.len() as u32);
        }
        let (value, bit) = match change.action {
            Action::Set(value) => (value, CHANGE_REPLACES),
            Action::Add(value) => (value, 0),
        };
        columns.push(change.column as u32 | bit);
        values.0.push(value);
    }
    starts.push(columns.len() as u32);
    base.locate_changes(&HostChanges { rows: &rows, starts: &starts, columns: &columns, values: &values }, ctx)
}

/// Computes y = (A + D)·x on a device, where `base` holds A and `delta` the differences D. Without `delta`, D is 0.
/// Writes `y` only after the whole result has arrived.
pub(super) fn multiply<F: NttField>(
    base: &CsrOnDevice<F>,
    delta: Option<&Changes>,
    x: &[F],
    y: &mut [F],
    ctx: ExecCtx<'_>,
) -> Result<()> {
    let mut stream = base.device().stream()?;
    let bytes = size_of_val(y);
    let of_x = stream.allocate(size_of_val(x))?.mark_secret();
    let of_y = stream.allocate(bytes)?.mark_secret();
    let mut result = stream.allocate_pinned(bytes)?;
    stream.upload_abortable(&of_x, 0, as_bytes(x), ctx.abort())?;
    stream.begin_timing()?;
    base.enqueue(&mut stream, DeviceVectors::one(&of_x), DeviceVectors::one(&of_y), 1)?;
    if let Some(delta) = delta {
        let differences = Differences {
            count: delta.rows,
            changes: In::new(&delta.places),
            values: In::new(&delta.values),
            x: In::new(&of_x),
            y: Out::new(&of_y),
        };
        KernelModule::find(&FAMILY, F::NAME)?.run(&mut stream, delta.rows.into(), differences)?;
    }
    stream.end_timing()?;
    if bytes > 0 {
        stream.copy_to_pinned(&mut result, &of_y)?;
    }
    ctx.synchronize(&mut stream)?;
    // SAFETY: the kernels leave reduced elements in Montgomery form.
    result.drain_into(unsafe { as_bytes_mut(y) });
    ctx.record([&stream]);
    Ok(())
}
