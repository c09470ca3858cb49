//! Moves host memory to devices and back: pinned memory, staging slots, and copies by all cores.

mod parallel_nontemporal_copy;
mod pinned_buffer;
mod pinned_upload;
mod staging;
#[cfg(any(feature = "cuda", feature = "opencl"))]
mod upload_row_split;

pub(crate) use parallel_nontemporal_copy::{par_zero_nontemporal, parallel_copy};
pub use pinned_buffer::PinnedBuffer;
pub(super) use staging::{SLOT_BYTES, StagingRing};
#[cfg(any(feature = "cuda", feature = "opencl"))]
pub(super) use upload_row_split::TwoRows;
