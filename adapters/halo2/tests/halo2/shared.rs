//! One proof on two devices.

use halo2_axiom::halo2curves::bn256::G1Affine;
use proofwarp_halo2::{Kind, memory};

use crate::described::Shape;
use crate::devices::{Expected, even, fail_the_second, only, only_these, these_or_the_host, two};

/// The proof is the same as one device's, by both openings, and where the second one fails the first does its share.
#[test]
fn a_failed_launch() {
    let Some(devices) = two("a shared proof", None) else { return };
    for (shape, k, circuits) in [(Shape::base(), 7, 2), (Shape { later_phases: 1, ..Shape::base() }, 6, 1)] {
        let expected = Expected::new(&shape, k, circuits);
        let options = even(only_these(&devices));
        assert!(expected.prove(&options).expect("a proof") == expected.proof);
        assert!(expected.prove_by(Kind::Gwc, &options) == expected.prove_by(Kind::Gwc, &only(&devices[0])));
        assert!(devices[1].peak_memory() > 0);
        let failures = fail_the_second(&expected, &options, &devices[1]);
        assert!(failures > 2, "{failures} failures");
    }
}

/// Each device keeps to its own limit: with too little memory it takes no share.
#[test]
fn a_second_device_with_little_memory() {
    let expected = Expected::new(&Shape::base(), 9, 1);
    let Some([first, _]) = two("a second device with little memory", None) else { return };
    let enough = memory(&expected.key, 1).bound::<G1Affine>(&first, u64::MAX).expect("enough").total();
    for percent in [5, 40, 80, 200] {
        let limit = enough * percent / 100;
        let Some(devices) = two("a second device with little memory", Some(limit)) else { return };
        for options in [even(only_these(&devices)), even(these_or_the_host(&devices))] {
            assert!(expected.prove(&options).expect("a proof") == expected.proof, "{percent} %");
        }
        assert!(devices[1].peak_memory() <= limit);
    }
}

/// Without a number of devices they share as far as it pays; small proofs are not shared.
#[test]
fn as_far_as_it_pays() {
    let Some(devices) = two("shares that pay", None) else { return };
    let expected = Expected::new(&Shape::base(), 8, 1);
    assert!(expected.prove(&only_these(&devices)).expect("a proof") == expected.proof);
    assert_eq!(devices[1].peak_memory(), 0);
    if devices[0].info().is_cpu {
        return eprintln!("left out: a large proof by shares that pay, since the devices are the processor");
    }
    let expected = Expected::new(&Shape::base(), 16, 1);
    for _ in 0..2 {
        assert!(expected.prove(&only_these(&devices)).expect("a proof") == expected.proof);
    }
    assert!(devices[1].peak_memory() > 0);
}
