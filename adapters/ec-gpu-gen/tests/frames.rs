//! Counts the functions between a call of the stock interface and the driver's launch.
#![cfg(any(feature = "cuda", feature = "opencl"))]
#![allow(missing_docs, clippy::unwrap_used)]

#[path = "../../../tests/common/faulty.rs"]
mod faulty;

use blstrs::{G1Affine, Scalar};
use ec_gpu_gen::multiexp::SingleMultiexpKernel;
use ec_gpu_gen::rust_gpu_tools::{Device, Program};
use ff::PrimeField;
use group::prime::PrimeCurveAffine;
use proofwarp::backend::{self, Driver};
use proofwarp::{Accelerator, BackendKind};

/// Maximum number of functions of this workspace, from `multiexp` to the one that calls the driver, both included.
const MAX_FRAMES: usize = 22;

fn fresh_driver(backend: BackendKind) -> Box<dyn Driver> {
    match backend {
        #[cfg(feature = "opencl")]
        BackendKind::OpenCl => Box::new(backend::opencl::drivers().unwrap().remove(0)),
        #[cfg(feature = "cuda")]
        BackendKind::Cuda => Box::new(backend::cuda::drivers().unwrap().remove(0)),
        other => panic!("{other} has no devices"),
    }
}

/// The functions of this workspace in `callers`, innermost first, from the driver's caller to `multiexp`. A function is the
/// workspace's if its source is.
fn own_frames(callers: &str) -> Vec<&str> {
    let lines: Vec<_> = callers.lines().map(str::trim).collect();
    let is_own = |place: &str| place.starts_with("at ") && !place.contains("/rustc/") && !place.contains("/registry/");
    let own = lines.windows(2).filter(|pair| is_own(pair[1])).filter_map(|pair| pair[0].split_once(": "));
    let own: Vec<_> = own.map(|(_, name)| name).collect();
    let after_driver = own.iter().rposition(|name| name.contains("::Driver>::launch")).map_or(0, |last| last + 1);
    let multiexp = own.iter().position(|name| name.ends_with("::multiexp")).map_or(own.len(), |last| last + 1);
    own[after_driver..multiexp].to_vec()
}

#[test]
fn few_functions_from_multiexp_to_the_driver() {
    let accelerator = Accelerator::from_env().unwrap();
    let Some(like) = accelerator.devices().first() else {
        return eprintln!("skipped: launches, for there is no device");
    };
    let (driver, faults) = faulty::Faulty::new(fresh_driver(like.info().backend).into());
    let device = backend::Device::new(Box::new(driver), None);
    assert!(accelerator.with_devices(vec![device]).make_global(), "nothing ran before");
    let device = Device::all()[0];
    let program = Program::new(device, None, None).unwrap();
    let kernel = SingleMultiexpKernel::<G1Affine>::create(program, device, None).unwrap();
    let (bases, exponents) = ([G1Affine::generator(); 64], [Scalar::from(3).to_repr(); 64]);
    kernel.multiexp(&bases, &exponents).unwrap();
    faults.trace_next_launch();
    kernel.multiexp(&bases, &exponents).unwrap();
    let callers = faults.callers().expect("a launch");
    let frames = own_frames(&callers);
    println!("{} frames:\n{}", frames.len(), frames.join("\n"));
    assert!(frames.len() <= MAX_FRAMES, "{} frames, of at most {MAX_FRAMES}", frames.len());
}
