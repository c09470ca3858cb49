//! What all checks share.

use std::cell::Cell;

use ff::Field;
use proofwarp::cluster::Cluster;
use proofwarp::{Accelerator, BackendKind, Error};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

/// Checks of one rank, counted.
pub struct Checks<'c> {
    pub cluster: &'c Cluster,
    pub cpu: Accelerator,
    count: Cell<usize>,
}

impl<'c> Checks<'c> {
    pub fn new(cluster: &'c Cluster) -> Self {
        let cpu = Accelerator::with_backend(BackendKind::Cpu).expect("the CPU");
        Self { cluster, cpu, count: Cell::new(0) }
    }

    pub fn check(&self, what: &str, holds: bool, details: impl std::fmt::Display) {
        assert!(holds, "rank {} of {}: {what}: {details}", self.cluster.rank(), self.cluster.size());
        self.count.set(self.count.get() + 1);
    }

    pub fn equal<T: PartialEq>(&self, what: impl std::fmt::Display, expected: &T, actual: &T) {
        self.check("differs from what one process does", expected == actual, what);
    }

    /// That a call failed on this rank because of another, or of this one.
    pub fn failed<T>(&self, what: &str, rank: usize, text: &str, result: Result<T, Error>) {
        match result {
            Err(Error::Rank { rank: actual, reason }) => {
                self.check(what, actual == rank && reason.contains(text), format!("rank {actual}: {reason}"));
            }
            // One rank alone has its own errors.
            Err(error) if self.cluster.size() == 1 => self.check(what, error.to_string().contains(text), error),
            Err(error) => self.check(what, false, error),
            Ok(_) => self.check(what, false, "no error"),
        }
    }

    /// Says how many checks passed on all ranks, which proves that all came here.
    pub fn end(&self, mode: &str) {
        let lines = self.cluster.gather_stats();
        if self.cluster.rank() == 0 {
            println!("cluster {mode}: {} ranks, {} checks each passed", lines.len(), self.count.get());
        }
    }
}

/// Unequal speeds, one of them zero where there are three ranks or more.
pub fn local_speed(rank: usize) -> f64 {
    [2.0, 1.0, 0.0, 3.5][rank % 4]
}

/// Lengths around the edges of slices.
pub fn lengths(ranks: usize) -> Vec<usize> {
    let mut lengths = vec![0, 1, 2, ranks - 1, ranks, ranks + 1, 2 * ranks - 1, 2 * ranks, 2 * ranks + 1, 33, 100];
    lengths.sort_unstable();
    lengths.dedup();
    lengths
}

/// The first rank and the last.
pub fn roots(ranks: usize) -> Vec<usize> {
    if ranks == 1 { vec![0] } else { vec![0, ranks - 1] }
}

pub fn rng(seed: u64) -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(seed)
}

/// The same numbers on all ranks.
pub fn random<F: Field>(seed: u64, count: usize) -> Vec<F> {
    let mut rng = rng(seed);
    (0..count).map(|_| F::random(&mut rng)).collect()
}
