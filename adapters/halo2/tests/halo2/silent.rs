//! A device that gives a wrong result without an error: the final check finds it.

#[path = "../../../../tests/common/faulty.rs"]
mod faulty;

use std::sync::Arc;

use halo2_axiom::plonk::Error;
use proofwarp::Accelerator;
use proofwarp::backend::{Device, Driver};
use proofwarp_halo2::{Options, clear_setups};

use crate::described::{Shape, verify};
use crate::devices::{Expected, fresh_driver, only, or_the_host};
use faulty::{Fault, Faults, Faulty, Planned};
use proofwarp_halo2::Kind;

/// A device of the environment's backend that goes wrong, with the faults that it has.
fn faulty() -> Option<(Arc<Device>, Faults)> {
    let Some(like) = Accelerator::global().expect("an accelerator").devices().first() else {
        eprintln!("skipped: wrong results of a device, since there is none");
        return None;
    };
    let (driver, faults) = Faulty::new(Arc::<dyn Driver>::from(fresh_driver(like)));
    Some((Device::new(Box::new(driver), None), faults))
}

fn unchecked(options: Options) -> Options {
    Options { check: Some(false), ..options }
}

/// Outcomes of proofs: those that are right, those that are wrong, and errors that blame the device.
#[derive(Debug, Default)]
struct Outcomes {
    right: usize,
    wrong: usize,
    blamed: usize,
}

impl Outcomes {
    fn count(&mut self, expected: &Expected, options: &Options) {
        match expected.prove(options) {
            Ok(proof) => match verify(Kind::Shplonk, expected.k, expected.key.get_vk(), &expected.instances, &proof) {
                true => self.right += 1,
                false => self.wrong += 1,
            },
            // Or halo2-axiom's: a wrong point may be infinity.
            Err(error) => {
                assert!(matches!(error, Error::Transcript(_)), "{error:?}");
                self.blamed += usize::from(format!("{error:?}").contains("is not the host's"));
            }
        }
    }
}

#[test]
fn wrong_results_are_found() {
    let Some((device, faults)) = faulty() else { return };
    let expected = Expected::new(&Shape { lookups: Vec::new(), ..Shape::base() }, 5, 1);
    let (forced, free) = (only(&device), or_the_host(&device));
    assert!(expected.prove(&forced).expect("a proof") == expected.proof);
    faults.plan(Vec::new());
    expected.prove(&forced).expect("a proof");
    let (_, counts) = faults.end();
    let [mut checked, mut as_it_was] = [(); 2].map(|()| Outcomes::default());
    // From the end, where evaluations are, until one is wrong. Copies of sums mostly give points that no transcript takes.
    for at in (0..counts.of(Fault::BitOut)).rev() {
        if as_it_was.wrong > 0 && checked.blamed > 0 {
            break;
        }
        let planned = || vec![Planned { fault: Fault::BitOut, at, random: 0x1234_5678_9abc + at * 977 }];
        faults.plan(planned());
        as_it_was.count(&expected, &unchecked(forced.clone()));
        faults.plan(planned());
        checked.count(&expected, if at.is_multiple_of(2) { &forced } else { &free });
        faults.end();
        // What was let go is there again.
        checked.count(&expected, &forced);
    }
    println!("checked: {checked:?}, unchecked: {as_it_was:?}");
    assert!(checked.wrong == 0 && checked.blamed > 0 && checked.right > 0);
    // The check is what finds them.
    assert!(as_it_was.wrong > 0 && as_it_was.blamed == 0);
    clear_setups();
    assert!(expected.prove(&forced).expect("a proof by a device that works again") == expected.proof);
}
