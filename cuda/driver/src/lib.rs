//! Finds the CUDA driver's functions at run time.
//!
//! cust and rust-gpu-tools link the driver's library, so a program that uses them neither links nor starts on a machine
//! without it. This crate defines the functions that they call: each jumps to an address that [`cuInit`] takes from the
//! driver's library. Without a driver, cuInit returns `CUDA_ERROR_NO_DEVICE`. A function that an old driver lacks
//! returns `CUDA_ERROR_NOT_FOUND`.
//!
//! The linker still wants a library of that name, so the build script of this crate makes an empty one. The build
//! script of cust wants the folder of a toolkit: `CUDA_LIBRARY_PATH` may name any that has a folder `lib64`, such as
//! `/usr`.

use std::ffi::{CStr, c_int, c_uint, c_void};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicPtr, Ordering};

use libloading::Library;

const CUDA_ERROR_NO_DEVICE: c_int = 100;
const CUDA_ERROR_NOT_FOUND: c_int = 500;

#[cfg(windows)]
const LIBRARY: &str = "nvcuda.dll";
#[cfg(not(windows))]
const LIBRARY: &str = "libcuda.so.1";

/// Stands in for a function until the driver is loaded, and after that if the driver lacks it.
extern "C" fn missing() -> c_int {
    CUDA_ERROR_NOT_FOUND
}

/// Holds the name of a function, the slot of its address, and the function of that name that jumps there. The last
/// keeps the linker from dropping it.
struct Entry(&'static CStr, &'static AtomicPtr<c_void>, unsafe extern "C" fn());

/// Defines for every name a function of that name that jumps to the address in its slot. It touches no register that
/// carries an argument, so it serves any signature.
macro_rules! driver_functions {
    ($($name:ident)*) => {
        #[allow(non_upper_case_globals, reason = "named as the functions")]
        mod slots {
            use super::{AtomicPtr, c_void, missing};
            $(pub static $name: AtomicPtr<c_void> = AtomicPtr::new(missing as *mut c_void);)*
        }
        #[allow(non_snake_case, reason = "the driver's names")]
        mod functions {
            $(
                /// # Safety
                /// The caller must uphold the contract of the driver's function of this name.
                #[unsafe(naked)]
                #[unsafe(no_mangle)]
                pub unsafe extern "C" fn $name() {
                    #[cfg(target_arch = "x86_64")]
                    std::arch::naked_asm!("jmp qword ptr [rip + {}]", sym super::slots::$name);
                    #[cfg(target_arch = "aarch64")]
                    std::arch::naked_asm!(
                        "adrp x16, {slot}",
                        "ldr x16, [x16, :lo12:{slot}]",
                        "br x16",
                        slot = sym super::slots::$name
                    );
                }
            )*
        }
        static ENTRIES: &[Entry] = &[$(Entry(
            // The name and a terminating zero.
            match CStr::from_bytes_with_nul(concat!(stringify!($name), "\0").as_bytes()) {
                Ok(name) => name,
                Err(_) => panic!("an identifier contains no zero"),
            },
            &slots::$name,
            functions::$name,
        )),*];
    };
}

