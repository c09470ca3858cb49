//! Finds OpenCL devices, and describes each.

use std::ptr;
use std::sync::Mutex;

use opencl3::command_queue as queue;
use opencl3::context::context;
use opencl3::device as cl;
use opencl3::error_codes::{CL_PLATFORM_NOT_FOUND_KHR, DLOPEN_FUNCTION_NOT_AVAILABLE, DLOPEN_RUNTIME_LOAD_FAILED};
use opencl3::platform::platform;
use opencl3::types::{cl_device_id, cl_device_info, cl_int, cl_platform_id, cl_platform_info};
use sha2::{Digest, Sha256};

use super::super::{BackendKind, DeviceCaps, DeviceInfo, lock};
use super::load_failures;
use super::owned_handles::{ClOwned, ClResult, DeviceId, decode_number, decode_text, error_text};
use crate::{Error, Result};

/// Name that PoCL's OpenCL platform reports.
const POCL: &str = "Portable Computing Language";

/// Holds an OpenCL device, its description, and a context of its own.
#[derive(Debug)]
pub(super) struct ClDevice {
    pub(super) info: DeviceInfo,
    pub(super) device: DeviceId,
    pub(super) context: ClOwned,
    /// Device name and the versions of driver and platform. Compiled programs fit only the same three.
    pub(super) identity: String,
    /// Maximum bytes of a single buffer.
    pub(super) max_allocation: u64,
    /// Whether parts of a buffer may be used as sub-buffers. NVIDIA's driver (580) reads through null pointers in its
    /// own threads if queued commands use sub-buffers.
    pub(super) has_parts: bool,
    /// Whether the driver compiles a kernel at its first launch in a launch shape, and caches the result itself, as
    /// PoCL does. If asked for a program's binary, such a driver compiles all kernels, for any shape.
    pub(super) specialises: bool,
}

impl ClDevice {
    /// Converts the `result` of the OpenCL function `call` to this crate's result.
    pub(super) fn check_call<T>(&self, call: &str, result: ClResult<T>) -> Result<T> {
        result.map_err(|code| Error::device(&self.info.name, call, error_text(code)))
    }

    /// Creates an in-order command queue that records when its commands ran.
    pub(super) fn create_queue(&self) -> Result<ClOwned> {
        // SAFETY: the device is the context's own.
        let queue = unsafe {
            queue::create_command_queue(self.context.as_raw(), self.device.0, queue::CL_QUEUE_PROFILING_ENABLE)
        };
        let queue = self.check_call("clCreateCommandQueue", queue)?;
        // SAFETY: the queue was just made and its reference is ours.
        Ok(unsafe { ClOwned::new(queue, queue::release_command_queue) })
    }
}

/// Serialises the listing of platforms. The OpenCL loader and PoCL initialise at the first call, and crash if two
/// threads make that call at once.
static ENUMERATION: Mutex<()> = Mutex::new(());

/// Returns whether OpenCL's library could be loaded.
pub(super) fn has_library() -> bool {
    let _alone = lock(&ENUMERATION);
    let missing = [DLOPEN_RUNTIME_LOAD_FAILED, DLOPEN_FUNCTION_NOT_AVAILABLE];
    !platform::get_platform_ids().is_err_and(|code| missing.contains(&code))
}

/// Returns every usable device of all platforms, each once. Processors come last, and only if `cpu` is set. An error
/// tells why there is no device.
pub(super) fn find_devices(cpu: bool) -> Result<Vec<ClDevice>> {
    let _alone = lock(&ENUMERATION);
    let mut found: Vec<ClDevice> = Vec::new();
    let mut refused = Vec::new();
    for platform in platform::get_platform_ids().map_err(no_platform_error)? {
        let devices = platform_devices(platform).unwrap_or_else(|why| {
            refused.push(format!("{}: {why}", platform_name(platform)));
            Vec::new()
        });
        for (ordinal, device) in devices.into_iter().enumerate() {
            match open_device(platform, device, ordinal, cpu) {
                // Two platforms may reach one device.
                Ok(target) if found.iter().any(|other| other.info.unique_id == target.info.unique_id) => {}
                Ok(target) => found.push(target),
                Err(why) => refused.push(format!("{}: {why}", platform_name(platform))),
            }
        }
    }
    if found.iter().all(|target| target.info.is_cpu) {
        refused.extend(load_failures::vendor_failures());
    }
    if found.is_empty() {
        let reason = if refused.is_empty() { "no platform has a device".to_owned() } else { refused.join("; ") };
        return Err(unavailable_error(reason));
    }
    for why in refused.iter().filter(|_| found.iter().all(|target| target.info.is_cpu)) {
        log::warn!("OpenCL: processors alone are used: {why}");
    }
    found.sort_by_key(|target| target.info.is_cpu);
    found.iter_mut().enumerate().for_each(|(ordinal, target)| target.info.ordinal = ordinal);
    Ok(found)
}

