//! The CPU and the devices take the same inputs, at and beyond every bound, and give the same answer or the same error:
//! a fallback can never change what a call says.

#[path = "../common/mod.rs"]
mod common;

mod matrices;
mod multiplication;
mod proofs;
mod transforms;

use std::fmt::Debug;

use proofwarp::{Accelerator, BackendKind};

/// What the CPU answers, after every device present has answered the same, to the text of an error.
///
/// # Panics
/// A device answers otherwise.
fn one_answer<T: PartialEq + Debug>(
    what: &str,
    call: impl Fn(&Accelerator) -> proofwarp::Result<T>,
) -> Result<T, String> {
    let answer = |accelerator: &Accelerator| call(accelerator).map_err(|error| error.to_string());
    let cpu = answer(&Accelerator::with_backend(BackendKind::Cpu).expect("it is always there"));
    for accelerator in common::accelerators_with_devices() {
        assert_eq!(answer(&accelerator), cpu, "{what}: {:?} and the CPU differ", accelerator.forced());
    }
    cpu
}
