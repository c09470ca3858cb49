//! Queues transforms of vectors on a device, and the operations of provers between them.

use super::queue_passes::{
    DeviceTransform, Pointwise, enqueue_pointwise, inverse_of_vanishing, multiply_by_powers, scale_periodically,
};
use crate::backend::Stream;
use crate::field::{DeviceVector, TransformField};
use crate::ntt::VectorLayout;
use crate::ntt::domain::{Direction, NttDomain};
use crate::ntt::transform::Transform;
use crate::{Error, Result};

fn enqueue_pointwise_vectors<F: TransformField>(
    stream: &mut Stream,
    operation: Pointwise,
    values: &DeviceVector<F>,
    other: &DeviceVector<F>,
) -> Result<()> {
    values.wait_before_write(stream)?;
    other.wait_before_read(stream)?;
    enqueue_pointwise(stream, operation, values, (other.buffer(), other.len()))
}

impl<F: TransformField> Transform<F> {
    /// Queues the in-place transform of the first `2^log_n` elements of `values` on `stream`. `omega` may be any
    /// primitive root of unity of that order. The elements stay on the device. The call does not wait, except for
    /// twiddles that the device computes at the first use.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: ω is no primitive `2^log_n`-th root of unity.
    /// - [`Error::Invalid`]: `values` is shorter, or on another device.
    /// - [`Error::OutOfMemory`], [`Error::Device`]: the device has too little memory, or its driver failed; `values` is
    ///   then undefined.
    pub fn enqueue(&self, stream: &mut Stream, values: &DeviceVector<F>) -> Result<()> {
        values.wait_before_write(stream)?;
        let n = 1usize.checked_shl(self.log_n).unwrap_or(usize::MAX);
        self.check(n)?;
        if values.len() < n {
            return Err(Error::invalid("ntt", "length on the device", format!("at least {n}"), values.len()));
        }
        let queue = DeviceTransform::new(stream, self, VectorLayout { vectors: 1, stride: n as u64 }, 0)?;
        let other = queue.scratch_like(stream, values.buffer())?;
        queue.enqueue(stream, values.buffer(), other.as_ref())
    }
}

/// Queues transforms and the operations between them on a stream. Elements stay on the device. Calls do not wait,
/// except for twiddles that the device computes at their first use. Kernels run after the work that other streams
/// queued on the same vectors before.
impl<F: TransformField> NttDomain<F> {
    /// Queues the in-place transforms of all vectors in `values`. Vectors have `2^log_n` elements, and follow one
    /// another without gaps.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: there is no whole number of vectors, or there are too many.
    /// - [`Error::Invalid`]: `values` is on another device.
    /// - [`Error::OutOfMemory`], [`Error::Device`]: the device has too little memory, or its driver failed; `values` is
    ///   then undefined.
    pub fn enqueue(&self, direction: Direction, stream: &mut Stream, values: &mut DeviceVector<F>) -> Result<()> {
        let layout = self.contiguous_layout(values)?;
        self.enqueue_strided(direction, stream, values, layout)
    }

    /// Queues the in-place transforms of the vectors that `layout` places in `values`. Each has `2^log_n` elements.
    /// Elements between vectors stay unchanged.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: vectors overlap or end outside, or there are too many.
    /// - [`Error::Invalid`]: `values` is on another device.
    /// - [`Error::OutOfMemory`], [`Error::Device`]: the device has too little memory, or its driver failed; `values` is
    ///   then undefined.
    pub fn enqueue_strided(
        &self,
        direction: Direction,
        stream: &mut Stream,
        values: &mut DeviceVector<F>,
        layout: VectorLayout,
    ) -> Result<()> {
        values.wait_before_write(stream)?;
        self.check_layout(values, layout)?;
        if layout.vectors == 0 {
            return Ok(());
        }
        let queue = DeviceTransform::new(stream, &self.transform(direction), layout, self.max_radix_log())?;
        let other = queue.scratch_like(stream, values.buffer())?;
        queue.enqueue(stream, values.buffer(), other.as_ref())
    }

    /// Returns the layout of `values` as vectors of `2^log_n` elements without gaps. Returns an error if the length is
    /// no multiple of `2^log_n`.
    pub(crate) fn contiguous_layout(&self, values: &DeviceVector<F>) -> Result<VectorLayout> {
        let n = 1usize << self.log_n();
        if !values.len().is_multiple_of(n) {
            return Err(Error::invalid("ntt", "length on the device", format!("a multiple of {n}"), values.len()));
        }
        let vectors = u32::try_from(values.len() / n)
            .map_err(|_| Error::invalid("ntt", "number of vectors", "below 2^32", values.len() / n))?;
        Ok(VectorLayout { vectors, stride: n as u64 })
    }