/// Returns the devices of `platform`, at least one. The error is the reason why there is none.
fn platform_devices(platform: cl_platform_id) -> std::result::Result<Vec<cl_device_id>, String> {
    let devices = cl::get_device_ids(platform, cl::CL_DEVICE_TYPE_ALL);
    let devices = devices.map_err(|code| format!("clGetDeviceIDs: {}", error_text(code)))?;
    if devices.is_empty() { Err("no device".to_owned()) } else { Ok(devices) }
}

fn platform_name(platform: cl_platform_id) -> String {
    query_platform_text(platform, platform::CL_PLATFORM_NAME)
}

fn query_platform_text(platform: cl_platform_id, query: cl_platform_info) -> String {
    platform::get_platform_data(platform, query).map(|bytes| decode_text(&bytes)).unwrap_or_default()
}

fn unavailable_error(reason: String) -> Error {
    Error::Unavailable { backend: BackendKind::OpenCl, reason }
}

fn no_platform_error(code: cl_int) -> Error {
    unavailable_error(match code {
        DLOPEN_RUNTIME_LOAD_FAILED => {
            format!("the OpenCL library could not be loaded: {}", load_failures::loader_failure())
        }
        DLOPEN_FUNCTION_NOT_AVAILABLE => "the OpenCL library lacks clGetPlatformIDs".to_owned(),
        CL_PLATFORM_NOT_FOUND_KHR => match load_failures::vendor_failures() {
            failures if failures.is_empty() => "no OpenCL platform is installed".to_owned(),
            failures => format!("no OpenCL platform could be loaded: {}", failures.join("; ")),
        },
        other => error_text(other),
    })
}

/// Creates a context for `device` if it is usable. The error is the reason why it is not. `ordinal` counts the
/// platform's devices.
fn open_device(
    platform: cl_platform_id,
    device: cl_device_id,
    ordinal: usize,
    cpu: bool,
) -> std::result::Result<ClDevice, String> {
    let name = query_device_text(device, cl::CL_DEVICE_NAME);
    let kind = query_device_number(device, cl::CL_DEVICE_TYPE);
    let is_cpu = kind & cl::CL_DEVICE_TYPE_CPU != 0;
    let usable = kind & (cl::CL_DEVICE_TYPE_GPU | cl::CL_DEVICE_TYPE_ACCELERATOR) != 0;
    if is_cpu && !cpu {
        return Err(format!("{name} is a processor, used only with PROOFWARP_OPENCL_CPU=1"));
    }
    if !is_cpu && !usable {
        return Err(format!("{name} is neither GPU nor accelerator"));
    }
    let needs = [
        (cl::CL_DEVICE_AVAILABLE, "available"),
        (cl::CL_DEVICE_COMPILER_AVAILABLE, "able to compile"),
        (cl::CL_DEVICE_ENDIAN_LITTLE, "little-endian"),
    ];
    if let Some((_, what)) = needs.iter().find(|(query, _)| query_device_number(device, *query) == 0) {
        return Err(format!("{name} is not {what}"));
    }
    let context = context::create_context(&[device], ptr::null(), None, ptr::null_mut())
        .map_err(|code| format!("{name}: clCreateContext: {}", error_text(code)))?;
    // SAFETY: the context was just made and its reference is ours.
    let context = unsafe { ClOwned::new(context, context::release_context) };
    Ok(describe_device(platform, device, DeviceInfo { is_cpu, ..query_device_info(device, name, ordinal) }, context))
}

fn describe_device(platform: cl_platform_id, device: cl_device_id, info: DeviceInfo, context: ClOwned) -> ClDevice {
    let platform_version = query_platform_text(platform, platform::CL_PLATFORM_VERSION);
    let driver_version = query_device_text(device, cl::CL_DRIVER_VERSION);
    let identity = format!("{}\n{driver_version}\n{platform_version}", info.name);
    let platform_name = platform_name(platform);
    let fallback = format!("{platform_name}\n{}\n{}", info.name, info.ordinal);
    ClDevice {
        info: DeviceInfo { unique_id: unique_id(device, &fallback), ..info },
        device: DeviceId(device),
        context,
        identity,
        max_allocation: query_device_number(device, cl::CL_DEVICE_MAX_MEM_ALLOC_SIZE),
        has_parts: !platform_name.contains("NVIDIA"),
        specialises: platform_name.contains(POCL),
    }
}

fn query_device_info(device: cl_device_id, name: String, ordinal: usize) -> DeviceInfo {
    DeviceInfo {
        backend: BackendKind::OpenCl,
        ordinal,
        name,
        unique_id: [0; 16],
        vendor_id: query_device_number(device, cl::CL_DEVICE_VENDOR_ID) as u32,
        pci: query_pci_address(device),
        native: device as usize,
        compute_capability: compute_capability(device),
        compute_units: query_device_number(device, cl::CL_DEVICE_MAX_COMPUTE_UNITS) as u32,
        memory: query_device_number(device, cl::CL_DEVICE_GLOBAL_MEM_SIZE),
        local_memory: query_device_number(device, cl::CL_DEVICE_LOCAL_MEM_SIZE) as u32,
        is_cpu: false,
        caps: DeviceCaps { warp_width: query_warp_width(device), ..DeviceCaps::PORTABLE },
    }
}

