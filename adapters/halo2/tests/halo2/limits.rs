//! Less memory than a proof takes: the same proof in groups of columns.

use std::sync::Barrier;
use std::thread;

use halo2_axiom::halo2curves::bn256::G1Affine;
use proofwarp::plonk::MemoryPlan;
use proofwarp_halo2::{Options, memory};

use crate::described::Shape;
use crate::devices::{Expected, alone, only, or_the_host, reason};

#[test]
fn same_bytes_under_any_plan() {
    for (k, circuits) in [(6, 1), (7, 3)] {
        let expected = Expected::new(&Shape::base(), k, circuits);
        for keeps_own in [true, false] {
            for at_once in [1, 7, 20, 60] {
                let plan = MemoryPlan { columns_resident: keeps_own, max_columns: at_once };
                let options = Options { plan: Some(plan), ..Options::default() };
                assert!(expected.prove(&options).expect("a proof") == expected.proof, "{plan:?}");
            }
        }
    }
}

/// A device that is forced proves within what the memory's formula says, bases and what an MSM adds to them aside.
#[test]
fn a_forced_device_keeps_to_the_formula() {
    const K: u32 = 12;
    let expected = Expected::new(&Shape::base(), K, 1);
    let memory = memory(&expected.key, 1);
    let Some(whole) = alone("a device with little memory", None) else { return };
    assert!(expected.prove(&only(&whole)).expect("a proof") == expected.proof);
    println!("{memory}");
    let enough = memory.bound::<G1Affine>(&whole, u64::MAX).expect("enough").total();
    for (share, limit) in [(1.0, enough), (0.6, enough * 6 / 10), (0.3, enough * 3 / 10)] {
        let device = alone("a device with little memory", Some(limit)).expect("there was one");
        let proof = expected.prove(&only(&device)).unwrap_or_else(|error| panic!("{share} of {enough}: {error}"));
        assert!(proof == expected.proof, "{share}");
        assert!(device.peak_memory() <= limit);
    }
}

/// Proofs that start together on a device, on which one alone would keep all columns: each plans for the memory that
/// the others leave, or waits for it. The host goes on where a step needs more than was estimated.
#[test]
fn proofs_that_start_together_share_the_memory() {
    const PROOFS: usize = 4;
    let expected = Expected::new(&Shape::base(), 11, 1);
    let memory = memory(&expected.key, 1);
    let kept = memory.column * (memory.bases + memory.key) as u64;
    let Some(whole) = alone("a device for two proofs", None) else { return };
    let bound = memory.bound::<G1Affine>(&whole, u64::MAX).expect("enough");
    let limit = bound.total() + memory.min_bytes();
    assert!(2 * bound.proof > limit - kept, "not both as a whole: {memory}");
    let device = alone("a device for two proofs", Some(limit)).expect("there was one");
    // Bases and key are there before.
    assert!(expected.prove(&or_the_host(&device)).expect("a proof") == expected.proof);
    let start = Barrier::new(PROOFS);
    thread::scope(|scope| {
        let prove = || {
            start.wait();
            expected.prove(&or_the_host(&device))
        };
        for one in [(); PROOFS].map(|()| scope.spawn(prove)) {
            assert!(one.join().expect("no panic").expect("a proof") == expected.proof);
        }
    });
    assert!(device.peak_memory() <= limit);
}

/// Wherever in a proof memory runs out, the host goes on, or a forced device says so, and nothing is left behind.
#[test]
fn out_of_memory_at_any_step() {
    const PARTS: u64 = 10;
    let expected = Expected::new(&Shape::base(), 9, 1);
    let memory = memory(&expected.key, 1);
    let Some(whole) = alone("memory that runs out", None) else { return };
    // Commitments take most of the memory if columns are this short. They adapt to the free memory.
    let enough = memory.bound::<G1Affine>(&whole, u64::MAX).expect("enough").total() / 6;
    let [mut failures, mut proofs] = [0; 2];
    for part in 1..=PARTS {
        let Some(device) = alone("memory that runs out", Some(enough * part / PARTS)) else { return };
        let [forced, free] = [only(&device), or_the_host(&device)];
        // No step is cut, so that it is another one that has too little each time.
        let [forced, free] = [forced, free].map(|options| Options { plan: Some(MemoryPlan::ALL), ..options });
        match expected.prove(&forced) {
            Err(error) => {
                assert!(matches!(reason(&error), proofwarp::Error::OutOfMemory { .. }), "{part}: {error}");
                failures += 1;
            }
            Ok(proof) => {
                assert!(proof == expected.proof, "{part}");
                proofs += 1;
            }
        }
        assert!(expected.prove(&free).expect("the host goes on") == expected.proof, "{part}");
        assert!(device.peak_memory() <= enough * part / PARTS);
    }
    assert!(failures > 2 && proofs > 0, "{failures} failures, {proofs} proofs");
}

/// So little that no step runs: the host does it.
#[test]
fn no_memory_at_all() {
    let Some(device) = alone("a device without memory", Some(1 << 12)) else { return };
    let expected = Expected::new(&Shape::base(), 6, 1);
    assert!(expected.prove(&or_the_host(&device)).expect("a proof") == expected.proof);
    assert!(expected.prove(&only(&device)).is_err());
}
