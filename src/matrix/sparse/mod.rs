//! Multiplies sparse matrices over the fields of [`crate::field`], such as those of an R1CS, by vectors.
//!
//! - [`Csr`] holds a matrix on the host.
//! - [`SparseMatrix`] holds it on an accelerator's devices, and multiplies host slices.
//! - [`CsrOnDevice`] holds it on one device, and queues products of vectors there on a stream.
//!
//! ```
//! use ff::Field;
//! use proofwarp::{Accelerator, matrix::{Csr, SparseMatrix}};
//!
//! let [one, two] = [1, 2].map(blstrs::Scalar::from);
//! let rows = [vec![(0, one), (2, -one)], vec![], vec![(1, two)]];
//! let matrix = SparseMatrix::new(&Accelerator::from_env()?, Csr::from_rows(3, rows)?)?;
//! let mut y = vec![one; 3];
//! let report = matrix.multiply(&[two, two, one], &mut y, None)?;
//! assert_eq!(y, [one, blstrs::Scalar::ZERO, two + two]);
//! println!("{report}\n{}", matrix.explain());
//! # Ok::<(), proofwarp::Error>(())
//! ```

pub(super) mod cpu;
mod csr;
mod csr_file;
mod csr_on_device;
pub(super) mod device_merge;
mod explain_and_options;
mod kernel_and_tiles;
mod multiply_host_vectors;
mod words;

#[cfg(test)]
mod limit_and_abort_tests;

use std::sync::{Arc, Mutex, OnceLock};

pub use csr::Csr;
pub use csr_on_device::{CsrOnDevice, DeviceVectors};
pub use explain_and_options::{SparseExplanation, SparseOptions};
pub use kernel_and_tiles::{Kernel, Statistics};

use crate::backend::{Abort, Device};
use crate::exec::{ExecCtx, Operation, execute};
use crate::field::NttField;
use crate::rayon_waits::get_or_try_init;
use crate::report::OpScope;
use crate::{Accelerator, Error, Report, Result};

/// Holds a sparse matrix on the devices of an accelerator, for any number of products with vectors. Its transpose is
/// added once a call needs it.
///
/// Every device holds the whole matrix. The vectors of a batch are spread over the devices.
#[derive(Debug)]
pub struct SparseMatrix<F> {
    accelerator: Accelerator,
    options: SparseOptions,
    matrix: DeviceReplicas<F>,
    transpose: OnceLock<DeviceReplicas<F>>,
}

/// Holds a matrix on the host, and a copy of it on each device that a product has used.
#[derive(Debug)]
struct DeviceReplicas<F> {
    host: Arc<Csr<F>>,
    devices: Vec<Mutex<Option<Arc<CsrOnDevice<F>>>>>,
}

impl<F: NttField> DeviceReplicas<F> {
    fn new(host: Arc<Csr<F>>, devices: usize) -> Self {
        Self { host, devices: (0..devices).map(|_| Mutex::default()).collect() }
    }

    /// Returns the matrix on `device`, which has the index `number` in the accelerator. The first successful call
    /// uploads it.
    fn get_or_upload(
        &self,
        number: usize,
        device: &Arc<Device>,
        options: SparseOptions,
    ) -> Result<Arc<CsrOnDevice<F>>> {
        get_or_try_init(&self.devices[number], || CsrOnDevice::new(device, &self.host, options))
    }
}

impl<F: NttField> SparseMatrix<F> {
    /// Uploads the matrix `csr` to each device of `accelerator`.
    ///
    /// # Errors
    /// - [`Error::OutOfMemory`], [`Error::Device`]: a forced backend has too little memory, or fails.
    pub fn new(accelerator: &Accelerator, csr: impl Into<Arc<Csr<F>>>) -> Result<Self> {
        Self::with_options(accelerator, csr, SparseOptions::default())
    }

