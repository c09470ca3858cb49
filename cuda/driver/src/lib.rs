//! Finds the CUDA driver's functions at run time.
//!
//! cust and rust-gpu-tools link the driver's library, so a program that uses them neither links nor starts on a machine
//! without it. This crate defines the functions that they call, and those that openvm-cuda-common calls: each jumps to
//! an address in the driver's library, which the first call of any of them loads. Without a driver, cuInit returns
//! `CUDA_ERROR_NO_DEVICE`. Other functions, and those that an old driver lacks, return `CUDA_ERROR_NOT_FOUND`.
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

/// Stands in for a function that the driver lacks, and for all of them without a driver.
extern "C" fn missing() -> c_int {
    CUDA_ERROR_NOT_FOUND
}

/// Stands in for a function until the driver is loaded: loads it, then jumps to the function's address. The register r11
/// (x16 on aarch64) points to the function's slot. Integer arguments are kept; no function of the driver has others.
///
/// # Safety
/// Only the functions of [`driver_functions`] may jump here.
#[unsafe(naked)]
unsafe extern "C" fn bind() {
    // Seven registers and the return address keep the stack aligned to 16 bytes. Windows wants 32 more below them.
    #[cfg(target_arch = "x86_64")]
    std::arch::naked_asm!(
        "push rdi", "push rsi", "push rdx", "push rcx", "push r8", "push r9", "push r11",
        "sub rsp, 32",
        "call {load}",
        "add rsp, 32",
        "pop r11", "pop r9", "pop r8", "pop rcx", "pop rdx", "pop rsi", "pop rdi",
        "jmp qword ptr [r11]",
        load = sym load
    );
    #[cfg(target_arch = "aarch64")]
    std::arch::naked_asm!(
        "stp x16, x30, [sp, #-80]!", "stp x0, x1, [sp, #16]", "stp x2, x3, [sp, #32]", "stp x4, x5, [sp, #48]",
        "stp x6, x7, [sp, #64]",
        "bl {load}",
        "ldp x6, x7, [sp, #64]", "ldp x4, x5, [sp, #48]", "ldp x2, x3, [sp, #32]", "ldp x0, x1, [sp, #16]",
        "ldp x16, x30, [sp], #80",
        "ldr x17, [x16]",
        "br x17",
        load = sym load
    );
}

/// Fills all slots from the driver's library.
extern "C" fn load() {
    for Entry(name, slot, _) in ENTRIES {
        slot.store(symbol(name).unwrap_or(missing as *mut c_void), Ordering::Release);
    }
}

/// Holds the name of a function, the slot of its address, and the function of that name that jumps there. The last
/// keeps the linker from dropping it.
struct Entry(&'static CStr, &'static AtomicPtr<c_void>, unsafe extern "C" fn());

