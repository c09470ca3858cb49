//! Vectors on a device: transforms queued on a stream, and what provers do between them.

use super::domain::{Direction, NttDomain};
use super::passes::{Layout, Passes};
use super::plan::MAX_RADIX_LOG;
use super::tables::Powers;
use super::{Order, Transform};
use crate::backend::{Arg, Buffer, Stream};
use crate::field::{DeviceVector, NttField, as_bytes};
use crate::program::{Program, mem};
use crate::{Error, Result};

/// Work-items of a group of the kernels of `cl/ntt_vectors.cl`.
const GROUP: u32 = 128;
/// Most work-items of a launch: kernels do any number of elements with them.
const MAX_ITEMS: u64 = 1 << 22;

/// A transform with all that its kernels need, of input in either order.
pub(super) struct Queue {
    passes: Passes,
    program: Program,
    layout: Layout,
    /// log_n where the input is in bit-reversed order.
    permuted: Option<u32>,
}

impl Queue {
    /// Finds or makes the tables. `max_radix_log` as in [`super::Options`].
    pub fn new<F: NttField>(
        stream: &mut Stream,
        transform: &Transform<F>,
        layout: Layout,
        max_radix_log: u32,
    ) -> Result<Self> {
        let radix_log = if max_radix_log == 0 { MAX_RADIX_LOG } else { max_radix_log };
        let passes = Passes::with_radix(stream, transform, layout, radix_log)?;
        let permuted = (transform.input == Order::BitReversed).then_some(transform.log_n);
        Ok(Self { passes, program: Program::find("ntt", F::NAME)?, layout, permuted })
    }

    /// The second buffer that [`Self::queue`] wants: as large as the data, or none.
    pub fn other(&self, stream: &Stream, data: &Buffer) -> Result<Option<Buffer>> {
        self.passes.other(stream, data)
    }

    /// Queues the transform of `data`.
    pub fn queue(&self, stream: &mut Stream, data: &Buffer, other: Option<&Buffer>) -> Result<()> {
        if let Some(log_n) = self.permuted {
            let count = u64::from(self.layout.vectors) << log_n;
            let args = [mem(data), Arg::U64(self.layout.stride), Arg::U64(count), Arg::U32(log_n)];
            // SAFETY: the arguments are those of `ntt_permute`; the vectors lie in the buffer, as for the passes.
            unsafe { launch(self.program, stream, "ntt_permute", count, &args)? };
        }
        self.passes.queue(stream, data, other)
    }
}

/// Queues a kernel of `cl/ntt_vectors.cl` over `count` elements.
///
/// # Safety
/// As [`Stream::launch`].
pub(super) unsafe fn launch(
    program: Program,
    stream: &mut Stream,
    kernel: &str,
    count: u64,
    args: &[Arg],
) -> Result<()> {
    // SAFETY: passed on from the caller.
    unsafe { program.launch(stream, kernel, count.min(MAX_ITEMS), GROUP, args) }
}

/// Queues products of element i of vector v with base^(i·(first + v·step)); exponents are below `2^exponent_log`.
pub(super) fn multiply_by_powers<F: NttField>(
    stream: &mut Stream,
    (data, layout, length_log): (&Buffer, Layout, u32),
    (base, exponent_log): (F, u32),
    (first, step): (u32, u32),
) -> Result<()> {
    let powers = Powers::new(stream, base, exponent_log)?;
    let count = u64::from(layout.vectors) << length_log;
    let mut args = vec![mem(data), Arg::U64(layout.stride), Arg::U64(count)];
    args.extend([length_log, first, step, powers.low_log].map(Arg::U32));
    args.extend([mem(&powers.low), mem(&powers.high)]);
    // SAFETY: the arguments are those of `ntt_powers`; callers' vectors lie in the buffer, and their exponents in the
    // tables.
    unsafe { launch(Program::find("ntt", F::NAME)?, stream, "ntt_powers", count, &args) }
}

/// Queues `values[i] = operation(values[i], other[i mod period])`.
fn pointwise<F: NttField>(
    stream: &mut Stream,
    kernel: &str,
    values: &DeviceVector<F>,
    (other, period): (&Buffer, usize),
) -> Result<()> {
    let length = values.len();
    let fits = period == length || (period.is_power_of_two() && length.is_multiple_of(period));
    if !fits || u32::try_from(period).is_err() {
        let expected = format!("{length}, or a power of two that divides it, below 2^32");
        return Err(Error::invalid("ntt", "length of the other vector", expected, period));
    }
    let mask = if period == length { u32::MAX } else { period as u32 - 1 };
    let args = [mem(values.buffer()), mem(other), Arg::U64(length as u64), Arg::U32(mask)];
    // SAFETY: the arguments are those of the pointwise kernels; indices stay below both lengths.
    unsafe { launch(Program::find("ntt", F::NAME)?, stream, kernel, length as u64, &args) }
}

fn pointwise_of_two<F: NttField>(
    stream: &mut Stream,
    kernel: &str,
    values: &DeviceVector<F>,
    other: &DeviceVector<F>,
) -> Result<()> {
    values.check_on(stream)?;
    other.check_on(stream)?;
    pointwise(stream, kernel, values, (other.buffer(), other.len()))
}

