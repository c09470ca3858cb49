//! Checks products of matrices and runs them on the factors' device.

use std::sync::Arc;

use super::crt_params::FieldParams;
use super::dense_matrix_and_freivalds::DenseMatrix;
use super::element_and_accumulator::{DenseField, Entry, MatMulElement};
use super::host_or_device_storage::Storage;
use super::layout::{ERROR_CONTEXT, View, checked_entry_count};
use super::multi_device::{SharedProduct, divide_rows};
use super::plan::{DenseExplanation, DenseOptions, DensePlan, Method, Problem, Tiling};
use super::shared_launches::ProductTask;
use super::{cpu, gpu};
use crate::backend::{Abort, Buffer, Device};
use crate::exec::{ExecCtx, Operation, execute};
use crate::kernels;
use crate::module_launcher::KernelModule;
use crate::report::OpScope;
use crate::secret_vec::SecretVec;
use crate::{Accelerator, Error, Report, Result};

impl<T: Entry> DenseMatrix<T> {
    /// Computes C = A·B for this matrix A, row-major in new memory on the device of the factors. It takes m·k·n
    /// multiplications for an m × k and a k × n matrix, and [`Self::explain`] shows the plan. Sums may have any number
    /// of terms, except that products of bytes by bytes have 32-bit sums of fewer than 2^17 terms.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: the shapes do not fit, or the factors are on different devices.
    /// - [`Error::Invalid`]: the requested method is unavailable.
    /// - [`Error::Invalid`]: sums of bytes have 2^17 terms or more, or the product exceeds the address space.
    /// - [`Error::Aborted`]: the hook aborts.
    /// - [`Error::OutOfMemory`], [`Error::Device`]: a forced backend has too little memory, or fails.
    /// - [`Error::OutOfMemory`]: the host computes the product, and has too little memory for it.
    /// - [`Error::Device`]: the host computes the product, and cannot copy a factor from its device.
    pub fn multiply<B: Entry>(
        &self,
        b: &DenseMatrix<B>,
        options: &DenseOptions,
        abort: Abort<'_>,
    ) -> Result<DenseMatrix<T::Product>>
    where
        T: MatMulElement<B>,
    {
        let one = Self::multiply_batch(&[(self, b)], options, abort)?.pop();
        one.ok_or_else(|| Error::invalid(ERROR_CONTEXT, "products", 1, 0))
    }

    /// Computes C = A·B for this matrix A into `c`, which may be a block of a larger memory. Entries outside the block
    /// stay unchanged.
    ///
    /// The product is computed in other memory and copied once it is complete.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: `c` has another shape, or is on another device.
    /// - [`Error::Invalid`]: `c` shares its memory with a factor or any other matrix.
    /// - [`Error::Device`]: a device fails while the product is copied to `c`.
    /// - Other errors are those of [`Self::multiply`].
    ///
    /// After an error, `c` is unchanged, unless a device failed during the copy.
    pub fn multiply_into<B: Entry>(
        &self,
        b: &DenseMatrix<B>,
        c: &mut DenseMatrix<T::Product>,
        options: &DenseOptions,
        abort: Abort<'_>,
    ) -> Result<Report>
    where
        T: MatMulElement<B>,
    {
        Error::check_eq(ERROR_CONTEXT, "rows of the result", self.rows(), c.rows())?;
        Error::check_eq(ERROR_CONTEXT, "columns of the result", b.columns(), c.columns())?;
        if !c.place.is_alone() {
            let actual = "memory that a factor or another matrix overlaps";
            return Err(Error::invalid(ERROR_CONTEXT, "result", "memory of its own", actual));
        }
        let product = self.multiply(b, options, abort)?;
        c.overwrite(&product)?;
        product.report().cloned().ok_or_else(|| Error::invalid(ERROR_CONTEXT, "report", "one of a product", "none"))
    }

