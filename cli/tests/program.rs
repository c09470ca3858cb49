//! The program as a user runs it.

mod common;

use std::fs::File;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

/// The program in an environment without settings of the project's, with a folder for temporary files.
fn program(folder: &Path, variables: &[(&str, &str)], arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_proofwarp"));
    for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("PROOFWARP_") || name.starts_with("BELL")) {
        command.env_remove(name);
    }
    command.env("TMPDIR", folder).envs(variables.iter().copied()).args(arguments);
    command.output().expect("the program runs")
}

/// The diagnosis, without the self-test.
fn doctor(folder: &Path, variables: &[(&str, &str)]) -> (Value, i32) {
    let output = program(folder, variables, &["doctor", "--json", "--no-self-test"]);
    let text = String::from_utf8_lossy(&output.stdout);
    let value: Value = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
    let code = output.status.code().expect("a code");
    assert_eq!(value["exit_code"], code, "{text}");
    (value, code)
}

fn levels(diagnosis: &Value, name: &str) -> Vec<String> {
    let findings = diagnosis["findings"].as_array().expect("findings");
    let named = findings.iter().filter(|finding| finding["name"] == name);
    named.map(|finding| finding["level"].as_str().expect("a level").to_owned()).collect()
}

#[test]
fn benches_show_and_write_what_they_measured() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("products.json");
    let path = file.to_str().expect("a name");
    let output = program(folder.path(), &[], &["bench", "matmul", "gemm", "--size=8", "--backend=cpu", "--json", path]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let written: Value = serde_json::from_slice(&std::fs::read(&file).expect("a file")).expect("JSON");
    assert!(written[0]["checked"].as_str().is_some_and(|how| how.starts_with("Freivalds")), "{written}");
    assert!(String::from_utf8_lossy(&output.stdout).contains("running on the CPU: --backend"));
    let line = ["bench", "msm", "--log=4..4", "--only=bls12_381_g1", "--from=host", "--check", "--backend=cpu"];
    let output = program(folder.path(), &[], &line);
    assert!(output.status.success() && String::from_utf8_lossy(&output.stdout).contains("msm bls12_381_g1"));
    let output = program(folder.path(), &[], &["bench", "steps", "--backend=cpu"]);
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(2) && error.contains("expected a device, got none"), "{error}");
}

#[test]
fn a_bad_setting_is_a_fault() {
    let folder = tempfile::tempdir().expect("a folder");
    let (diagnosis, code) = doctor(folder.path(), &[("PROOFWARP_MEMORY_LIMIT", "8 parsecs")]);
    assert_eq!((levels(&diagnosis, "bad-setting"), code), (vec!["fault".to_owned()], 2));
    assert_eq!(levels(&diagnosis, "no-backend"), Vec::<String>::new(), "said once");
    let (diagnosis, _) = doctor(folder.path(), &[("PROOFWARP_BACKND", "cpu"), ("PROOFWARP_BACKEND", "cpu")]);
    assert_eq!(levels(&diagnosis, "unknown-setting"), ["warning"]);
}

#[test]
fn a_forced_backend_that_is_not_there_is_a_fault() {
    if cfg!(feature = "cuda") {
        eprintln!("left out: CUDA may be there");
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let (diagnosis, code) = doctor(folder.path(), &[("PROOFWARP_BACKEND", "cuda")]);
    assert_eq!((levels(&diagnosis, "no-backend"), code), (vec!["fault".to_owned()], 2));
    assert_eq!(diagnosis["adapters"][0]["uses"], "nothing");
}

/// The loader finds a library of that name which is none.
#[cfg(all(target_os = "linux", feature = "opencl"))]
#[test]
fn opencl_without_a_loader_is_told() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("libOpenCL.so.1"), "no library").expect("a file");
    let path = folder.path().display().to_string();
    let (diagnosis, code) = doctor(folder.path(), &[("LD_LIBRARY_PATH", path.as_str())]);
    if diagnosis["facts"]["devices"].as_array().is_some_and(|devices| !devices.is_empty()) {
        eprintln!("left out: CUDA has a device here");
        return;
    }
    assert_eq!((levels(&diagnosis, "no-opencl-loader"), code), (vec!["warning".to_owned()], 1), "{diagnosis}");
}

