//! Provides programs, buffers and kernels of a device.

mod arguments;
mod buffer;
mod kernel;
mod names;
mod program;
mod rounds;

pub use arguments::{KernelArgument, LocalBuffer};
pub use buffer::Buffer;
pub use kernel::Kernel;
pub use program::Program;
