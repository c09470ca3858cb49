//! The CUDA streams that callers allocate and write advice columns on.

use std::fmt;
use std::ops::Deref;
use std::sync::{LazyLock, Once};

use openvm_cuda_common::stream::GpuDeviceCtx;

/// Version of the drop-in, where the stock crate has a Git commit.
pub const GIT_VERSION: &str = concat!("proofwarp's drop-in for ", env!("CARGO_PKG_VERSION"));

/// The device of advice columns, and the stream on which callers allocate and write them. It is the device that is
/// current on the thread of the first use.
///
/// The first use panics if the driver makes no stream, as in the stock crate. Without a device openvm-cuda-common ends the
/// program at its start.
pub static HALO2_GPU_CTX: LazyLock<GpuDeviceCtx> =
    LazyLock::new(|| GpuDeviceCtx::for_current_device().expect("a CUDA device and a stream on it"));

/// A second stream on the device of [`HALO2_GPU_CTX`], for copies that run beside the first one's commands.
///
/// The first use panics if the driver makes no stream, as in the stock crate.
pub static HALO2_COMM_STREAM: LazyLock<GpuDeviceCtx> =
    LazyLock::new(|| GpuDeviceCtx::for_device(HALO2_GPU_CTX.device_id).expect("a second stream on the CUDA device"));

/// Wraps a value whose memory is written by commands on [`HALO2_COMM_STREAM`]. The first dereference waits for them.
pub struct CommWrapper<T> {
    inner: T,
    waited: Once,
}

impl<T> CommWrapper<T> {
    /// Wraps `inner`, whose commands are queued.
    pub fn new(inner: T) -> Self {
        Self { inner, waited: Once::new() }
    }
}

impl<T> Deref for CommWrapper<T> {
    type Target = T;

    /// Panics if a command on the stream failed, as in the stock crate.
    fn deref(&self) -> &T {
        self.waited.call_once(|| HALO2_COMM_STREAM.stream.synchronize().expect("commands of the second stream"));
        &self.inner
    }
}

impl<T: fmt::Debug> fmt::Debug for CommWrapper<T> {
    /// Formats the value without a wait.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CommWrapper").field("inner", &self.inner).field("waited", &self.waited.is_completed()).finish()
    }
}
