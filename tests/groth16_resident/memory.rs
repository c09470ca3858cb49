//! Devices with little memory.

use blstrs::Bls12;
use proofwarp::{Accelerator, BackendKind};
use proofwarp_bellperson::Prover;

use crate::circuits::{Kind, batch, setup, stock};
use crate::common::{accelerators_with_devices, fresh_driver};

/// An accelerator of a device with a cap on its memory that may fall back to the CPU, for each device that there is.
pub fn capped(limit: Option<u64>) -> Vec<Accelerator> {
    let capped = |forced: &Accelerator| {
        let device = proofwarp::backend::Device::new(fresh_driver(&forced.devices()[0]), limit);
        Accelerator::automatic().on_devices(vec![device])
    };
    accelerators_with_devices().iter().map(capped).collect()
}

/// Bases that do not fit are streamed, and sums that do not fit side by side are made in turn; devices that need more
/// memory even for that fall back.
#[test]
fn keys_larger_than_the_memory() {
    for (links, kind, limit) in [(300, Kind::Dense, 7 << 20), (3000, Kind::NoAuxInB, 12 << 20)] {
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
            assert!(prover.key().bytes() < all, "{} of {all}", prover.key().bytes());
            if accelerator.devices()[0].info().is_cpu {
                assert_ne!(report.backend, BackendKind::Cpu, "{report}");
            }
        }
    }
}
