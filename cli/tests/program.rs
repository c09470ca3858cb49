//! The program as a user runs it.

use std::fs::File;
use std::path::Path;
use std::process::{Command, Output};

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
    assert!(last.contains("20 of 20 self-tests right") && last.contains("0 faults"), "{last}");
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

#[test]
fn what_cannot_be_written_is_refused_before_any_work() {
    let folder = tempfile::tempdir().expect("a folder");
    let output = program(folder.path(), &[], &["compare", "msm", "--html", "no/such/folder/page.html"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("no/such/folder/page.html"));
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
