//! Defines the macro that makes a program for a device.

/// Makes a [`Program`](crate::rust_gpu_tools::Program) for a device. The expression is a `Result<Program, EcError>`.
#[macro_export]
macro_rules! program {
    ($device:expr) => {
        $crate::rust_gpu_tools::Program::from_device($device)
    };
}
