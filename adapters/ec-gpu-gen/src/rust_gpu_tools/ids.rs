//! Identifies devices.

use std::fmt;

use super::GPUError;

/// Holds a device's PCI address: the bus number in the high byte, the device number in the low byte.
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

    /// Parses a PCI address of the form `aa:bb`, the hexadecimal bus and device numbers.
    fn try_from(text: &str) -> Result<Self, GPUError> {
        parse_hex_digits("PCI id", text, ':', 4).map(|number| Self(number as u16))
    }
}

impl fmt::Display for PciId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [bus, device] = self.0.to_be_bytes();
        write!(f, "{bus:02x}:{device:02x}")
    }
}

/// Holds a device's universally unique identifier (UUID).
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

    /// Parses a UUID of the form `aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee`, in hexadecimal.
    fn try_from(text: &str) -> Result<Self, GPUError> {
        parse_hex_digits("UUID", text, '-', 32).map(|number| Self(number.to_be_bytes()))
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

/// Parses `text` as a number of `count` hexadecimal digits, and ignores each `separator`. Errors call the number
/// `what`.
fn parse_hex_digits(what: &str, text: &str, separator: char, count: usize) -> Result<u128, GPUError> {
    let digits: String = text.chars().filter(|c| *c != separator).collect();
    let invalid = || GPUError::InvalidId(format!("{what}: expected {count} hexadecimal digits, got {text:?}"));
    if digits.len() != count || !digits.bytes().all(|b| b.is_ascii_hexdigit()) {
        return Err(invalid());
    }
    u128::from_str_radix(&digits, 16).map_err(|_| invalid())
}

/// Identifies a device by a value that is equal in all processes. bellperson puts it in the names of its lock files.
#[derive(Copy, Clone, Debug, Eq, Hash, PartialEq)]
pub enum UniqueId {
    /// PCI address.
    PciId(PciId),
    /// Universally unique identifier.
    Uuid(DeviceUuid),
}

impl TryFrom<&str> for UniqueId {
    type Error = GPUError;

    /// Parses a UUID if `text` contains a dash, else a PCI address.
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
/// The stock crate lists only devices of these two vendors. This crate lists devices of other vendors too, and reports
/// them as [`Vendor::Amd`]. Callers need the vendor only to know that only NVIDIA's devices have CUDA.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Vendor {
    /// AMD.
    Amd,
    /// NVIDIA.
    Nvidia,
}

/// AMD's vendor ids: the PCI vendor id, and the id that its devices in Apple's computers report instead.
const AMD_IDS: [u32; 2] = [0x1002, 0x0102_1d00];
const NVIDIA_ID: u32 = 0x10de;

impl TryFrom<&str> for Vendor {
    type Error = GPUError;

    /// Parses the vendor name that OpenCL reports.
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

/// Names the framework through which a device is used.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Framework {
    /// CUDA.
    #[cfg(feature = "cuda")]
    Cuda,
    /// OpenCL.
    #[cfg(feature = "opencl")]
    Opencl,
}
