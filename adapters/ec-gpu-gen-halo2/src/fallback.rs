//! Runs whole operations on a program's device, or on the host's cores if it has none or the device failed.

use std::sync::LazyLock;

use proofwarp::rayon_waits::{on_cpu_pool, run_off_pool};
use proofwarp::settings::Settings;
use proofwarp::{Abort, Accelerator, BackendKind, Error, Result};

use crate::EcResult;
use crate::rust_gpu_tools::Program;

static HOST: LazyLock<Result<Accelerator>> = LazyLock::new(|| Accelerator::with_backend(BackendKind::Cpu));

/// Runs `work` on the device of `program`, or on the host's cores if the program has no device. If the device fails and
/// no backend is forced, logs the error and runs `work` again on the host. A `work` that fails must leave its inputs
/// unchanged.
///
/// The call never waits for the caller's thread pool, whose threads may all be waiting for this device.
pub(crate) fn run<T: Send>(
    program: &Program,
    abort: Abort<'_>,
    mut work: impl FnMut(&Accelerator, Abort<'_>) -> Result<T> + Send,
) -> EcResult<T> {
    let done = proofwarp::backend::catch_hook_panic(abort, |abort| match program.accelerator() {
        None => on_host(&mut work, abort),
        Some(accelerator) => match run_off_pool(|| work(accelerator, abort)) {
            Err(error) if can_fall_back(&error) => {
                log::warn!("{error}; on the CPU instead");
                on_host(&mut work, abort)
            }
            done => done,
        },
    });
    Ok(done?)
}

fn on_host<T: Send>(
    work: &mut (impl FnMut(&Accelerator, Abort<'_>) -> Result<T> + Send),
    abort: Abort<'_>,
) -> Result<T> {
    let host = HOST.as_ref().map_err(Clone::clone)?;
    run_off_pool(|| on_cpu_pool(|| work(host, abort)))
}

/// Returns whether the host may compute the result after a device failed with `error`. It may not if a backend is
/// forced, the call was aborted, or an input was invalid.
fn can_fall_back(error: &Error) -> bool {
    let is_forced = Settings::get().map_or(true, |settings| settings.backend.is_some());
    !is_forced && !matches!(error, Error::Aborted | Error::Invalid { .. })
}