/// Defines for every name a function of that name that jumps to the address in its slot. It touches no register that
/// carries an argument, so it serves any signature. It leaves the slot's address in a register for [`bind`].
macro_rules! driver_functions {
    ($($name:ident)*) => {
        #[allow(non_upper_case_globals, reason = "named as the functions")]
        mod slots {
            use super::{AtomicPtr, bind, c_void};
            $(pub static $name: AtomicPtr<c_void> = AtomicPtr::new(bind as *mut c_void);)*
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
                    std::arch::naked_asm!("lea r11, [rip + {}]", "jmp qword ptr [r11]", sym super::slots::$name);
                    #[cfg(target_arch = "aarch64")]
                    std::arch::naked_asm!(
                        "adrp x16, {slot}",
                        "add x16, x16, :lo12:{slot}",
                        "ldr x17, [x16]",
                        "br x17",
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
    cuArray3DCreate_v2 cuArray3DGetDescriptor_v2 cuArrayDestroy cuCtxCreate_v2 cuCtxDestroy_v2 cuCtxGetApiVersion
    cuCtxGetCacheConfig cuCtxGetCurrent cuCtxGetDevice cuCtxGetFlags cuCtxGetLimit cuCtxGetSharedMemConfig
    cuCtxGetStreamPriorityRange cuCtxPopCurrent_v2 cuCtxPushCurrent_v2 cuCtxSetCacheConfig cuCtxSetCurrent
    cuCtxSetLimit cuCtxSetSharedMemConfig cuCtxSynchronize cuDestroyExternalMemory cuDeviceGet cuDeviceGetAttribute
    cuDeviceGetCount cuDeviceGetName cuDeviceGetPCIBusId cuDeviceGetUuid cuDeviceGetUuid_v2 cuDevicePrimaryCtxGetState
    cuDevicePrimaryCtxRelease_v2 cuDevicePrimaryCtxReset_v2 cuDevicePrimaryCtxRetain cuDevicePrimaryCtxSetFlags_v2
    cuDeviceTotalMem_v2 cuDriverGetVersion cuEventCreate cuEventDestroy_v2 cuEventElapsedTime cuEventQuery
    cuEventRecord cuEventSynchronize cuExternalMemoryGetMappedBuffer cuFuncGetAttribute cuFuncSetAttribute
    cuFuncSetCacheConfig cuFuncSetSharedMemConfig cuGetErrorString cuGraphAddKernelNode cuGraphCreate
    cuGraphDebugDotPrint cuGraphDestroy cuGraphGetEdges cuGraphGetNodes cuGraphKernelNodeGetParams cuGraphNodeGetType
    cuImportExternalMemory cuLaunchHostFunc cuLaunchKernel cuLinkAddData_v2 cuLinkComplete cuLinkCreate_v2
    cuLinkDestroy cuMemAddressFree cuMemAddressReserve cuMemAdvise cuMemAllocAsync cuMemAllocHost_v2 cuMemAllocManaged
    cuMemAlloc_v2 cuMemCreate cuMemFreeAsync cuMemFreeHost cuMemFree_v2 cuMemGetAllocationGranularity cuMemGetInfo_v2
    cuMemHostAlloc cuMemHostRegister_v2 cuMemHostUnregister cuMemMap cuMemPrefetchAsync cuMemRelease cuMemSetAccess
    cuMemUnmap cuMemcpy2DAsync_v2 cuMemcpy2D_v2 cuMemcpyAtoH_v2 cuMemcpyDtoDAsync_v2 cuMemcpyDtoD_v2
    cuMemcpyDtoHAsync_v2 cuMemcpyDtoH_v2 cuMemcpyHtoA_v2 cuMemcpyHtoDAsync_v2 cuMemcpyHtoD_v2 cuMemsetD16Async
    cuMemsetD16_v2 cuMemsetD32Async cuMemsetD32_v2 cuMemsetD8Async cuMemsetD8_v2 cuModuleGetFunction
    cuModuleGetGlobal_v2 cuModuleLoad cuModuleLoadData cuModuleLoadDataEx cuModuleLoadFatBinary cuModuleUnload
    cuOccupancyAvailableDynamicSMemPerBlock cuOccupancyMaxActiveBlocksPerMultiprocessor
    cuOccupancyMaxPotentialBlockSize cuStreamCreate cuStreamCreateWithPriority cuStreamDestroy_v2 cuStreamGetFlags
    cuStreamGetPriority cuStreamQuery cuStreamSynchronize cuStreamWaitEvent cuSurfObjectCreate cuSurfObjectDestroy
    cuSurfObjectGetResourceDesc cuTexObjectCreate cuTexObjectDestroy cuTexObjectGetResourceDesc
    cuTexObjectGetResourceViewDesc
}

fn library() -> &'static Result<Library, String> {
    static LOADED: OnceLock<Result<Library, String>> = OnceLock::new();
    // SAFETY: loading the driver runs its initialisers, which are made for that.
    LOADED.get_or_init(|| unsafe { Library::new(LIBRARY) }.map_err(|error| error.to_string()))
}

/// Returns the system's reason why the driver's library could not be loaded, or `None` if it was. The first call loads
/// it.
pub fn load_error() -> Option<&'static str> {
    library().as_ref().err().map(String::as_str)
}

/// Returns the address of any function of the driver, for those that this crate does not define. Returns `None` without
/// a driver, or if the driver lacks the function.
pub fn symbol(name: &CStr) -> Option<*mut c_void> {
    // SAFETY: nothing is called here; the caller gives the address its type.
    let found = unsafe { library().as_ref().ok()?.get::<*mut c_void>(name.to_bytes_with_nul()) };
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
    load();
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

#[cfg(test)]
mod tests {
    use super::*;

    unsafe extern "C" {
        fn cuDeviceGetCount(count: *mut c_int) -> c_int;
        fn cuLaunchKernel(
            function: *mut c_void,
            grid_x: c_uint,
            grid_y: c_uint,
            grid_z: c_uint,
            block_x: c_uint,
            block_y: c_uint,
            block_z: c_uint,
            shared_bytes: c_uint,
            stream: *mut c_void,
            arguments: *mut *mut c_void,
            extra: *mut *mut c_void,
        ) -> c_int;
    }

    /// Checks that functions can be called before `cuInit`, with arguments in registers and on the stack. None of them
    /// succeeds, for the driver is not initialised, or not there.
    #[test]
    fn functions_before_init_return_errors() {
        assert!(link() > 100);
        let mut count = 7;
        let none = std::ptr::null_mut();
        // SAFETY: the function is null, which the driver refuses before it reads the others.
        let launched = unsafe { cuLaunchKernel(none, 1, 1, 1, 1, 1, 1, 0, none, none.cast(), none.cast()) };
        // SAFETY: the pointer is to a live variable.
        let counted = unsafe { cuDeviceGetCount(&raw mut count) };
        assert!(launched != 0 && counted != 0, "{launched}, {counted}");
        if let Some(reason) = load_error() {
            assert!(reason.contains(LIBRARY), "{reason}");
            assert_eq!([launched, counted], [CUDA_ERROR_NOT_FOUND; 2]);
            // SAFETY: the function requires nothing.
            assert_eq!(unsafe { cuInit(0) }, CUDA_ERROR_NO_DEVICE);
        }
    }
}
