//! Finds and launches the kernels of a permutation.

use super::ERROR_CONTEXT;
use super::kernels::Poseidon2Spec;
use crate::backend::{Arg, KernelCode, KernelSource, Launch, Stream};
use crate::kernels::{Dialect, Family, FieldDescription, Module};
use crate::{Error, Result};

/// Refers to the kernels of one permutation.
#[derive(Debug, Clone, Copy)]
pub(super) struct Poseidon2Module(&'static Poseidon2Spec);

impl Poseidon2Module {
    /// Finds the kernels for states of `width` over `field`.
    pub(super) fn find(field: &str, width: usize) -> Result<Self> {
        let spec = Poseidon2Spec::find(field, width).map(Self);
        spec.ok_or_else(|| Error::invalid(ERROR_CONTEXT, "permutation", "one with kernels", format!("{field} {width}")))
    }

    /// Queues `kernel` on `stream`, with `args`, over at least `items` work-items in groups of `group_size`.
    ///
    /// # Safety
    /// Arguments match the kernel's parameters in number, kind and order, and the kernel stays inside the buffers for
    /// these arguments.
    pub(super) unsafe fn launch(
        self,
        stream: &mut Stream,
        kernel: &str,
        items: u64,
        group_size: u32,
        args: &[Arg],
    ) -> Result<()> {
        let groups = items.div_ceil(u64::from(group_size));
        let groups =
            u32::try_from(groups).map_err(|_| Error::invalid("launch", "work-groups", "below 2^32", groups))?;
        let name = format!("poseidon2_{}_{}", self.0.field, self.0.width);
        let text = || self.source(Dialect::OpenCl);
        let source = KernelSource { module: &name, code: KernelCode::Text(&text) };
        // SAFETY: passed on from the caller.
        unsafe { stream.launch(Launch { source, kernel, groups, group_size }, args) }
    }

    /// Returns the text of the kernels.
    pub(super) fn source(self, dialect: Dialect) -> String {
        let modulus = match self.0.field {
            "goldilocks" => (1 << 64) - (1 << 32) + 1,
            "baby_bear" => 15 * (1 << 27) + 1,
            _ => 127 * (1 << 24) + 1,
        };
        let field = FieldDescription::from_modulus(self.0.field, modulus);
        let words = format!("#define FIELD_WORDS {}\n", field.limb_count());
        let module = Module {
            name: String::new(),
            family: Family::Groth16,
            field,
            is_fp2: false,
            extension: None,
            scalar: None,
            curve: None,
            define: "",
        };
        let mut text = module.source(dialect);
        let end = text.find(&words).map_or(0, |at| at + words.len());
        text.truncate(end);
        self.0.append_source(&mut text);
        text
    }
}
