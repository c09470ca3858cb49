//! bellperson's variable asks for the CPU: proofs are made there, which is said once and is no error. A process of its own,
//! one test, for the accelerator is made from the environment.

mod common;

use std::sync::Mutex;

use common::{equals_stock, open};
use log::{Level, LevelFilter, Log, Metadata, Record};
use proofwarp::{BackendKind, report};
use supraseal_c2_tests::{folder, parameter_file};

static LINES: Mutex<Vec<(Level, String)>> = Mutex::new(Vec::new());

struct Listener;

impl Log for Listener {
    fn enabled(&self, _: &Metadata) -> bool {
        true
    }

    fn log(&self, record: &Record) {
        LINES.lock().expect("lines").push((record.level(), record.args().to_string()));
    }

    fn flush(&self) {}
}

#[test]
fn the_cpu_on_request_is_no_error() {
    // SAFETY: no other thread of this test's process reads or writes the environment yet.
    unsafe {
        std::env::remove_var("PROOFWARP_BACKEND");
        std::env::set_var("BELLMAN_NO_GPU", "1");
    }
    log::set_logger(&Listener).expect("the only logger");
    log::set_max_level(LevelFilter::Info);
    report::observe(|report| assert_eq!(report.backend, BackendKind::Cpu, "{report}"));
    for _ in 0..2 {
        let key = open(&parameter_file(&folder(), 1));
        for _ in 0..2 {
            equals_stock(&key, 1, 2);
        }
    }
    let lines = LINES.lock().expect("lines");
    let loud: Vec<_> = lines.iter().filter(|(level, _)| *level < Level::Info).collect();
    assert!(loud.is_empty(), "{loud:?}");
    assert_eq!(lines.iter().filter(|(_, text)| text.contains("BELLMAN_NO_GPU asks for it")).count(), 1, "{lines:?}");
}
