//! Many proofs in a row in one process: all valid, and memory of host and device stays as it is after the first ones.
//!
//! `PROOFWARP_PROOFS` says how many, 30 without it. On a GPU, before a release:
//! `PROOFWARP_PROOFS=1000 PROOFWARP_BACKEND=cuda cargo test --release --features cuda --test groth16_soak`.

mod common;
// The circuits of the other tests of proofs.
#[path = "groth16/circuits.rs"]
mod circuits;

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

use bellperson::groth16::{PreparedVerifyingKey, prepare_verifying_key, verify_proof};
use blstrs::{Bls12, Scalar};
use circuits::{Chain, Kind, setup};
use common::{abort_after, accelerators_and_cpu, alone, fresh_driver, rng};
use ff::Field;
use proofwarp::Accelerator;
use proofwarp_bellperson::{Prover, prove_evaluated};

const LINKS: usize = 150;
/// Proofs that are made at once, in turns.
const BATCHES: [usize; 4] = [1, 3, 1, 2];
/// Bytes by which this program's own memory may grow, however many proofs there are: far less than a vector of each.
const SLACK: usize = 64 << 10;
/// Bytes by which all memory of the process may grow. Drivers and allocators keep some, and each stream of a device the
/// memory by which it copies, once it has copied so much.
const SLACK_OF_DRIVERS: u64 = 128 << 20;

/// Counts what is allocated and not freed.
struct Counting;

static ALLOCATED: AtomicUsize = AtomicUsize::new(0);

// SAFETY: the system's allocator does the work.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATED.fetch_add(layout.size(), Ordering::Relaxed);
        // SAFETY: passed on from the caller.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        ALLOCATED.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: passed on from the caller.
        unsafe { System.dealloc(block, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Proofs of one key, one batch after the other.
struct Run<'a> {
    accelerator: &'a Accelerator,
    prover: Prover<Bls12>,
    key: bellperson::groth16::Parameters<Bls12>,
    verifying_key: PreparedVerifyingKey<Bls12>,
    proofs: usize,
}

impl<'a> Run<'a> {
    fn new(accelerator: &'a Accelerator) -> Self {
        let key = setup(LINKS, Kind::Plain);
        let circuit = Chain { links: LINKS, secret: Scalar::ONE, kind: Kind::Plain };
        let (prover, _) = Prover::<Bls12>::new(accelerator, circuit, &&key).expect("prover");
        Self { accelerator, prover, verifying_key: prepare_verifying_key(&key.vk), key, proofs: 0 }
    }

    /// Makes so many proofs. Now and then one is aborted, or made by a key that is uploaded for it alone.
    fn prove(&mut self, count: usize) {
        let goal = self.proofs + count;
        for batch in BATCHES.into_iter().cycle() {
            if self.proofs >= goal {
                return;
            }
            let mut rng = rng(self.proofs as u64);
            let circuits: Vec<_> = (0..batch)
                .map(|_| Chain { links: LINKS, secret: Scalar::random(&mut rng), kind: Kind::Plain })
                .collect();
            self.prove_batch(&circuits, self.proofs % 11 < batch);
            self.proofs += batch;
        }
    }

    fn prove_batch(&self, circuits: &[Chain], by_evaluations: bool) {
        let mut rng = rng(self.proofs as u64 + 1);
        let [r, s] = [(); 2].map(|()| circuits.iter().map(|_| Scalar::random(&mut rng)).collect::<Vec<_>>());
        let assignments = self.prover.assign(circuits.to_vec()).expect("assignments");
        let inputs: Vec<_> = assignments.iter().map(|assignment| assignment.inputs[1..].to_vec()).collect();
        let (proofs, report) = if by_evaluations {
            let aborted = self.prover.prove(&assignments, &r, &s, Some(&abort_after(2)));
            aborted.expect_err("aborted");
            prove_evaluated(self.accelerator, circuits.to_vec(), &&self.key, &r, &s).expect("proofs")
        } else {
            self.prover.prove(&assignments, &r, &s, None).expect("proofs")
        };
        assert_eq!(Some(report.backend), self.accelerator.forced());
        for (proof, inputs) in proofs.iter().zip(&inputs) {
            assert!(verify_proof(&self.verifying_key, proof, inputs).expect("inputs"), "{report}");
        }
    }
}

/// Bytes that the process has in memory, where the system says so.
fn resident() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    Some(line.trim().strip_suffix(" kB")?.parse::<u64>().ok()? << 10)
}

/// What is taken and what is free, without what pools keep: these grow for a while, until each of a device's streams has
/// done each kind of work.
struct Memory {
    allocated: usize,
    resident: Option<u64>,
    /// Bytes that the device has free within its cap, and those that its driver says.
    free: Option<[u64; 2]>,
}

impl Memory {
    fn of(accelerator: &Accelerator) -> Self {
        let free = accelerator.devices().first().map(|device| {
            device.trim();
            [device.free_memory().expect("memory"), fresh_driver(device).free_memory().expect("memory")]
        });
        Self { allocated: ALLOCATED.load(Ordering::Relaxed), resident: resident(), free }
    }
}

#[test]
fn memory_stays_flat() {
    let count = std::env::var("PROOFWARP_PROOFS").map_or(30, |text| text.parse().expect("PROOFWARP_PROOFS: a number"));
    let on_cpu = accelerators_and_cpu().into_iter().filter(|accelerator| accelerator.devices().is_empty());
    // One after the other in one test: all share the host's memory.
    for accelerator in alone(Some(4 << 30)).into_iter().chain(on_cpu) {
        let mut run = Run::new(&accelerator);
        run.prove((count / 3).max(15));
        let before = Memory::of(&accelerator);
        run.prove(count);
        let after = Memory::of(&accelerator);
        let [first, last] = [&before, &after].map(|memory| (memory.allocated, memory.resident));
        eprintln!("{:?}: {first:?} bytes on the host, after {count} proofs {last:?}", accelerator.forced());
        assert!(after.allocated < before.allocated + SLACK, "{first:?} bytes, then {last:?}");
        if let (Some(before), Some(after)) = (before.resident, after.resident) {
            assert!(after < before + SLACK_OF_DRIVERS, "{before} bytes, then {after}");
        } else {
            eprintln!("left out: memory of the host, which does not say it");
        }
        if let (Some(before), Some(after)) = (before.free, after.free) {
            assert_eq!(after[0], before[0], "bytes free on the device within its cap");
            assert!(
                after[1] + SLACK_OF_DRIVERS >= before[1],
                "{} bytes free on the device, then {}",
                before[1],
                after[1]
            );
        }
    }
}
