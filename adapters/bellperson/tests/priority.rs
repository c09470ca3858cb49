//! Proofs of low priority make way for those of high priority, of other threads and of other processes, and lose
//! nothing by it.

mod common;

use std::cell::{Cell, RefCell};
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::sync::{LazyLock, Mutex, MutexGuard, Once, PoisonError};
use std::thread::{JoinHandle, sleep, spawn};
use std::time::{Duration, Instant};

use bellperson::groth16::Proof;
use blstrs::Bls12;
use common::{Fixture, device, gpu_lock, hold, priority_lock, stock, taken, until};
use proofwarp::Accelerator;
use proofwarp_bellperson::groth16;

/// Most proofs of a batch.
const MAX_PROOFS: usize = 100;

fn on_processor() -> bool {
    let devices = Accelerator::global().expect("accelerator").devices();
    devices.first().is_none_or(|device| device.info().is_cpu)
}

/// Proofs of a batch that takes a while.
fn many() -> usize {
    if on_processor() { 24 } else { MAX_PROOFS }
}

/// Within so much time the devices are free, if they are at all before the batch ends: a GPU takes a hundredth of it. A
/// processor that stands in for one runs everything else meanwhile, and has no bound.
const SOON: Duration = Duration::from_secs(2);

static FIXTURE: LazyLock<Fixture> = LazyLock::new(|| stock(|| Fixture::new(12, MAX_PROOFS, 3)));

/// One test at a time: all of them look at the same locks.
fn turn() -> Turn {
    static TURN: Mutex<()> = Mutex::new(());
    static WATCH: Once = Once::new();
    static FIRST: Once = Once::new();
    let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    WATCH.call_once(|| drop(spawn(watch)));
    stage_within(Duration::from_secs(300), "stock bellperson's proofs");
    LazyLock::force(&FIXTURE);
    // OpenCL compiles then, beside whatever else the host does; so no stage of a test does.
    stage_within(Duration::from_secs(600), "kernels' first use");
    FIRST.call_once(|| drop(batch(1, false)));
    Turn(turn)
}

struct Turn(#[allow(dead_code, reason = "held, not read")] MutexGuard<'static, ()>);

impl Drop for Turn {
    fn drop(&mut self) {
        *STAGE.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

/// What the test at hand waits for, since when, and for how long at most.
#[derive(Clone, Copy)]
struct Stage {
    what: &'static str,
    since: Instant,
    most: Duration,
}

static STAGE: Mutex<Option<Stage>> = Mutex::new(None);

fn stage_within(most: Duration, what: &'static str) {
    *STAGE.lock().unwrap_or_else(PoisonError::into_inner) = Some(Stage { what, since: Instant::now(), most });
}

/// A processor that stands in for a GPU compiles kernels for minutes.
fn stage(what: &'static str) {
    stage_within(Duration::from_secs(if on_processor() { 600 } else { 30 }), what);
}

/// Ends the process where a stage does not end, and says which: a hang gives no reason.
fn watch() {
    loop {
        sleep(Duration::from_millis(500));
        let stage = *STAGE.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(Stage { what, most, .. }) = stage.filter(|stage| stage.since.elapsed() > stage.most) {
            let [gpu, priority] = [gpu_lock(), priority_lock()].map(|path| if taken(path) { "taken" } else { "free" });
            eprintln!("{what}: no end in {most:?}; the GPU lock is {gpu}, the priority lock {priority}");
            std::process::abort();
        }
    }
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
    // Then the key is there.
    stage("a first proof");
    drop(batch(1, false));
    stage("a batch's start");
    let running = spawn(|| batch(many(), false));
    until("the batch does not start", || taken(gpu_lock()));
    sleep(Duration::from_millis(5));
    running
}

/// Batches make way, wait while others have priority, and end well. One that was as good as done when it was asked to
/// make way tells nothing, so that another is tried.
fn makes_way(take: impl Fn() -> Duration, release: impl Fn()) {
    for _ in 0..20 {
        let running = running();
        stage("the locks, while a batch runs");
        let waited = take();
        sleep(Duration::from_millis(300));
        let waits = !running.is_finished();
        release();
        stage("a batch's end, after it made way");
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
    stage("the other process's start");
    line("ready").expect("a child that is ready");
    let order = |what: &str| writeln!(orders.borrow_mut(), "{what}").expect("child");
    let take = || {
        order("take");
        Duration::from_micros(line("waited ").expect("a number").parse().expect("a number"))
    };
    makes_way(take, || order("release"));
    drop(orders);
    stage("the other process's end");
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
    stage("a proof of low priority, which waits");
    let waiting = spawn(|| batch(1, false));
    sleep(Duration::from_millis(300));
    assert!(!waiting.is_finished());
    assert!(!taken(gpu_lock()), "a proof of low priority has the devices");
    drop(priority);
    stage("a proof of low priority, which may go on");
    assert!(waiting.join().expect("the proof") == FIXTURE.expected[..1]);
}

#[test]
fn high_priority_shows_its_lock() {
    let _turn = turn();
    if !device() {
        return;
    }
    let gpu = hold(gpu_lock());
    stage("the priority lock");
    let waiting = spawn(|| batch(1, true));
    until("the priority lock is not taken", || taken(priority_lock()));
    assert!(!waiting.is_finished());
    drop(gpu);
    stage("a proof of high priority, which has the devices");
    assert!(waiting.join().expect("the proof") == FIXTURE.expected[..1]);
    assert!(!taken(priority_lock()) && !taken(gpu_lock()));
}

/// Both kinds from several threads, some of them a pool's own workers, which help each other while they wait.
#[test]
fn threads_and_workers() {
    use rayon::prelude::*;
    let _turn = turn();
    let expected = &FIXTURE.expected;
    stage("proofs of threads and of workers");
    std::thread::scope(|scope| {
        for priority in [false, true, false] {
            scope.spawn(move || assert!(batch(3, priority) == expected[..3]));
        }
        (0..12).into_par_iter().for_each(|number| assert!(batch(2, number % 3 == 0) == expected[..2]));
    });
}
