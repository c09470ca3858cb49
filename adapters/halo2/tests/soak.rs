//! Many proofs in a row in one process: all valid, and memory of host and device stays as it is after the first ones.
//!
//! `PROOFWARP_PROOFS` says how many, 20 without it. On a GPU, before a release:
//! `PROOFWARP_PROOFS=1000 PROOFWARP_BACKEND=cuda cargo test --release -p proofwarp-halo2 --features cuda --test soak`.

#[allow(dead_code, unused_imports, reason = "the other tests use more of it")]
#[path = "halo2/described/mod.rs"]
mod described;

use std::fs;

use described::{Described, Shape, instances_of, keys, prove, verify};
use proofwarp_halo2::Kind;
use proofwarp_halo2::proofwarp::Accelerator;

const K: u32 = 9;
/// Proofs after which nothing new is kept.
const FIRST: u64 = 5;
/// Bytes by which the process's memory may grow: what allocators keep of threads' own.
const SLACK: u64 = 64 << 20;

#[test]
fn flat_memory() {
    let shape = Shape::base();
    let (key, circuits) = (keys(&shape, K), [Described::new(&shape, 1)]);
    let instances = instances_of(&circuits);
    let proofs: u64 = std::env::var("PROOFWARP_PROOFS").map_or(20, |number| number.parse().expect("a number"));
    let mut before = None;
    for number in 0..proofs {
        let kind = if number % 2 == 0 { Kind::Shplonk } else { Kind::Gwc };
        let proof = prove(kind, K, &key, &circuits, &instances, number).expect("a proof");
        assert!(verify(kind, K, key.get_vk(), &instances, &proof), "proof {number}");
        if number == FIRST {
            before = Some(taken());
        }
    }
    let (before, after) = (before.expect("more proofs than the first ones"), taken());
    println!("{proofs} proofs, bytes of the host and of the device: {before:?}, then {after:?}");
    assert!(after[0] < before[0] + SLACK);
    assert_eq!(after[1], before[1]);
}

/// Bytes that the process has in memory, and the most that the device had.
fn taken() -> [u64; 2] {
    let statm = fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages: u64 = statm.split(' ').nth(1).and_then(|pages| pages.parse().ok()).unwrap_or(0);
    let devices = Accelerator::global().expect("an accelerator").devices();
    [pages * 4096, devices.first().map_or(0, |device| device.peak_memory())]
}
