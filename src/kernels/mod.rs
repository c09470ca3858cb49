//! Lists the kernel modules, and assembles their source from `cl/` and `cuda/`.
//!
//! `build.rs` shares this folder and the files of the registry, and compiles the same text with nvcc that the OpenCL
//! backend compiles at run time. A module is one kernel family for one field or curve. Its kernels' names are plain
//! (`ntt_column_pass`), since every module is a program of its own.

mod coordinates;
mod curves;
pub mod field_sources;
mod fields;
mod glv;
mod modules;
pub mod registry;
mod source_text;
pub mod spec;

use std::collections::BTreeSet;

pub use fields::FieldDescription;
pub use glv::GlvParams;
pub use modules::{all_modules, modules, modules_for};
pub use registry::*;
pub use source_text::{Dialect, source_text};
pub use spec::{FieldSpec, KernelFamily, Module, Target};

/// Returns the names, sorted, of kernels that use programmatic dependent launch: they wait by themselves for earlier
/// work in their stream. `PDL_KERNEL` of `cuda/dialect.cuh` declares them.
pub fn pdl_kernels() -> Vec<String> {
    let sources = modules().into_iter().map(|module| source_text(&module, Dialect::Cuda));
    let declared = |line: &str| Some(line.strip_prefix("PDL_KERNEL(")?.strip_suffix(')')?.to_owned());
    let declared = |source: String| source.lines().filter_map(declared).collect::<Vec<_>>();
    sources.flat_map(declared).collect::<BTreeSet<_>>().into_iter().collect()
}
