//! Proofs of low priority make way for those of high priority, of other threads and of other processes, and lose
//! nothing by it.

mod common;

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};
use std::thread::{JoinHandle, spawn};
use std::time::{Duration, Instant};

use bellperson::groth16::Proof;
use blstrs::Bls12;
use common::{Fixture, device, gpu_lock, hold, priority_lock, stock, taken, until};
use proofwarp::Accelerator;
use proofwarp_bellperson::groth16;

/// Most proofs of a batch.
const MOST: usize = 100;

fn on_processor() -> bool {
    Accelerator::global().expect("accelerator").devices()[0].info().is_cpu
}

/// Proofs of a batch that takes a while.
fn many() -> usize {
    if on_processor() { 24 } else { MOST }
}

/// How soon the devices are to be free. On a processor that stands in for one, and runs all other tests meanwhile, what
/// was queued takes longer.
fn soon() -> Duration {
    Duration::from_millis(if on_processor() { 1000 } else { 100 })
}

static FIXTURE: LazyLock<Fixture> = LazyLock::new(|| stock(|| Fixture::new(12, MOST, 3)));

/// One test at a time: all of them look at the same locks.
fn turn() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    LazyLock::force(&FIXTURE);
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

fn batch(count: usize, priority: bool) -> Vec<Proof<Bls12>> {
    let Fixture { key, circuits, r, s, .. } = &*FIXTURE;
    let (circuits, r, s) = (circuits[..count].to_vec(), r[..count].to_vec(), s[..count].to_vec());
    let proofs = match priority {
        true => groth16::create_proof_batch_in_priority(circuits, key, r, s),
        false => groth16::create_proof_batch(circuits, key, r, s),
    };
    proofs.expect("proofs")
}

/// A batch of low priority that has the devices.
fn running() -> JoinHandle<Vec<Proof<Bls12>>> {
    // The key is there, and kernels are compiled.
    batch(1, false);
    let running = spawn(|| batch(many(), false));
    until("the batch does not start", || taken(gpu_lock()));
    std::thread::sleep(Duration::from_millis(5));
    running
}

/// After others had priority for a while, the batch has not ended, then does.
fn resumes(running: JoinHandle<Vec<Proof<Bls12>>>, waited: Duration, release: impl FnOnce()) {
    std::thread::sleep(Duration::from_millis(300));
    assert!(!running.is_finished(), "the batch does not wait, or has never been interrupted");
    release();
    assert!(running.join().expect("the batch") == FIXTURE.expected[..many()]);
    eprintln!("the devices were free after {waited:.3?}");
    assert!(waited < soon(), "the devices were free after {waited:?}");
}

#[test]
fn makes_way_for_a_thread() {
    let _turn = turn();
    if !device() {
        return;
    }
    let running = running();
    let start = Instant::now();
    let priority = hold(priority_lock());
    let gpu = hold(gpu_lock());
    let waited = start.elapsed();
    resumes(running, waited, || drop((priority, gpu)));
}

#[test]
fn makes_way_for_a_process() {
    let _turn = turn();
    if !device() {
        return;
    }
    let program = std::env::current_exe().expect("this program");
    let mut child = Command::new(program)
        .args(["--exact", "other_process", "--ignored", "--nocapture"])
        .env("PROOFWARP_TEST_CHILD", "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("child");
    let mut orders = child.stdin.take().expect("piped");
    let mut lines = BufReader::new(child.stdout.take().expect("piped")).lines().map(|line| line.expect("text"));
    let mut line = |start: &str| lines.find_map(|line| line.split_once(start).map(|(_, rest)| rest.to_owned()));
    line("ready").expect("a child that is ready");
    let running = running();
    writeln!(orders, "take").expect("child");
    let waited = line("waited ").expect("a number").parse().expect("a number");
    resumes(running, Duration::from_micros(waited), || writeln!(orders, "release").expect("child"));
    assert!(child.wait().expect("child").success());
}

/// Part of the test above: takes the locks when it is told to.
#[test]
#[ignore = "started by makes_way_for_a_process"]
fn other_process() {
    let mut orders = std::io::stdin().lines();
    println!("\nready");
    orders.next();
    let start = Instant::now();
    let locks = [hold(priority_lock()), hold(gpu_lock())];
    println!("\nwaited {}", start.elapsed().as_micros());
    orders.next();
    drop(locks);
}

#[test]
fn low_priority_waits_for_high() {
    let _turn = turn();
    if !device() {
        return;
    }
    let priority = hold(priority_lock());
    let waiting = spawn(|| batch(1, false));
    std::thread::sleep(Duration::from_millis(300));
    assert!(!waiting.is_finished());
    assert!(!taken(gpu_lock()), "a proof of low priority has the devices");
    drop(priority);
    assert!(waiting.join().expect("the proof") == FIXTURE.expected[..1]);
}

#[test]
fn high_priority_shows_its_lock() {
    let _turn = turn();
    if !device() {
        return;
    }
    let gpu = hold(gpu_lock());
    let waiting = spawn(|| batch(1, true));
    until("the priority lock is not taken", || taken(priority_lock()));
    assert!(!waiting.is_finished());
    drop(gpu);
    assert!(waiting.join().expect("the proof") == FIXTURE.expected[..1]);
    assert!(!taken(priority_lock()) && !taken(gpu_lock()));
}

/// Both kinds from several threads, some of them a pool's own workers, which help each other while they wait.
#[test]
fn threads_and_workers() {
    use rayon::prelude::*;
    let _turn = turn();
    let expected = &FIXTURE.expected;
    std::thread::scope(|scope| {
        for priority in [false, true, false] {
            scope.spawn(move || assert!(batch(3, priority) == expected[..3]));
        }
        (0..12).into_par_iter().for_each(|number| assert!(batch(2, number % 3 == 0) == expected[..2]));
    });
}
