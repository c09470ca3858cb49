//! Launches the kernels of a module.

use std::sync::OnceLock;

use crate::backend::{Arg, Device, KernelCode, KernelSource, Launch, Stream};
use crate::kernel_arguments::Kernel;
use crate::kernels::{Dialect, FieldDescription, GlvParams, KernelFamily, Module, all_modules, source_text};
use crate::{Error, Result};

/// Holds a module and the constants that are derived from its declarations.
#[derive(Debug)]
struct LoadedModule {
    module: Module,
    /// Constants of the module's field, or of the base field of an extension.
    field: Option<FieldDescription>,
    /// Constants of the GLV decomposition for the module's curve.
    glv: Option<GlvParams>,
}

impl LoadedModule {
    fn new(module: Module) -> Self {
        let field = module.field.map(FieldDescription::new);
        let glv = module.curve.map(|curve| GlvParams::new(curve.scalars));
        Self { module, field, glv }
    }
}

/// Refers to a kernel module: the kernels of one family for one field or curve.
#[derive(Debug, Clone, Copy)]
pub struct KernelModule(&'static LoadedModule);

impl KernelModule {
    /// Finds the module of the kernel family `family` for the field or curve `name`, such as `bn254_fr`.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: there is no such module.
    pub fn find(family: &KernelFamily, name: &str) -> Result<Self> {
        static MODULES: OnceLock<Vec<LoadedModule>> = OnceLock::new();
        let modules = MODULES.get_or_init(|| all_modules().into_iter().map(LoadedModule::new).collect());
        let is_wanted = |full: &str| {
            full.strip_prefix(family.name).and_then(|rest| rest.strip_prefix('_')).is_some_and(|rest| rest == name)
        };
        let missing =
            || Error::invalid("kernels", "module", "one of kernels::all_modules()", format!("{}_{name}", family.name));
        modules.iter().find(|loaded| is_wanted(&loaded.module.name)).map(Self).ok_or_else(missing)
    }

    /// Returns the modulus p of the module's field as 32-bit limbs, lowest first. For an extension field, p is the
    /// modulus of its base field. Returns no limbs if the module has no field.
    pub(crate) fn modulus(self) -> &'static [u32] {
        self.0.field.as_ref().map_or(&[], |field| &field.modulus)
    }

    /// Returns −1/p mod 2^32, where p is [`Self::modulus`], or 0 if the module has no field.
    pub(crate) fn inv32(self) -> u32 {
        self.0.field.as_ref().map_or(0, FieldDescription::inv32)
    }

    /// Returns whether the module's field, or the base field of an extension, is a prime field of more than two 32-bit
    /// limbs.
    pub(crate) fn is_multi_limb(self) -> bool {
        self.0.module.is_multi_limb()
    }

    /// Returns the 1 of the module's field, or of an extension's base field, as 32-bit limbs, lowest first. It has the
    /// form in which kernels hold elements. Returns no limbs if the module has no field.
    pub(crate) fn one(self) -> &'static [u32] {
        self.0.field.as_ref().map_or(&[], |field| &field.one)
    }

    /// Returns the parameters of the GLV decomposition for the module's curve, or `None` if the module has no curve.
    pub(crate) fn glv_params(self) -> Option<&'static GlvParams> {
        self.0.glv.as_ref()
    }

    /// Returns the module's name, such as `ntt_bn254_fr`.
    pub(crate) fn name(self) -> &'static str {
        &self.0.module.name
    }

    /// Compiles or loads the module on `device`, and finds `kernel` in it, so that the first launch need not.
    ///
    /// # Errors
    /// - [`Error::NoKernel`]: the module has no such kernel.
    /// - [`Error::Device`]: the module does not compile or load.
    /// - [`Error::Device`]: the module is not built in.
    pub(crate) fn preload(self, device: &Device, kernel: &str) -> Result<()> {
        let text = || source_text(&self.0.module, Dialect::OpenCl);
        device.kernel(KernelSource { module: &self.0.module.name, code: KernelCode::Text(&text) }, kernel).map(drop)
    }

    /// Queues `kernel` on `stream`, over at least `items` work-items in groups of [`Kernel::GROUP_SIZE`].
    ///
    /// The caller promises that the kernel stays inside its buffers for these arguments.
    ///
    /// # Errors
    /// - [`Error::Device`]: the module does not compile or load, or is not built in.
    /// - [`Error::NoKernel`]: the module has no such kernel.
    /// - [`Error::Invalid`]: the items make 2^32 work-groups or more, too many for one launch.
    /// - [`Error::Device`]: the driver failed.
    pub(crate) fn run<K: Kernel>(self, stream: &mut Stream, items: u64, kernel: K) -> Result<()> {
        let text = || source_text(&self.0.module, Dialect::OpenCl);
        let launch = self.launch_of(K::NAME, items, K::GROUP_SIZE, &text)?;
        // SAFETY: `Kernel` promises arguments that match the kernel. Plans size the buffers for the numbers that they
        // pass with them, and the kernels' texts state the bounds that they keep.
        unsafe { stream.launch(launch, kernel.args().as_ref()) }
    }

    /// Does what [`Self::run`] does, in groups of `group_size`, which the module's source gives the kernel.
    ///
    /// # Errors
    /// [`Self::run`] lists them.
    pub(crate) fn run_in_groups_of<K: Kernel>(
        self,
        group_size: u32,
        stream: &mut Stream,
        items: u64,
        kernel: K,
    ) -> Result<()> {
        // SAFETY: as in `run`.
        unsafe { self.launch(stream, K::NAME, items, group_size, kernel.args().as_ref()) }
    }

    /// Queues the cooperative kernel `kernel` on `stream`, over at least `items` work-items in groups of `group_size`.
    /// [`Stream::launch_cooperative`] launches it.
    ///
    /// # Errors
    /// [`Self::run`] lists them.
    pub(crate) fn run_cooperative<K: Kernel>(
        self,
        group_size: u32,
        stream: &mut Stream,
        items: u64,
        kernel: K,
    ) -> Result<()> {
        let text = || source_text(&self.0.module, Dialect::OpenCl);
        let launch = self.launch_of(K::NAME, items, group_size, &text)?;
        // SAFETY: as in `run`.
        unsafe { stream.launch_cooperative(launch, kernel.args().as_ref()) }
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
        let text = || source_text(&self.0.module, Dialect::OpenCl);
        let launch = self.launch_of(kernel, items, group_size, &text)?;
        // SAFETY: passed on from the caller.
        unsafe { stream.launch(launch, args) }
    }

    /// Describes the launch of `kernel` over at least `items` work-items in groups of `group_size`. `text` returns the
    /// module's OpenCL source.
    fn launch_of<'a>(
        self,
        kernel: &'a str,
        items: u64,
        group_size: u32,
        text: &'a dyn Fn() -> String,
    ) -> Result<Launch<'a>> {
        let groups = items.div_ceil(u64::from(group_size));
        let groups =
            u32::try_from(groups).map_err(|_| Error::invalid("launch", "work-groups", "below 2^32", groups))?;
        let source = KernelSource { module: &self.0.module.name, code: KernelCode::Text(text) };
        Ok(Launch { source, kernel, groups, group_size })
    }
}