driver_functions! {
    cuArray3DCreate_v2 cuArray3DGetDescriptor_v2 cuArrayDestroy cuCtxCreate_v2 cuCtxDestroy_v2
    cuCtxGetApiVersion cuCtxGetCacheConfig cuCtxGetCurrent cuCtxGetDevice cuCtxGetFlags cuCtxGetLimit
    cuCtxGetSharedMemConfig cuCtxGetStreamPriorityRange cuCtxPopCurrent_v2 cuCtxPushCurrent_v2
    cuCtxSetCacheConfig cuCtxSetCurrent cuCtxSetLimit cuCtxSetSharedMemConfig cuCtxSynchronize
    cuDestroyExternalMemory cuDeviceGet cuDeviceGetAttribute cuDeviceGetCount cuDeviceGetName
    cuDeviceGetPCIBusId cuDeviceGetUuid cuDeviceGetUuid_v2 cuDevicePrimaryCtxGetState
    cuDevicePrimaryCtxRelease_v2 cuDevicePrimaryCtxReset_v2 cuDevicePrimaryCtxRetain
    cuDevicePrimaryCtxSetFlags_v2 cuDeviceTotalMem_v2 cuDriverGetVersion cuEventCreate cuEventDestroy_v2
    cuEventElapsedTime cuEventQuery cuEventRecord cuEventSynchronize cuExternalMemoryGetMappedBuffer
    cuFuncGetAttribute cuFuncSetAttribute cuFuncSetCacheConfig cuFuncSetSharedMemConfig cuGetErrorString
    cuGraphAddKernelNode cuGraphCreate cuGraphDebugDotPrint cuGraphDestroy cuGraphGetEdges cuGraphGetNodes
    cuGraphKernelNodeGetParams cuGraphNodeGetType cuImportExternalMemory cuLaunchHostFunc cuLaunchKernel
    cuLinkAddData_v2 cuLinkComplete cuLinkCreate_v2 cuLinkDestroy cuMemAdvise cuMemAllocAsync cuMemAllocHost_v2
    cuMemAllocManaged cuMemAlloc_v2 cuMemFreeAsync cuMemFreeHost cuMemFree_v2 cuMemGetInfo_v2 cuMemHostAlloc
    cuMemHostRegister_v2 cuMemHostUnregister cuMemPrefetchAsync cuMemcpy2DAsync_v2 cuMemcpy2D_v2 cuMemcpyAtoH_v2
    cuMemcpyDtoDAsync_v2 cuMemcpyDtoD_v2 cuMemcpyDtoHAsync_v2 cuMemcpyDtoH_v2 cuMemcpyHtoA_v2
    cuMemcpyHtoDAsync_v2 cuMemcpyHtoD_v2 cuMemsetD16Async cuMemsetD16_v2 cuMemsetD32Async cuMemsetD32_v2
    cuMemsetD8Async cuMemsetD8_v2 cuModuleGetFunction cuModuleGetGlobal_v2 cuModuleLoad cuModuleLoadData
    cuModuleLoadDataEx cuModuleLoadFatBinary cuModuleUnload cuOccupancyAvailableDynamicSMemPerBlock
    cuOccupancyMaxActiveBlocksPerMultiprocessor cuOccupancyMaxPotentialBlockSize cuStreamCreate
    cuStreamCreateWithPriority cuStreamDestroy_v2 cuStreamGetFlags cuStreamGetPriority cuStreamQuery
    cuStreamSynchronize cuStreamWaitEvent cuSurfObjectCreate cuSurfObjectDestroy cuSurfObjectGetResourceDesc
    cuTexObjectCreate cuTexObjectDestroy cuTexObjectGetResourceDesc cuTexObjectGetResourceViewDesc
}

fn library() -> Option<&'static Library> {
    static LOADED: OnceLock<Option<Library>> = OnceLock::new();
    // SAFETY: loading the driver runs its initialisers, which are made for that.
    LOADED.get_or_init(|| unsafe { Library::new(LIBRARY) }.ok()).as_ref()
}

/// Returns the address of any function of the driver, for those that this crate does not define. Returns `None` without
/// a driver, or if the driver lacks the function.
pub fn symbol(name: &CStr) -> Option<*mut c_void> {
    // SAFETY: nothing is called here; the caller gives the address its type.
    let found = unsafe { library()?.get::<*mut c_void>(name.to_bytes_with_nul()) };
    found.ok().map(|address| *address)
}

/// Loads the driver, then initialises it by its own function.
///
/// # Safety
/// The contract is that of the driver's function of this name, which requires nothing.
#[unsafe(no_mangle)]
#[allow(non_snake_case, reason = "the driver's name")]
pub unsafe extern "C" fn cuInit(flags: c_uint) -> c_int {
    let Some(address) = symbol(c"cuInit") else { return CUDA_ERROR_NO_DEVICE };
    for Entry(name, slot, _) in ENTRIES {
        slot.store(symbol(name).unwrap_or(missing as *mut c_void), Ordering::Release);
    }
    // SAFETY: the driver's cuInit has this signature.
    let init: unsafe extern "C" fn(c_uint) -> c_int = unsafe { std::mem::transmute(address) };
    // SAFETY: passed on from the caller.
    unsafe { init(flags) }
}

/// Makes this crate's functions part of the program, and returns their number. Call it once, anywhere.
pub fn link() -> usize {
    let functions: Vec<unsafe extern "C" fn()> = ENTRIES.iter().map(|entry| entry.2).collect();
    std::hint::black_box(functions).len()
}
