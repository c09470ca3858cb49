//! Devices with little memory.

use bellperson::SynthesisError;
use bellperson::groth16::{Parameters, Proof};
use blstrs::{Bls12, Scalar};
use proofwarp::backend::Device;
use proofwarp::{Accelerator, BackendKind, Error};
use proofwarp_bellperson::{Prover, prove_evaluated};

use crate::circuits::{Chain, Kind, batch, engine_error, setup, stock};
use crate::common::{accelerators_with_devices, fresh_driver};

/// An accelerator of a device with a cap on its memory that may fall back to the CPU, for each device that there is.
pub fn capped(limit: Option<u64>) -> Vec<Accelerator> {
    let capped = |forced: &Accelerator| {
        let device = Device::new(fresh_driver(&forced.devices()[0]), limit);
        Accelerator::automatic().expect("settings").with_devices(vec![device])
    };
    accelerators_with_devices().iter().map(capped).collect()
}

/// Bases that do not fit are streamed, and sums that do not fit side by side are made in turn; devices that need more
/// memory even for that fall back.
#[test]
fn keys_larger_than_the_memory() {
    for (links, kind, limit) in [(240, Kind::Dense, 7 << 20), (3000, Kind::NoAuxInB, 12 << 20)] {
        let key = setup(links, kind);
        let (circuits, r, s) = batch(2, links, kind);
        let expected = stock(&circuits, &key, &r, &s);
        for accelerator in capped(Some(limit)) {
            let (prover, first) = Prover::<Bls12>::new(&accelerator, circuits[0], &&key).expect("prover");
            let second = prover.assign(circuits[1..].to_vec()).expect("assignment").remove(0);
            let (proofs, report) = prover.prove(&[first, second], &r, &s, None).expect("proofs");
            assert!(proofs == expected, "{report}");
            let [h, l, a] = [&key.h, &key.l, &key.a].map(|bases| 96 * bases.len() as u64);
            let all = h + l + a + 288 * key.b_g1.len() as u64;
            assert!(prover.key().device_bytes() < all, "{} of {all}", prover.key().device_bytes());
            if accelerator.devices()[0].info().is_cpu {
                assert_ne!(report.backend, BackendKind::Cpu, "{report}");
            }
        }
    }
}

/// Circuits with their key and bellperson's proofs of them.
struct Job {
    key: Parameters<Bls12>,
    circuits: Vec<Chain>,
    r: Vec<Scalar>,
    s: Vec<Scalar>,
    expected: Vec<Proof<Bls12>>,
}

impl Job {
    fn new(count: usize, links: usize, kind: Kind) -> Self {
        let key = setup(links, kind);
        let (circuits, r, s) = batch(count, links, kind);
        let expected = stock(&circuits, &key, &r, &s);
        Self { key, circuits, r, s, expected }
    }

    /// Proofs by matrices, then by evaluations.
    fn prove(&self, accelerator: &Accelerator) -> Result<(), SynthesisError> {
        let Self { key, circuits, r, s, expected } = self;
        let (prover, first) = Prover::<Bls12>::new(accelerator, circuits[0], &key)?;
        let mut assignments = vec![first];
        assignments.extend(prover.assign(circuits[1..].to_vec())?);
        let (proofs, report) = prover.prove(&assignments, r, s, None)?;
        assert!(proofs == *expected, "{report}");
        drop(prover);
        let (proofs, report) = prove_evaluated(accelerator, circuits.clone(), &key, r, s)?;
        assert!(proofs == *expected, "{report}");
        Ok(())
    }
}

/// The cap rises by what was lacking, from nothing until all fits, so that one allocation after another fails: an error
/// that says so where a backend is forced, else bellperson's proofs. The device has all its memory back then.
#[test]
fn out_of_memory_at_each_step() {
    let job = Job::new(2, 20, Kind::Dense);
    for like in accelerators_with_devices() {
        let (mut limit, mut failures) = (0, 0);
        while limit < 64 << 20 {
            let device = Device::new(fresh_driver(&like.devices()[0]), Some(limit));
            let lacking = match job.prove(&like.with_devices(vec![device.clone()])) {
                Ok(()) => limit / 3,
                Err(error) => lacking(&error, limit),
            };
            job.prove(&Accelerator::automatic().expect("settings").with_devices(vec![device.clone()]))
                .expect("proofs, be it on the CPU");
            assert_eq!(device.free_memory().expect("memory"), limit, "bytes free of {limit}");
            failures += usize::from(lacking != limit / 3);
            limit += lacking.max(limit / 3);
        }
        assert!(failures > 4, "only {failures} failures");
        job.prove(&like).expect("proofs where there is enough");
    }
}