    /// Computes the products A·B of all `pairs`, in order. If one fails, it returns none of them. A device queues all
    /// products before it waits once. They share one report.
    ///
    /// Small products of field elements share a launch on CUDA if their shapes and strides are equal. On OpenCL, their
    /// factors must also be blocks of the same two matrices. Products of one launch share a buffer, which lives as long
    /// as any of them.
    ///
    /// # Errors
    /// - Errors are those of [`Self::multiply`], for any of the pairs.
    pub fn multiply_batch<B: Entry>(
        pairs: &[(&Self, &DenseMatrix<B>)],
        options: &DenseOptions,
        abort: Abort<'_>,
    ) -> Result<Vec<DenseMatrix<T::Product>>>
    where
        T: MatMulElement<B>,
    {
        let Some((first, with)) = pairs.first() else { return Ok(Vec::new()) };
        let device = first.common_device(with)?;
        if pairs.iter().any(|(a, b)| a.common_device(b).is_ok_and(|other| !is_same_device(device, other))) {
            // Some pairs are on other devices, so each runs by itself.
            let products = pairs.iter().map(|pair| Self::multiply_batch(&[*pair], options, abort));
            return Ok(products.collect::<Result<Vec<_>>>()?.concat());
        }
        Self::multiply_pairs(device, pairs, options, abort)
    }

    fn multiply_pairs<B: Entry>(
        device: Option<&Arc<Device>>,
        pairs: &[(&Self, &DenseMatrix<B>)],
        options: &DenseOptions,
        abort: Abort<'_>,
    ) -> Result<Vec<DenseMatrix<T::Product>>>
    where
        T: MatMulElement<B>,
    {
        let (a, b) = pairs[0];
        let plans = pairs.iter().map(|(a, b)| a.plan(b, options, device)).collect::<Result<Vec<_>>>()?;
        let scope =
            OpScope { elements: pairs.iter().map(|(a, _)| a.view().len()).sum(), ..a.op_scope("dense product", b) };
        let mut operation = PairProducts { pairs, plans, options, scope };
        let (places, report) =
            execute(a.accelerator(), device.map_or(&[], std::slice::from_ref), &mut operation, abort)?;
        let products = pairs.iter().zip(places).map(|((a, b), (place, first))| {
            let view = View { first, ..View::row_major(a.rows(), b.columns()) };
            DenseMatrix::from_result(a.accelerator(), place, view, Some(report.clone()))
        });
        Ok(products.collect())
    }