/// Between transforms. Everything is queued on the stream: nothing leaves the device, and nothing is waited for. What
/// other streams write must have been waited for ([`Stream::wait_for`]).
impl<F: NttField> NttDomain<F> {
    /// Queues the transforms, in place, of the vectors of `2^log_n` elements that follow each other in `values`.
    ///
    /// # Errors
    /// There is no whole number of vectors, `values` is of another device, or the device has too little memory or
    /// failed; `values` is then undefined.
    pub fn enqueue(&self, direction: Direction, stream: &mut Stream, values: &mut DeviceVector<F>) -> Result<()> {
        let layout = self.all_of(values)?;
        self.enqueue_strided(direction, stream, values, layout)
    }

    /// The same for vectors that start every `stride` elements. What lies between them stays as it is.
    ///
    /// # Errors
    /// As [`Self::enqueue`], or vectors overlap or end outside.
    pub fn enqueue_strided(
        &self,
        direction: Direction,
        stream: &mut Stream,
        values: &mut DeviceVector<F>,
        layout: Layout,
    ) -> Result<()> {
        values.check_on(stream)?;
        self.check_layout(values, layout)?;
        if layout.vectors == 0 {
            return Ok(());
        }
        let queue = Queue::new(stream, &self.transform(direction), layout, self.max_radix_log())?;
        let other = queue.other(stream, values.buffer())?;
        queue.queue(stream, values.buffer(), other.as_ref())
    }

    fn all_of(&self, values: &DeviceVector<F>) -> Result<Layout> {
        let n = 1usize << self.log_n();
        if !values.len().is_multiple_of(n) {
            return Err(Error::invalid("ntt", "length on the device", format!("a multiple of {n}"), values.len()));
        }
        let vectors = u32::try_from(values.len() / n)
            .map_err(|_| Error::invalid("ntt", "number of vectors", "below 2^32", values.len() / n))?;
        Ok(Layout { vectors, stride: n as u64 })
    }

    fn check_layout(&self, values: &DeviceVector<F>, Layout { vectors, stride }: Layout) -> Result<()> {
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

    /// Multiplies element by element; `other` is as long, or a power of two and repeats.
    ///
    /// # Errors
    /// Lengths do not fit, a vector is of another device, or the device failed.
    pub fn multiply_pointwise(
        &self,
        stream: &mut Stream,
        values: &mut DeviceVector<F>,
        other: &DeviceVector<F>,
    ) -> Result<()> {
        pointwise_of_two(stream, "ntt_multiply", values, other)
    }

    /// Adds element by element, as [`Self::multiply_pointwise`].
    ///
    /// # Errors
    /// As there.
    pub fn add_pointwise(
        &self,
        stream: &mut Stream,
        values: &mut DeviceVector<F>,
        other: &DeviceVector<F>,
    ) -> Result<()> {
        pointwise_of_two(stream, "ntt_add", values, other)
    }

    /// Subtracts element by element, as [`Self::multiply_pointwise`].
    ///
    /// # Errors
    /// As there.
    pub fn subtract_pointwise(
        &self,
        stream: &mut Stream,
        values: &mut DeviceVector<F>,
        other: &DeviceVector<F>,
    ) -> Result<()> {
        pointwise_of_two(stream, "ntt_subtract", values, other)
    }

    /// Multiplies all elements by one.
    ///
    /// # Errors
    /// The vector is of another device, or the device failed.
    pub fn scale(&self, stream: &mut Stream, values: &mut DeviceVector<F>, factor: F) -> Result<()> {
        scale_periodically(stream, values, &[factor])
    }

    /// Multiplies element i of each vector of `2^log_n` elements by base^i.
    ///
    /// # Errors
    /// As [`Self::scale`], or there is no whole number of vectors.
    pub fn scale_by_powers(&self, stream: &mut Stream, values: &mut DeviceVector<F>, base: F) -> Result<()> {
        values.check_on(stream)?;
        let layout = self.all_of(values)?;
        multiply_by_powers(stream, (values.buffer(), layout, self.log_n()), (base, self.log_n()), (1, 0))
    }

    /// Divides values on the coset, in any order, by those of the polynomial x^n − 1 that is 0 on the subgroup: all of
    /// them are g^n − 1.
    ///
    /// # Errors
    /// As [`Self::scale`], or the coset is the subgroup itself.
    pub fn divide_by_vanishing_on_coset(&self, stream: &mut Stream, values: &mut DeviceVector<F>) -> Result<()> {
        let power = (0..self.log_n()).fold(self.coset(), |power, _| power.square());
        self.scale(stream, values, inverse_of_vanishing(power)?)
    }
}

/// Queues products of element i with factor i modulo their number, a power of two.
pub(super) fn scale_periodically<F: NttField>(
    stream: &mut Stream,
    values: &DeviceVector<F>,
    factors: &[F],
) -> Result<()> {
    values.check_on(stream)?;
    let buffer = stream.allocate(size_of_val(factors))?;
    stream.upload(&buffer, as_bytes(factors))?;
    pointwise(stream, "ntt_multiply", values, (&buffer, factors.len()))
}

/// 1/(power − 1), power being x^n.
pub(super) fn inverse_of_vanishing<F: NttField>(power: F) -> Result<F> {
    Option::<F>::from((power - F::ONE).invert())
        .ok_or_else(|| Error::invalid("ntt", "coset", "one that the polynomial x^n - 1 is not 0 on", "the subgroup"))
}
