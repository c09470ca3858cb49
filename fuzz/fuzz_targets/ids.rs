//! Names of devices: an error, or a name that is written as it was read.
#![no_main]

use ec_gpu_gen::rust_gpu_tools::{Device, DeviceUuid, PciId, UniqueId};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Ok(id) = PciId::try_from(text) {
        assert_eq!(PciId::try_from(id.to_string().as_str()).ok(), Some(id));
        let _device = Device::by_pci_id(id);
    }
    if let Ok(id) = DeviceUuid::try_from(text) {
        assert_eq!(DeviceUuid::try_from(id.to_string().as_str()).ok(), Some(id));
        let _device = Device::by_uuid(id);
    }
    if let Ok(id) = UniqueId::try_from(text) {
        assert_eq!(UniqueId::try_from(id.to_string().as_str()).ok(), Some(id));
        let _device = Device::by_unique_id(id);
    }
});
