//! Compiles OpenCL programs, and holds their kernels.

use std::collections::HashMap;
use std::ffi::{CString, c_void};
use std::mem::size_of;
use std::ptr;
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Instant;

use opencl3::command_queue as queue;
use opencl3::error_codes::CL_INVALID_KERNEL_NAME;
use opencl3::kernel as cl_kernel;
use opencl3::program as cl;
use opencl3::types::{cl_command_queue, cl_int, cl_mem, cl_program, cl_uint};

use super::super::lock;
use super::super::{Arg, KernelCode, KernelHandle, KernelSource};
use super::discovery::ClDevice;
use super::disk_cache::DiskCache;
use super::owned_handles::{ClOwned, ClResult, decode_number, decode_text, error_text, release_command_event};
use crate::{Error, Result};

/// Options of the OpenCL compiler, which are part of a program's cache key. `-w` turns warnings off: PoCL would print
/// their number on standard error, such as "9 warnings generated.", for each program.
const OPTIONS: &str = "-cl-std=CL1.2 -w";

/// Log target of the lines before and after a compilation, which may take minutes. Programs can show these lines alone.
const COMPILE_LOG: &str = "proofwarp::compile";

/// Holds a compiled module, or `None` until it is compiled. The lock stops a second thread from compiling it too.
type ModuleCell = Arc<Mutex<Option<Arc<ClOwned>>>>;

/// Holds a kernel with its name, its number of arguments and its maximum group size.
#[derive(Debug)]
pub(super) struct ClKernel {
    /// Kernel object, which stores the arguments of a launch. Setting these and queueing the launch therefore need
    /// the lock.
    pub(super) object: Mutex<ClOwned>,
    pub(super) name: String,
    pub(super) arguments: usize,
    pub(super) max_group: usize,
}

/// Holds the compiled modules and the kernels of a device.
#[derive(Debug)]
pub(super) struct Programs {
    cache: DiskCache,
    modules: Mutex<HashMap<String, ModuleCell>>,
    kernels: RwLock<Vec<Arc<ClKernel>>>,
}

impl Programs {
    pub(super) fn new(cache: DiskCache) -> Self {
        Self { cache, modules: Mutex::default(), kernels: RwLock::default() }
    }

    /// Adds the kernel `name` of the module `source` to the table of kernels, and returns its handle. Compiles or
    /// loads the module first if necessary.
    pub(super) fn load_kernel(&self, target: &ClDevice, source: KernelSource<'_>, name: &str) -> Result<KernelHandle> {
        let program = self.get_or_load_module(target, source)?;
        let kernel = create_kernel(target, &program, source, name)?;
        let mut kernels = self.kernels.write().unwrap_or_else(PoisonError::into_inner);
        kernels.push(Arc::new(kernel));
        Ok(KernelHandle(kernels.len() - 1))
    }

    /// Returns the kernel with this `handle` from the table of kernels, or an error if there is none.
    pub(super) fn get_kernel(&self, handle: KernelHandle) -> Result<Arc<ClKernel>> {
        let kernels = self.kernels.read().unwrap_or_else(PoisonError::into_inner);
        let missing =
            || Error::device("opencl", "launch", format!("there is no kernel {} of {}", handle.0, kernels.len()));
        kernels.get(handle.0).cloned().ok_or_else(missing)
    }

    fn get_or_load_module(&self, target: &ClDevice, source: KernelSource<'_>) -> Result<Arc<ClOwned>> {
        let slot = lock(&self.modules).entry(source.module.to_owned()).or_default().clone();
        let mut slot = lock(&slot);
        if let Some(program) = &*slot {
            return Ok(program.clone());
        }
        let program = Arc::new(match source.code {
            KernelCode::Text(text) => self.load_or_compile(target, source.module, &text())?,
            KernelCode::Binary(binary) => target
                .check_call(&format!("clCreateProgramWithBinary of {}", source.module), load_binary(target, binary))?,
        });
        *slot = Some(program.clone());
        Ok(program)
    }

    fn load_or_compile(&self, target: &ClDevice, module: &str, source: &str) -> Result<ClOwned> {
        let key = DiskCache::hash_key(&[source, OPTIONS, &target.identity]);
        if let Some(binary) = self.cache.load(&key) {
            match load_binary(target, &binary) {
                Ok(program) => return Ok(program),
                Err(code) => log::warn!("{module}: a kept program was refused: {}", error_text(code)),
            }
        }
        let start = Instant::now();
        log::info!(target: COMPILE_LOG, "{module}: compiling for {}", target.info.name);
        let program = compile_source(target, module, source)?;
        log::info!(target: COMPILE_LOG, "{module}: compiled for {} in {:.1?}", target.info.name, start.elapsed());
        if let Some(binary) = self.cache.folder().and_then(|_| program_binary(&program)) {
            self.cache.store(&key, &binary);
        }
        Ok(program)
    }
}

fn own_program(program: ClResult<cl_program>) -> ClResult<ClOwned> {
    // SAFETY: the program was just made and its reference is ours.
    program.map(|program| unsafe { ClOwned::new(program, cl::release_program) })
}

