//! Gives proofwarp a column of openvm-cuda-common, and takes it back.

use std::mem::ManuallyDrop;

use halo2_axiom::halo2curves::bn256::Fr;
use openvm_cuda_common::common::{get_device, set_device_by_id};
use openvm_cuda_common::d_buffer::DeviceBuffer;
use openvm_cuda_common::error::CudaError;
use openvm_cuda_common::stream::CudaEvent;
use proofwarp_halo2::proofwarp::backend::ForeignMemory;

use crate::cuda::utils::HALO2_GPU_CTX;

/// Owns a column on the device of [`HALO2_GPU_CTX`]. A drop clears and frees it, without a panic: if the device fails,
/// the memory is left to the end of the process.
#[derive(Debug)]
pub(super) struct ColumnMemory(ManuallyDrop<DeviceBuffer<Fr>>);

impl ColumnMemory {
    pub(super) fn new(column: DeviceBuffer<Fr>) -> Self {
        Self(ManuallyDrop::new(column))
    }

    pub(super) fn column(&self) -> &DeviceBuffer<Fr> {
        &self.0
    }

    /// Clears the column, and waits until no command uses it. A column may have been allocated on another stream, which
    /// would free it without an order between the two.
    fn clear(&self) -> Result<(), CudaError> {
        self.0.fill_zero_on(&HALO2_GPU_CTX)?;
        HALO2_GPU_CTX.stream.synchronize()?;
        // The drop of a buffer records an event like this one, and panics if that fails.
        CudaEvent::new()?.record_on(&HALO2_GPU_CTX.stream)
    }
}

impl Drop for ColumnMemory {
    fn drop(&mut self) {
        let freed = on_device(|| {
            self.clear()?;
            // SAFETY: the column is not used again.
            unsafe { ManuallyDrop::drop(&mut self.0) };
            Ok(())
        });
        if let Err(error) = freed {
            log::error!("halo2: an advice column is not freed: {error}");
        }
    }
}

/// Runs `work` with the device of [`HALO2_GPU_CTX`] current on this thread, and restores the thread's device.
pub(super) fn on_device<T>(work: impl FnOnce() -> Result<T, CudaError>) -> Result<T, CudaError> {
    let before = get_device()?;
    set_device_by_id(HALO2_GPU_CTX.device_id.cast_signed())?;
    let result = work();
    set_device_by_id(before)?;
    result
}

// SAFETY: the buffer owns its memory until the drop, and no other code holds the buffer. The drop makes the device's
// context current, waits for all commands on the stream of `HALO2_GPU_CTX`, and does not panic. The runtime created that
// static stream in the primary context.
unsafe impl ForeignMemory for ColumnMemory {
    fn address(&self) -> usize {
        self.0.as_ptr().addr()
    }

    fn bytes(&self) -> usize {
        self.0.len() * size_of::<Fr>()
    }

    fn ordinal(&self) -> usize {
        HALO2_GPU_CTX.device_id as usize
    }

    fn stream(&self) -> usize {
        HALO2_GPU_CTX.stream.as_raw().addr()
    }
}