    /// Uploads the matrix `csr` to the devices of `accelerator` that `options` allow.
    ///
    /// # Errors
    /// - [`Error::OutOfMemory`], [`Error::Device`]: a forced backend has too little memory, or fails.
    pub fn with_options(
        accelerator: &Accelerator,
        csr: impl Into<Arc<Csr<F>>>,
        options: SparseOptions,
    ) -> Result<Self> {
        let accelerator = accelerator.with_devices(options.devices(accelerator));
        let matrix = DeviceReplicas::new(csr.into(), accelerator.devices().len());
        let this = Self { accelerator, options, matrix, transpose: OnceLock::new() };
        match this.device_matrices(&this.matrix) {
            Err(error) if this.accelerator.forced().is_none() => {
                log::warn!("csr {}: the matrix stays on the host: {error}", F::NAME);
            }
            result => drop(result?),
        }
        Ok(this)
    }

    /// Returns the matrix on the host.
    pub fn csr(&self) -> &Arc<Csr<F>> {
        &self.matrix.host
    }

    /// Explains which kernel multiplies the matrix on a device, and why. The lengths of the rows decide it, unless the
    /// options force a kernel.
    pub fn explain(&self) -> SparseExplanation {
        SparseExplanation::new(&self.matrix.host, self.options)
    }

    /// Explains which kernel multiplies the transposed matrix on a device, and why. The lengths of its rows decide it,
    /// unless the options force a kernel.
    pub fn explain_transposed(&self) -> SparseExplanation {
        SparseExplanation::new(&self.transposed_replicas().host, self.options)
    }

    /// Computes y = A·x, where A is this matrix.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: the length of `x` is not the number of columns, or that of `y` not the number of rows.
    /// - [`Error::Aborted`]: the hook aborts.
    /// - [`Error::OutOfMemory`], [`Error::Device`]: a forced backend has too little memory, or fails.
    ///
    /// After an error, `y` is unchanged.
    pub fn multiply(&self, x: &[F], y: &mut [F], abort: Abort<'_>) -> Result<Report> {
        self.multiply_many(&[x], &mut [y], abort)
    }

    /// Computes `y[i]` = A·`x[i]` for each vector of `x`, where A is this matrix. If one product fails, no result is
    /// written.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: `x` and `y` differ in their number of vectors.
    /// - [`Error::Invalid`]: the length of an `x` is not the number of columns, or that of a `y` not the number of
    ///   rows.
    /// - [`Error::Aborted`]: the hook aborts.
    /// - [`Error::OutOfMemory`], [`Error::Device`]: a forced backend has too little memory, or fails.
    ///
    /// After an error, every `y` is unchanged.
    pub fn multiply_many(&self, x: &[&[F]], y: &mut [&mut [F]], abort: Abort<'_>) -> Result<Report> {
        self.multiply_replicas("csr", &self.matrix, x, y, abort)
    }

    /// Computes y = Aᵀ·x, where A is this matrix. The first call makes and uploads the transpose.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: the length of `x` is not the number of rows, or that of `y` not the number of columns.
    /// - [`Error::Aborted`]: the hook aborts.
    /// - [`Error::OutOfMemory`], [`Error::Device`]: a forced backend has too little memory, or fails.
    ///
    /// After an error, `y` is unchanged.
    pub fn multiply_transposed(&self, x: &[F], y: &mut [F], abort: Abort<'_>) -> Result<Report> {
        self.multiply_transposed_many(&[x], &mut [y], abort)
    }

    /// Computes `y[i]` = Aᵀ·`x[i]` for each vector of `x`, where A is this matrix. If one product fails, no result is
    /// written.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: `x` and `y` differ in their number of vectors.
    /// - [`Error::Invalid`]: the length of an `x` is not the number of rows, or that of a `y` not the number of
    ///   columns.
    /// - [`Error::Aborted`]: the hook aborts.
    /// - [`Error::OutOfMemory`], [`Error::Device`]: a forced backend has too little memory, or fails.
    ///
    /// After an error, every `y` is unchanged.
    pub fn multiply_transposed_many(&self, x: &[&[F]], y: &mut [&mut [F]], abort: Abort<'_>) -> Result<Report> {
        self.multiply_replicas("csr transposed", self.transposed_replicas(), x, y, abort)
    }

