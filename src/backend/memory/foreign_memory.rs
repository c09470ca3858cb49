//! Represents device memory of another library.

use std::fmt;

/// Represents device memory that another library allocated, for [`Stream::adopt`](crate::backend::Stream::adopt). A
/// drop of the value frees the memory.
///
/// # Safety
/// - [`Self::bytes`] bytes from [`Self::address`] on stay allocated on the device [`Self::ordinal`] until the drop. No
///   command accesses them but those queued on [`Self::stream`] before the memory is adopted.
/// - [`Self::stream`] is a live stream of the device's primary context until the drop, one that was created and not a
///   default stream.
/// - The drop frees the memory behind all commands that are then queued on [`Self::stream`]. It may run on any thread,
///   with any device's context current there, and does not panic.
pub unsafe trait ForeignMemory: fmt::Debug + Send + Sync {
    /// Returns the address of the memory on the device, a `CUdeviceptr`.
    fn address(&self) -> usize;
    /// Returns the size of the memory in bytes.
    fn bytes(&self) -> usize;
    /// Returns the number of the device among its backend's devices.
    fn ordinal(&self) -> usize;
    /// Returns the handle of the library's stream, a `CUstream`.
    fn stream(&self) -> usize;
}
