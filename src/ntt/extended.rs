//! Defines a domain and the 2^k times larger one, on whose coset polynomials of the domain's length are multiplied.

use std::sync::Arc;

use super::domain::{Direction, NttDomain, NttOptions};
use super::gpu::{Passes, inverse_of_vanishing, launch, scale_periodically};
use super::plan::MAX_RADIX_LOG;
use super::{Transform, cpu};
use crate::backend::{Device, Stream};
use crate::exec::{ExecCtx, Operation, execute};
use crate::field::{DeviceVector, TransformField};
use crate::kernel_arguments::{In, Out};
use crate::kernels::ntt::{FAMILY, Interleave};
use crate::module_launcher::KernelModule;
use crate::report::OpScope;
use crate::secret_vec::SecretVec;
use crate::{Accelerator, Error, Report, Result};

/// Describes the coset g·H of a subgroup H of order N = `2^(log_n + log_factor)`, for polynomials of degree below n =
/// `2^log_n`.
///
/// The coset is the union of the cosets g·ω^j of the subgroup of order n, where ω has order N. So evaluation on it
/// takes 2^log_factor transforms of length n. No zeros are written, read or multiplied, and the first pass of each
/// transform reads the coefficients. Butterflies take N·log₂(n)/2 products instead of N·log₂(N)/2. Each coset takes
/// tables of its own.
#[derive(Debug, Clone)]
pub struct ExtendedDomain<F> {
    base_domain: NttDomain<F>,
    extended_domain: NttDomain<F>,
}

impl<F: TransformField> ExtendedDomain<F> {
    /// Creates the extended domain with the field's multiplicative generator as g.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: the sum of the logarithms is above the field's two-adicity.
    pub fn new(accelerator: &Accelerator, log_n: u32, log_factor: u32) -> Result<Self> {
        Self::with_coset(accelerator, log_n, log_factor, F::MULTIPLICATIVE_GENERATOR)
    }

    /// Creates the extended domain with `coset` as g.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: the sum of the logarithms is above the field's two-adicity.
    /// - [`Error::Invalid`]: g is zero.
    pub fn with_coset(accelerator: &Accelerator, log_n: u32, log_factor: u32, coset: F) -> Result<Self> {
        let options = NttOptions { coset: Some(coset), ..NttOptions::default() };
        let extended_domain = NttDomain::with_options(accelerator, log_n.saturating_add(log_factor), options)?;
        Ok(Self { base_domain: NttDomain::with_options(accelerator, log_n, options)?, extended_domain })
    }

    /// Returns the domain of order n = `2^log_n`.
    pub fn base_domain(&self) -> &NttDomain<F> {
        &self.base_domain
    }

    /// Returns the domain of order N = `2^(log_n + log_factor)`, whose coset is g·H.
    pub fn extended_domain(&self) -> &NttDomain<F> {
        &self.extended_domain
    }

    /// Returns the number of cosets of the subgroup of order n that make up g·H, `2^log_factor`.
    pub fn coset_count(&self) -> usize {
        1 << self.log_factor()
    }

    fn log_factor(&self) -> u32 {
        self.extended_domain.log_n() - self.base_domain.log_n()
    }

    /// Returns g·ω^j, where j is `coset` and ω has order N: the shift of that coset of the subgroup of order n.
    pub(crate) fn coset_shift(&self, coset: usize) -> F {
        self.extended_domain.coset() * self.extended_domain.omega().pow_vartime([coset as u64])
    }

    fn coset_transform(&self, coset: usize) -> Transform<F> {
        Transform { shift_in: Some(self.coset_shift(coset)), ..self.base_domain.transform(Direction::Forward) }
    }

    /// Queues the evaluation of a polynomial with n `coefficients` on one coset of the subgroup of order n. Element i
    /// of the returned vector is the value at g·ω^(j + i·N/n), where j is `coset`. The coefficients stay unchanged.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: there is no such coset.
    /// - [`Error::Invalid`]: there are not n coefficients, or they are on another device.
    /// - [`Error::OutOfMemory`], [`Error::Device`]: the device has too little memory, or its driver failed.
    pub fn enqueue_coset(
        &self,
        stream: &mut Stream,
        coefficients: &DeviceVector<F>,
        coset: usize,
    ) -> Result<DeviceVector<F>> {
        coefficients.wait_before_read(stream)?;
        self.check_length(coefficients)?;
        self.enqueue_coset_batch(stream, coefficients, coset)
    }

