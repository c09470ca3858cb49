//! Launches kernels, also with attributes, which cust does not know.

use std::ffi::{c_uint, c_void};
use std::ptr::null_mut;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use cust::sys as cu;

use crate::backend::LaunchConfig;

/// Describes a kernel launch and the stream that runs it.
#[derive(Clone, Copy)]
pub(super) struct CudaLaunch {
    pub function: cu::CUfunction,
    pub shape: LaunchConfig,
    pub stream: cu::CUstream,
    /// Bytes of dynamic shared memory, which the kernel declares as `extern __shared__`.
    pub shared_bytes: u32,
    /// Whether the kernel may start before the previous kernel of the stream has ended.
    pub early: bool,
}

/// Mirrors CUDA's `CUlaunchConfig`. Its arrays hold the three dimensions of the grid and of a block.
#[repr(C)]
struct CuLaunchConfig {
    groups: [c_uint; 3],
    group_size: [c_uint; 3],
    shared_bytes: c_uint,
    stream: cu::CUstream,
    attributes: *mut CuLaunchAttribute,
    attribute_count: c_uint,
}

/// Mirrors CUDA's `CUlaunchAttribute`: the attribute's id, then a union of 64 bytes that holds its value.
#[repr(C, align(8))]
struct CuLaunchAttribute {
    kind: c_uint,
    padding: c_uint,
    value: [c_uint; 16],
}

/// Id of the attribute `CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION`, which lets a kernel start before the
/// previous one of its stream has ended.
const ATTR_PDL: c_uint = 6;
/// Id of the attribute `CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT`, which sets the percentage of a
/// multiprocessor's on-chip memory that is shared memory, not cache.
const ATTR_SMEM_CARVEOUT: c_uint = 14;
/// Shared-memory carveout for all kernels that run concurrently, 70 %. A multiprocessor must drain before it changes
/// its carveout, and by itself the driver changes it for almost every kernel. At 70 %, sixteen work-groups of affine
/// additions fit, of one stream or two. With the remaining cache these take 1 to 2 % longer than alone
/// (benches/notes/msm.md, section 31).
const SHARE_BESIDE: c_uint = 70;

type LaunchKernelEx =
    unsafe extern "C" fn(*const CuLaunchConfig, cu::CUfunction, *mut *mut c_void, *mut *mut c_void) -> cu::CUresult;

/// Returns the driver's function `cuLaunchKernelEx`. `None` for drivers before CUDA 11.8, which lack it.
fn find_launch_kernel_ex() -> Option<LaunchKernelEx> {
    static FUNCTION: OnceLock<Option<LaunchKernelEx>> = OnceLock::new();
    *FUNCTION.get_or_init(|| {
        let address = proofwarp_cuda_driver::symbol(c"cuLaunchKernelEx")?;
        // SAFETY: the driver's function of this name has this signature.
        Some(unsafe { std::mem::transmute::<*mut c_void, LaunchKernelEx>(address) })
    })
}

/// Is true once the driver has refused a launch only for its [`ATTR_SMEM_CARVEOUT`] attribute.
static CARVEOUT_UNSUPPORTED: AtomicBool = AtomicBool::new(false);

impl CuLaunchAttribute {
    fn new(kind: c_uint, value: c_uint) -> Self {
        let mut attribute = Self { kind, padding: 0, value: [0; 16] };
        attribute.value[0] = value;
        attribute
    }
}

/// Maximum bytes of dynamic shared memory that a launch may request without raising the function's limit, 48 KiB.
const USUAL_SHARED: u32 = 48 << 10;

impl CudaLaunch {
    /// Queues the launch. `arguments` point to the values of the kernel's parameters. Raises the function's limit of
    /// shared memory first if necessary.
    ///
    /// # Safety
    /// Function and stream belong to the current context, and the arguments match the function.
    pub(super) unsafe fn enqueue(self, arguments: &mut [*mut c_void]) -> cu::CUresult {
        // SAFETY: passed on from the caller.
        match unsafe { self.raise_shared_memory_limit() } {
            // SAFETY: passed on from the caller.
            cu::CUresult::CUDA_SUCCESS => unsafe { self.enqueue_with_fallback(arguments) },
            refused => refused,
        }
    }

    /// Raises the function's limit of dynamic shared memory if the launch needs more than [`USUAL_SHARED`]. The
    /// function's other launches are unaffected.
    ///
    /// # Safety
    /// The function belongs to the current context.
    unsafe fn raise_shared_memory_limit(self) -> cu::CUresult {
        if self.shared_bytes <= USUAL_SHARED {
            return cu::CUresult::CUDA_SUCCESS;
        }
        let attribute = cu::CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
        // SAFETY: passed on from the caller.
        unsafe { cu::cuFuncSetAttribute(self.function, attribute, self.shared_bytes.cast_signed()) }
    }

    /// Queues the launch with the attributes that it needs. If the driver refuses the carveout attribute, queues the
    /// launch without it.
    ///
    /// # Safety
    /// Function and stream belong to the current context, and the arguments match the function.
    unsafe fn enqueue_with_fallback(self, arguments: &mut [*mut c_void]) -> cu::CUresult {
        let shares = self.shape.beside && !CARVEOUT_UNSUPPORTED.load(Ordering::Relaxed);
        let share = shares.then(|| CuLaunchAttribute::new(ATTR_SMEM_CARVEOUT, SHARE_BESIDE));
        let early = self.early.then(|| CuLaunchAttribute::new(ATTR_PDL, 1));
        let mut attributes: Vec<_> = share.into_iter().chain(early).collect();
        // SAFETY: passed on from the caller.
        let code = unsafe { self.enqueue_with_attributes(&mut attributes, arguments) };
        let refused = [cu::CUresult::CUDA_ERROR_INVALID_VALUE, cu::CUresult::CUDA_ERROR_NOT_SUPPORTED];
        if !shares || !refused.contains(&code) {
            return code;
        }
        // SAFETY: passed on from the caller; nothing was queued.
        let code = unsafe { self.enqueue_with_attributes(&mut attributes[1..], arguments) };
        CARVEOUT_UNSUPPORTED.store(code == cu::CUresult::CUDA_SUCCESS, Ordering::Relaxed);
        code
    }

    /// Queues the launch with `attributes`, or without any if the driver lacks `cuLaunchKernelEx`.
    ///
    /// # Safety
    /// Function and stream belong to the current context, and the arguments match the function.
    unsafe fn enqueue_with_attributes(
        self,
        attributes: &mut [CuLaunchAttribute],
        arguments: &mut [*mut c_void],
    ) -> cu::CUresult {
        let Self { function, shape: LaunchConfig { groups, group_size, .. }, stream, shared_bytes, .. } = self;
        let arguments = arguments.as_mut_ptr();
        let Some(launch_ex) = find_launch_kernel_ex().filter(|_| !attributes.is_empty()) else {
            // SAFETY: passed on from the caller.
            return unsafe {
                cu::cuLaunchKernel(
                    function,
                    groups,
                    1,
                    1,
                    group_size,
                    1,
                    1,
                    shared_bytes,
                    stream,
                    arguments,
                    null_mut(),
                )
            };
        };
        let config = CuLaunchConfig {
            groups: [groups, 1, 1],
            group_size: [group_size, 1, 1],
            shared_bytes,
            stream,
            attributes: attributes.as_mut_ptr(),
            attribute_count: attributes.len() as c_uint,
        };
        // SAFETY: passed on from the caller; configuration and attributes are live.
        unsafe { launch_ex(&raw const config, function, arguments, null_mut()) }
    }
}
