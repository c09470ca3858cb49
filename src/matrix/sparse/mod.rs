//! Sparse matrices over the fields of [`crate::field`] times vectors, such as those of an R1CS.
//!
//! [`Csr`] is a matrix on the host, [`SparseMatrix`] the same on an accelerator's devices for products of host slices,
//! [`CsrOnDevice`] on one device for products of what is there, queued on a stream.
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

pub(super) mod changes;
pub(super) mod cpu;
mod csr;
mod device;
mod explain;
mod gpu;
mod options;
mod plan;
#[cfg(test)]
mod tests;

use std::cell::RefCell;
use std::sync::{Arc, Mutex, OnceLock};

pub use csr::Csr;
pub use device::{CsrOnDevice, DeviceVectors};
pub use explain::Explanation;
pub use options::Options;
pub use plan::{Kernel, Statistics};

use crate::backend::{Abort, Device, guarded};
use crate::field::NttField;
use crate::report::Call;
use crate::waiting::made_once;
use crate::{Accelerator, Error, Report, Result};

/// A matrix on the devices, and its transpose once that is asked for, for any number of products.
///
/// Every device holds all of it; the vectors of a batch are spread over them.
#[derive(Debug)]
pub struct SparseMatrix<F> {
    accelerator: Accelerator,
    options: Options,
    matrix: Placed<F>,
    transpose: OnceLock<Placed<F>>,
}

/// A matrix on the host, and on each device that has been asked for a product.
#[derive(Debug)]
struct Placed<F> {
    host: Arc<Csr<F>>,
    devices: Vec<Mutex<Option<Arc<CsrOnDevice<F>>>>>,
}

impl<F: NttField> Placed<F> {
    fn new(host: Arc<Csr<F>>, devices: usize) -> Self {
        Self { host, devices: (0..devices).map(|_| Mutex::default()).collect() }
    }

    /// The matrix on the accelerator's device of a number, uploaded at the first call that works.
    fn on_device(&self, number: usize, device: &Arc<Device>, options: Options) -> Result<Arc<CsrOnDevice<F>>> {
        made_once(&self.devices[number], || CsrOnDevice::new(device, &self.host, options))
    }
}

impl<F: NttField> SparseMatrix<F> {
    /// Uploads a matrix to each of the accelerator's devices.
    ///
    /// # Errors
    /// A forced backend has too little memory, or failed.
    pub fn new(accelerator: &Accelerator, csr: impl Into<Arc<Csr<F>>>) -> Result<Self> {
        Self::with_options(accelerator, csr, Options::default())
    }

    /// As [`Self::new`], with some things settled by the caller.
    ///
    /// # Errors
    /// A forced backend has too little memory, or failed.
    pub fn with_options(accelerator: &Accelerator, csr: impl Into<Arc<Csr<F>>>, options: Options) -> Result<Self> {
        let accelerator = accelerator.on_devices(options.devices(accelerator));
        let matrix = Placed::new(csr.into(), accelerator.devices().len());
        let this = Self { accelerator, options, matrix, transpose: OnceLock::new() };
        match this.on_devices(&this.matrix) {
            Err(error) if this.accelerator.forced().is_none() => {
                log::warn!("csr {}: the matrix stays on the host: {error}", F::NAME);
            }
            result => drop(result?),
        }
        Ok(this)
    }

    /// The matrix on the host.
    pub fn csr(&self) -> &Arc<Csr<F>> {
        &self.matrix.host
    }

    /// What kernel multiplies it on a device and why, from its rows' lengths.
    pub fn explain(&self) -> Explanation {
        Explanation::new(&self.matrix.host, self.options)
    }

    /// As [`Self::explain`], of the transpose.
    pub fn explain_transposed(&self) -> Explanation {
        Explanation::new(&self.transpose().host, self.options)
    }

    /// y = A·x.
    ///
    /// # Errors
    /// x has not as many elements as A has columns, or y not as many as it has rows, the hook aborted, or a forced
    /// backend failed; then y is as it was.
    pub fn multiply(&self, x: &[F], y: &mut [F], abort: Abort<'_>) -> Result<Report> {
        self.multiply_many(&[x], &mut [y], abort)
    }

