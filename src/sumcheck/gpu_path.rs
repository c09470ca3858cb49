//! Selects the kernels that compute the rounds.

use super::field::SumcheckField;
use super::plan::{Options, Path, is_binary, sliced_tail};
use crate::backend::Device;
use crate::field::Element;
use crate::kernels::{Family, name};
use crate::program::Program;
use crate::{BackendKind, Error, Result};

/// Returns a path, its kernels, and why it is not another one. The path is the requested one, or else the fastest
/// available.
pub(super) fn kernels<F: SumcheckField>(
    device: &Device,
    variables: u32,
    options: &Options,
) -> Result<(Path, Program, Vec<String>)> {
    let portable = Program::of(Family::Sumcheck, F::Work::NAME)?;
    if options.path == Some(Path::Bitsliced) {
        return match sliced_tail(options) {
            tail if variables > tail => {
                Ok((Path::Bitsliced, Program::of(Family::SumcheckSliced, name::TOWER)?, Vec::new()))
            }
            tail => Ok((Path::Portable, portable, vec![format!("no more than 2^{tail} rows, which are not sliced")])),
        };
    }
    let wanted = options.path != Some(Path::Portable) && is_binary::<F>();
    match wanted.then(|| clmad::<F>(device)) {
        None => Ok((Path::Portable, portable, Vec::new())),
        Some(Ok(program)) => Ok((Path::Clmad, program, Vec::new())),
        Some(Err(error)) if options.path.is_some() => Err(error),
        Some(Err(error)) => Ok((Path::Portable, portable, vec![error.to_string()])),
    }
}

/// Returns the kernels with carry-less multiply-add.
///
/// # Errors
/// - [`Error::Unavailable`]: the device has no carry-less multiply-add, or kernels with it were not built in.
/// - The driver's error: it refuses the kernels.
fn clmad<F: SumcheckField>(device: &Device) -> Result<Program> {
    let info = device.info();
    if info.backend != BackendKind::Cuda || info.compute_capability.is_none_or(|capability| capability < (8, 0)) {
        return Err(no_clmad(device, "a CUDA device of compute capability 8.0 or later", &info.name));
    }
    let program = Program::of(Family::Sumcheck, &format!("{}_{}", F::Work::NAME, name::CLMAD))?;
    if let Some(note) = missing(program) {
        return Err(no_clmad(device, "kernels that were built in", note));
    }
    program.make_ready(device, "sumcheck_fold").map(|()| program)
}

fn no_clmad(device: &Device, expected: &str, actual: &str) -> Error {
    let reason = format!("no carry-less multiply-add: expected {expected}, got {actual}");
    Error::Unavailable { backend: device.info().backend, reason }
}

/// Returns why the module of `program` was not built in, or `None` if it was.
#[cfg(feature = "cuda")]
fn missing(program: Program) -> Option<&'static str> {
    use crate::backend::cuda;
    (!cuda::has_kernels(program.name())).then_some(cuda::CLMAD_NOTE)
}

#[allow(clippy::unnecessary_wraps, reason = "with the feature there may be nothing missing")]
#[cfg(not(feature = "cuda"))]
fn missing(_: Program) -> Option<&'static str> {
    Some("none without the feature cuda")
}
