//! Provides the properties that every device has.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use proofwarp::backend::DeviceInfo;

use super::{DeviceUuid, PciId, Vendor};

/// Wraps a device of proofwarp, and converts its properties to the types of this interface.
#[derive(Clone, Debug)]
pub(super) struct Handle(pub(super) Arc<proofwarp::backend::Device>);

impl Handle {
    pub(super) fn info(&self) -> &DeviceInfo {
        self.0.info()
    }

    pub(super) fn vendor(&self) -> Vendor {
        Vendor::try_from(self.info().vendor_id).unwrap_or(Vendor::Amd)
    }

    /// Returns the PCI address. If the device has none, returns 0x1234 plus the device's ordinal, which is easily told
    /// from real addresses.
    pub(super) fn pci_id(&self) -> PciId {
        const NONE: u16 = 0x1234;
        let info = self.info();
        let place = info.pci.map(|(bus, device)| u16::from_be_bytes([bus, device]));
        PciId::from(place.unwrap_or(NONE.wrapping_add(info.ordinal as u16)))
    }

    pub(super) fn uuid(&self) -> DeviceUuid {
        DeviceUuid::from(self.info().unique_id)
    }

    /// Returns whether `other` is the same device. A device of another backend is recognised by its PCI address too,
    /// because it may report no other identifier. Within a backend the address does not count, because parts of a GPU
    /// share one.
    pub(super) fn is_same_device(&self, other: &Self) -> bool {
        let (one, two) = (self.info(), other.info());
        self == other || one.backend != two.backend && one.pci.is_some() && one.pci == two.pci
    }
}

impl PartialEq for Handle {
    fn eq(&self, other: &Self) -> bool {
        self.info().unique_id == other.info().unique_id
    }
}

impl Eq for Handle {}

impl Hash for Handle {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.info().unique_id.hash(state);
    }
}
