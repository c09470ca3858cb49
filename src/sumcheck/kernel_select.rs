//! Selects the kernels that compute the rounds.

use super::field::SumcheckField;
use super::plan::{KernelPath, SumcheckOptions, bitsliced_tail_log, is_binary};
use crate::backend::Device;
use crate::field::Element;
use crate::kernels::{Family, field_and_curve_names};
use crate::module_launcher::KernelModule;
use crate::{BackendKind, Error, Result};

/// Selects the requested path, or else the fastest that `device` has, for a claim of `variables` variables. Returns the
/// path, its kernels, and the reasons why it is not another path.
pub(super) fn select_kernels<F: SumcheckField>(
    device: &Device,
    variables: u32,
    options: &SumcheckOptions,
) -> Result<(KernelPath, KernelModule, Vec<String>)> {
    let portable = KernelModule::for_family(Family::Sumcheck, F::Compute::NAME)?;
    if options.path == Some(KernelPath::Bitsliced) {
        return match bitsliced_tail_log(options) {
            tail if variables > tail => Ok((
                KernelPath::Bitsliced,
                KernelModule::for_family(Family::SumcheckSliced, field_and_curve_names::TOWER)?,
                Vec::new(),
            )),
            tail => {
                Ok((KernelPath::Portable, portable, vec![format!("no more than 2^{tail} rows, which are not sliced")]))
            }
        };
    }
    let wanted = options.path != Some(KernelPath::Portable) && is_binary::<F>();
    match wanted.then(|| load_clmad_kernels::<F>(device)) {
        None => Ok((KernelPath::Portable, portable, Vec::new())),
        Some(Ok(program)) => Ok((KernelPath::Clmad, program, Vec::new())),
        Some(Err(error)) if options.path.is_some() => Err(error),
        Some(Err(error)) => Ok((KernelPath::Portable, portable, vec![error.to_string()])),
    }
}

/// Returns the kernels that use carry-less multiply-add, if `device` can run them.
///
/// # Errors
/// - [`Error::Unavailable`]: the device has no carry-less multiply-add.
/// - [`Error::Unavailable`]: kernels with carry-less multiply-add were not built in.
/// - [`Error::Device`], [`Error::NoKernel`]: the driver refuses the kernels.
fn load_clmad_kernels<F: SumcheckField>(device: &Device) -> Result<KernelModule> {
    let info = device.info();
    if info.backend != BackendKind::Cuda || info.compute_capability.is_none_or(|capability| capability < (8, 0)) {
        return Err(missing_clmad(device, "a CUDA device of compute capability 8.0 or later", &info.name));
    }
    let program =
        KernelModule::for_family(Family::Sumcheck, &format!("{}_{}", F::Compute::NAME, field_and_curve_names::CLMAD))?;
    if let Some(note) = missing_module_reason(program) {
        return Err(missing_clmad(device, "kernels that were built in", note));
    }
    program.preload(device, "sumcheck_fold").map(|()| program)
}

fn missing_clmad(device: &Device, expected: &str, actual: &str) -> Error {
    let reason = format!("no carry-less multiply-add: expected {expected}, got {actual}");
    Error::Unavailable { backend: device.info().backend, reason }
}

/// Returns the reason why the module of `program` was not built in, or `None` if it was.
#[cfg(feature = "cuda")]
fn missing_module_reason(program: KernelModule) -> Option<&'static str> {
    use crate::backend::cuda;
    (!cuda::has_kernels(program.name())).then_some(cuda::CLMAD_NOTE)
}

#[allow(clippy::unnecessary_wraps, reason = "with the feature there may be nothing missing")]
#[cfg(not(feature = "cuda"))]
fn missing(_: KernelModule) -> Option<&'static str> {
    Some("none without the feature cuda")
}
