//! Identifies devices.

use std::fmt;

use super::GPUError;

/// Holds a device's place on the PCI bus: the bus number, then the device number.
#[derive(Copy, Clone, Debug, Default, Eq, Hash, PartialEq)]
pub struct PciId(u16);

impl From<u16> for PciId {
    fn from(id: u16) -> Self {
        Self(id)
    }
}

impl From<PciId> for u16 {
    fn from(id: PciId) -> Self {
        id.0
    }
}

impl TryFrom<&str> for PciId {
    type Error = GPUError;

    /// Reads aa:bb, bus and device.
    fn try_from(text: &str) -> Result<Self, GPUError> {
        digits("PCI id", text, ':', 4).map(|number| Self(number as u16))
    }
}

impl fmt::Display for PciId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [bus, device] = self.0.to_be_bytes();
        write!(f, "{bus:02x}:{device:02x}")
    }
}

/// Holds a universally unique identifier.
#[derive(Copy, Clone, Default, Eq, Hash, PartialEq)]
pub struct DeviceUuid([u8; 16]);

impl From<[u8; 16]> for DeviceUuid {
    fn from(uuid: [u8; 16]) -> Self {
        Self(uuid)
    }
}

impl From<DeviceUuid> for [u8; 16] {
    fn from(uuid: DeviceUuid) -> Self {
        uuid.0
    }
}

impl TryFrom<&str> for DeviceUuid {
    type Error = GPUError;

    /// Reads aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee.
    fn try_from(text: &str) -> Result<Self, GPUError> {
        digits("UUID", text, '-', 32).map(|number| Self(number.to_be_bytes()))
    }
}

impl fmt::Display for DeviceUuid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, byte) in self.0.iter().enumerate() {
            let dash = if matches!(i, 4 | 6 | 8 | 10) { "-" } else { "" };
            write!(f, "{dash}{byte:02x}")?;
        }
        Ok(())
    }
}

impl fmt::Debug for DeviceUuid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Parses a text of `count` hexadecimal digits, between which `separator` may occur, as a number.
fn digits(what: &str, text: &str, separator: char, count: usize) -> Result<u128, GPUError> {
    let digits: String = text.chars().filter(|c| *c != separator).collect();
    let invalid = || GPUError::InvalidId(format!("{what}: expected {count} hexadecimal digits, got {text:?}"));
    if digits.len() != count || !digits.bytes().all(|b| b.is_ascii_hexdigit()) {
        return Err(invalid());
    }
    u128::from_str_radix(&digits, 16).map_err(|_| invalid())
}

/// Identifies a device, across processes too: bellperson's lock files carry it in their names.
#[derive(Copy, Clone, Debug, Eq, Hash, PartialEq)]
pub enum UniqueId {
    /// Place on the PCI bus.
    PciId(PciId),
    /// Universally unique identifier.
    Uuid(DeviceUuid),
}

impl TryFrom<&str> for UniqueId {
    type Error = GPUError;

    /// Reads a UUID if there is a dash, else a place on the PCI bus.
    fn try_from(text: &str) -> Result<Self, GPUError> {
        match text.contains('-') {
            true => DeviceUuid::try_from(text).map(Self::Uuid),
            false => PciId::try_from(text).map(Self::PciId),
        }
    }
}

impl fmt::Display for UniqueId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::PciId(id) => id.fmt(f),
            Self::Uuid(uuid) => uuid.fmt(f),
        }
    }
}

/// Names the maker of a device.
///
/// The stock crate knows these two, and lists no device of another vendor. This crate lists such devices, as
/// [`Vendor::Amd`]: callers use the vendor only to know that only NVIDIA's devices have CUDA.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Vendor {
    /// AMD.
    Amd,
    /// NVIDIA.
    Nvidia,
}

/// AMD's vendor number on the PCI bus, and the number that its devices in Apple's computers have instead.
const AMD_IDS: [u32; 2] = [0x1002, 0x0102_1d00];
const NVIDIA_ID: u32 = 0x10de;

impl TryFrom<&str> for Vendor {
    type Error = GPUError;

    /// Reads OpenCL's vendor name.
    fn try_from(text: &str) -> Result<Self, GPUError> {
        match text {
            "Advanced Micro Devices, Inc." | "AMD" => Ok(Self::Amd),
            "NVIDIA Corporation" => Ok(Self::Nvidia),
            other => Err(GPUError::UnsupportedVendor(other.to_owned())),
        }
    }
}

impl TryFrom<u32> for Vendor {
    type Error = GPUError;

    fn try_from(id: u32) -> Result<Self, GPUError> {
        match id {
            NVIDIA_ID => Ok(Self::Nvidia),
            id if AMD_IDS.contains(&id) => Ok(Self::Amd),
            other => Err(GPUError::UnsupportedVendor(format!("{other:#x}"))),
        }
    }
}

impl fmt::Display for Vendor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Amd => "Advanced Micro Devices, Inc.",
            Self::Nvidia => "NVIDIA Corporation",
        })
    }
}

/// Tells how a device is reached.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Framework {
    /// CUDA.
    #[cfg(feature = "cuda")]
    Cuda,
    /// OpenCL.
    #[cfg(feature = "opencl")]
    Opencl,
}
