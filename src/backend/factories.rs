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

#[cfg(test)]
mod tests {
    use super::{BackendFactory, BackendKind, backend_factories};

    /// Checks the order in which an accelerator tries the backends, and the reason of a backend that was not built.
    #[test]
    fn cuda_comes_first_and_missing_features_are_reported() {
        let kinds: Vec<_> = backend_factories().iter().map(BackendFactory::kind).collect();
        assert_eq!(kinds, [BackendKind::Cuda, BackendKind::OpenCl]);
        let built = [cfg!(feature = "cuda"), cfg!(feature = "opencl")];
        for (factory, _) in backend_factories().iter().zip(built).filter(|(_, built)| !built) {
            let name = factory.kind();
            let expected = format!("the {name} backend is not available: built without the feature {name}");
            assert_eq!(factory.devices().expect_err("no feature").to_string(), expected);
        }
    }
}
