//! Callers that are the workers of a pool, whom nothing may keep from what they wait for, and callers whose hooks panic.
#![allow(missing_docs)]

mod common;
#[allow(dead_code, reason = "what a circuit's inputs are matters to other tests")]
#[path = "common/random_r1cs.rs"]
mod random_r1cs;

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use bellperson::groth16::{Parameters, generate_random_parameters};
use blstrs::{Bls12, G1Affine, Scalar};
use common::ntt::{omega, random, reference};
use common::points::{self, Bases, bytes};
use common::{abort_after, accelerators_and_cpu, accelerators_with_devices, rng};
use proofwarp::backend::Abort;
use proofwarp::matrix::dense::{DenseMatrix, DenseOptions};
use proofwarp::matrix::dynamic::{DynamicCsr, Policy};
use proofwarp::matrix::{Csr, SparseMatrix};
use proofwarp::msm::{Msm, Scalars, msm};
use proofwarp::ntt::{Transform, transform_many};
use proofwarp::sumcheck::{BoundTranscript, Claim, Columns, HashTranscript, prove};
use proofwarp::{Accelerator, BackendKind};
use proofwarp_bellperson::{Prover, clear_key_cache};
use random_r1cs::{Random, Recipe};
use rayon::prelude::*;

/// Longer than the work takes on the slowest machine by far.
const LIMIT: Duration = Duration::from_secs(300);

/// Four vectors of 1 and of 16 MiB in lanes that take turns, called from the only core of the pool.
#[test]
fn a_pool_of_one_core() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a pool");
    for log_n in [15, 19] {
        let transform = Transform::new(log_n, omega::<Scalar>(log_n));
        let x = random(log_n, 12);
        let expected = reference(&x, &transform);
        for accelerator in accelerators_with_devices() {
            let mut vectors = vec![x.clone(); 4];
            let (sender, ended) = channel();
            pool.spawn(move || {
                let mut slices: Vec<&mut [_]> = vectors.iter_mut().map(Vec::as_mut_slice).collect();
                let result = transform_many(&accelerator, &mut slices, &[transform; 4], None);
                sender.send((result, vectors)).expect("the test waits");
            });
            let (result, vectors) = ended.recv_timeout(LIMIT).expect("an end, not a deadlock");
            result.expect("transformed");
            assert!(vectors.iter().all(|values| *values == expected), "2^{log_n}");
        }
    }
}

/// Makes one proof and compares it.
type Prove = Arc<dyn Fn() + Send + Sync>;
/// Makes several proofs at a time, with pools of at most so many workers.
type Caller = fn(&Prove, usize);

const CALLERS: [(&str, Caller); 6] = [
    ("workers", |prove, _| (0..6).into_par_iter().for_each(|_| prove())),
    ("workers, nested twice", |prove, _| {
        (0..2).into_par_iter().for_each(|_| (0..3).into_par_iter().for_each(|_| prove()));
    }),
    ("workers of their own pools", |prove, threads| {
        for threads in 1..=threads {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
            pool.install(|| (0..4).into_par_iter().for_each(|_| prove()));
        }
    }),
    ("a thread beside workers", |prove, _| {
        std::thread::scope(|scope| {
            scope.spawn(|| (0..3).for_each(|_| prove()));
            (0..4).into_par_iter().for_each(|_| prove());
        });
    }),
    ("tokio's blocking threads", |prove, _| on_tokio(prove, |prove| tokio::task::spawn_blocking(move || prove()))),
    ("tokio's workers", |prove, _| on_tokio(prove, |prove| tokio::spawn(async move { prove() }))),
];

fn on_tokio(prove: &Prove, spawn: fn(Prove) -> tokio::task::JoinHandle<()>) {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).max_blocking_threads(3).build();
    runtime.expect("a runtime").block_on(async {
        let tasks: Vec<_> = (0..6).map(|_| spawn(prove.clone())).collect();
        for task in tasks {
            task.await.expect("a proof");
        }
    });
}

