//! One proof on two devices.

use std::env;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use proofwarp::backend::{BackendKind, Device};
use proofwarp_halo2::{Kind, Options, memory};

use crate::described::Shape;
use crate::devices::{Expected, only, only_these, stride, these_or_the_host, two};

/// Names the child that counts what the host does.
const CHILD: &str = "HALO2_TEST_COUNTS_HOST";

fn even(options: Options) -> Options {
    Options { devices: Some(2), ..options }
}

/// The second device fails at one launch after the other, until a proof has none left: how many did fail.
fn fail_the_second(expected: &Expected, options: &Options, second: &Arc<Device>) -> usize {
    let mut failures = 0;
    for launch in (0_u32..).step_by(stride(19, 7)) {
        second.fail_after(launch);
        assert!(expected.prove(options).expect("the first one goes on") == expected.proof, "launch {launch}");
        // The next proof's first launch fails if this one's did not.
        if expected.prove(&only(second)).is_err() {
            break;
        }
        failures += 1;
    }
    failures
}

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

/// Where the host may work, it does not work in the second device's place: the first does. In a process of its own, since
/// other tests have the host work.
#[test]
fn the_host_takes_no_share() {
    if env::var_os(CHILD).is_none() {
        let mut child = Command::new(env::current_exe().expect("this program"));
        child.args(["--exact", "shared::the_host_takes_no_share", "--nocapture"]).env(CHILD, "1");
        let output = child.output().expect("a child");
        return assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    let Some(devices) = two("a shared proof beside the host", None) else { return };
    let expected = Expected::new(&Shape::base(), 6, 1);
    let options = even(these_or_the_host(&devices));
    assert!(expected.prove(&options).expect("a proof") == expected.proof);
    let on_host = Arc::new(AtomicUsize::new(0));
    let counts = on_host.clone();
    proofwarp::report::observe(move |report| {
        // The final check is the host's always.
        let is_work = report.backend == BackendKind::Cpu && !report.operation.starts_with("halo2 ");
        counts.fetch_add(usize::from(is_work), Ordering::Relaxed);
    });
    let failures = fail_the_second(&expected, &options, &devices[1]);
    assert!(failures > 2, "{failures} failures");
    assert_eq!(on_host.load(Ordering::Relaxed), 0);
    // What the observer counts is there to be counted.
    devices[0].fail_after(0);
    assert!(expected.prove(&options).expect("the host goes on") == expected.proof);
    assert!(on_host.load(Ordering::Relaxed) > 0);
}

/// Each device keeps to its own limit: with too little memory it takes no share.
#[test]
fn a_second_device_with_little_memory() {
    let expected = Expected::new(&Shape::base(), 9, 1);
    let memory = memory(&expected.key, 1);
    let enough = memory.most_bytes() + memory.column * (memory.bases + memory.key) as u64;
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