    /// Computes y = A·x for this matrix A and the vector `x`, a matrix of one column. Returns y as a new matrix of one
    /// column.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: `x` is no vector, or its length is not the number of columns of A.
    /// - [`Error::Invalid`]: A and `x` are on different devices.
    /// - [`Error::OutOfMemory`], [`Error::Device`]: a forced backend has too little memory, or fails.
    /// - [`Error::OutOfMemory`]: the host computes the product, and has too little memory for it.
    /// - [`Error::Device`]: the host computes the product, and cannot copy a factor from its device.
    pub fn times_vector<F: DenseField>(&self, x: &DenseMatrix<F>) -> Result<DenseMatrix<F>>
    where
        T: MatMulElement<F, Product = F>,
    {
        Error::check_eq(ERROR_CONTEXT, "columns of the vector", 1, x.columns())?;
        Error::check_eq(ERROR_CONTEXT, "length of the vector", self.columns(), x.rows())?;
        let device = self.common_device(x)?;
        let on_device = |device: &Arc<Device>, ctx: ExecCtx<'_>| {
            let factors = [self.device_view(device)?, x.device_view(device)?];
            gpu::times_vector(device, F::FIELD, factors, size_of::<F>(), ctx)
        };
        let on_host = |ctx: ExecCtx<'_>| {
            let (a, x) = ((self.place.host_entries()?, self.view()), (x.place.host_entries()?, x.view()));
            cpu::multiply((&a.0, a.1), (&x.0, x.1), ctx)
        };
        let call = self.op_scope("dense times vector", x);
        let (place, report) = store_one(self.accelerator(), device, call, on_device, on_host)?;
        Ok(DenseMatrix::from_result(self.accelerator(), place, View::row_major(self.rows(), 1), Some(report)))
    }

    /// Returns the sum of all rows, each multiplied by its entry of `weights`, as a matrix of one column. With
    /// evaluations of the eq polynomial as weights, the first sums of a sumcheck for a matrix product use it.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: `weights` is no vector, or its length is not the number of rows.
    /// - Other errors are those of [`Self::times_vector`].
    pub fn fold_rows<F: DenseField>(&self, weights: &DenseMatrix<F>) -> Result<DenseMatrix<F>>
    where
        T: MatMulElement<F, Product = F>,
    {
        self.transposed().times_vector(weights)
    }

    /// Returns the sum of all columns, each multiplied by its entry of `weights`, as a matrix of one column.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: `weights` is no vector, or its length is not the number of columns.
    /// - Other errors are those of [`Self::times_vector`].
    pub fn fold_columns<F: DenseField>(&self, weights: &DenseMatrix<F>) -> Result<DenseMatrix<F>>
    where
        T: MatMulElement<F, Product = F>,
    {
        self.times_vector(weights)
    }

    /// Explains how [`Self::multiply`] computes the product of this matrix and `b`, and why.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: the shapes do not fit, or the factors are on different devices.
    /// - [`Error::Invalid`]: the requested method is unavailable.
    /// - [`Error::Invalid`]: sums of bytes have 2^17 terms or more, or the product exceeds the address space.
    /// - [`Error::OutOfMemory`]: residues do not fit in memory.
    /// - [`Error::Device`]: the driver does not tell its free memory.
    pub fn explain<B: Entry>(&self, b: &DenseMatrix<B>, options: &DenseOptions) -> Result<DenseExplanation>
    where
        T: MatMulElement<B>,
    {
        let device = self.common_device(b)?;
        let (problem, plan) = self.plan(b, options, device)?;
        let mut explanation = DenseExplanation {
            entries: format!("{} · {}", T::NAME, B::NAME),
            sizes: [problem.rows, problem.inner, problem.columns],
            method: plan.method,
            reason: plan.reason,
            products: 0,
            moduli: 0,
            bytes: 0,
            pieces: 1,
        };
        if let (Method::Crt, Some(device)) = (plan.method, device) {
            let (products, moduli) = plan.basis.map_or((1, 1), |basis| (basis.byte_product_count(), basis.moduli));
            let most = options.bytes.unwrap_or(u64::MAX).min(device.free_memory()?);
            let pieces = Tiling::new(explanation.sizes, products, most, &device.info().name)?;
            let count = |whole: usize, piece: usize| whole.div_ceil(piece).max(1);
            (explanation.products, explanation.moduli, explanation.bytes) = (products, moduli, pieces.bytes);
            explanation.pieces = count(problem.rows, pieces.rows) * count(problem.columns, pieces.columns);
        }
        Ok(explanation)
    }

    fn plan<B: Entry>(
        &self,
        b: &DenseMatrix<B>,
        options: &DenseOptions,
        device: Option<&Arc<Device>>,
    ) -> Result<(Problem, DensePlan)>
    where
        T: MatMulElement<B>,
    {
        Error::check_eq(ERROR_CONTEXT, "rows of the second factor", self.columns(), b.rows())?;
        checked_entry_count::<T::Product>(&[self.rows(), b.columns()])?;
        let program = KernelModule::find(&kernels::gemm::FAMILY, T::Product::FIELD)?;
        let none = || Err("the matrices are on the host".to_owned());
        let problem = Problem {
            a: self.operand(),
            b: b.operand(),
            rows: self.rows(),
            inner: self.columns(),
            columns: b.columns(),
            prime: FieldParams::new(program.modulus(), program.one()),
            tensor: device.map_or_else(none, |device| gpu::tensor_core_support(device)),
        };
        let plan = DensePlan::new(&problem, options)?;
        Ok((problem, plan))
    }

    /// Returns `home`, which holds this matrix, then the accelerator's other devices of the same backend.
    fn devices_with_home_first(&self, home: &Arc<Device>) -> Vec<Arc<Device>> {
        let others = self.accelerator().devices().iter();
        let others = others.filter(|other| !Arc::ptr_eq(other, home) && other.info().backend == home.info().backend);
        std::iter::once(home).chain(others).cloned().collect()
    }

    /// Returns the device that holds both this matrix and `b`; `None` if either is on the host.
    fn common_device<B: Entry>(&self, b: &DenseMatrix<B>) -> Result<Option<&Arc<Device>>> {
        match (self.device(), b.device()) {
            (Some(a), Some(b)) if !Arc::ptr_eq(a, b) => {
                let name = |device: &Device| format!("a matrix on {device:?}");
                Err(Error::invalid(ERROR_CONTEXT, "second factor", name(a), name(b)))
            }
            (Some(device), Some(_)) => Ok(Some(device)),
            _ => Ok(None),
        }
    }

    fn op_scope<B: Entry>(&self, what: &str, _: &DenseMatrix<B>) -> OpScope {
        OpScope { operation: format!("{what} {} {}", T::NAME, B::NAME), elements: self.view().len() }
    }

    /// Copies the entries of `product`, which has the same shape, into this matrix. The matrix moves to the host if
    /// either of the two is there.
    fn overwrite(&mut self, product: &Self) -> Result<()> {
        match (&mut self.place, &product.place) {
            (Storage::Device(device, _), Storage::Device(..)) => {
                let device = device.clone();
                gpu::copy(&device, product.device_view(&device)?, self.device_view(&device)?, size_of::<T>()).map(drop)
            }
            // One of them is on the host, so the result goes there too.
            _ => self.overwrite_on_host(product),
        }
    }

    fn overwrite_on_host(&mut self, product: &Self) -> Result<()> {
        let from = product.place.host_entries()?;
        let mut entries = self.place.host_entries()?.0.clone();
        let (view, columns) = (self.view(), product.columns());
        for number in 0..view.len() {
            entries[view.entry_index(number / columns, number % columns)] = from[number];
        }
        self.place = Storage::from_host(entries);
        Ok(())
    }
}