/// Who makes proofs in a process, and where.
#[derive(Debug, Clone, Copy)]
struct Case {
    drop_in: bool,
    on_device: bool,
    threads: usize,
}

const CHILD: &str = "PROOFWARP_TEST_CHILD";

impl Case {
    fn start(self) -> Child {
        let threads = self.threads.to_string();
        let mut child = Command::new(std::env::current_exe().expect("this program"));
        child.args(["--exact", "proofs_by_workers_of_pools", "--nocapture"]).stdout(Stdio::piped());
        child.env(CHILD, format!("{} {threads}", self.drop_in));
        child.env("RAYON_NUM_THREADS", &threads).env("EC_GPU_NUM_THREADS", &threads);
        if !self.on_device {
            child.env("BELLMAN_NO_GPU", "1").env("PROOFWARP_BACKEND", "cpu");
        } else if self.drop_in {
            // bellperson waits for rayon's workers while it holds its lock on devices, for which those may wait.
            child.env("BELLPERSON_GPUS_PER_LOCK", "0");
        }
        child.spawn().expect("started")
    }

    /// Starts a process, and waits for it as long as it may take; the last thing it said if that was too long.
    fn run(self) -> Result<(), String> {
        let mut child = self.start();
        let end = Instant::now() + LIMIT;
        while child.try_wait().expect("a child").is_none() && Instant::now() < end {
            std::thread::sleep(Duration::from_millis(20));
        }
        let ended = child.try_wait().expect("a child").is_some();
        // It may have ended since.
        let _ = child.kill();
        let output = child.wait_with_output().expect("a child");
        let said = String::from_utf8_lossy(&output.stdout);
        let last = said.lines().rfind(|line| line.starts_with("by ")).unwrap_or("nothing").to_owned();
        match (ended, output.status.success()) {
            (true, true) => Ok(()),
            (true, false) => Err(format!("{self:?} failed: {last}")),
            (false, _) => Err(format!("{self:?} did not end: {last}")),
        }
    }
}

/// A circuit with its parameters, also as a mapped file.
fn circuit() -> (Random, Parameters<Bls12>) {
    let recipe = Recipe { inputs: 2, secrets: 4, constraints: 40, constants: true, inputs_in_rows: true, seed: 1 };
    let circuit = recipe.circuits(1, false).remove(0);
    let key = generate_random_parameters::<Bls12, _, _>(circuit.clone(), &mut rng(1)).expect("key");
    (circuit, key)
}

fn all_callers(drop_in: bool, threads: usize) {
    let (circuit, key) = circuit();
    let file = tempfile::NamedTempFile::new().expect("a file");
    key.write(std::io::BufWriter::new(&file)).expect("written");
    let mapped = Parameters::<Bls12>::build_mapped_parameters(file.path().to_owned(), false).expect("mapped");
    let [r, s] = [5, 7].map(Scalar::from);
    let expected = bellperson::groth16::create_proof(circuit.clone(), &key, r, s).expect("a proof");
    let prove: Prove = Arc::new(move || {
        let proofs = match drop_in {
            true => [
                bellperson::groth16::create_proof(circuit.clone(), &key, r, s),
                bellperson::groth16::create_proof(circuit.clone(), &mapped, r, s),
            ],
            false => [
                proofwarp_bellperson::create_proof(circuit.clone(), &key, r, s),
                proofwarp_bellperson::create_proof(circuit.clone(), &mapped, r, s),
            ],
        };
        assert!(proofs.into_iter().all(|proof| proof.expect("a proof") == expected));
    });
    for (name, caller) in CALLERS {
        println!("by {name}");
        // So that the key goes up while others want it.
        clear_key_cache();
        caller(&prove, threads);
    }
}

