//! Devices whose copies bring another bit, and what a device frees.

use std::sync::Arc;

use pasta_curves::{EpAffine, Fq};
use proofwarp::backend::Device;
use proofwarp::msm::{Msm, Scalars};
use proofwarp::{Accelerator, Error};

use crate::common::points::{Bases, random};
use crate::common::{accelerators_with_devices, fresh_driver, rng};
use crate::faulty::{Fault, Faults, Faulty, Live, Planned};

/// Runs `test` with a multiplication, its scalars and the faults of its device, on each device, after a run without a fault. Returns the
/// faults of the devices, which have ended.
fn on_faulty_devices(seed: u64, test: impl Fn(&Msm<'_, EpAffine>, &[Fq], &Faults)) -> Vec<Faults> {
    let mut rng = rng(seed);
    let bases = Bases::<EpAffine>::consecutive(9, &mut rng);
    let scalars = random(9, &mut rng);
    let on_device = |accelerator: Accelerator| {
        let (faulty, faults) = Faulty::new(Arc::from(fresh_driver(&accelerator.devices()[0])));
        let accelerator = accelerator.with_devices(vec![Device::new(Box::new(faulty), None)]);
        let msm = Msm::new(&accelerator, &bases.points).expect("bases");
        assert!(msm.run(Scalars::elements(&scalars), None).expect("a sum").0 == bases.expected(&scalars));
        test(&msm, &scalars, &faults);
        faults
    };
    accelerators_with_devices().into_iter().map(on_device).collect()
}

/// Whichever copy it is, and whichever of its first bits: not the caller's scalars are wrong.
#[test]
fn a_changed_bit_does_not_blame_the_caller() {
    on_faulty_devices(1, |msm, scalars, faults| {
        let mut refused = 0;
        for (at, bit) in (0..4).flat_map(|at| [0, 1, 9, 31].map(|bit| (at, bit))) {
            faults.plan(vec![Planned { fault: Fault::BitOut, at, random: bit }]);
            let result = msm.run(Scalars::elements(scalars), None);
            let (fired, _) = faults.end();
            if let Err(error) = result {
                assert!(matches!(error, Error::Device { .. }), "copy {at}, bit {bit}: {error}");
                refused += fired.len();
            }
        }
        assert!(refused > 0, "no flag was changed");
    });
}

/// Memory that streams gave back, page-locked memory, streams and events.
#[test]
fn a_device_that_ends_frees_what_it_took() {
    let ended =
        on_faulty_devices(2, |_, _, faults| assert!(faults.live().memories > 0, "the points are on the device"));
    for faults in ended {
        assert_eq!(faults.live(), Live::default());
    }
}