/// The loader finds no driver in a folder that is empty.
#[cfg(all(target_os = "linux", feature = "opencl"))]
#[test]
fn opencl_without_a_driver_is_told() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().display().to_string();
    let variables =
        [("OCL_ICD_VENDORS", path.as_str()), ("PROOFWARP_BACKEND", "opencl"), ("PROOFWARP_OPENCL_CPU", "1")];
    let (diagnosis, code) = doctor(folder.path(), &variables);
    if diagnosis["facts"]["opencl"]["library"] == false {
        eprintln!("left out: there is no OpenCL library");
        return;
    }
    assert_eq!((levels(&diagnosis, "no-opencl-device"), code), (vec!["fault".to_owned()], 2), "{diagnosis}");
}

/// On a machine without a driver, whether or not nvcc was there for the build.
#[cfg(feature = "cuda")]
#[test]
fn cuda_without_a_driver_is_told() {
    let folder = tempfile::tempdir().expect("a folder");
    let (diagnosis, code) = doctor(folder.path(), &[("PROOFWARP_BACKEND", "cuda")]);
    if !diagnosis["facts"]["cuda"]["driver"].is_null() {
        eprintln!("left out: there is a CUDA driver here");
        return;
    }
    let note = diagnosis["facts"]["cuda"]["kernels"]["note"].as_str().expect("kernels");
    let expected = if note.is_empty() { "no-driver" } else { "no-kernels" };
    assert_eq!((levels(&diagnosis, expected), code), (vec!["fault".to_owned()], 2), "{diagnosis}");
}

#[test]
fn the_cpu_may_be_asked_for() {
    let folder = tempfile::tempdir().expect("a folder");
    let (diagnosis, code) = doctor(folder.path(), &[("PROOFWARP_BACKEND", "cpu")]);
    assert_eq!((levels(&diagnosis, "cpu-forced"), code), (vec!["note".to_owned()], 0), "{diagnosis}");
    assert!(diagnosis["summary"].as_str().is_some_and(|summary| summary.starts_with("proofs are made on the CPU")));
}

#[test]
fn locks_and_caches_are_looked_at() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("bellman.gpu.lock");
    let held = File::create(&path).expect("a lock file");
    held.lock().expect("nobody has it");
    let file = folder.path().join("a file");
    File::create(&file).expect("a file");
    let cache = file.join("opencl").display().to_string();
    let variables = [("PROOFWARP_BACKEND", "cpu"), ("PROOFWARP_CACHE_DIR", cache.as_str())];
    let (diagnosis, code) = doctor(folder.path(), &variables);
    assert_eq!(levels(&diagnosis, "lock-held"), ["warning"]);
    assert_eq!(code, 1);
    if cfg!(feature = "opencl") {
        assert_eq!(levels(&diagnosis, "unwritable-cache"), ["warning"]);
    }
}

#[test]
fn little_memory_is_seen_where_there_is_a_device() {
    let folder = tempfile::tempdir().expect("a folder");
    let limited = [("PROOFWARP_OPENCL_CPU", "1"), ("PROOFWARP_MEMORY_LIMIT", "512M")];
    let (diagnosis, code) = doctor(folder.path(), &limited);
    if diagnosis["facts"]["devices"].as_array().is_none_or(Vec::is_empty) {
        eprintln!("left out: there is no device");
        return;
    }
    assert_eq!((levels(&diagnosis, "little-memory"), code), (vec!["warning".to_owned()], 1));
}

#[test]
fn the_self_test_is_right_and_the_table_ends_with_the_summary() {
    let folder = tempfile::tempdir().expect("a folder");
    let output = program(folder.path(), &[("PROOFWARP_BACKEND", "cpu")], &["doctor", "--log", "6"]);
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}");
    let last = text.lines().last().expect("a summary");
    let tests = if cfg!(feature = "plonky3") { 33 } else { 29 };
    assert!(last.contains(&format!("{tests} of {tests} self-tests right")) && last.contains("0 faults"), "{last}");
}