/// Each in a process of its own: a hang is a failure, and numbers of threads are a process's.
#[test]
fn proofs_by_workers_of_pools() {
    if let Ok(case) = std::env::var(CHILD) {
        let (drop_in, threads) = case.split_once(' ').expect("two words");
        return all_callers(drop_in == "true", threads.parse().expect("a number"));
    }
    let devices = Accelerator::global().map_or_else(|_| Vec::new(), |accelerator| accelerator.devices().to_vec());
    let is_processor = devices.iter().all(|device| device.info().is_cpu);
    if devices.is_empty() {
        eprintln!("left out: proofs on a device by workers of pools");
    }
    let on_device = if devices.is_empty() { &[false][..] } else { &[false, true] };
    let mut failed = Vec::new();
    for (drop_in, on_device) in
        [true, false].into_iter().flat_map(|drop_in| on_device.iter().map(move |on| (drop_in, *on)))
    {
        // Where the device is the processor each process takes many times as long, and two threads are what waited for ever.
        let threads = if on_device && is_processor { &[2][..] } else { &[1, 2, 4] };
        let cases = threads.iter().map(|threads| Case { drop_in, on_device, threads: *threads });
        failed.extend(cases.filter_map(|case| case.run().err()));
    }
    assert!(failed.is_empty(), "{failed:#?}");
}

