//! Queues a transform on a stream, of input in either order.

use super::plan::MAX_RADIX_LOG;
use super::pointwise::launch;
use super::queue_passes::{Passes, VectorLayout};
use super::{Order, Transform};
use crate::Result;
use crate::backend::{Arg, Buffer, Stream};
use crate::field::NttField;
use crate::kernels::Family;
use crate::module_launcher::{KernelModule, buffer_arg};

/// Holds a transform with the plan, kernels and twiddles that run it on a device. Its input may be in either order.
pub(super) struct DeviceTransform {
    passes: Passes,
    program: KernelModule,
    layout: VectorLayout,
    /// log n if the input is in bit-reversed order, and so is permuted first; `None` if it is in natural order.
    permuted: Option<u32>,
}

impl DeviceTransform {
    /// Prepares `transform` for the vectors of `layout` on the stream's device: plans its passes, and finds or computes
    /// its twiddles. `max_radix_log` is the option of that name in [`super::NttOptions`].
    pub fn new<F: NttField>(
        stream: &mut Stream,
        transform: &Transform<F>,
        layout: VectorLayout,
        max_radix_log: u32,
    ) -> Result<Self> {
        let radix_log = if max_radix_log == 0 { MAX_RADIX_LOG } else { max_radix_log };
        let passes = Passes::with_radix(stream, transform, layout, radix_log)?;
        let permuted = (transform.input == Order::BitReversed).then_some(transform.log_n);
        Ok(Self { passes, program: KernelModule::for_family(Family::Ntt, F::NAME)?, layout, permuted })
    }

    /// Allocates the second buffer that [`Self::queue`] needs, as large as `data`. Returns `None` if it needs none
    /// because its passes work in place.
    pub fn scratch_like(&self, stream: &Stream, data: &Buffer) -> Result<Option<Buffer>> {
        self.passes.scratch_like(stream, data)
    }

    /// Queues the in-place transform of the vectors in `data`. `other` is the buffer from [`Self::scratch_like`].
    pub fn enqueue(&self, stream: &mut Stream, data: &Buffer, other: Option<&Buffer>) -> Result<()> {
        if let Some(log_n) = self.permuted {
            let count = u64::from(self.layout.vectors) << log_n;
            let args = [buffer_arg(data), Arg::U64(self.layout.stride), Arg::U64(count), Arg::U32(log_n)];
            // SAFETY: the arguments are those of `ntt_permute`; the vectors lie in the buffer, as for the passes.
            unsafe { launch(self.program, stream, "ntt_permute", count, &args)? };
        }
        self.passes.enqueue(stream, data, other)
    }
}
