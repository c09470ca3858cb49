//! Loads modules from the build's fatbins, or from a caller's binary, each at its first use.

use std::collections::HashMap;
use std::ffi::CString;
use std::sync::Mutex;

use cust::error::CudaError;
use cust::module::Module;
use cust::sys as cu;

use super::context::cust_error_text;
use crate::backend::{DeviceInfo, KernelCode, KernelHandle, KernelSource, lock};
use crate::{Error, Result};

include!(concat!(env!("OUT_DIR"), "/fatbins.rs"));

/// Returns whether the build compiled kernels for the module named `module`.
pub fn has_kernels(module: &str) -> bool {
    find_fatbin(module).is_some()
}

fn find_fatbin(module: &str) -> Option<&'static [u8]> {
    FATBINS.iter().find(|(name, _)| *name == module).map(|(_, bytes)| *bytes)
}

/// Holds the kernel modules that are loaded into one CUDA context, by name. They stay loaded as long as the context.
#[derive(Debug, Default)]
pub(super) struct LoadedModules(Mutex<HashMap<String, Module>>);

impl LoadedModules {
    /// Returns the kernel `name` of the module `source`, loading the module if necessary. The context must be
    /// current, and `info` describes its device.
    pub(super) fn load_kernel(&self, info: &DeviceInfo, source: KernelSource<'_>, name: &str) -> Result<KernelHandle> {
        let (device, module) = (info.name.as_str(), source.module);
        // cust would panic on a zero byte.
        if name.contains('\0') {
            return Err(source.no_kernel_error(device, name));
        }
        let mut loaded = lock(&self.0);
        if !loaded.contains_key(module) {
            loaded.insert(module.to_owned(), load_module(device, source)?);
        }
        let function = loaded[module].get_function(name).map_err(|error| match error {
            CudaError::NotFound => source.no_kernel_error(device, name),
            other => Error::device(device, format!("{module}/{name}"), cust_error_text(other)),
        })?;
        let early = info.caps.dependent_launch && uses_pdl(&loaded[module], name);
        Ok(encode_kernel_handle(function.to_raw(), early))
    }
}

/// Bit that is set in the handle of a kernel that may start before the previous one has ended. It is free, because
/// addresses of functions are even.
const EARLY: usize = 1;

fn encode_kernel_handle(function: cu::CUfunction, early: bool) -> KernelHandle {
    KernelHandle(function as usize | if early { EARLY } else { 0 })
}

/// Returns the function of `handle`, and whether it may start before the previous kernel has ended.
pub(super) fn decode_kernel_handle(handle: KernelHandle) -> (cu::CUfunction, bool) {
    ((handle.0 & !EARLY) as cu::CUfunction, handle.0 & EARLY != 0)
}

/// Returns whether a kernel waits by itself for earlier work in its stream, so that it may start before that work has
/// ended. `PDL_KERNEL` of `cuda/dialect.cuh` declares such kernels, for devices with dependent launch. Only kernels
/// of the list `PDL_KERNELS` are looked up, since NVIDIA's tools report symbols that are not found.
fn uses_pdl(module: &Module, kernel: &str) -> bool {
    let declared = PDL_KERNELS.binary_search(&kernel).is_ok();
    declared && CString::new(format!("starts_early_{kernel}")).is_ok_and(|name| module.get_global::<u32>(&name).is_ok())
}

fn load_module(device: &str, source: KernelSource<'_>) -> Result<Module> {
    let module = source.module;
    let binary = match source.code {
        KernelCode::Binary(given) => check_fatbin_size(given),
        KernelCode::Text(_) => find_fatbin(module).ok_or("no such module was compiled when this program was built"),
    };
    let binary = binary.map_err(|reason| Error::device(device, module, reason))?;
    // Accepts any kind, also PTX: a zero is appended.
    Module::from_fatbin(binary, &[]).map_err(|error| Error::device(device, module, cust_error_text(error)))
}

/// Magic number at the start of a fatbin. Little-endian fields follow: version (2 bytes), header length (2 bytes),
/// length of the rest (8 bytes).
const FATBIN: [u8; 4] = 0xba55_ed50_u32.to_le_bytes();

/// Returns `binary`, a caller's fatbin, cubin or PTX, or an error if it is empty or a cut fatbin. The driver is told
/// no length, and would read past the end of a cut fatbin.
fn check_fatbin_size(binary: &[u8]) -> std::result::Result<&[u8], &'static str> {
    let Some(header) = binary.strip_prefix(&FATBIN) else {
        return if binary.is_empty() { Err("expected a fatbin, cubin or PTX, got nothing") } else { Ok(binary) };
    };
    let length = header.split_first_chunk::<4>().and_then(|([_, _, low, high], rest)| {
        let body = u64::from_le_bytes(*rest.first_chunk()?);
        body.checked_add(u64::from(u16::from_le_bytes([*low, *high])))
    });
    match length {
        Some(length) if length <= binary.len() as u64 => Ok(binary),
        _ => Err("the fatbin is shorter than its header says"),
    }
}

#[cfg(test)]
mod tests {
    use super::{FATBINS, PDL_KERNELS, check_fatbin_size};

    #[test]
    fn a_fatbin_that_was_cut_is_not_given_to_the_driver() {
        assert!(check_fatbin_size(&[]).is_err());
        assert!(check_fatbin_size(b".version 8.0").is_ok());
        let Some((name, fatbin)) = FATBINS.first() else {
            eprintln!("skipped: fatbins that were cut, since none were built in");
            return;
        };
        assert_eq!(check_fatbin_size(fatbin), Ok(*fatbin), "{name}");
        for length in [4, 8, 15, 16, fatbin.len() / 2, fatbin.len() - 1] {
            assert!(check_fatbin_size(&fatbin[..length]).is_err(), "{name} cut to {length} bytes");
        }
    }

    #[test]
    fn kernels_that_start_early_are_known() {
        assert!(PDL_KERNELS.is_sorted() && PDL_KERNELS.contains(&"msm_accumulate"), "{PDL_KERNELS:?}");
        assert!(PDL_KERNELS.iter().all(|kernel| !kernel.contains(['(', ')', ' '])), "{PDL_KERNELS:?}");
    }
}
