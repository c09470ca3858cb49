//! Proofs under faults, as the program `faults` injects them: into sumcheck and Groth16 60, or as many as `PROOFWARP_FAULTS` says
//! into all provers.

use std::env;
use std::process::Command;

#[test]
fn no_invalid_proof_no_hang_no_growth() {
    if env::var("PROOFWARP_BACKEND").is_ok_and(|backend| backend == "cpu") {
        return eprintln!("left out: faults of a device, since PROOFWARP_BACKEND names the CPU");
    }
    let mut program = Command::new(env!("CARGO_BIN_EXE_faults"));
    match env::var("PROOFWARP_FAULTS") {
        Ok(faults) => program.args(["--faults", &faults]),
        // The others' keys and kernels take longer to make than ./test has time for.
        Err(_) => program.args(["--faults", "60", "--group", "sumcheck", "--group", "groth16"]),
    };
    let output = program.output().expect("it runs");
    let [said, complained] = [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text).into_owned());
    println!("{said}");
    assert!(output.status.success(), "{said}{complained}");
}
