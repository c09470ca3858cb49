//! Modules loaded from the fatbins that the build made, each at its first use.

use std::collections::HashMap;
use std::sync::Mutex;

use cust::module::Module;

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
        Ok(KernelHandle(function.to_raw() as usize))
    }
}

fn load(device: &str, module: &str) -> Result<Module> {
    let fatbin = fatbin(module)
        .ok_or_else(|| Error::device(device, module, "no such module was compiled when this program was built"))?;
    Module::from_fatbin(fatbin, &[]).map_err(|error| Error::device(device, module, error))
}
