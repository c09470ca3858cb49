//! A device with too little memory, whatever it is: proofs by fewer bytes at once, or on the CPU, or a clear panic where a
//! backend is forced. The limit holds for a process, so each is tried in one of its own.

mod common;

use std::process::{Command, Output};

use common::{equals_stock, open};
use proofwarp::Accelerator;
use supraseal_c2_tests::{folder, parameter_file};

const CHILD: &str = "SUPRASEAL_TEST_CHILD";
const LIMITS: [&str; 10] = ["1", "1K", "32K", "256K", "1M", "2M", "4M", "8M", "16M", "64M"];

fn under(limit: &str, backend: Option<&str>) -> Output {
    let mut child = Command::new(std::env::current_exe().expect("this program"));
    child.args(["--exact", "whatever_memory_there_is", "--nocapture"]).env("RUST_BACKTRACE", "0");
    child.env_remove("PROOFWARP_REPORT").env_remove("PROOFWARP_BACKEND");
    child.env(CHILD, "1").env("PROOFWARP_MEMORY_LIMIT", limit);
    backend.map(|backend| child.env("PROOFWARP_BACKEND", backend));
    child.output().expect("started")
}

#[test]
fn whatever_memory_there_is() {
    if std::env::var_os(CHILD).is_some() {
        return (1..4).for_each(|case| equals_stock(&open(&parameter_file(&folder(), case)), case, 2));
    }
    let Some(device) = Accelerator::automatic().expect("settings").devices().first().cloned() else {
        return eprintln!("left out: a device's memory, for there is none");
    };
    let backend = device.info().backend.to_string();
    let mut refused = 0;
    for limit in LIMITS {
        let free = under(limit, None);
        assert!(free.status.success(), "{limit}: {}", String::from_utf8_lossy(&free.stderr));
        let forced = under(limit, Some(&backend));
        let text = String::from_utf8_lossy(&forced.stderr);
        assert!(forced.status.success() || text.contains("out of device memory"), "{limit}: {text}");
        refused += usize::from(!forced.status.success());
    }
    assert!((1..LIMITS.len()).contains(&refused), "{refused} of {} limits are too low", LIMITS.len());
}
