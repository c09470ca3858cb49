//! A device that fails, at any step of a proof.

use std::sync::{Arc, Barrier, Once};
use std::thread;

use proofwarp::plonk::AbortHook;
use proofwarp_halo2::Options;

use crate::described::Shape;
use crate::devices::{Expected, alone, only, only_these, or_the_host, reason, two};

/// Launches between failures.
const STRIDE: usize = 37;

#[test]
fn a_failed_launch() {
    let Some(device) = alone("a failed launch", None) else { return };
    let expected = Expected::new(&Shape::base(), 6, 2);
    let (forced, free) = (only(&device), or_the_host(&device));
    // The first proof uploads bases and key.
    assert!(expected.prove(&free).expect("a proof") == expected.proof);
    assert!(expected.prove(&forced).expect("a proof") == expected.proof);
    let mut failures = 0;
    for launch in (0_u32..).step_by(STRIDE) {
        device.inject_launch_fault(launch);
        let failed = expected.prove(&forced);
        if let Ok(proof) = &failed {
            assert!(*proof == expected.proof);
            break;
        }
        let error = failed.expect_err("it failed");
        assert!(matches!(reason(&error), proofwarp::Error::Device { .. }), "launch {launch}: {error}");
        device.inject_launch_fault(launch);
        assert!(expected.prove(&free).expect("the host goes on") == expected.proof, "launch {launch}");
        device.inject_launch_fault(u32::MAX);
        assert!(expected.prove(&forced).expect("a retry") == expected.proof, "launch {launch}");
        failures += 1;
    }
    assert!(failures > 3, "a proof of {failures} times {STRIDE} launches");
}

#[test]
fn two_threads() {
    let expected = Expected::new(&Shape::base(), 8, 1);
    thread::scope(|scope| {
        let proofs: Vec<_> = (0..2)
            .map(|_| scope.spawn(|| (0..3).map(|_| expected.prove(&Options::default())).collect::<Result<Vec<_>, _>>()))
            .collect();
        for proof in proofs.into_iter().flat_map(|thread| thread.join().expect("no panic").expect("proofs")) {
            assert!(proof == expected.proof);
        }
    });
}

/// Two proofs that are under way at the same time are on different devices.
#[test]
fn two_devices() {
    let Some(devices) = two("two devices", None) else { return };
    let expected = Expected::new(&Shape::base(), 6, 1);
    let both_run = Arc::new(Barrier::new(2));
    let prove = || {
        let (both_run, once) = (both_run.clone(), Once::new());
        let waits = move || {
            once.call_once(|| {
                both_run.wait();
            });
            false
        };
        let options = Options { devices: Some(1), abort: Some(AbortHook::new(waits)), ..only_these(&devices) };
        assert!(expected.prove(&options).expect("a proof") == expected.proof);
    };
    thread::scope(|scope| [(); 2].map(|()| scope.spawn(prove)).map(|thread| thread.join().expect("no panic")));
    assert!(devices.iter().all(|device| device.peak_memory() > 0));
}
