//! A program with the CUDA backend starts anywhere, and says why it has no device.
#![cfg(feature = "cuda")]

use proofwarp::backend::cuda;
use proofwarp::kernels::{Target, modules, modules_for};
use proofwarp::{Accelerator, BackendKind, Error};

#[test]
fn without_a_driver_there_is_a_reason_and_with_one_there_are_devices() {
    match Accelerator::with_backend(BackendKind::Cuda) {
        Ok(accelerator) => {
            eprintln!("left out: a start without a driver, since there is one here");
            assert!(accelerator.devices().iter().all(|device| !device.info().name.is_empty()));
        }
        Err(Error::Unavailable { backend, reason }) => {
            assert_eq!(backend, BackendKind::Cuda);
            let is_told = match cuda::BUILD_NOTE {
                // The system's loader, or the driver, says why.
                "" => reason.starts_with("no driver: libcuda.so.1: ") || reason.starts_with("no device: "),
                note => reason.contains(note),
            };
            assert!(is_told && !reason.contains("NoDevice"), "{reason}");
        }
        Err(other) => panic!("expected devices or a reason, got {other}"),
    }
}

#[test]
fn every_module_was_compiled() {
    if !cuda::BUILD_NOTE.is_empty() {
        eprintln!("left out: kernels of every module, since none were built in: {}", cuda::BUILD_NOTE);
        return;
    }
    for module in modules().into_iter().chain(modules_for(Target::Cuda)) {
        assert!(cuda::has_kernels(&module.name), "{} has no kernels", module.name);
    }
    if !cuda::CLMAD_NOTE.is_empty() {
        eprintln!("left out: kernels with carry-less multiply-add, since none were built in: {}", cuda::CLMAD_NOTE);
        return;
    }
    for module in modules_for(Target::Clmad) {
        assert!(cuda::has_kernels(&module.name), "{} has no kernels", module.name);
    }
}

#[test]
fn the_automatic_choice_works_anywhere() {
    let accelerator = Accelerator::automatic().expect("settings");
    let domain = proofwarp::ntt::NttDomain::<blstrs::Scalar>::new(&accelerator, 3).expect("a small domain");
    let mut values = vec![blstrs::Scalar::from(1); 8];
    domain.forward(&mut values).expect("some backend transforms");
    assert_eq!(values[0], blstrs::Scalar::from(8));
}