    /// y = A·x for several vectors, all of them or none.
    ///
    /// # Errors
    /// Numbers of vectors differ, an x has not as many elements as A has columns, or a y not as many as it has rows, the hook
    /// aborted, or a forced backend failed; then every y is as it was.
    pub fn multiply_many(&self, x: &[&[F]], y: &mut [&mut [F]], abort: Abort<'_>) -> Result<Report> {
        self.run("csr", &self.matrix, x, y, abort)
    }

    /// y = Aᵀ·x. The transpose is made and uploaded at the first call.
    ///
    /// # Errors
    /// x has not as many elements as A has rows, or y not as many as it has columns, the hook aborted, or a forced backend
    /// failed; then y is as it was.
    pub fn multiply_transposed(&self, x: &[F], y: &mut [F], abort: Abort<'_>) -> Result<Report> {
        self.multiply_transposed_many(&[x], &mut [y], abort)
    }

    /// y = Aᵀ·x for several vectors, all of them or none.
    ///
    /// # Errors
    /// Numbers of vectors differ, an x has not as many elements as A has rows, or a y not as many as it has columns, the hook
    /// aborted, or a forced backend failed; then every y is as it was.
    pub fn multiply_transposed_many(&self, x: &[&[F]], y: &mut [&mut [F]], abort: Abort<'_>) -> Result<Report> {
        self.run("csr transposed", self.transpose(), x, y, abort)
    }

    /// The matrix on the accelerator's device of a number, for products queued on its streams.
    ///
    /// # Errors
    /// There is no such device, or it has too little memory, or failed.
    pub fn on_device(&self, number: usize) -> Result<Arc<CsrOnDevice<F>>> {
        self.place(&self.matrix, number)
    }

    /// As [`Self::on_device`], the transpose.
    ///
    /// # Errors
    /// There is no such device, or it has too little memory, or failed.
    pub fn transposed_on_device(&self, number: usize) -> Result<Arc<CsrOnDevice<F>>> {
        self.place(self.transpose(), number)
    }

    fn place(&self, placed: &Placed<F>, number: usize) -> Result<Arc<CsrOnDevice<F>>> {
        let devices = self.accelerator.devices();
        let none = || Error::invalid("csr", "device", format!("below {}", devices.len()), number);
        placed.on_device(number, devices.get(number).ok_or_else(none)?, self.options)
    }

    fn on_devices(&self, placed: &Placed<F>) -> Result<Vec<Arc<CsrOnDevice<F>>>> {
        (0..self.accelerator.devices().len()).map(|number| self.place(placed, number)).collect()
    }

    fn transpose(&self) -> &Placed<F> {
        let make = || Placed::new(Arc::new(self.matrix.host.transpose()), self.accelerator.devices().len());
        self.transpose.get_or_init(make)
    }

    fn run(&self, what: &str, placed: &Placed<F>, x: &[&[F]], y: &mut [&mut [F]], abort: Abort<'_>) -> Result<Report> {
        guarded(abort, |abort| self.run_guarded(what, placed, x, y, abort))
    }

    fn run_guarded(
        &self,
        what: &str,
        placed: &Placed<F>,
        x: &[&[F]],
        y: &mut [&mut [F]],
        abort: Abort<'_>,
    ) -> Result<Report> {
        let csr = &placed.host;
        check(csr, x, y)?;
        let call = Call { operation: format!("{what} {}", F::NAME), elements: csr.nonzeros() * x.len() };
        // Both closures want the results; only one runs at a time.
        let y = RefCell::new(y);
        let gpu = |_: &[Arc<Device>]| gpu::multiply(&self.on_devices(placed)?, x, &mut y.borrow_mut(), abort);
        let ((), report) = self.accelerator.run(
            call,
            |devices| gpu(devices).map(|traffic| ((), traffic)),
            || cpu::multiply(csr, x, &mut y.borrow_mut(), abort),
        )?;
        Ok(report)
    }
}

fn check<F>(csr: &Csr<F>, x: &[&[F]], y: &[&mut [F]]) -> Result<()> {
    let equal = |what: String, expected: usize, actual: usize| match expected == actual {
        true => Ok(()),
        false => Err(Error::invalid("csr", what, expected, actual)),
    };
    equal("number of results".to_owned(), x.len(), y.len())?;
    let lengths = |(i, (x, y)): (usize, (&&[F], &&mut [F]))| {
        equal(format!("length of vector {i}"), csr.columns(), x.len())?;
        equal(format!("length of result {i}"), csr.rows(), y.len())
    };
    x.iter().zip(y).enumerate().try_for_each(lengths)
}
