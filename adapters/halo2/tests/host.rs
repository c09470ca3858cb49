//! What the host does beside two devices: in a program of its own, since other tests have the host work, and take devices' memory.

#[allow(dead_code, unused_imports, reason = "other tests use more of it")]
#[path = "halo2/described/mod.rs"]
mod described;
#[allow(dead_code, reason = "as above")]
#[path = "halo2/devices.rs"]
mod devices;
#[path = "halo2/logged.rs"]
mod logged;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use described::Shape;
use devices::{Expected, even, fail_the_second, these_or_the_host, two};
use logged::logged;
use proofwarp::{Accelerator, BackendKind};
use proofwarp_halo2::Options;

/// Tests run in turn, since one reads all that the process logs.
static TURN: Mutex<()> = Mutex::new(());

/// Where the host may work, it does not work in the second device's place: the first does.
#[test]
fn the_host_takes_no_share() {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
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
    devices[0].inject_launch_fault(0);
    assert!(expected.prove(&options).expect("the host goes on") == expected.proof);
    assert!(on_host.load(Ordering::Relaxed) > 0);
}

/// Where no device works, nothing is said of one.
#[test]
fn the_host_says_nothing_of_devices() {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let expected = Expected::new(&Shape::base(), 6, 1);
    let host = Options { accelerator: Accelerator::with_backend(BackendKind::Cpu).ok(), ..Options::default() };
    let (proof, lines) = logged(|| expected.prove(&host));
    assert!(proof.expect("a proof") == expected.proof);
    let lines: Vec<_> = lines.iter().filter(|line| line.contains("the device has no room for it")).collect();
    assert!(lines.is_empty(), "{lines:?}");
}
