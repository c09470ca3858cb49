//! Queues the elementwise operations of provers between transforms.

use super::queue_passes::VectorLayout;
use super::twiddles::Powers;
use crate::backend::{Arg, Buffer, Stream};
use crate::field::{DeviceVector, NttField, as_bytes};
use crate::kernels::Family;
use crate::module_launcher::{KernelModule, buffer_arg};
use crate::{Error, Result};

/// Work-items per work-group, 128, of the kernels of `cl/ntt_pointwise.cl`.
const GROUP: u32 = 128;
/// Maximum work-items of a launch, 2^22. A work-item processes several elements if there are more.
const MAX_ITEMS: u64 = 1 << 22;

/// Queues `kernel`, one of `cl/ntt_pointwise.cl`, on `stream` over `count` elements.
///
/// # Safety
/// The requirements of [`Stream::launch`] apply.
pub(super) unsafe fn launch(
    program: KernelModule,
    stream: &mut Stream,
    kernel: &str,
    count: u64,
    args: &[Arg],
) -> Result<()> {
    // SAFETY: passed on from the caller.
    unsafe { program.launch(stream, kernel, count.min(MAX_ITEMS), GROUP, args) }
}

/// Queues the multiplication of element i of vector v in `data` by base^(i·(first + v·step)). Vectors have
/// `2^length_log` elements. All exponents are below `2^exponent_log`.
pub(crate) fn multiply_by_powers<F: NttField>(
    stream: &mut Stream,
    (data, layout, length_log): (&Buffer, VectorLayout, u32),
    (base, exponent_log): (F, u32),
    (first, step): (u32, u32),
) -> Result<()> {
    let powers = Powers::new(stream, base, exponent_log)?;
    let count = u64::from(layout.vectors) << length_log;
    let mut args = vec![buffer_arg(data), Arg::U64(layout.stride), Arg::U64(count)];
    args.extend([length_log, first, step, powers.low_log].map(Arg::U32));
    args.extend([buffer_arg(&powers.low), buffer_arg(&powers.high)]);
    // SAFETY: the arguments are those of `ntt_powers`; callers' vectors lie in the buffer, and their exponents in the
    // tables.
    unsafe { launch(KernelModule::for_family(Family::Ntt, F::NAME)?, stream, "ntt_powers", count, &args) }
}

/// Queues the pointwise `kernel` on `stream`: `values[i] = operation(values[i], other[i mod period])`, with the
/// kernel's operation. `period` is the length of `other`: that of `values`, or a power of two that divides it.
pub(super) fn enqueue_pointwise<F: NttField>(
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
    let args = [buffer_arg(values.buffer()), buffer_arg(other), Arg::U64(length as u64), Arg::U32(mask)];
    // SAFETY: the arguments are those of the pointwise kernels; indices stay below both lengths.
    unsafe { launch(KernelModule::for_family(Family::Ntt, F::NAME)?, stream, kernel, length as u64, &args) }
}

/// Queues the multiplication of `values[i]` by `factors[i mod factors.len()]`. The number of `factors` is a power of
/// two that divides that of `values`.
pub(super) fn scale_periodically<F: NttField>(
    stream: &mut Stream,
    values: &DeviceVector<F>,
    factors: &[F],
) -> Result<()> {
    values.wait_before_write(stream)?;
    let buffer = stream.allocate(size_of_val(factors))?;
    stream.upload(&buffer, as_bytes(factors))?;
    enqueue_pointwise(stream, "ntt_multiply", values, (&buffer, factors.len()))
}

/// Returns 1/(power − 1), where `power` is x^n. Returns an error if `power` is 1.
pub(super) fn inverse_of_vanishing<F: NttField>(power: F) -> Result<F> {
    Option::<F>::from((power - F::ONE).invert())
        .ok_or_else(|| Error::invalid("ntt", "coset", "one that the polynomial x^n - 1 is not 0 on", "the subgroup"))
}