    fn check_layout(&self, values: &DeviceVector<F>, VectorLayout { vectors, stride }: VectorLayout) -> Result<()> {
        let n = 1u64 << self.log_n();
        if vectors > 1 && stride < n {
            return Err(Error::invalid("ntt", "stride", format!("at least {n}"), stride));
        }
        let before = u64::from(vectors).saturating_sub(1).checked_mul(stride);
        let end = before.and_then(|before| before.checked_add(if vectors == 0 { 0 } else { n }));
        match end {
            Some(end) if end <= values.len() as u64 => Ok(()),
            _ => {
                let actual = format!("{vectors} vectors of {n} every {stride} elements");
                Err(Error::invalid("ntt", "layout", format!("within {} elements", values.len()), actual))
            }
        }
    }

    /// Queues `values[i] = values[i]·other[i mod other.len()]` for all i. `other` is as long as `values`, or its length
    /// is a power of two that divides theirs.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: `other` is neither as long as `values` nor a power of two that divides their length.
    /// - [`Error::Invalid`]: `other` has 2^32 elements or more, or a vector is on another device.
    /// - [`Error::Device`]: the driver failed.
    pub fn multiply_pointwise(
        &self,
        stream: &mut Stream,
        values: &mut DeviceVector<F>,
        other: &DeviceVector<F>,
    ) -> Result<()> {
        enqueue_pointwise_vectors(stream, Pointwise::Multiply, values, other)
    }

    /// Queues `values[i] = values[i] + other[i mod other.len()]` for all i. `other` is as long as `values`, or its
    /// length is a power of two that divides theirs.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: `other` is neither as long as `values` nor a power of two that divides their length.
    /// - [`Error::Invalid`]: `other` has 2^32 elements or more, or a vector is on another device.
    /// - [`Error::Device`]: the driver failed.
    pub fn add_pointwise(
        &self,
        stream: &mut Stream,
        values: &mut DeviceVector<F>,
        other: &DeviceVector<F>,
    ) -> Result<()> {
        enqueue_pointwise_vectors(stream, Pointwise::Add, values, other)
    }

    /// Queues `values[i] = values[i] − other[i mod other.len()]` for all i. `other` is as long as `values`, or its
    /// length is a power of two that divides theirs.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: `other` is neither as long as `values` nor a power of two that divides their length.
    /// - [`Error::Invalid`]: `other` has 2^32 elements or more, or a vector is on another device.
    /// - [`Error::Device`]: the driver failed.
    pub fn subtract_pointwise(
        &self,
        stream: &mut Stream,
        values: &mut DeviceVector<F>,
        other: &DeviceVector<F>,
    ) -> Result<()> {
        enqueue_pointwise_vectors(stream, Pointwise::Subtract, values, other)
    }

    /// Queues the multiplication of all elements of `values` by `factor`.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: the vector is on another device.
    /// - [`Error::OutOfMemory`], [`Error::Device`]: the device has too little memory, or its driver failed.
    pub fn scale(&self, stream: &mut Stream, values: &mut DeviceVector<F>, factor: F) -> Result<()> {
        scale_periodically(stream, values, &[factor])
    }

    /// Queues the multiplication of element i of each vector by base^i. `values` holds vectors of `2^log_n` elements
    /// without gaps.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: there is no whole number of vectors, or the vector is on another device.
    /// - [`Error::OutOfMemory`], [`Error::Device`]: the device has too little memory, or its driver failed.
    pub fn scale_by_powers(&self, stream: &mut Stream, values: &mut DeviceVector<F>, base: F) -> Result<()> {
        values.wait_before_write(stream)?;
        let layout = self.contiguous_layout(values)?;
        multiply_by_powers(stream, (values.buffer(), layout, self.log_n()), (base, self.log_n()), (1, 0))
    }

    /// Queues the division of `values`, a polynomial's values on the coset g·H in any order, by x^n − 1. That
    /// polynomial vanishes on the subgroup H, and is g^n − 1 on the whole coset.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: the coset is the subgroup itself, or the vector is on another device.
    /// - [`Error::OutOfMemory`], [`Error::Device`]: the device has too little memory, or its driver failed.
    pub fn divide_by_vanishing_on_coset(&self, stream: &mut Stream, values: &mut DeviceVector<F>) -> Result<()> {
        let power = (0..self.log_n()).fold(self.coset(), |power, _| power.square());
        self.scale(stream, values, inverse_of_vanishing(power)?)
    }
}
