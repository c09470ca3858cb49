//! Lists the backends.

use super::BackendKind;
use super::backend_factory::BackendFactory;

/// Lists the backends whose devices an accelerator can use, in the order in which it tries them.
static FACTORIES: [BackendFactory; 2] = [
    #[cfg(feature = "cuda")]
    BackendFactory::new(BackendKind::Cuda, super::cuda::open_drivers),
    #[cfg(not(feature = "cuda"))]
    BackendFactory::not_built(BackendKind::Cuda),
    #[cfg(feature = "opencl")]
    BackendFactory::new(BackendKind::OpenCl, super::opencl::open_drivers),
    #[cfg(not(feature = "opencl"))]
    BackendFactory::not_built(BackendKind::OpenCl),
];

/// Returns the factories of all backends that have devices, in the order in which an accelerator tries them. A backend
/// whose feature the build lacks is among them.
pub(crate) fn backend_factories() -> &'static [BackendFactory] {
    &FACTORIES
}