const NVIDIA_QUERIES: &str = "cl_nv_device_attribute_query";

fn has_extension(device: cl_device_id, extension: &str) -> bool {
    query_device_text(device, cl::CL_DEVICE_EXTENSIONS).split_whitespace().any(|name| name == extension)
}

/// Returns the device's UUID, else its PCI bus address or a digest of that, else a digest of `fallback`.
fn unique_id(device: cl_device_id, fallback: &str) -> [u8; 16] {
    let uuid = || query_device_data(device, cl::CL_DEVICE_UUID_KHR)?.try_into().ok();
    let found: Option<[u8; 16]> = if has_extension(device, "cl_khr_device_uuid") { uuid() } else { None };
    found
        .or_else(|| query_pci_khr(device))
        .or_else(|| query_pci_nvidia(device).map(|(bus, slot)| digest_id(&format!("pci {bus} {slot}"))))
        .or_else(|| query_pci_amd(device).map(|address| digest_id(&format!("pci {address:?}"))))
        .unwrap_or_else(|| digest_id(fallback))
}

/// Returns the numbers of the device's PCI bus and of the device on that bus. `None` if the driver reports neither.
fn query_pci_address(device: cl_device_id) -> Option<(u8, u8)> {
    query_pci_khr(device)
        .map(|numbers| (numbers[4], numbers[8]))
        .or_else(|| query_pci_nvidia(device).map(|(bus, slot)| (bus as u8, slot as u8)))
        .or_else(|| query_pci_amd(device).map(|[bus, device, _]| (bus, device)))
}

/// Returns the PCI domain, bus, device and function as four 32-bit numbers in the host's byte order. `None` if the
/// device lacks the extension `cl_khr_pci_bus_info`.
fn query_pci_khr(device: cl_device_id) -> Option<[u8; 16]> {
    has_extension(device, "cl_khr_pci_bus_info")
        .then(|| query_device_data(device, cl::CL_DEVICE_PCI_BUS_INFO_KHR))??
        .try_into()
        .ok()
}

/// Returns the numbers of the PCI bus and slot. `None` if the device lacks NVIDIA's extension.
fn query_pci_nvidia(device: cl_device_id) -> Option<(u64, u64)> {
    query_nvidia_number(device, cl::CL_DEVICE_PCI_BUS_ID_NV)
        .zip(query_nvidia_number(device, cl::CL_DEVICE_PCI_SLOT_ID_NV))
}

/// Returns the PCI bus, device and function: the last three bytes of AMD's topology structure. `None` if the device
/// lacks AMD's extension.
fn query_pci_amd(device: cl_device_id) -> Option<[u8; 3]> {
    query_amd_data(device, cl::CL_DEVICE_TOPOLOGY_AMD)?.last_chunk::<3>().copied()
}

fn compute_capability(device: cl_device_id) -> Option<(u32, u32)> {
    let part = |query| query_nvidia_number(device, query).map(|number| number as u32);
    part(cl::CL_DEVICE_COMPUTE_CAPABILITY_MAJOR_NV).zip(part(cl::CL_DEVICE_COMPUTE_CAPABILITY_MINOR_NV))
}

/// Returns the number that NVIDIA's extension reports for `query`. `None` if the device lacks the extension.
fn query_nvidia_number(device: cl_device_id, query: cl_device_info) -> Option<u64> {
    has_extension(device, NVIDIA_QUERIES).then(|| query_device_data(device, query))?.map(|bytes| decode_number(&bytes))
}

/// Returns the number of work-items of a warp or wavefront. `None` if the device lacks NVIDIA's and AMD's extensions.
fn query_warp_width(device: cl_device_id) -> Option<u32> {
    let amd = || query_amd_data(device, cl::CL_DEVICE_WAVEFRONT_WIDTH_AMD).map(|bytes| decode_number(&bytes));
    query_nvidia_number(device, cl::CL_DEVICE_WARP_SIZE_NV).or_else(amd).map(|width| width as u32)
}

/// Returns the bytes that AMD's extension reports for `query`. `None` if the device lacks the extension.
fn query_amd_data(device: cl_device_id, query: cl_device_info) -> Option<Vec<u8>> {
    has_extension(device, "cl_amd_device_attribute_query").then(|| query_device_data(device, query))?
}

fn digest_id(text: &str) -> [u8; 16] {
    let mut id = [0; 16];
    id.copy_from_slice(&Sha256::digest(text)[..16]);
    id
}

fn query_device_data(device: cl_device_id, query: cl_device_info) -> Option<Vec<u8>> {
    cl::get_device_data(device, query).ok()
}

fn query_device_number(device: cl_device_id, query: cl_device_info) -> u64 {
    query_device_data(device, query).map_or(0, |bytes| decode_number(&bytes))
}

fn query_device_text(device: cl_device_id, query: cl_device_info) -> String {
    query_device_data(device, query).map(|bytes| decode_text(&bytes)).unwrap_or_default()
}
