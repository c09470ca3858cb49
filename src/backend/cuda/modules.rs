//! Modules loaded from the fatbins that the build made, each at its first use.

use std::collections::HashMap;
use std::ffi::CString;
use std::sync::Mutex;

use cust::module::Module;
use cust::sys as cu;

use crate::backend::KernelHandle;
use crate::backend::device::lock;
use crate::{Error, Result};

include!(concat!(env!("OUT_DIR"), "/fatbins.rs"));

/// Whether the build compiled kernels for a module.
pub fn has_kernels(module: &str) -> bool {
    fatbin(module).is_some()
}

fn fatbin(module: &str) -> Option<&'static [u8]> {
    FATBINS.iter().find(|(name, _)| *name == module).map(|(_, bytes)| *bytes)
}

/// The modules loaded into one context; they stay until it goes.
#[derive(Debug, Default)]
pub(super) struct Modules(Mutex<HashMap<String, Module>>);

impl Modules {
    /// The kernel of a module, which is loaded if need be. The context is current.
    pub fn kernel(&self, device: &str, module: &str, name: &str) -> Result<KernelHandle> {
        let mut loaded = lock(&self.0);
        if !loaded.contains_key(module) {
            loaded.insert(module.to_owned(), load(device, module)?);
        }
        let function = loaded[module].get_function(name);
        let function = function.map_err(|error| Error::device(device, format!("{module}/{name}"), error))?;
        Ok(function_handle(function.to_raw(), starts_early(&loaded[module], name)))
    }
}

/// Set in the handle of a kernel that starts early; functions' addresses are even.
const EARLY: usize = 1;

fn function_handle(function: cu::CUfunction, early: bool) -> KernelHandle {
    KernelHandle(function as usize | if early { EARLY } else { 0 })
}

/// A handle's function, and whether it starts early.
pub(super) fn function_of(handle: KernelHandle) -> (cu::CUfunction, bool) {
    ((handle.0 & !EARLY) as cu::CUfunction, handle.0 & EARLY != 0)
}

/// The kernels that `STARTS_EARLY` declares: modules are not asked for others, since NVIDIA's tools report what is not found.
const DECLARED_EARLY: [&str; 20] = [
    "msm_accumulate",
    "msm_count_rows",
    "msm_digits",
    "msm_digits_of_halves",
    "msm_find_pieces",
    "msm_list_pairs",
    "msm_merge_rows",
    "msm_merge_units",
    "msm_order_pieces",
    "msm_partition",
    "msm_place",
    "msm_reduce_many_segments",
    "msm_reduce_segments",
    "msm_row_offsets",
    "msm_scan_bins",
    "msm_sum_bits",
    "msm_sum_parts",
    "msm_sum_rows",
    "ntt_columns",
    "ntt_rows",
];

/// Whether a kernel waits by itself for what is ahead of it in its stream: `STARTS_EARLY` of `cuda/dialect.cuh`, which
/// declares nothing for older architectures.
fn starts_early(module: &Module, kernel: &str) -> bool {
    let declared = DECLARED_EARLY.contains(&kernel);
    declared && CString::new(format!("starts_early_{kernel}")).is_ok_and(|name| module.get_global::<u32>(&name).is_ok())
}

fn load(device: &str, module: &str) -> Result<Module> {
    let fatbin = fatbin(module)
        .ok_or_else(|| Error::device(device, module, "no such module was compiled when this program was built"))?;
    Module::from_fatbin(fatbin, &[]).map_err(|error| Error::device(device, module, error))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::DECLARED_EARLY;
    use crate::kernels::{Dialect, modules};

    #[test]
    fn kernels_that_start_early_are_known() {
        let sources: Vec<String> = modules().iter().map(|module| module.source(Dialect::OpenCl)).collect();
        let lines = sources.iter().flat_map(|source| source.lines());
        let declared = lines.filter_map(|line| line.strip_prefix("STARTS_EARLY(")?.strip_suffix(')'));
        assert_eq!(declared.collect::<BTreeSet<_>>(), BTreeSet::from(DECLARED_EARLY));
    }
}