fn build_program(target: &ClDevice, program: &ClOwned) -> ClResult<()> {
    let options = CString::new(OPTIONS).unwrap_or_default();
    cl::build_program(program.as_raw(), &[target.device.0], &options, None, ptr::null_mut())
}

fn load_binary(target: &ClDevice, binary: &[u8]) -> ClResult<ClOwned> {
    // SAFETY: the device is the context's own.
    let program = unsafe { cl::create_program_with_binary(target.context.as_raw(), &[target.device.0], &[binary]) };
    let program = own_program(program)?;
    build_program(target, &program)?;
    Ok(program)
}

fn compile_source(target: &ClDevice, module: &str, source: &str) -> Result<ClOwned> {
    let program = cl::create_program_with_source(target.context.as_raw(), &[source]);
    let program = target.check_call("clCreateProgramWithSource", own_program(program))?;
    match build_program(target, &program) {
        Ok(()) => Ok(program),
        Err(code) => Err(build_error(target, module, &program, code)),
    }
}

fn build_error(target: &ClDevice, module: &str, program: &ClOwned, code: cl_int) -> Error {
    let log = cl::get_program_build_data(program.as_raw(), target.device.0, cl::CL_PROGRAM_BUILD_LOG);
    let log = log.map(|bytes| decode_text(&bytes)).unwrap_or_default();
    Error::device(&target.info.name, format!("clBuildProgram of {module}"), format!("{}\n{log}", error_text(code)))
}

/// Returns the binary of `program`, which was built for one device. `None` if the driver returns no binary.
fn program_binary(program: &ClOwned) -> Option<Vec<u8>> {
    let binaries = cl::get_program_info(program.as_raw(), cl::CL_PROGRAM_BINARIES).ok()?;
    Vec::<Vec<u8>>::from(binaries).into_iter().next().filter(|binary| !binary.is_empty())
}

fn create_kernel(target: &ClDevice, program: &ClOwned, source: KernelSource<'_>, name: &str) -> Result<ClKernel> {
    let c_name = CString::new(name).map_err(|_| Error::invalid("kernel", "name", "no zero byte", name))?;
    let object = cl_kernel::create_kernel(program.as_raw(), &c_name);
    if object == Err(CL_INVALID_KERNEL_NAME) {
        return Err(source.no_kernel_error(&target.info.name, name));
    }
    let object = target.check_call(&format!("clCreateKernel of {name} in {}", source.module), object)?;
    // SAFETY: the kernel was just made and its reference is ours.
    let object = unsafe { ClOwned::new(object, cl_kernel::release_kernel) };
    let arguments = cl_kernel::get_kernel_data(object.as_raw(), cl_kernel::CL_KERNEL_NUM_ARGS);
    let arguments = decode_number(&target.check_call("clGetKernelInfo", arguments)?) as usize;
    let group = cl_kernel::CL_KERNEL_WORK_GROUP_SIZE;
    let max_group = cl_kernel::get_kernel_work_group_data(object.as_raw(), target.device.0, group);
    let max_group = decode_number(&target.check_call("clGetKernelWorkGroupInfo", max_group)?) as usize;
    Ok(ClKernel { object: Mutex::new(object), name: name.to_owned(), arguments, max_group })
}

/// Sets the argument of `kernel` with number `index`, from 0 on, to `arg`.
///
/// # Safety
/// The kernel is live, its lock held, and the argument matches its parameter.
unsafe fn set_kernel_argument(kernel: *mut c_void, index: usize, arg: &Arg) -> ClResult<()> {
    let (size, value): (usize, *const c_void) = match arg {
        // A handle holds the object's address, which OpenCL reads.
        Arg::Memory(memory) => (size_of::<cl_mem>(), (&raw const memory.0).cast()),
        Arg::U32(number) => (size_of::<u32>(), ptr::from_ref(number).cast()),
        Arg::U64(number) => (size_of::<u64>(), ptr::from_ref(number).cast()),
        Arg::Value(value, size) => (*size, value.cast()),
        Arg::Local(size) => (*size as usize, ptr::null()),
    };
    // SAFETY: `value` points to `size` readable bytes, or to nothing for local memory; the rest is the caller's
    // promise.
    unsafe { cl_kernel::set_kernel_arg(kernel, index as cl_uint, size, value) }
}

/// Sets the arguments of `kernel` to `args`, and queues a launch of `groups` work-groups of `group_size` work-items
/// each.
///
/// # Safety
/// The queue is live and the arguments match the kernel's parameters.
pub(super) unsafe fn enqueue_kernel(
    stream: cl_command_queue,
    kernel: &ClKernel,
    groups: usize,
    group_size: usize,
    args: &[Arg],
) -> ClResult<()> {
    let global = groups * group_size;
    let object = lock(&kernel.object);
    for (index, arg) in args.iter().enumerate() {
        // SAFETY: the lock is held; the rest is the caller's promise.
        unsafe { set_kernel_argument(object.as_raw(), index, arg)? };
    }
    // SAFETY: all arguments are set and the sizes have one dimension each.
    release_command_event(unsafe {
        queue::enqueue_nd_range_kernel(
            stream,
            object.as_raw(),
            1,
            ptr::null(),
            &raw const global,
            &raw const group_size,
            0,
            ptr::null(),
        )
    })
}