    /// Queues the evaluation of several polynomials on one coset of the subgroup of order n, in one batch of
    /// transforms. Each polynomial has n consecutive elements of `coefficients`. Its n values are the elements with the
    /// same indices of the returned vector, as from [`Self::enqueue_coset`].
    ///
    /// # Errors
    /// - [`Error::Invalid`]: there is no such coset.
    /// - [`Error::Invalid`]: there is no whole number of polynomials, or there are too many.
    /// - [`Error::Invalid`]: the polynomials are on another device.
    /// - [`Error::OutOfMemory`], [`Error::Device`]: the device has too little memory, or its driver failed.
    pub fn enqueue_coset_batch(
        &self,
        stream: &mut Stream,
        coefficients: &DeviceVector<F>,
        coset: usize,
    ) -> Result<DeviceVector<F>> {
        coefficients.wait_before_read(stream)?;
        self.check_coset(coset)?;
        let layout = self.base_domain.contiguous_layout(coefficients)?;
        let values = DeviceVector::allocate_uninit(stream, coefficients.len())?;
        if layout.vectors == 0 {
            return Ok(values);
        }
        let passes = Passes::with_radix(stream, &self.coset_transform(coset), layout, MAX_RADIX_LOG)?;
        let other = passes.scratch_like(stream, values.buffer())?;
        passes.enqueue_out_of_place(stream, coefficients.buffer(), values.buffer(), other.as_ref())?;
        Ok(values)
    }

    /// Queues the evaluation of a polynomial with n `coefficients` on the whole coset g·H. Element i of the returned
    /// vector is the value at g·ω^i, for i below N.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: there are not n coefficients, or they are on another device.
    /// - [`Error::OutOfMemory`], [`Error::Device`]: the device has too little memory, or its driver failed.
    pub fn enqueue_forward(&self, stream: &mut Stream, coefficients: &DeviceVector<F>) -> Result<DeviceVector<F>> {
        self.check_length(coefficients)?;
        let extended_domain = DeviceVector::allocate_uninit(stream, 1 << self.extended_domain.log_n())?;
        for coset in 0..self.coset_count() {
            let values = self.enqueue_coset(stream, coefficients, coset)?;
            self.interleave(stream, &values, &extended_domain, coset)?;
        }
        Ok(extended_domain)
    }

    /// Queues the interleaving of a polynomial's values on all cosets of the subgroup of order n. `cosets[j]` holds the
    /// values on coset j, as from [`Self::enqueue_coset`]. Element i of the returned vector is the value at g·ω^i, for
    /// i below N.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: the number of `cosets` or the length of one does not fit.
    /// - [`Error::Invalid`]: one of them is on another device.
    /// - [`Error::OutOfMemory`], [`Error::Device`]: the device has too little memory, or its driver failed.
    pub fn enqueue_interleaved(&self, stream: &mut Stream, cosets: &[DeviceVector<F>]) -> Result<DeviceVector<F>> {
        if cosets.len() != self.coset_count() {
            return Err(Error::invalid("ntt", "number of cosets", self.coset_count(), cosets.len()));
        }
        let extended_domain = DeviceVector::allocate_uninit(stream, 1 << self.extended_domain.log_n())?;
        for (coset, values) in cosets.iter().enumerate() {
            values.wait_before_read(stream)?;
            self.check_length(values)?;
            self.interleave(stream, values, &extended_domain, coset)?;
        }
        Ok(extended_domain)
    }

    /// Queues the in-place transform of `values` on the whole coset g·H, in natural order, to N coefficients.
    ///
    /// # Errors
    /// - The errors are those of [`NttDomain::enqueue`] for the domain of order N.
    pub fn enqueue_inverse(&self, stream: &mut Stream, values: &mut DeviceVector<F>) -> Result<()> {
        self.extended_domain.enqueue(Direction::CosetInverse, stream, values)
    }

    /// Queues the division of `values`, on coset number `coset` of the subgroup of order n, by x^n − 1. That polynomial
    /// has a single value on the coset.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: there is no such coset, or x^n − 1 is 0 on it.
    /// - [`Error::Invalid`]: the vector is on another device.
    /// - [`Error::OutOfMemory`], [`Error::Device`]: the device has too little memory, or its driver failed.
    pub fn divide_coset_by_vanishing(
        &self,
        stream: &mut Stream,
        values: &mut DeviceVector<F>,
        coset: usize,
    ) -> Result<()> {
        self.check_coset(coset)?;
        self.base_domain.scale(stream, values, self.inverse_of_vanishing(coset)?)
    }