/// Implements the conversion of an integer type to elements of a field.
macro_rules! to_field {
    ($type:ty) => {
        impl DenseMatrix<$type> {
            /// Converts the integers to elements of the field `F`, row-major in new memory.
            ///
            /// # Errors
            /// - [`Error::OutOfMemory`], [`Error::Device`]: a forced backend has too little memory, or fails.
            /// - [`Error::Device`]: the host converts the numbers, and cannot copy them from their device.
            pub fn to_field<F: DenseField>(&self) -> Result<DenseMatrix<F>> {
                let on_device = |device: &Arc<Device>, ctx: ExecCtx<'_>| {
                    gpu::to_field(device, F::FIELD, self.device_view(device)?, size_of::<F>(), ctx)
                };
                let element = |number: &$type| {
                    let magnitude = F::from(number.unsigned_abs().into());
                    if *number < 0 { -magnitude } else { magnitude }
                };
                let on_host = |_: ExecCtx<'_>| Ok(SecretVec(SecretVec(self.download()?).iter().map(element).collect()));
                let call = OpScope {
                    operation: format!("dense {} to {}", <$type>::NAME, F::FIELD),
                    elements: self.view().len(),
                };
                let (place, report) = store_one(self.accelerator(), self.device(), call, on_device, on_host)?;
                let view = View::row_major(self.rows(), self.columns());
                Ok(DenseMatrix::from_result(self.accelerator(), place, view, Some(report)))
            }
        }
    };
}

to_field!(i8);
to_field!(i32);

/// Returns whether `a` and `b` are the same device, or are both `None`.
fn is_same_device(a: Option<&Arc<Device>>, b: Option<&Arc<Device>>) -> bool {
    a.map(Arc::as_ptr) == b.map(Arc::as_ptr)
}

