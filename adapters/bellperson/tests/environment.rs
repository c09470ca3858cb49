//! What bellperson's environment variables mean, each in a process of its own.

mod common;

use std::fs::File;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use bellperson::groth16::Parameters;
use blstrs::Bls12;
use common::{Fixture, device, gpu_lock, hold, stock};
use proofwarp::Accelerator;
use proofwarp_bellperson::{Prover, groth16, key_cache};

static FIXTURE: LazyLock<Fixture> = LazyLock::new(|| stock(|| Fixture::new(5, 2, 3)));

/// A process that proves with such variables, and ends well if its proofs are right and made on that backend.
fn child(variables: &[(&str, &str)], backend: &str) -> Child {
    LazyLock::force(&FIXTURE);
    Command::new(std::env::current_exe().expect("this program"))
        .args(["--exact", "proves", "--ignored", "--nocapture"])
        .env("PROOFWARP_TEST_CHILD", backend)
        .envs(variables.iter().copied())
        .stdout(Stdio::null())
        .spawn()
        .expect("child")
}

fn ends_well(mut child: Child) {
    assert!(child.wait().expect("child").success());
}

/// It does not end before the lock is free, in more than the time that others take.
fn waits_for(lock: File, mut child: Child, usual: Duration) {
    std::thread::sleep(2 * usual + Duration::from_secs(1));
    assert!(child.try_wait().expect("child").is_none(), "the child does not wait for the lock");
    drop(lock);
    ends_well(child);
}

/// Part of the tests below.
#[test]
#[ignore = "started by other tests"]
fn proves() {
    let report = tempfile::NamedTempFile::new().expect("file");
    // SAFETY: nothing else runs in this process; settings are read once, by the key's generation too.
    unsafe { std::env::set_var("PROOFWARP_REPORT", report.path()) };
    let Fixture { key, circuits, r, s, expected } = &*FIXTURE;
    for _ in 0..2 {
        let proofs = groth16::create_proof_batch(circuits.clone(), key, r.clone(), s.clone());
        assert!(proofs.expect("proofs") == *expected);
    }
    let backend = std::env::var("PROOFWARP_TEST_CHILD").expect("what the parent expects");
    let report = std::fs::read_to_string(report.path()).expect("report");
    let lines: Vec<_> = report.lines().filter(|line| line.starts_with("groth16")).collect();
    assert!(lines.len() == 2 && lines.iter().all(|line| line.contains(&format!(" on {backend} "))), "{report}");
}

fn backend() -> String {
    let accelerator = Accelerator::global().expect("accelerator");
    accelerator.devices()[0].info().backend.to_string()
}

/// The CPU needs no lock, whoever has it.
#[test]
fn no_gpu() {
    LazyLock::force(&FIXTURE);
    let _locks = [hold(gpu_lock()), hold(common::priority_lock())];
    for value in ["1", "", "yes"] {
        ends_well(child(&[("BELLMAN_NO_GPU", value)], "cpu"));
    }
}

#[test]
fn gpu_after_all() {
    LazyLock::force(&FIXTURE);
    if !device() {
        return;
    }
    ends_well(child(&[("BELLMAN_NO_GPU", "0")], &backend()));
}

fn device_lock() -> PathBuf {
    let accelerator = Accelerator::global().expect("accelerator");
    let id = accelerator.devices()[0].info().unique_id.map(|byte| format!("{byte:02x}")).concat();
    let id = [&id[..8], &id[8..12], &id[12..16], &id[16..20], &id[20..]].join("-");
    PathBuf::from(format!("{}.{id}", gpu_lock().display()))
}

/// One after the other: the locks are the same.
#[test]
fn gpus_per_lock() {
    LazyLock::force(&FIXTURE);
    if !device() {
        return;
    }
    let backend = &backend();
    let directory = tempfile::tempdir().expect("directory");
    let directory = directory.path().to_str().expect("a name in Unicode");
    let with = |value| child(&[("BELLPERSON_GPUS_PER_LOCK", value), ("TMPDIR", directory)], backend);
    let here = |path: PathBuf| PathBuf::from(directory).join(path.file_name().expect("a file"));
    let all = hold(here(gpu_lock()));
    ends_well(with("0"));
    let start = Instant::now();
    ends_well(with("1"));
    let usual = start.elapsed();
    waits_for(all, with("many"), usual);
    if Accelerator::global().expect("accelerator").devices().len() == 1 {
        let own = hold(here(device_lock()));
        waits_for(own, with("2"), usual);
    } else {
        eprintln!("left out: a lock for one of several devices");
    }
}

