//! Several threads, several devices.

use blstrs::Bls12;
use proofwarp_bellperson::Prover;

use crate::circuits::{Kind, batch, setup, stock};
use crate::common::{accelerators_and_cpu, alone};

/// Threads prove by one key at the same time.
#[test]
fn several_threads() {
    let key = setup(6, Kind::Plain);
    let (circuits, r, s) = batch(4, 6, Kind::Plain);
    let expected = &stock(&circuits, &key, &r, &s);
    for accelerator in accelerators_and_cpu() {
        let (prover, _) = Prover::<Bls12>::new(&accelerator, circuits[0], &&key).expect("prover");
        let assignments = prover.assign(circuits.clone()).expect("assignments");
        let (prover, r, s) = (&prover, &r, &s);
        std::thread::scope(|scope| {
            for (number, assignment) in assignments.chunks(1).enumerate() {
                scope.spawn(move || {
                    let (r, s) = (&r[number..=number], &s[number..=number]);
                    let (proofs, _) = prover.prove(assignment, r, s, None).expect("proofs");
                    assert_eq!(proofs[0], expected[number]);
                });
            }
        });
    }
}

/// The circuits of a batch are spread over the devices, each of which gets the key.
#[test]
fn several_devices() {
    let key = setup(6, Kind::Plain);
    let (circuits, r, s) = batch(5, 6, Kind::Plain);
    let expected = stock(&circuits, &key, &r, &s);
    for (one, two) in alone(None).iter().zip(alone(None)) {
        let both = one.with_devices([one.devices(), two.devices()].concat());
        let (prover, _) = Prover::<Bls12>::new(&both, circuits[0], &&key).expect("prover");
        let bytes = prover.key().device_bytes();
        let assignments = prover.assign(circuits.clone()).expect("assignments");
        let (proofs, _) = prover.prove(&assignments, &r, &s, None).expect("proofs");
        assert_eq!(proofs, expected);
        assert_eq!(prover.key().device_bytes(), 2 * bytes);
        assert!(prover.circuit().device_bytes() > 0);
    }
}
