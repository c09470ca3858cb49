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

/// Holds a transform, of input in either order, with all that its kernels need.
pub(super) struct DeviceTransform {
    passes: Passes,
    program: KernelModule,
    layout: VectorLayout,
    /// log_n if the input is in bit-reversed order.
    permuted: Option<u32>,
}

impl DeviceTransform {
    /// Finds or makes the tables. `max_radix_log` is the option of that name in [`super::NttOptions`].
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

    /// Allocates the second buffer that [`Self::queue`] needs, as large as the data; `None` if it needs none.
    pub fn scratch_like(&self, stream: &Stream, data: &Buffer) -> Result<Option<Buffer>> {
        self.passes.scratch_like(stream, data)
    }

    /// Queues the transform of `data`.
    pub fn queue(&self, stream: &mut Stream, data: &Buffer, other: Option<&Buffer>) -> Result<()> {
        if let Some(log_n) = self.permuted {
            let count = u64::from(self.layout.vectors) << log_n;
            let args = [buffer_arg(data), Arg::U64(self.layout.stride), Arg::U64(count), Arg::U32(log_n)];
            // SAFETY: the arguments are those of `ntt_permute`; the vectors lie in the buffer, as for the passes.
            unsafe { launch(self.program, stream, "ntt_permute", count, &args)? };
        }
        self.passes.queue(stream, data, other)
    }
}
