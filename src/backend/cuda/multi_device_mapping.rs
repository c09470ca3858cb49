//! Maps memory of several devices at consecutive addresses, by the driver's virtual memory management (CUDA driver API,
//! "Virtual Memory Management"). Every device can access all of it, other devices' parts over the link between them.

use std::ffi::{c_int, c_uint, c_ulonglong};
use std::mem::MaybeUninit;
use std::sync::OnceLock;

use cust::sys as cu;

use super::context::check_status;

/// Names the driver function that failed, and holds its status.
pub(super) type DriverFailure = (String, cu::CUresult);

/// Declares functions of the driver that cust does not use. Each is looked up by name at its first call. Drivers
/// before CUDA 11.2 lack some.
macro_rules! driver_functions {
    ($($name:ident($($argument:ident: $type:ty),*);)*) => {$(
        #[allow(non_snake_case, reason = "the driver's name")]
        unsafe fn $name($($argument: $type),*) -> cu::CUresult {
            type Function = unsafe extern "C" fn($($type),*) -> cu::CUresult;
            static FUNCTION: OnceLock<Option<Function>> = OnceLock::new();
            let found = FUNCTION.get_or_init(|| {
                let name = std::ffi::CString::new(stringify!($name)).ok()?;
                let address = proofwarp_cuda_driver::symbol(&name)?;
                // SAFETY: the driver's function of this name has this signature.
                Some(unsafe { std::mem::transmute::<*mut std::ffi::c_void, Function>(address) })
            });
            match found {
                // SAFETY: passed on from the caller.
                Some(function) => unsafe { function($($argument),*) },
                None => cu::CUresult::CUDA_ERROR_NOT_FOUND,
            }
        }
    )*};
}

driver_functions! {
    cuDeviceCanAccessPeer(can: *mut c_int, device: cu::CUdevice, peer: cu::CUdevice);
    cuCtxEnablePeerAccess(context: cu::CUcontext, flags: c_uint);
    cuMemGetAllocationGranularity(
        granule: *mut usize,
        properties: *const cu::CUmemAllocationProp,
        which: cu::CUmemAllocationGranularity_flags
    );
    cuMemAddressReserve(
        address: *mut cu::CUdeviceptr,
        bytes: usize,
        alignment: usize,
        wanted: cu::CUdeviceptr,
        flags: c_ulonglong
    );
    cuMemAddressFree(address: cu::CUdeviceptr, bytes: usize);
    cuMemCreate(
        handle: *mut cu::CUmemGenericAllocationHandle,
        bytes: usize,
        properties: *const cu::CUmemAllocationProp,
        flags: c_ulonglong
    );
    cuMemRelease(handle: cu::CUmemGenericAllocationHandle);
    cuMemMap(
        address: cu::CUdeviceptr,
        bytes: usize,
        offset: usize,
        handle: cu::CUmemGenericAllocationHandle,
        flags: c_ulonglong
    );
    cuMemUnmap(address: cu::CUdeviceptr, bytes: usize);
    cuMemSetAccess(
        address: cu::CUdeviceptr,
        bytes: usize,
        access: *const cu::CUmemAccessDesc,
        count: usize
    );
}

fn check_call(call: &str, code: cu::CUresult) -> Result<(), DriverFailure> {
    check_status(code).map_err(|code| (call.to_owned(), code))
}

/// Holds a range of consecutive addresses, divided into equal parts that are mapped to memory of devices. Unmaps the
/// parts and frees the addresses when dropped.
pub(super) struct MappedRange {
    address: cu::CUdeviceptr,
    part_bytes: usize,
    parts: usize,
    /// Number of leading parts that are mapped to memory.
    mapped: usize,
}

impl MappedRange {
    /// Maps `part_bytes` of memory on each of `devices`, in this order, at consecutive addresses. Every one of the
    /// devices may access all of it.
    pub(super) fn new(devices: &[cu::CUdevice], part_bytes: usize) -> Result<Self, DriverFailure> {
        check_peer_access(devices)?;
        devices.iter().try_for_each(|device| check_granularity(*device, part_bytes))?;
        let mut range = Self::reserve_addresses(devices.len(), part_bytes)?;
        devices.iter().try_for_each(|device| range.map_next_part(*device))?;
        range.allow_access(devices)?;
        Ok(range)
    }

    /// Returns the start address of the range. The memory stays mapped until [`Self::from_address`] takes the range
    /// back.
    pub(super) fn into_address(self) -> cu::CUdeviceptr {
        std::mem::ManuallyDrop::new(self).address
    }

    /// Recreates the range whose start `address` was returned by [`Self::into_address`]. Dropping the result unmaps
    /// the memory.
    pub(super) fn from_address(address: cu::CUdeviceptr, parts: usize, part_bytes: usize) -> Self {
        Self { address, part_bytes, parts, mapped: parts }
    }

    fn reserve_addresses(parts: usize, part_bytes: usize) -> Result<Self, DriverFailure> {
        let mut address = 0;
        // SAFETY: the pointer is to a live variable.
        let code = unsafe { cuMemAddressReserve(&raw mut address, parts * part_bytes, 0, 0, 0) };
        check_call("cuMemAddressReserve", code)?;
        Ok(Self { address, part_bytes, parts, mapped: 0 })
    }

