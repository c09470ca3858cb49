//! Describes CUDA devices, the driver and the kernels that the build compiled.

use std::mem::MaybeUninit;

use cust::device::{Device as CudaDevice, DeviceAttribute};
use cust::sys as cu;

use super::context::check_status;
use super::modules::{ARCHITECTURES, BUILD_NOTE, COMPILER, FATBINS};
use crate::Error;
use crate::backend::{BackendKind, CudaCard, CudaKernels, DeviceCaps, DeviceInfo};

/// Identifies NVIDIA on the PCI bus, by its vendor id.
const NVIDIA: u32 = 0x10de;

/// Returns the description of the kernels that the build compiled.
pub(in crate::backend) fn kernel_build_info() -> CudaKernels {
    CudaKernels { note: BUILD_NOTE, architectures: ARCHITECTURES, compiler: COMPILER, modules: FATBINS.len() }
}

/// Returns the CUDA version (major, minor) that the driver supports. `None` if there is no driver.
pub(in crate::backend) fn driver_version() -> Option<(u32, u32)> {
    proofwarp_cuda_driver::link();
    // Loads the driver's functions; a missing device does not matter here.
    let _ = cust::init(cust::CudaFlags::empty());
    let mut version = 0;
    // SAFETY: the pointer is to a live variable.
    check_status(unsafe { cu::cuDriverGetVersion(&raw mut version) }).ok()?;
    let version = u32::try_from(version).ok()?;
    Some((version / 1000, version % 1000 / 10))
}

/// Returns descriptions of all GPUs that the driver lists, including those for which there are no kernels.
pub(in crate::backend) fn list_cards() -> Vec<CudaCard> {
    proofwarp_cuda_driver::link();
    let devices = cust::init(cust::CudaFlags::empty()).and_then(|()| CudaDevice::devices());
    devices.into_iter().flatten().flatten().filter_map(|device| describe_card(device).ok()).collect()
}

fn describe_card(device: CudaDevice) -> cust::error::CudaResult<CudaCard> {
    let (name, capability) = (device.name()?, compute_capability(device)?);
    Ok(CudaCard { name, capability, is_served: is_supported(10 * capability.0 + capability.1, ARCHITECTURES) })
}

/// Returns whether code compiled for `architectures` runs on a device of compute capability `capability`, such as 90
/// for 9.0. Binary code runs if it is for the same major and no later minor version. The PTX of the last architecture
/// runs on that and all later devices.
pub(super) fn is_supported(capability: u32, architectures: &[u32]) -> bool {
    let runs = |code: &u32| code / 10 == capability / 10 && *code <= capability;
    architectures.iter().any(runs) || architectures.last().is_some_and(|ptx| *ptx <= capability)
}

/// Returns a text that lists the compute capabilities that [`is_supported`] accepts for `architectures`.
pub(super) fn supported_archs_text(architectures: &[u32]) -> String {
    let of_each = architectures.iter().map(|code| format!("{code} to {}", code / 10 * 10 + 9));
    let later = architectures.last().map(|ptx| format!("from {ptx} on"));
    of_each.chain(later).collect::<Vec<_>>().join(", ")
}

/// Returns a device's compute capability as one number, such as 90 for 9.0.
pub(super) fn capability_number(device: CudaDevice) -> cust::error::CudaResult<u32> {
    compute_capability(device).map(|(major, minor)| 10 * major + minor)
}

fn compute_capability(device: CudaDevice) -> cust::error::CudaResult<(u32, u32)> {
    let attribute = |which| device.get_attribute(which).map(|value| value.max(0) as u32);
    Ok((attribute(DeviceAttribute::ComputeCapabilityMajor)?, attribute(DeviceAttribute::ComputeCapabilityMinor)?))
}

pub(super) fn unavailable_error(reason: impl ToString) -> Error {
    Error::Unavailable { backend: BackendKind::Cuda, reason: reason.to_string() }
}

/// Returns the description of `device`, the driver's device number `ordinal`.
pub(super) fn describe_device(ordinal: usize, device: CudaDevice) -> cust::error::CudaResult<DeviceInfo> {
    let attribute = |which| device.get_attribute(which).map(|value| value.max(0) as u32);
    let pci = |which| attribute(which).ok().and_then(|number| u8::try_from(number).ok());
    let mut uuid = MaybeUninit::<cu::CUuuid>::zeroed();
    // SAFETY: the driver writes the 16 bytes, or leaves them zero.
    let unique_id = unsafe {
        let _ = cu::cuDeviceGetUuid(uuid.as_mut_ptr(), device.as_raw());
        uuid.assume_init().bytes.map(|byte| byte as u8)
    };
    let capability = compute_capability(device)?;
    Ok(DeviceInfo {
        backend: BackendKind::Cuda,
        ordinal,
        name: device.name()?,
        unique_id,
        vendor_id: NVIDIA,
        pci: pci(DeviceAttribute::PciBusId).zip(pci(DeviceAttribute::PciDeviceId)),
        native: device.as_raw() as usize,
        compute_capability: Some(capability),
        compute_units: attribute(DeviceAttribute::MultiprocessorCount)?,
        memory: device.total_memory()? as u64,
        local_memory: attribute(DeviceAttribute::MaxSharedMemoryPerBlock)?,
        is_cpu: false,
        caps: DeviceCaps::for_cuda(capability, attribute(DeviceAttribute::WarpSize)?),
    })
}

#[cfg(test)]
mod tests {
    use super::{is_supported, supported_archs_text};

    #[test]
    fn code_serves_later_devices_of_its_generation_and_ptx_all_later_ones() {
        let architectures = [75, 80, 90];
        let runs = |capability| is_supported(capability, &architectures);
        assert!([75, 80, 86, 87, 89, 90, 100, 120].into_iter().all(runs));
        assert!(![52, 61, 70, 72].into_iter().any(runs));
        assert!(!is_supported(86, &[75, 90]) && !is_supported(80, &[86, 90]) && !is_supported(90, &[]));
        assert_eq!(supported_archs_text(&[80, 90]), "80 to 89, 90 to 99, from 90 on");
    }
}
