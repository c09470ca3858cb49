//! Proofs of low priority make way for those of high priority, of other threads and of other processes, and lose
//! nothing by it.

mod common;

use std::cell::{Cell, RefCell};
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

/// Within so much time the devices are free, if they are at all before the batch ends: a GPU takes a hundredth of it. A
/// processor that stands in for one runs everything else meanwhile, and has no bound.
const SOON: Duration = Duration::from_secs(2);

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
    // The key is there, its matrices are relied on, and kernels are compiled.
    (0..2).for_each(|_| drop(batch(1, false)));
    let running = spawn(|| batch(many(), false));
    until("the batch does not start", || taken(gpu_lock()));
    std::thread::sleep(Duration::from_millis(5));
    running
}

/// Batches make way, wait while others have priority, and end well. One that was as good as done when it was asked to
/// make way tells nothing, so that another is tried.
fn makes_way(take: impl Fn() -> Duration, release: impl Fn()) {
    for _ in 0..20 {
        let running = running();
        let waited = take();
        std::thread::sleep(Duration::from_millis(300));
        let waits = !running.is_finished();
        release();
        assert!(running.join().expect("the batch") == FIXTURE.expected[..many()]);
        if waits {
            eprintln!("the devices were free after {waited:.3?}");
            return assert!(on_processor() || waited < SOON, "the devices were free after {waited:?}");
        }
    }
    panic!("no batch waits, or has ever been interrupted");
}

#[test]
fn makes_way_for_a_thread() {
    let _turn = turn();
    if !device() {
        return;
    }
    let locks = Cell::new(None);
    let take = || {
        let start = Instant::now();
        locks.set(Some([hold(priority_lock()), hold(gpu_lock())]));
        start.elapsed()
    };
    makes_way(take, || drop(locks.take()));
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
    let orders = RefCell::new(child.stdin.take().expect("piped"));
    let lines = BufReader::new(child.stdout.take().expect("piped")).lines().map(|line| line.expect("text"));
    let lines = RefCell::new(lines);
    let line = |start: &str| {
        let mut lines = lines.borrow_mut();
        lines.find_map(|line| line.split_once(start).map(|(_, rest)| rest.to_owned()))
    };
    line("ready").expect("a child that is ready");
    let order = |what: &str| writeln!(orders.borrow_mut(), "{what}").expect("child");
    let take = || {
        order("take");
        Duration::from_micros(line("waited ").expect("a number").parse().expect("a number"))
    };
    makes_way(take, || order("release"));
    drop(orders);
    assert!(child.wait().expect("child").success());
}

/// Part of the test above: takes the locks when it is told to, and releases them.
#[test]
#[ignore = "started by makes_way_for_a_process"]
fn other_process() {
    let mut orders = std::io::stdin().lines();
    println!("\nready");
    while orders.next().is_some() {
        let start = Instant::now();
        let locks = [hold(priority_lock()), hold(gpu_lock())];
        println!("\nwaited {}", start.elapsed().as_micros());
        orders.next();
        drop(locks);
    }
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
