//! Runs a program in C, linked to the shared and to the static library, and one in Python.

#![cfg(unix)]

mod common;

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

use blstrs::Bls12;
use common::{verification_key, witness, zkey};
use halo2curves::bn256::Bn256;
use proofwarp_circom::Groth16Engine;
use tempfile::TempDir;

/// Libraries of the system that the static library needs.
const SYSTEM_LIBRARIES: [&str; 4] = ["-lpthread", "-ldl", "-lm", "-lgcc_s"];

/// Files that a program takes, and those that it writes.
const READ: [&str; 3] = ["circuit.zkey", "witness.wtns", "verification_key.json"];
const WRITTEN: [&str; 2] = ["proof.json", "public.json"];

/// Returns the folder where cargo has built both libraries for this test.
fn library_folder() -> PathBuf {
    std::env::current_exe().expect("a path").parent().expect("a folder").to_owned()
}

fn package_file(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

#[track_caller]
fn run(command: &mut Command) {
    let output = command.output().expect("a program");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(output.status.success(), "{command:?}\n{}{}", text(&output.stdout), text(&output.stderr));
}

/// Compiles the program in C, and returns its path. `linked` are the compiler's arguments for the library.
fn compile(folder: &Path, name: &str, linked: &[&OsStr]) -> PathBuf {
    let program = folder.join(name);
    let mut compiler = Command::new(std::env::var_os("CC").unwrap_or_else(|| "cc".into()));
    compiler.args(["-std=c11", "-O1", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-I"]).arg(package_file("include"));
    run(compiler.arg(package_file("tests/c/prove.c")).arg("-o").arg(&program).args(linked));
    program
}

/// Compiles the program with the shared library, which it finds by the run path.
fn compile_shared(folder: &Path) -> PathBuf {
    let libraries = library_folder();
    let [search, run_path] = ["-L", "-Wl,-rpath,"].map(|option| format!("{option}{}", libraries.display()));
    compile(folder, "shared", &[search.as_ref(), "-lrapidsnark".as_ref(), run_path.as_ref()])
}

fn compile_static(folder: &Path) -> PathBuf {
    let library = library_folder().join("librapidsnark.a");
    let system = SYSTEM_LIBRARIES.iter().map(OsStr::new);
    compile(folder, "static", &[library.as_os_str()].into_iter().chain(system).collect::<Vec<_>>())
}

fn python() -> Command {
    let mut python = Command::new("python3");
    python.arg(package_file("tests/python/prove.py")).arg(library_folder().join("librapidsnark.so"));
    python
}

/// Runs `program` with the files in `folder`. It writes files whose names start with `prefix`.
#[track_caller]
fn run_on(mut program: Command, folder: &Path, prefix: &str) {
    let written = WRITTEN.map(|name| folder.join(format!("{prefix}_{name}")));
    run(program.args(READ.map(|name| folder.join(name))).args(&written));
    assert!(written.iter().all(|file| std::fs::read_to_string(file).is_ok_and(|text| text.ends_with(['}', ']']))));
}

fn generate<E: Groth16Engine>() -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let contents = [zkey::<E>(), witness::<E>(3), verification_key::<E>().into_bytes()];
    for (name, contents) in READ.into_iter().zip(contents) {
        std::fs::write(folder.path().join(name), contents).expect("a write");
    }
    folder
}

#[test]
fn programs_prove_generated_circuits() {
    let programs = tempfile::tempdir().expect("a folder");
    let shared = compile_shared(programs.path());
    for folder in [generate::<Bn256>(), generate::<Bls12>()] {
        run_on(Command::new(&shared), folder.path(), "c");
        run_on(python(), folder.path(), "python");
    }
}

// Other features of the workspace, such as `mpi`, would need libraries that the program does not link.
#[test]
#[ignore = "tests/circom.sh builds the static library with this package's features alone"]
fn a_program_proves_with_the_static_library() {
    let programs = tempfile::tempdir().expect("a folder");
    let folder = generate::<Bn256>();
    run_on(Command::new(compile_static(programs.path())), folder.path(), "static");
}

/// Leaves `c_proof.json`, `python_proof.json` and their public signals beside each real circuit, for snarkjs to verify.
#[test]
#[ignore = "tests/circom.sh makes the files"]
fn programs_prove_real_circuits() {
    let programs = tempfile::tempdir().expect("a folder");
    let shared = compile_shared(programs.path());
    let files = std::env::var("PROOFWARP_CIRCOM_FILES").expect("PROOFWARP_CIRCOM_FILES, as tests/circom.sh sets it");
    let folders = std::fs::read_dir(files).expect("a folder").map(|entry| entry.expect("an entry").path());
    for folder in folders.filter(|folder| folder.join("public.json").exists()) {
        run_on(Command::new(&shared), &folder, "c");
        run_on(python(), &folder, "python");
    }
}