/// Bytes that an error says are lacking.
fn lacking(error: &SynthesisError, limit: u64) -> u64 {
    match engine_error(error) {
        Some(Error::OutOfMemory { requested, available, .. }) if requested > available => requested - available,
        _ => panic!("{limit} bytes: {error}"),
    }
}

/// A prover with a device that has so much memory, none of which was free when the key was to go up.
pub fn streaming(accelerator: &Accelerator, circuit: Chain, key: &Parameters<Bls12>) -> Prover<Bls12> {
    let device = &accelerator.devices()[0];
    let free = device.free_memory().expect("memory") as usize;
    let others = device.stream().expect("stream").allocate(free - (64 << 10)).expect("memory");
    let (prover, _) = Prover::<Bls12>::new(accelerator, circuit, &key).expect("prover");
    drop(others);
    assert_eq!(prover.key().device_bytes(), 0, "all of it is streamed");
    prover
}

/// A key that is streamed goes up once for the circuits of a batch that are made together, be they few or many; and with so
/// little memory that they are not, the proofs are the same.
#[test]
fn batches_share_what_is_streamed() {
    let (links, kind) = (100, Kind::Dense);
    let key = setup(links, kind);
    let (circuits, r, s) = batch(10, links, kind);
    let expected = stock(&circuits, &key, &r, &s);
    for (limit, shared) in [(64 << 20, true), (4 << 20, false), (2 << 20, false), (1 << 20, false)] {
        for accelerator in capped(Some(limit)) {
            let prover = streaming(&accelerator, circuits[0], &key);
            let assignments = prover.assign(circuits.clone()).expect("assignments");
            let prove = |count: usize| {
                let some = &assignments[..count];
                let (proofs, report) = prover.prove(some, &r[..count], &s[..count], None).expect("proofs");
                assert!(proofs == expected[..count], "{report}");
                report
            };
            let one = prove(1);
            for count in [2, 3, 4, 10] {
                let report = prove(count);
                let [bytes, alone] = [&report, &one].map(|report| report.traffic.bytes_up);
                let once = 2 * bytes < 3 * alone && report.backend != BackendKind::Cpu;
                assert!(!shared || once, "{bytes} bytes for {count}, {alone} for one: {report}");
            }
        }
    }
}

/// Where memory is so short that the sums of a proof take turns with it, a proof leaves as much of it as there was before,
/// and none takes more than there is. Which sum finds which block first is chance, and so is how many are asked for anew.
#[test]
fn proofs_leave_the_memory_that_they_found() {
    const PROOFS: usize = 6;
    let (links, kind) = (600, Kind::Dense);
    let key = setup(links, kind);
    let (circuits, r, s) = batch(PROOFS, links, kind);
    let expected = stock(&circuits, &key, &r, &s);
    // All of the key is streamed, or one query stays.
    for (limit, streamed) in [(8 << 20, true), (24 << 20, false)] {
        for accelerator in capped(Some(limit)) {
            let device = &accelerator.devices()[0];
            let (prover, _) = Prover::<Bls12>::new(&accelerator, circuits[0], &&key).expect("prover");
            assert_eq!(prover.key().device_bytes() == 0, streamed, "{} bytes of the key", prover.key().device_bytes());
            let assignments = prover.assign(circuits.clone()).expect("assignments");
            let free = |number: usize| {
                let one = number..=number;
                let proofs = prover.prove(&assignments[one.clone()], &r[one.clone()], &s[one.clone()], None);
                let (proofs, report) = proofs.expect("a proof");
                assert!(proofs == expected[one] && report.backend != BackendKind::Cpu, "{report}");
                device.free_memory().expect("memory")
            };
            let free: Vec<_> = (0..PROOFS).map(free).collect();
            assert!(device.peak_memory() <= limit, "{} bytes of {limit}", device.peak_memory());
            // The first brings tables, which stay.
            assert!(free[1..].iter().all(|bytes| *bytes == free[1]), "{free:?} bytes free of {limit}");
        }
    }
}