    /// Returns the matrix on the device with index `number` in the accelerator, for products that callers queue
    /// themselves. Uploads it if it is not there yet.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: there is no such device.
    /// - [`Error::OutOfMemory`], [`Error::Device`]: the device has too little memory, or its driver fails.
    pub fn on_device(&self, number: usize) -> Result<Arc<CsrOnDevice<F>>> {
        self.device_matrix(&self.matrix, number)
    }

    /// Returns the transposed matrix on the device with index `number` in the accelerator, for products that callers
    /// queue themselves. Uploads it if it is not there yet.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: there is no such device.
    /// - [`Error::OutOfMemory`], [`Error::Device`]: the device has too little memory, or its driver fails.
    pub fn transposed_on_device(&self, number: usize) -> Result<Arc<CsrOnDevice<F>>> {
        self.device_matrix(self.transposed_replicas(), number)
    }

    fn device_matrix(&self, placed: &DeviceReplicas<F>, number: usize) -> Result<Arc<CsrOnDevice<F>>> {
        let devices = self.accelerator.devices();
        let none = || Error::invalid("csr", "device", format!("below {}", devices.len()), number);
        placed.get_or_upload(number, devices.get(number).ok_or_else(none)?, self.options)
    }

    fn device_matrices(&self, placed: &DeviceReplicas<F>) -> Result<Vec<Arc<CsrOnDevice<F>>>> {
        (0..self.accelerator.devices().len()).map(|number| self.device_matrix(placed, number)).collect()
    }

    fn transposed_replicas(&self) -> &DeviceReplicas<F> {
        let make = || DeviceReplicas::new(Arc::new(self.matrix.host.transpose()), self.accelerator.devices().len());
        self.transpose.get_or_init(make)
    }

    fn multiply_replicas(
        &self,
        what: &str,
        placed: &DeviceReplicas<F>,
        x: &[&[F]],
        y: &mut [&mut [F]],
        abort: Abort<'_>,
    ) -> Result<Report> {
        check_lengths(&placed.host, x, y)?;
        let mut operation = Multiply { matrix: self, what, placed, x, y };
        execute(&self.accelerator, self.accelerator.devices(), &mut operation, abort).map(|((), report)| report)
    }
}

/// Multiplies vectors in host memory by a matrix or its transpose.
struct Multiply<'a, 'y, F: NttField> {
    matrix: &'a SparseMatrix<F>,
    what: &'a str,
    placed: &'a DeviceReplicas<F>,
    x: &'a [&'a [F]],
    y: &'a mut [&'y mut [F]],
}

impl<F: NttField> Operation for Multiply<'_, '_, F> {
    type Output = ();

    fn scope(&self) -> OpScope {
        OpScope {
            operation: format!("{} {}", self.what, F::NAME),
            elements: self.placed.host.nonzeros() * self.x.len(),
        }
    }

    fn on_devices(&mut self, _: &[Arc<Device>], ctx: ExecCtx<'_>) -> Result<()> {
        multiply_host_vectors::multiply(&self.matrix.device_matrices(self.placed)?, self.x, self.y, ctx)
    }

    fn on_cpu(&mut self, ctx: ExecCtx<'_>) -> Result<()> {
        cpu::multiply(&self.placed.host, self.x, self.y, ctx)
    }
}

fn check_lengths<F>(csr: &Csr<F>, x: &[&[F]], y: &[&mut [F]]) -> Result<()> {
    Error::check_eq("csr", "number of results", x.len(), y.len())?;
    let lengths = |(i, (x, y)): (usize, (&&[F], &&mut [F]))| {
        Error::check_eq("csr", format!("length of vector {i}"), csr.columns(), x.len())?;
        Error::check_eq("csr", format!("length of result {i}"), csr.rows(), y.len())
    };
    x.iter().zip(y).enumerate().try_for_each(lengths)
}