/// Runs the operation `scope` with one result, by `on_device` on `device` or by `on_host`. Returns the memory of the
/// result.
fn store_one<T: Entry>(
    accelerator: &Accelerator,
    device: Option<&Arc<Device>>,
    scope: OpScope,
    on_device: impl FnMut(&Arc<Device>, ExecCtx<'_>) -> Result<Buffer>,
    on_host: impl FnMut(ExecCtx<'_>) -> Result<SecretVec<T>>,
) -> Result<(Storage<T>, Report)> {
    let mut operation = StoredResult { scope, on_device, on_host };
    execute(accelerator, device.map_or(&[], std::slice::from_ref), &mut operation, None)
}

/// Holds the memory with a result, and the index of its first entry in that memory.
type StoredProduct<T> = (Storage<T>, usize);

/// Computes the products of pairs of matrices.
struct PairProducts<'p, T: Entry, B: Entry> {
    pairs: &'p [(&'p DenseMatrix<T>, &'p DenseMatrix<B>)],
    /// The problem and the plan of each pair.
    plans: Vec<(Problem, DensePlan)>,
    options: &'p DenseOptions,
    scope: OpScope,
}

impl<T: MatMulElement<B>, B: Entry> PairProducts<'_, T, B> {
    /// Computes the product of `task` on several devices, and returns it. `home` is the first of them. Returns `None` if
    /// `home` should compute the product alone.
    fn share(
        &self,
        home: &Arc<Device>,
        task: &ProductTask<'_>,
        ctx: ExecCtx<'_>,
    ) -> Result<Option<gpu::DeviceProduct>> {
        let (a, b) = self.pairs[0];
        let (Storage::Device(_, of_a), Storage::Device(_, of_b)) = (&a.place, &b.place) else { return Ok(None) };
        let (devices, product) = (a.devices_with_home_first(home), self.entries());
        let sizes = [size_of::<T>(), size_of::<B>()];
        let rows = divide_rows(&devices, task, (sizes, product.size), self.options.devices);
        if rows.len() == 1 {
            return Ok(None);
        }
        let (devices, memory) = (&devices[..rows.len()], [of_a, of_b]);
        SharedProduct { devices, rows, field: T::Product::FIELD, task, memory, sizes, product, ctx }.run().map(Some)
    }

    fn entries(&self) -> gpu::ProductEntries {
        let (size, kind) = (size_of::<T::Product>(), T::Product::KIND);
        gpu::ProductEntries { size, kind, bytes: self.options.bytes }
    }
}

impl<T: MatMulElement<B>, B: Entry> Operation for PairProducts<'_, T, B> {
    type Output = Vec<StoredProduct<T::Product>>;

    fn scope(&self) -> OpScope {
        self.scope.clone()
    }

    fn on_devices(&mut self, devices: &[Arc<Device>], ctx: ExecCtx<'_>) -> Result<Self::Output> {
        let home = &devices[0];
        let mut tasks = Vec::with_capacity(self.pairs.len());
        for ((a, b), (problem, plan)) in self.pairs.iter().zip(&self.plans) {
            let factors = [a.device_view(home)?, b.device_view(home)?];
            tasks.push(ProductTask { factors, problem: problem.clone(), plan: *plan });
        }
        let shared = if let [task] = &tasks[..] { self.share(home, task, ctx)? } else { None };
        let made = match shared {
            Some(product) => vec![product],
            None => gpu::multiply(home, T::Product::FIELD, &tasks, self.entries(), ctx)?,
        };
        Ok(made.into_iter().map(|(buffer, first)| (Storage::Device(home.clone(), buffer), first)).collect())
    }

    fn on_cpu(&mut self, ctx: ExecCtx<'_>) -> Result<Self::Output> {
        let product = |(a, b): &(&DenseMatrix<T>, &DenseMatrix<B>)| {
            let (a, b) = ((a.place.host_entries()?, a.view()), (b.place.host_entries()?, b.view()));
            let entries = cpu::multiply((&a.0, a.1), (&b.0, b.1), ctx)?;
            Ok((Storage::Host(Arc::new(entries)), 0))
        };
        self.pairs.iter().map(product).collect()
    }
}

/// Computes a matrix by `on_device` or by `on_host`, and stores it where it was computed.
struct StoredResult<D, H> {
    scope: OpScope,
    on_device: D,
    on_host: H,
}

impl<T: Entry, D, H> Operation for StoredResult<D, H>
where
    D: FnMut(&Arc<Device>, ExecCtx<'_>) -> Result<Buffer>,
    H: FnMut(ExecCtx<'_>) -> Result<SecretVec<T>>,
{
    type Output = Storage<T>;

    fn scope(&self) -> OpScope {
        self.scope.clone()
    }

    fn on_devices(&mut self, devices: &[Arc<Device>], ctx: ExecCtx<'_>) -> Result<Storage<T>> {
        Ok(Storage::Device(devices[0].clone(), Arc::new((self.on_device)(&devices[0], ctx)?)))
    }

    fn on_cpu(&mut self, ctx: ExecCtx<'_>) -> Result<Storage<T>> {
        Ok(Storage::Host(Arc::new((self.on_host)(ctx)?)))
    }
}
