//! Launches the kernels of a module.

use std::sync::OnceLock;

use crate::backend::{Arg, Buffer, Device, KernelCode, KernelSource, Launch, Stream};
use crate::kernels::{Dialect, Family, GlvParams, Module, clmad_modules, cuda_modules, hopper_modules, modules};
use crate::{Error, Result};

/// Refers to a kernel module: the kernels of one family for one field or curve.
#[derive(Debug, Clone, Copy)]
pub struct KernelModule(&'static Module);

impl KernelModule {
    /// Finds the module of the kernel family `family` for the field or curve `name`, such as `ntt` for `bn254_fr`.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: there is no such module.
    pub fn find(family: &str, name: &str) -> Result<Self> {
        static MODULES: OnceLock<Vec<Module>> = OnceLock::new();
        let full = format!("{family}_{name}");
        let all = || [modules(), clmad_modules(), cuda_modules(), hopper_modules()].concat();
        let module = MODULES.get_or_init(all).iter().find(|module| module.name == full);
        module.map(Self).ok_or_else(|| Error::invalid("kernels", "module", "one of kernels::modules()", full))
    }

    /// Finds the module of the kernel family `family` for the field or curve `name`, such as `bn254_fr`.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: there is no such module.
    pub(crate) fn for_family(family: Family, name: &str) -> Result<Self> {
        Self::find(family.name(), name)
    }

    /// Returns the modulus p of the module's field as 32-bit limbs, lowest first. For an extension field, p is the
    /// modulus of its base field.
    pub(crate) fn modulus(self) -> &'static [u32] {
        &self.0.field.modulus
    }

    /// Returns −1/p mod 2^32, where p is [`Self::modulus`].
    pub(crate) fn inv32(self) -> u32 {
        self.0.field.inv32()
    }

    /// Returns whether the module's field, or the base field of an extension, is a prime field of more than two 32-bit
    /// limbs.
    pub(crate) fn is_multi_limb(self) -> bool {
        !self.0.field.binary && !self.0.field.is_small()
    }

    /// Returns the 1 of the module's field, or of an extension's base field, as 32-bit limbs, lowest first. It has the
    /// form in which kernels hold elements.
    pub(crate) fn one(self) -> &'static [u32] {
        &self.0.field.one
    }

    /// Returns the parameters of the GLV decomposition for the module's curve, or `None` if the module has no curve.
    pub(crate) fn glv_params(self) -> Option<&'static GlvParams> {
        self.0.curve.as_ref().map(|curve| &curve.halves)
    }

    /// Returns the module's name, such as `ntt_bn254_fr`.
    pub(crate) fn name(self) -> &'static str {
        &self.0.name
    }

    /// Compiles or loads the module on `device`, and finds `kernel` in it, so that the first launch need not.
    ///
    /// # Errors
    /// - [`Error::NoKernel`]: the module has no such kernel.
    /// - [`Error::Device`]: the module does not compile or load.
    /// - [`Error::Device`]: the module is not built in.
    pub(crate) fn preload(self, device: &Device, kernel: &str) -> Result<()> {
        let text = || self.0.source(Dialect::OpenCl);
        device.kernel(KernelSource { module: &self.0.name, code: KernelCode::Text(&text) }, kernel).map(drop)
    }

    /// Queues `kernel` on `stream`, with `args`, over at least `items` work-items in groups of `group_size`.
    ///
    /// # Safety
    /// Arguments match the kernel's parameters in number, kind and order, and the kernel stays inside the buffers for
    /// these arguments.
    ///
    /// # Errors
    /// - [`Error::Device`]: the module does not compile or load, or is not built in.
    /// - [`Error::NoKernel`]: the module has no such kernel.
    /// - [`Error::Invalid`]: the items make 2^32 work-groups or more, too many for one launch.
    /// - [`Error::Device`]: the driver failed.
    pub unsafe fn launch(
        self,
        stream: &mut Stream,
        kernel: &str,
        items: u64,
        group_size: u32,
        args: &[Arg],
    ) -> Result<()> {
        // SAFETY: passed on from the caller.
        self.queue(kernel, items, group_size, |launch| unsafe { stream.launch(launch, args) })
    }

    /// Queues the cooperative kernel `kernel` on `stream`, with `args`, over at least `items` work-items in groups of
    /// `group_size`. [`Stream::launch_cooperative`] launches it.
    ///
    /// # Safety
    /// Arguments match the kernel's parameters in number, kind and order, and the kernel stays inside the buffers for
    /// these arguments.
    ///
    /// # Errors
    /// - [`Error::Device`]: the module does not compile or load, or is not built in.
    /// - [`Error::NoKernel`]: the module has no such kernel.
    /// - [`Error::Invalid`]: the items make 2^32 work-groups or more, too many for one launch.
    /// - [`Error::Device`]: the driver failed.
    pub(crate) unsafe fn launch_cooperative(
        self,
        stream: &mut Stream,
        kernel: &str,
        items: u64,
        group_size: u32,
        args: &[Arg],
    ) -> Result<()> {
        // SAFETY: passed on from the caller.
        self.queue(kernel, items, group_size, |launch| unsafe { stream.launch_cooperative(launch, args) })
    }

    fn queue(
        self,
        kernel: &str,
        items: u64,
        group_size: u32,
        launch: impl FnOnce(Launch<'_>) -> Result<()>,
    ) -> Result<()> {
        let groups = items.div_ceil(u64::from(group_size));
        let groups =
            u32::try_from(groups).map_err(|_| Error::invalid("launch", "work-groups", "below 2^32", groups))?;
        let text = || self.0.source(Dialect::OpenCl);
        let source = KernelSource { module: &self.0.name, code: KernelCode::Text(&text) };
        launch(Launch { source, kernel, groups, group_size })
    }
}

/// Returns `buffer` as a kernel argument.
pub(crate) fn buffer_arg(buffer: &Buffer) -> Arg {
    Arg::Memory(buffer.handle())
}