/// Another user has put a named pipe where the lock file is to be: it is a lock as well, and nobody waits for its reader.
#[cfg(unix)]
#[test]
fn lock_files_that_are_pipes() {
    LazyLock::force(&FIXTURE);
    if !device() {
        return;
    }
    let directory = tempfile::tempdir().expect("directory");
    for lock in [gpu_lock(), common::priority_lock()] {
        let pipe = directory.path().join(lock.file_name().expect("a file"));
        assert!(Command::new("mkfifo").arg(pipe).status().expect("mkfifo").success());
    }
    let directory = directory.path().to_str().expect("a name in Unicode");
    let (mut child, begun) = (child(&[("TMPDIR", directory)], &backend()), Instant::now());
    while child.try_wait().expect("child").is_none() {
        if begun.elapsed() > Duration::from_secs(120) {
            child.kill().expect("child");
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    ends_well(child);
}

/// Mapped parameters whose file is shortened: an error, with a key that is new and one that is kept, where the process would end
/// by a signal; copied ones are as they were.
#[test]
fn files_that_shrink() {
    LazyLock::force(&FIXTURE);
    for copies in ["0", "1"] {
        let mut command = Command::new(std::env::current_exe().expect("this program"));
        command
            .args(["--exact", "shrinks", "--ignored"])
            .env("BELLMAN_NO_GPU", "1")
            .env("PROOFWARP_TEST_CHILD", copies);
        command.env("PROOFWARP_COPY_PARAMETERS", copies);
        let status = command.status().expect("child");
        assert!(status.success(), "{copies}: {status}");
    }
}

/// Part of the test above.
#[test]
#[ignore = "started by another test"]
fn shrinks() {
    let Fixture { key, circuits, r, s, expected } = &*FIXTURE;
    let copies = std::env::var("PROOFWARP_TEST_CHILD").expect("what the parent expects") == "1";
    let directory = tempfile::tempdir().expect("directory");
    for settled in [false, true] {
        let path = directory.path().join(format!("key {settled}"));
        key.write(File::create(&path).expect("a file")).expect("written");
        if settled {
            std::thread::sleep(Duration::from_millis(3100));
        }
        let mapped = Parameters::<Bls12>::build_mapped_parameters(path.clone(), false).expect("mapped");
        let prove = || groth16::create_proof(circuits[0], &mapped, r[0], s[0]).map_err(|error| error.to_string());
        let accelerator = Accelerator::with_backend(proofwarp::BackendKind::Cpu).expect("the CPU");
        let (prover, own) = Prover::<Bls12>::new(&accelerator, circuits[0], &&mapped).expect("prover");
        let resident = || prover.prove(std::slice::from_ref(&own), &r[..1], &s[..1], None).map(|(proofs, _)| proofs);
        File::options().write(true).open(&path).and_then(|file| file.set_len(1)).expect("a length");
        let error = prove().expect_err("bytes are lacking");
        assert!(error.contains("bytes, as when it was mapped"), "{error}");
        match resident() {
            // Points of a file that has not settled are decoded at once.
            Ok(proofs) => assert!(proofs == expected[..1], "settled: {settled}"),
            Err(error) => assert!(!copies && settled && error.to_string().contains("as when it was mapped"), "{error}"),
        }
    }
}

/// Nothing is kept where keys may take no byte.
#[test]
fn key_cache_of_nothing() {
    LazyLock::force(&FIXTURE);
    let program = std::env::current_exe().expect("this program");
    let mut command = Command::new(program);
    command.args(["--exact", "keeps_nothing", "--ignored"]).env("PROOFWARP_KEY_CACHE", "0");
    assert!(command.env("BELLMAN_NO_GPU", "1").status().expect("child").success());
}

/// Part of the test above.
#[test]
#[ignore = "started by another test"]
fn keeps_nothing() {
    let Fixture { key, circuits, r, s, .. } = &*FIXTURE;
    let key: &Parameters<Bls12> = key;
    for _ in 0..2 {
        groth16::create_proof(circuits[0], key, r[0], s[0]).expect("proof");
    }
    let cache = key_cache();
    assert_eq!((cache.entries, cache.hits, cache.misses), (0, 0, 2));
}