    /// Allocates memory on `device` and maps it to the next part of the range.
    fn map_next_part(&mut self, device: cu::CUdevice) -> Result<(), DriverFailure> {
        let properties = allocation_properties(device);
        let mut handle = 0;
        // SAFETY: both pointers are to live variables.
        check_call("cuMemCreate", unsafe { cuMemCreate(&raw mut handle, self.part_bytes, &raw const properties, 0) })?;
        let at = self.address + (self.mapped * self.part_bytes) as cu::CUdeviceptr;
        // SAFETY: the range is reserved, and this part of it not mapped.
        let mapped = check_call("cuMemMap", unsafe { cuMemMap(at, self.part_bytes, 0, handle, 0) });
        // SAFETY: the handle is live and not used again; the mapping holds the memory from here on.
        let released = check_call("cuMemRelease", unsafe { cuMemRelease(handle) });
        mapped?;
        self.mapped += 1;
        released
    }

    /// Lets each of `devices` read and write all of the range.
    fn allow_access(&self, devices: &[cu::CUdevice]) -> Result<(), DriverFailure> {
        let mut different = devices.to_vec();
        different.sort_unstable();
        different.dedup();
        let flags = cu::CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
        let access = |device: cu::CUdevice| cu::CUmemAccessDesc { location: memory_location(device), flags };
        let access: Vec<_> = different.into_iter().map(access).collect();
        let bytes = self.parts * self.part_bytes;
        // SAFETY: all of the range is mapped, and the pointer is to `access.len()` descriptions.
        check_call("cuMemSetAccess", unsafe { cuMemSetAccess(self.address, bytes, access.as_ptr(), access.len()) })
    }
}

impl Drop for MappedRange {
    fn drop(&mut self) {
        for part in 0..self.mapped {
            let at = self.address + (part * self.part_bytes) as cu::CUdeviceptr;
            // SAFETY: the part is mapped and no longer used; a failure leaks it.
            let _ = unsafe { cuMemUnmap(at, self.part_bytes) };
        }
        // SAFETY: the range is reserved, and nothing is mapped there any more; a failure leaks it.
        let _ = unsafe { cuMemAddressFree(self.address, self.parts * self.part_bytes) };
    }
}

/// Checks that `part_bytes` is a multiple of the driver's allocation granularity on `device`.
fn check_granularity(device: cu::CUdevice, part_bytes: usize) -> Result<(), DriverFailure> {
    let properties = allocation_properties(device);
    let mut granule = 0;
    let minimum = cu::CUmemAllocationGranularity_flags::CU_MEM_ALLOC_GRANULARITY_MINIMUM;
    // SAFETY: both pointers are to live variables.
    let code = unsafe { cuMemGetAllocationGranularity(&raw mut granule, &raw const properties, minimum) };
    check_call("cuMemGetAllocationGranularity", code)?;
    if granule > 0 && part_bytes.is_multiple_of(granule) {
        return Ok(());
    }
    Err((format!("cuMemCreate of {part_bytes} bytes in granules of {granule}"), cu::CUresult::CUDA_ERROR_INVALID_VALUE))
}

/// Checks that each of `devices` can access the memory of all others.
fn check_peer_access(devices: &[cu::CUdevice]) -> Result<(), DriverFailure> {
    let pairs = devices.iter().flat_map(|one| devices.iter().map(move |other| (*one, *other)));
    for (one, other) in pairs.filter(|(one, other)| one != other) {
        if !can_access_peer(one, other)? {
            let call = format!("access of device {one} to the memory of device {other}");
            return Err((call, cu::CUresult::CUDA_ERROR_PEER_ACCESS_UNSUPPORTED));
        }
    }
    Ok(())
}

/// Returns whether device `one` can access the memory of device `other` directly.
pub(super) fn can_access_peer(one: cu::CUdevice, other: cu::CUdevice) -> Result<bool, DriverFailure> {
    let mut can = 0;
    // SAFETY: the pointer is to a live variable.
    check_call("cuDeviceCanAccessPeer", unsafe { cuDeviceCanAccessPeer(&raw mut can, one, other) })?;
    Ok(can != 0)
}

/// Lets the current context access the memory of context `other`.
///
/// # Safety
/// The context is live, and stays so while its memory is used.
pub(super) unsafe fn enable_peer_access(other: cu::CUcontext) -> cu::CUresult {
    // SAFETY: passed on from the caller; no flags are defined.
    unsafe { cuCtxEnablePeerAccess(other, 0) }
}

fn memory_location(device: cu::CUdevice) -> cu::CUmemLocation {
    cu::CUmemLocation { type_: cu::CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE, id: device }
}

fn allocation_properties(device: cu::CUdevice) -> cu::CUmemAllocationProp {
    // SAFETY: zero is a value of every field: enumerations define it as invalid or none, pointers may be null.
    let mut properties: cu::CUmemAllocationProp = unsafe { MaybeUninit::zeroed().assume_init() };
    properties.type_ = cu::CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location = memory_location(device);
    properties
}
