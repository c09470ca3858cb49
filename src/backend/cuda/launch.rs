//! Launches, of kernels that wait for the stream by themselves too, which cust does not know.

use std::ffi::{c_uint, c_void};
use std::ptr::null_mut;
use std::sync::OnceLock;

use cust::sys as cu;

/// Groups of a launch, and where it goes.
pub(super) struct Shape {
    pub groups: u32,
    pub group_size: u32,
    pub stream: cu::CUstream,
}

/// `CUlaunchConfig`, with dimensions of three numbers.
#[repr(C)]
struct Config {
    groups: [c_uint; 3],
    group_size: [c_uint; 3],
    shared_bytes: c_uint,
    stream: cu::CUstream,
    attributes: *mut Attribute,
    attribute_count: c_uint,
}

/// `CUlaunchAttribute`: a union of 64 bytes behind the number of its kind.
#[repr(C, align(8))]
struct Attribute {
    kind: c_uint,
    padding: c_uint,
    value: [c_uint; 16],
}

/// `CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION`: a kernel may start before the one ahead of it has ended.
const SERIALIZED_BY_PROGRAM: c_uint = 6;

type LaunchKernelEx =
    unsafe extern "C" fn(*const Config, cu::CUfunction, *mut *mut c_void, *mut *mut c_void) -> cu::CUresult;

/// The driver's `cuLaunchKernelEx`; drivers before CUDA 11.8 have none.
fn launch_ex() -> Option<LaunchKernelEx> {
    static FUNCTION: OnceLock<Option<LaunchKernelEx>> = OnceLock::new();
    *FUNCTION.get_or_init(|| {
        let address = proofwarp_cuda_driver::symbol(c"cuLaunchKernelEx")?;
        // SAFETY: the driver's function of this name has this signature.
        Some(unsafe { std::mem::transmute::<*mut c_void, LaunchKernelEx>(address) })
    })
}

/// # Safety
/// Function and stream are of the current context; the arguments are those of the function.
pub(super) unsafe fn launch(
    function: cu::CUfunction,
    early: bool,
    shape: &Shape,
    arguments: &mut [*mut c_void],
) -> cu::CUresult {
    let &Shape { groups, group_size, stream } = shape;
    let arguments = arguments.as_mut_ptr();
    if let Some(launch_ex) = launch_ex().filter(|_| early) {
        let mut attribute = Attribute { kind: SERIALIZED_BY_PROGRAM, padding: 0, value: [0; 16] };
        attribute.value[0] = 1;
        let config = Config {
            groups: [groups, 1, 1],
            group_size: [group_size, 1, 1],
            shared_bytes: 0,
            stream,
            attributes: &raw mut attribute,
            attribute_count: 1,
        };
        // SAFETY: passed on from the caller; configuration and attribute are live.
        return unsafe { launch_ex(&raw const config, function, arguments, null_mut()) };
    }
    // SAFETY: passed on from the caller.
    unsafe { cu::cuLaunchKernel(function, groups, 1, 1, group_size, 1, 1, 0, stream, arguments, null_mut()) }
}