/// Work of a caller whose hook panics after some questions: the panic arrives, and the next call is done.
fn panics_arrive<T: PartialEq>(what: &str, accelerator: &Accelerator, run: impl Fn(Abort<'_>) -> Option<T>) {
    let place = format!("{what} on {:?} of {}", accelerator.forced(), accelerator.devices().len());
    let expected = run(None);
    let mut arrived = 0;
    for questions in [0, 1, 2, 5, 20, 100] {
        let ended = abort_after(questions);
        let hook = || ended() && panic!("words of the caller, {questions}");
        match catch_unwind(AssertUnwindSafe(|| run(Some(&hook)))) {
            // It was not asked so often.
            Ok(result) => assert!(arrived > 0 && result == expected, "{place}, {questions} questions"),
            Err(panic) => {
                let text = panic.downcast_ref::<String>().map(String::as_str);
                assert_eq!(text, Some(&*format!("words of the caller, {questions}")), "{place}");
                arrived += 1;
            }
        }
        assert!(run(None) == expected, "{place} after a panic");
    }
}

/// Transforms of vectors, which a panic leaves as they were.
fn transforms(accelerator: &Accelerator, log_n: u32) {
    let transform = Transform::new(log_n, omega::<Scalar>(log_n));
    let x = random(log_n, 3);
    panics_arrive("ntt", accelerator, |abort| {
        let mut vectors = vec![x.clone(); 3];
        let mut slices: Vec<&mut [_]> = vectors.iter_mut().map(Vec::as_mut_slice).collect();
        let run = || transform_many(accelerator, &mut slices, &[transform; 3], abort).ok();
        let result = catch_unwind(AssertUnwindSafe(run));
        let untouched = vectors.iter().all(|vector| *vector == x);
        let result = result.unwrap_or_else(|panic| {
            assert!(untouched, "vectors changed");
            resume_unwind(panic)
        });
        result.map(|_| vectors)
    });
}

fn sums(accelerator: &Accelerator) {
    let points = Bases::<G1Affine>::consecutive(2000, &mut rng(4)).points;
    let scalars = bytes(&points::random::<Scalar>(2000, &mut rng(5)));
    panics_arrive("msm", accelerator, |abort| Some(msm(accelerator, &points, &scalars, abort).ok()?.0));
    let kept = Msm::new(accelerator, &points).expect("bases");
    panics_arrive("resident msm", accelerator, |abort| Some(kept.run(Scalars::canonical(&scalars), abort).ok()?.0));
}

fn products(accelerator: &Accelerator) {
    let rows = (0..500).map(|row| [(row % 77, Scalar::from(row as u64 + 1)), (76 - row % 76, Scalar::from(3))]);
    let matrix = SparseMatrix::new(accelerator, Csr::from_rows(77, rows).expect("rows")).expect("matrix");
    let x: Vec<Scalar> = (0..77).map(Scalar::from).collect();
    panics_arrive("csr", accelerator, |abort| {
        let mut y = vec![Scalar::from(1); 500];
        let result = catch_unwind(AssertUnwindSafe(|| matrix.multiply(&x, &mut y, abort).ok()));
        let result = result.unwrap_or_else(|panic| {
            assert!(y.iter().all(|value| *value == Scalar::from(1)), "results changed");
            resume_unwind(panic)
        });
        result.map(|_| y)
    });
}

fn dense_products(accelerator: &Accelerator) {
    let elements = points::random::<Scalar>(48 * 48, &mut rng(6));
    let a = DenseMatrix::upload(accelerator, &elements, 48, 48).expect("a matrix");
    let product = |abort: Abort<'_>| a.multiply(&a, &DenseOptions::default(), abort).ok()?.download().ok();
    panics_arrive("dense product", accelerator, product);
}

fn products_of_changes(accelerator: &Accelerator) {
    let rows = (0..500).map(|row| [(row % 77, Scalar::from(row as u64 + 1))]);
    let csr = Csr::from_rows(77, rows).expect("rows");
    let matrix = DynamicCsr::new(accelerator, csr, Policy::default()).expect("a matrix");
    matrix.add(3, 5, Scalar::from(7)).expect("a change");
    let x: Vec<Scalar> = (0..77).map(Scalar::from).collect();
    panics_arrive("dynamic csr", accelerator, |abort| {
        let mut y = vec![Scalar::from(1); 500];
        matrix.snapshot().ok()?.multiply(&x, &mut y, abort).ok()?;
        Some(y)
    });
}

fn sums_of_columns(accelerator: &Accelerator) {
    let elements = points::random::<Scalar>(2048, &mut rng(7));
    let columns = elements.split_at(1024);
    let sum = columns.0.iter().zip(columns.1).map(|(a, b)| *a * b).sum();
    let claim = Claim::product(10, &[0, 1]).with_sum(sum);
    panics_arrive("sumcheck", accelerator, |abort| {
        let columns = Columns::host(&[columns.0, columns.1]);
        let mut transcript = HashTranscript::new(b"panics");
        let unbound = BoundTranscript::insecure_without_commitment(&mut transcript);
        let (proof, _) = prove(accelerator, &claim, columns, unbound, abort).ok()?;
        Some(proof.to_bytes())
    });
}

fn proofs(accelerator: &Accelerator) {
    let (circuit, key) = circuit();
    let (prover, _) = Prover::new(accelerator, circuit.clone(), &&key).expect("a prover");
    let assignments = prover.assign(vec![circuit.clone(), circuit]).expect("assignments");
    let [r, s] = [[2, 3], [5, 7]].map(|pair| pair.map(Scalar::from));
    let prove = |abort: Abort<'_>| Some(prover.prove(&assignments, &r, &s, abort).ok()?.0);
    panics_arrive("groth16", accelerator, prove);
}

/// On each backend alone, where an error would be one, and on all, where another would start over.
#[test]
fn a_panic_of_a_hook_is_the_callers() {
    let mut all = accelerators_and_cpu();
    if std::env::var_os("PROOFWARP_BACKEND").is_none() {
        all.push(Accelerator::automatic().expect("settings"));
    }
    for accelerator in &all {
        // The CPU asks once a vector, or once a step.
        let log_n = if accelerator.forced() == Some(BackendKind::Cpu) { 6 } else { 12 };
        transforms(accelerator, log_n);
        sums(accelerator);
        products(accelerator);
        dense_products(accelerator);
        products_of_changes(accelerator);
        sums_of_columns(accelerator);
        proofs(accelerator);
    }
}
