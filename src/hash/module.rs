//! Finds and launches the kernels of a permutation.

use super::ERROR_CONTEXT;
use super::kernels::Poseidon2Spec;
use crate::backend::{Arg, KernelCode, KernelSource, Launch, Stream};
use crate::kernels::{self, Dialect, FieldDescription, Module};
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
        let field = kernels::registry::fields().find(|field| field.name == self.0.field);
        let words =
            format!("#define FIELD_WORDS {}\n", field.map_or(0, |field| FieldDescription::new(field).limb_count()));
        let module = Module {
            name: String::new(),
            family: &kernels::groth16::FAMILY,
            field,
            curve: None,
            define: "",
            target: kernels::Target::All,
        };
        let mut text = kernels::source_text(&module, dialect);
        let end = text.find(&words).map_or(0, |at| at + words.len());
        text.truncate(end);
        self.0.append_source(&mut text);
        text
    }
}
