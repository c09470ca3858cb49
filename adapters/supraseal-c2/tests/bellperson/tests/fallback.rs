//! No backend is forced: what fails on the first device ends on the CPU, loudly. A process of its own, one test, for the
//! accelerator is made from the environment.

mod common;

use blstrs::Scalar;
use common::{equals_stock, open, panic_of, prove};
use proofwarp::Accelerator;
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
        device.fail_after(launches);
        equals_stock(&key, 1, 2);
        let new = lines(at);
        assert!(new.contains(" on cpu (host)") && new.contains("injected by a test"), "{launches}: {new}");
    }
    device.fail_after(u32::MAX);

    // A proof that does not verify is made a second time on the CPU before it is given up.
    let (kind, links) = CASES[1];
    let one = || vec![Scalar::from(2)];
    let panic = panic_of(|| prove(vec![Chain { constant: 7, ..Chain::new(kind, links) }], &key, one(), one()));
    assert!(panic.contains("proof 0 made on cpu does not verify"), "{panic}");
    assert!(lines(at).contains("the batch is made again on the CPU"), "{}", lines(at));
    equals_stock(&key, 1, 3);
}
