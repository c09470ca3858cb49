//! What tests of several subjects share: the backends to run a test body on.

#![allow(dead_code, reason = "each test file is a crate of its own and uses what it needs")]

pub mod ntt;
pub mod points;

use std::ops::{Deref, DerefMut};

use proofwarp::backend::{Device, Driver};
use proofwarp::{Accelerator, BackendKind};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

/// Holds an accelerator for each backend. A test that fails in a loop over them says on which one.
pub struct Backends(Vec<Accelerator>);

impl Deref for Backends {
    type Target = Vec<Accelerator>;

    fn deref(&self) -> &Vec<Accelerator> {
        &self.0
    }
}

impl DerefMut for Backends {
    fn deref_mut(&mut self) -> &mut Vec<Accelerator> {
        &mut self.0
    }
}

impl IntoIterator for Backends {
    type Item = Accelerator;
    type IntoIter = EachBackend;

    fn into_iter(self) -> EachBackend {
        EachBackend { rest: self.0.into_iter(), current: String::new() }
    }
}

impl<'a> IntoIterator for &'a Backends {
    type Item = &'a Accelerator;
    type IntoIter = std::slice::Iter<'a, Accelerator>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

/// Yields the accelerators of [`Backends`]. When dropped by a panic, it prints the one that it yielded last.
pub struct EachBackend {
    rest: std::vec::IntoIter<Accelerator>,
    current: String,
}

impl Iterator for EachBackend {
    type Item = Accelerator;

    fn next(&mut self) -> Option<Accelerator> {
        let next = self.rest.next();
        self.current = next.as_ref().map_or_else(String::new, |accelerator| format!("{accelerator:?}"));
        next
    }
}

impl Drop for EachBackend {
    fn drop(&mut self) {
        if std::thread::panicking() && !self.current.is_empty() {
            eprintln!("failed on {}", self.current);
        }
    }
}

/// Prints why a test tests nothing here. `tests/report_tests.py` counts it as skipped then, not as passed.
pub fn skip(reason: impl std::fmt::Display) {
    eprintln!("skipped: {reason}");
}

/// One forced accelerator for each backend present, CUDA before OpenCL.
///
/// Forced means that an operation which fails there is an error, never a silent fallback. With
/// `PROOFWARP_BACKEND` only that backend is tried; the CPU is included only that way.
///
/// # Panics
/// The backend named by `PROOFWARP_BACKEND` is not present, or none is: a test without a backend would
/// pass without having tested anything. `PROOFWARP_OPENCL_CPU=1` lets PoCL serve.
pub fn accelerators() -> Backends {
    if let Some(backend) = forced() {
        return Backends(vec![
            Accelerator::with_backend(backend).unwrap_or_else(|error| panic!("PROOFWARP_BACKEND: {error}")),
        ]);
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
    Backends(found)
}

/// As [`accelerators`], and the CPU too unless another backend is forced.
pub fn accelerators_and_cpu() -> Backends {
    let mut all = accelerators();
    if forced().is_none() {
        all.push(Accelerator::with_backend(BackendKind::Cpu).unwrap_or_else(|error| panic!("{error}")));
    }
    all
}

/// As [`accelerators`], for tests of what only devices have. Without one, the test counts as skipped.
pub fn accelerators_with_devices() -> Backends {
    let mut all = accelerators();
    all.retain(|accelerator| !accelerator.devices().is_empty());
    if all.is_empty() {
        skip("PROOFWARP_BACKEND names the CPU, and this is a test of devices");
    }
    all
}

/// Each backend's accelerator on a device of its own, which no other test of this process uses: for
/// tests that make it fail, or that cap its memory.
pub fn alone(memory_limit: Option<u64>) -> Backends {
    let device = |accelerator: &Accelerator| Device::new(fresh_driver(&accelerator.devices()[0]), memory_limit);
    let alone = |accelerator: &Accelerator| accelerator.with_devices(vec![device(accelerator)]);
    Backends(accelerators_with_devices().iter().map(alone).collect())
}

/// A driver of its own for the first device of the same backend.
///
/// # Panics
/// The backend has no devices.
pub fn fresh_driver(like: &Device) -> Box<dyn Driver> {
    match like.info().backend {
        #[cfg(feature = "opencl")]
        BackendKind::OpenCl => Box::new(proofwarp::backend::opencl::drivers().expect("it was there").remove(0)),
        #[cfg(feature = "cuda")]
        BackendKind::Cuda => Box::new(proofwarp::backend::cuda::drivers().expect("it was there").remove(0)),
        other => panic!("{other} has no devices"),
    }
}

/// The same numbers in every run.
pub fn rng(seed: u64) -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(seed)
}

/// A hook that says no a number of times, then yes.
pub fn abort_after(questions: u32) -> impl Fn() -> bool + Send + Sync {
    let asked = std::sync::atomic::AtomicU32::new(0);
    move || asked.fetch_add(1, std::sync::atomic::Ordering::Relaxed) >= questions
}

/// The backend that `PROOFWARP_BACKEND` names, if it is set.
///
/// # Panics
/// It names none.
fn forced() -> Option<BackendKind> {
    let name = std::env::var("PROOFWARP_BACKEND").ok().filter(|name| !name.is_empty())?;
    Some(name.parse().unwrap_or_else(|error| panic!("PROOFWARP_BACKEND: {error}")))
}

/// Makes a test for each curve of the registry, or of a list, which calls `$check` for the curve's type.
#[allow(unused_macros, reason = "as above")]
macro_rules! every_curve {
    ($check:ident) => {
        proofwarp::for_each_curve! { crate::common::every_curve! { $check; } }
    };
    ($check:ident; $($test:ident: $type:ty;)*) => {
        $(#[test] fn $test() { $check::<$type>(); })*
    };
}
#[allow(unused_imports, reason = "as above")]
pub(crate) use every_curve;
