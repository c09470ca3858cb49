//! Proofs under faults, as the program `faults` injects them: 120, or as many as `PROOFWARP_FAULTS` says.

use std::env;
use std::process::Command;

#[test]
fn no_invalid_proof_no_hang_no_growth() {
    if env::var("PROOFWARP_BACKEND").is_ok_and(|backend| backend == "cpu") {
        return eprintln!("left out: faults of a device, since PROOFWARP_BACKEND names the CPU");
    }
    let faults = env::var("PROOFWARP_FAULTS").unwrap_or_else(|_| "120".to_owned());
    let output = Command::new(env!("CARGO_BIN_EXE_faults")).args(["--faults", &faults]).output().expect("it runs");
    let [said, complained] = [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text).into_owned());
    println!("{said}");
    assert!(output.status.success(), "{said}{complained}");
}