/// Whatever is compared ends with equal results, numbers in a file, and a page.
#[test]
fn comparisons_write_files() {
    for (what, checks, operations) in [("msm", 2, 2), ("ntt", 2, 2), ("groth16", 1, 1), ("halo2", 1, 2)] {
        let folder = tempfile::tempdir().expect("a folder");
        let path = |name: &str| folder.path().join(name).display().to_string();
        let (json, html) = (path("numbers.json"), path("page.html"));
        let arguments = ["compare", what, "--log", "6", "--repeats", "1", "--json", &json, "--html", &html];
        let output = program(folder.path(), &[("PROOFWARP_BACKEND", "cpu")], &arguments);
        assert!(output.status.success(), "{what}: {}", String::from_utf8_lossy(&output.stderr));
        let numbers: Value = serde_json::from_str(&std::fs::read_to_string(json).expect(what)).expect(what);
        assert_eq!(numbers["checked"].as_array().map(Vec::len), Some(checks), "{what}");
        let measured = numbers["measurements"].as_array().expect(what);
        assert!(measured.len() >= 2 * operations, "{what}: {measured:?}");
        assert!(measured.iter().all(|one| one["milliseconds"].as_f64().is_some_and(|ms| ms > 0.0)), "{measured:?}");
        let page = std::fs::read_to_string(html).expect(what);
        assert_eq!(page.matches("<table>").count(), operations, "{what}");
        // halo2's proofs know their phases without a device too.
        let phases = usize::from(what == "halo2");
        assert_eq!(page.matches("<svg").count(), operations + phases, "{what}");
    }
}

/// Runs `compare circom` beside `rapidsnark` and the command `snarkjs`, and returns its output and the numbers.
fn compare_circom(files: &common::Files, rapidsnark: &str, snarkjs: &str) -> (Output, Option<Value>) {
    let [zkey, wtns] = ["multiplier.zkey", "witness.wtns"].map(|name| files.path(name));
    let mut command = common::command(common::PROOFWARP);
    command.args(["compare", "circom", "--repeats", "1", "--json", "numbers.json", "--html", "page.html"]);
    command.arg("--zkey").arg(zkey).arg("--wtns").arg(wtns).args(["--rapidsnark", rapidsnark, "--snarkjs", snarkjs]);
    let output = command.current_dir(files.folder()).output().expect("the program runs");
    let numbers = std::fs::read_to_string(files.path("numbers.json")).ok();
    (output, numbers.map(|numbers| serde_json::from_str(&numbers).expect("numbers")))
}

fn texts<'a>(numbers: &'a Value, list: &str, field: Option<&str>) -> Vec<&'a str> {
    let items = numbers[list].as_array().expect(list).iter();
    items.map(|item| field.map_or(item, |field| &item[field]).as_str().expect("a text")).collect()
}

/// A script that proves takes the place of snarkjs. Programs that are absent, or ours, are named.
#[cfg(unix)]
#[test]
fn circom_is_compared_with_the_programs_that_are_there() {
    let files = common::Files::new();
    let snarkjs = format!("sh -c 'shift 2; exec {} \"$@\"' sh", common::PROVER);
    for (rapidsnark, reason) in [(common::PROVER, "is proofwarp's prover"), ("no/such/program", "No such file")] {
        let (output, numbers) = compare_circom(&files, rapidsnark, &snarkjs);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let numbers = numbers.expect("numbers");
        let measured = texts(&numbers, "measurements", Some("implementation"));
        assert_eq!(measured, ["proofwarp, resident", "proofwarp, a process each", "snarkjs, a process each"]);
        let checked = texts(&numbers, "checked", None);
        assert!(checked[0].ends_with("3 valid proofs with equal public signals"), "{checked:?}");
        let left_out = texts(&numbers, "left_out", None);
        assert!(left_out.iter().any(|line| line.starts_with("rapidsnark") && line.contains(reason)), "{left_out:?}");
        assert!(std::fs::read_to_string(files.path("page.html")).is_ok_and(|page| page.contains("<table>")));
    }
}

/// An invalid proof of a peer ends the comparison, one that fails is left out with its words.
#[cfg(unix)]
#[test]
fn proofs_of_circoms_peers_are_verified() {
    let files = common::Files::new();
    let broken = files.path("broken.wtns").display().to_string();
    let invalid = format!("sh -c 'exec {} prove --no-verify \"$3\" {broken} \"$5\" \"$6\"' sh", common::PROOFWARP);
    let (output, numbers) = compare_circom(&files, "no/such/program", &invalid);
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!((output.status.code(), numbers), (Some(2), None), "{text}");
    assert!(text.contains("snarkjs, a process each: expected a proof that verifies"), "{text}");
    let (output, numbers) = compare_circom(&files, "no/such/program", "sh -c 'echo no memory >&2; exit 7' sh");
    assert!(output.status.success());
    let numbers = numbers.expect("numbers");
    let left_out = texts(&numbers, "left_out", None);
    assert!(left_out.contains(&"snarkjs, a process each: exit status: 7: no memory"), "{left_out:?}");
}

