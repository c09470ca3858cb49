//! What tests of this adapter share: a circuit, its key, and stock's proofs.

#![allow(dead_code, reason = "each test file is a crate of its own and uses what it needs")]

use std::env::{remove_var, set_var, temp_dir, var_os};
use std::fs::File;
use std::path::PathBuf;
use std::sync::Once;
use std::time::{Duration, Instant};

use bellperson::groth16::{Parameters, Proof, generate_random_parameters};
use bellperson::{Circuit, ConstraintSystem, SynthesisError};
use blstrs::{Bls12, Scalar};
use ff::Field;
use fs2::FileExt;
use proofwarp::Accelerator;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

/// The same numbers in every run.
pub fn rng(seed: u64) -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(seed)
}

/// A chain of k·x² + x from a secret.
#[derive(Debug, Clone, Copy)]
pub struct Chain {
    pub links: usize,
    pub secret: Scalar,
    pub factor: u64,
}

impl Circuit<Scalar> for Chain {
    fn synthesize<CS: ConstraintSystem<Scalar>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
        let factor = Scalar::from(self.factor);
        let (mut value, mut x) = (self.secret, cs.alloc(|| "secret", || Ok(self.secret))?);
        for _ in 0..self.links {
            let next = factor * value.square() + value;
            let y = cs.alloc(|| "next", || Ok(next))?;
            cs.enforce(|| "next", |lc| lc + (factor, x), |lc| lc + x, |lc| lc + y - x);
            (value, x) = (next, y);
        }
        let result = cs.alloc_input(|| "result", || Ok(value))?;
        cs.enforce(|| "result", |lc| lc + x, |lc| lc + CS::one(), |lc| lc + result);
        Ok(())
    }
}

/// Circuits with their key, r, s and stock's proofs.
pub struct Fixture {
    pub key: Parameters<Bls12>,
    pub circuits: Vec<Chain>,
    pub r: Vec<Scalar>,
    pub s: Vec<Scalar>,
    pub expected: Vec<Proof<Bls12>>,
}

impl Fixture {
    /// So many circuits of so many links. All of a test file's are made before anything else happens in it.
    pub fn new(links: usize, count: usize, factor: u64) -> Self {
        let mut rng = rng(links as u64);
        let key = generate_random_parameters(Chain { links, secret: Scalar::ONE, factor }, &mut rng).expect("key");
        let circuits =
            (0..count).map(|_| Chain { links, secret: Scalar::random(&mut rng), factor }).collect::<Vec<_>>();
        let [r, s] = [(); 2].map(|()| (0..count).map(|_| Scalar::random(&mut rng)).collect::<Vec<_>>());
        let expected = bellperson::groth16::create_proof_batch(circuits.clone(), &key, r.clone(), s.clone());
        Self { expected: expected.expect("stock proofs"), key, circuits, r, s }
    }
}

/// Makes fixtures by stock bellperson on the CPU, with a directory of its own for lock files.
pub fn stock<T>(make: impl FnOnce() -> T) -> T {
    private_locks();
    let before = var_os("BELLMAN_NO_GPU");
    // SAFETY: tests wait for this before they do anything, and no thread of a pool reads the environment meanwhile.
    unsafe { set_var("BELLMAN_NO_GPU", "1") };
    let made = make();
    // SAFETY: as above.
    unsafe {
        match before {
            Some(value) => set_var("BELLMAN_NO_GPU", value),
            None => remove_var("BELLMAN_NO_GPU"),
        }
    }
    made
}

/// Lock files of other programs, and of other test files, do not matter; a child process shares its parent's.
fn private_locks() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        if var_os("PROOFWARP_TEST_CHILD").is_none() {
            let directory = tempfile::tempdir().expect("directory").keep();
            // SAFETY: as in `stock`, whose first step this is.
            unsafe { set_var("TMPDIR", directory) };
        }
    });
}

/// Whether there is a device; without one that is printed.
pub fn device() -> bool {
    let there = !Accelerator::global().expect("accelerator").devices().is_empty();
    if !there {
        eprintln!("skipped: no device to share");
    }
    there
}

pub fn gpu_lock() -> PathBuf {
    temp_dir().join("bellman.gpu.lock")
}

pub fn priority_lock() -> PathBuf {
    temp_dir().join("bellman.priority.lock")
}

/// Locks a file as stock bellperson does, through the same crate.
pub fn hold(path: PathBuf) -> File {
    let file = File::create(path).expect("lock file");
    FileExt::lock_exclusive(&file).expect("lock");
    file
}

/// Whether somebody has the lock.
pub fn taken(path: PathBuf) -> bool {
    let file = File::create(path).expect("lock file");
    FileExt::try_lock_shared(&file).is_err()
}

/// Waits until something holds, for a minute at most.
pub fn until(what: &str, holds: impl Fn() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < Duration::from_secs(60), "{what}");
        std::thread::sleep(Duration::from_millis(1));
    }
}