    /// Queues the division of `values`, on the whole coset g·H in natural order, by the values of x^n − 1. These repeat
    /// every N/n elements.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: there is no whole number of vectors of N, or x^n − 1 is 0 on a coset.
    /// - [`Error::Invalid`]: the vector is on another device.
    /// - [`Error::OutOfMemory`], [`Error::Device`]: the device has too little memory, or its driver failed.
    pub fn divide_by_vanishing_on_coset(&self, stream: &mut Stream, values: &mut DeviceVector<F>) -> Result<()> {
        let order = 1usize << self.extended_domain.log_n();
        if !values.len().is_multiple_of(order) {
            return Err(Error::invalid("ntt", "length on the device", format!("a multiple of {order}"), values.len()));
        }
        let factors =
            (0..self.coset_count()).map(|coset| self.inverse_of_vanishing(coset)).collect::<Result<Vec<F>>>()?;
        scale_periodically(stream, values, &factors)
    }

    /// Returns the values of the polynomial with n `coefficients` on the coset g·H of the extended domain H. There is
    /// one value per element of H, in natural order.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: there are not n coefficients.
    /// - The error of a forced backend that failed.
    pub fn forward(&self, coefficients: &[F]) -> Result<(Vec<F>, Report)> {
        let n = 1usize << self.base_domain.log_n();
        Error::check_eq("ntt", "number of coefficients", n, coefficients.len())?;
        execute(
            self.extended_domain.accelerator(),
            self.extended_domain.accelerator().devices(),
            &mut ExtendedForward { domain: self, coefficients },
            None,
        )
    }

    /// Returns 1/((g·ω^j)^n − 1), where j is `coset`. Returns an error if the denominator is 0.
    fn inverse_of_vanishing(&self, coset: usize) -> Result<F> {
        inverse_of_vanishing((0..self.base_domain.log_n()).fold(self.coset_shift(coset), |power, _| power.square()))
    }

    /// Queues the copy of `values`, those on coset number `coset`, to their places in `extended_domain`. Element i goes
    /// to index i·N/n + `coset`.
    fn interleave(
        &self,
        stream: &mut Stream,
        values: &DeviceVector<F>,
        extended_domain: &DeviceVector<F>,
        coset: usize,
    ) -> Result<()> {
        let count = values.len() as u64;
        let interleave = Interleave {
            from: In::new(values.buffer()),
            to: Out::new(extended_domain.buffer()),
            count,
            step_log: self.log_factor(),
            first: coset as u32,
        };
        launch(KernelModule::find(&FAMILY, F::NAME)?, stream, count, interleave)
    }

    fn check_coset(&self, coset: usize) -> Result<()> {
        if coset < self.coset_count() {
            return Ok(());
        }
        Err(Error::invalid("ntt", "coset", format!("below {}", self.coset_count()), coset))
    }

    fn check_length(&self, values: &DeviceVector<F>) -> Result<()> {
        let n = 1usize << self.base_domain.log_n();
        Error::check_eq("ntt", "length on the device", n, values.len())
    }
}

/// Evaluates a polynomial on the extended domain.
struct ExtendedForward<'a, F> {
    domain: &'a ExtendedDomain<F>,
    coefficients: &'a [F],
}

impl<F: TransformField> Operation for ExtendedForward<'_, F> {
    type Output = Vec<F>;

    fn scope(&self) -> OpScope {
        let operation = format!("extended ntt {}", F::NAME);
        OpScope { operation, elements: 1 << self.domain.extended_domain.log_n() }
    }

    fn on_devices(&mut self, devices: &[Arc<Device>], ctx: ExecCtx<'_>) -> Result<Vec<F>> {
        let mut stream = devices[0].stream()?;
        let coefficients = DeviceVector::upload(&mut stream, self.coefficients)?;
        let values = self.domain.enqueue_forward(&mut stream, &coefficients)?;
        let mut results = vec![F::ZERO; values.len()];
        values.download(&mut stream, &mut results)?;
        ctx.synchronize(&mut stream)?;
        ctx.record([&stream]);
        Ok(results)
    }

    fn on_cpu(&mut self, ctx: ExecCtx<'_>) -> Result<Vec<F>> {
        let domain = self.domain;
        let mut cosets: Vec<_> = (0..domain.coset_count()).map(|_| SecretVec(self.coefficients.to_vec())).collect();
        let transforms: Vec<_> = (0..domain.coset_count()).map(|coset| domain.coset_transform(coset)).collect();
        let mut slices: Vec<&mut [F]> = cosets.iter_mut().map(|coset| &mut coset[..]).collect();
        cpu::transform_many(&mut slices, &transforms, ctx)?;
        let order = 1usize << domain.extended_domain.log_n();
        Ok((0..order).map(|i| cosets[i % domain.coset_count()][i >> domain.log_factor()]).collect())
    }
}
