//! No backend is forced: what fails on the first device ends on the CPU, loudly. A process of its own, one test, for the
//! accelerator is made from the environment.

mod common;

use blstrs::Scalar;
use common::{equals_stock, open, panic_of, prove};
use proofwarp::Accelerator;
use proofwarp::backend::Device;
use supraseal_c2_tests::{CASES, Chain, folder, parameter_file};

#[test]
fn on_the_cpu_where_the_device_fails() {
    let folder_of_reports = tempfile::tempdir().expect("folder");
    let reports = folder_of_reports.path().join("reports");
    // SAFETY: no other thread of this test's process reads or writes the environment yet.
    unsafe {
        std::env::remove_var("PROOFWARP_BACKEND");
        std::env::set_var("PROOFWARP_REPORT", &reports);
    }
    let Some(device) = Accelerator::global().expect("accelerator").devices().first() else {
        return eprintln!("left out: fallback from a device, for there is none");
    };
    let lines = |from: usize| std::fs::read_to_string(&reports).expect("reports")[from..].to_owned();
    let key = open(&parameter_file(&folder(), 1));
    equals_stock(&key, 1, 2);
    let at = lines(0).len();
    assert!(lines(0).contains(&format!("on {}", device.info().backend)), "{}", lines(0));

    for launches in [0, 3, 20] {
        let at = lines(0).len();
        device.inject_launch_fault(launches);
        equals_stock(&key, 1, 2);
        let new = lines(at);
        assert!(new.contains(" on cpu (host)") && new.contains("injected by a test"), "{launches}: {new}");
    }
    device.inject_launch_fault(u32::MAX);

    // A proof that does not verify is made a second time on the CPU before it is given up.
    let (kind, links) = CASES[1];
    let one = || vec![Scalar::from(2)];
    let panic = panic_of(|| prove(vec![Chain { constant: 7, ..Chain::new(kind, links) }], &key, one(), one()));
    assert!(panic.contains("proof 0 made on cpu does not verify"), "{panic}");
    assert!(lines(at).contains("the batch is made again on the CPU"), "{}", lines(at));
    equals_stock(&key, 1, 3);
    file_behind_a_key(device);
}

/// The CPU takes the points from the file once it needs them: of a deleted one, but not of one that was written to.
fn file_behind_a_key(device: &Device) {
    let folder_of_keys = tempfile::tempdir().expect("folder");
    let path = folder_of_keys.path().join("key");
    let opened = || {
        std::fs::copy(parameter_file(&folder(), 1), &path).expect("copy");
        open(&path)
    };
    let (deleted, changed) = (opened(), {
        std::fs::remove_file(&path).expect("deleted");
        opened()
    });
    std::fs::File::options().write(true).open(&path).and_then(|file| file.set_len(99)).expect("truncated");
    equals_stock(&changed, 1, 2);
    device.inject_launch_fault(0);
    equals_stock(&deleted, 1, 2);
    device.inject_launch_fault(0);
    let panic = panic_of(|| equals_stock(&changed, 1, 2));
    device.inject_launch_fault(u32::MAX);
    assert!(panic.contains("as when it was mapped, got 99 bytes"), "{panic}");
}
