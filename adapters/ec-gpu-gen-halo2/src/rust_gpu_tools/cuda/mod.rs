//! Provides programs, buffers and kernels of a device.

mod arguments;
mod buffer;
mod fft_rounds;
mod kernel;
mod kernel_names;
mod program;

pub use arguments::{KernelArgument, LocalBuffer};
pub use buffer::Buffer;
pub use kernel::Kernel;
pub use program::Program;
