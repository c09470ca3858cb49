//! A device that fails, at any step of a proof.

use std::thread;

use proofwarp_halo2::Options;

use crate::described::Shape;
use crate::devices::{Expected, alone, only, or_the_host, reason};

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
        device.fail_after(launch);
        let failed = expected.prove(&forced);
        if let Ok(proof) = &failed {
            assert!(*proof == expected.proof);
            break;
        }
        let error = failed.expect_err("it failed");
        assert!(matches!(reason(&error), proofwarp::Error::Device { .. }), "launch {launch}: {error}");
        device.fail_after(launch);
        assert!(expected.prove(&free).expect("the host goes on") == expected.proof, "launch {launch}");
        device.fail_after(u32::MAX);
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