#[test]
fn what_cannot_be_written_is_refused_before_any_work() {
    let folder = tempfile::tempdir().expect("a folder");
    let output = program(folder.path(), &[], &["compare", "msm", "--html", "no/such/folder/page.html"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("no/such/folder/page.html"));
}

/// Outputs that cannot be written are refused before any work: a folder, a file in a folder that refuses files, and one file for
/// both.
#[test]
fn outputs_are_opened_before_any_work() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (page, itself) = (path("page.html"), folder.path().display().to_string());
    for (outputs, reason) in [
        (["--json", &page, "--html", &itself], itself.as_str()),
        (["--json", "/proc/numbers.json", "--html", &page], "/proc/numbers.json"),
        (["--json", &page, "--html", &page], "twice"),
    ] {
        let output = program(folder.path(), &[], &[&["compare", "ntt"][..], &outputs].concat());
        let text = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{text}");
        assert!(text.contains(reason) && text.lines().count() == 1, "{text}");
        assert!(!Path::new(&page).exists(), "{reason}: no empty file is left");
    }
}

/// The page is written although the numbers found no room, and the error says so.
#[cfg(target_os = "linux")]
#[test]
fn each_output_is_tried() {
    let folder = tempfile::tempdir().expect("a folder");
    let page = folder.path().join("page.html").display().to_string();
    let arguments = [
        "compare",
        "ntt",
        "--field",
        "bn254-fr",
        "--log",
        "4",
        "--repeats",
        "1",
        "--json",
        "/dev/full",
        "--html",
        &page,
    ];
    let output = program(folder.path(), &[("PROOFWARP_BACKEND", "cpu")], &arguments);
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{text}");
    assert!(text.lines().last().is_some_and(|line| line.starts_with("proofwarp: /dev/full: ")), "{text}");
    assert!(std::fs::read_to_string(page).is_ok_and(|page| page.contains("<table>")), "{text}");
}

/// The program with its standard streams as they are given.
fn with_streams(arguments: &[&str], out: impl Into<Stdio>, err: impl Into<Stdio>) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_proofwarp"));
    command.env("PROOFWARP_BACKEND", "cpu").args(arguments).stdout(out).stderr(err);
    command.spawn().and_then(std::process::Child::wait_with_output).expect("the program runs")
}

const COMMANDS: [&[&str]; 6] = [
    &["doctor", "--no-self-test"],
    &["doctor", "--no-self-test", "--json"],
    &["completions", "bash"],
    &["--help"],
    &["--version"],
    &["compare", "ntt", "--field", "bn254-fr", "--log", "4", "--repeats", "1"],
];

/// A pipe whose reader has gone is no error and gives no message.
#[test]
fn closed_pipes_end_quietly() {
    let closed = || std::io::pipe().expect("a pipe").1;
    for arguments in COMMANDS {
        let output = with_streams(arguments, closed(), Stdio::piped());
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code().is_some_and(|code| code < 2), "{arguments:?}: {}: {text}", output.status);
        assert!(!text.contains("panicked") && !text.contains("pipe"), "{arguments:?}: {text}");
        let output = with_streams(arguments, closed(), closed());
        assert!(output.status.code().is_some_and(|code| code < 2), "{arguments:?}: {}", output.status);
    }
}

/// A full disk is one line.
#[cfg(target_os = "linux")]
#[test]
fn full_disks_are_told() {
    let full = || File::options().write(true).open("/dev/full").expect("a device");
    for arguments in COMMANDS {
        let output = with_streams(arguments, full(), Stdio::piped());
        let text = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {text}");
        let last = text.lines().last().unwrap_or_default();
        assert!(last.starts_with("proofwarp: standard output: No space left"), "{arguments:?}: {text}");
        assert!(!text.contains("panicked"), "{arguments:?}: {text}");
        assert_eq!(with_streams(arguments, full(), full()).status.code(), Some(2), "{arguments:?}");
    }
}

#[test]
fn shells_get_their_completions() {
    let folder = tempfile::tempdir().expect("a folder");
    for shell in ["bash", "zsh", "fish"] {
        let output = program(folder.path(), &[], &["completions", shell]);
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && text.contains("proofwarp") && text.contains("doctor"), "{shell}");
    }
}
