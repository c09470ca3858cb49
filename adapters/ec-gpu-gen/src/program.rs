//! Defines the macro that makes a program for a device.

/// Makes a [`Program`](crate::rust_gpu_tools::Program) for a device, with the texts that [`generate`](crate::generate)
/// made in the build script of the calling crate.
///
/// The expression is a `Result<Program, EcError>`. It is an error if `EC_GPU_FRAMEWORK` names another framework than
/// the device's.
#[macro_export]
macro_rules! program {
    ($device:ident) => {{
        #[cfg(feature = "opencl")]
        let opencl: ::core::option::Option<&'static str> =
            ::core::option::Option::Some(include_str!(env!("_EC_GPU_OPENCL_KERNEL_SOURCE")));
        #[cfg(not(feature = "opencl"))]
        let opencl: ::core::option::Option<&'static str> = ::core::option::Option::None;
        #[cfg(feature = "cuda")]
        let cuda: ::core::option::Option<&'static [u8]> =
            ::core::option::Option::Some(include_bytes!(env!("_EC_GPU_CUDA_KERNEL_FATBIN")));
        #[cfg(not(feature = "cuda"))]
        let cuda: ::core::option::Option<&'static [u8]> = ::core::option::Option::None;
        $crate::rust_gpu_tools::Program::new($device, opencl, cuda)
    }};
}
