//! What tests of several subjects share: the backends to run a test body on.

use proofwarp::{Accelerator, BackendKind};

/// One forced accelerator for each backend present, CUDA before OpenCL.
///
/// Forced means that an operation which fails there is an error, never a silent fallback. With
/// `PROOFWARP_BACKEND` only that backend is tried; the CPU is included only that way.
///
/// # Panics
/// The backend named by `PROOFWARP_BACKEND` is not present, or none is: a test without a backend would
/// pass without having tested anything. `PROOFWARP_OPENCL_CPU=1` lets PoCL serve.
#[allow(dead_code, reason = "each test file is a crate of its own and uses what it needs")]
pub fn accelerators() -> Vec<Accelerator> {
    if let Some(backend) = forced() {
        return vec![Accelerator::with_backend(backend).unwrap_or_else(|error| panic!("PROOFWARP_BACKEND: {error}"))];
    }
    let mut found = Vec::new();
    let mut absent = Vec::new();
    for backend in [BackendKind::Cuda, BackendKind::OpenCl] {
        match Accelerator::with_backend(backend) {
            Ok(accelerator) => found.push(accelerator),
            Err(error) => absent.push(error.to_string()),
        }
    }
    for reason in &absent {
        eprintln!("left out: {reason}");
    }
    assert!(!found.is_empty(), "no device to test on (PoCL serves with PROOFWARP_OPENCL_CPU=1): {}", absent.join("; "));
    found
}

/// The backend that `PROOFWARP_BACKEND` names, if it is set.
///
/// # Panics
/// It names none.
fn forced() -> Option<BackendKind> {
    let name = std::env::var("PROOFWARP_BACKEND").ok().filter(|name| !name.is_empty())?;
    Some(name.parse().unwrap_or_else(|error| panic!("PROOFWARP_BACKEND: {error}")))
}
