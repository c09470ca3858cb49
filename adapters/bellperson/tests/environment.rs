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
use proofwarp_bellperson::{groth16, key_cache};

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
