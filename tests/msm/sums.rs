//! Sums over every curve on every backend and on the CPU, against sums of single products.

use ff::Field;
use proofwarp::msm::msm;
use proofwarp::{Accelerator, Error};
use proptest::prelude::*;
use rand::Rng;

use crate::common::points::{Bases, TestCurve, bytes, distributions, random};
use crate::common::{abort_after, accelerators_and_cpu, accelerators_with_devices, alone, rng};

/// Where each test's numbers start.
const SEED: u64 = 11;

fn every_length<C: TestCurve>() {
    let mut rng = rng(SEED);
    let bases = Bases::<C>::consecutive(1025, &mut rng);
    for accelerator in accelerators_and_cpu() {
        for count in [0, 1, 2, 3, 7, 8, 9, 31, 32, 33, 63, 64, 65, 1023, 1024, 1025] {
            bases.truncated(count).check(&accelerator, &random(count, &mut rng), "random scalars");
        }
    }
}

fn scalars_of_every_distribution<C: TestCurve>() {
    let mut rng = rng(SEED + 1);
    let count = 600;
    let kinds = [Bases::<C>::consecutive(count, &mut rng), Bases::special(count, &mut rng)];
    let distributions = distributions(count, &mut rng);
    for accelerator in accelerators_and_cpu() {
        for (bases, (name, scalars)) in kinds.iter().flat_map(|bases| distributions.iter().map(move |d| (bases, d))) {
            bases.check(&accelerator, scalars, name);
        }
    }
}

fn few_special_points<C: TestCurve>() {
    let mut rng = rng(SEED + 2);
    for accelerator in accelerators_and_cpu() {
        for count in [1, 2, 3, 6, 12, 40] {
            let bases = Bases::<C>::special(count, &mut rng);
            for (name, scalars) in distributions(count, &mut rng) {
                bases.check(&accelerator, &scalars, name);
            }
        }
        let infinity = Bases::<C>::new(vec![C::Scalar::ZERO; 5]);
        infinity.check(&accelerator, &random(5, &mut rng), "nothing but infinity");
    }
}

/// Rows long enough to be cut into pieces and merged on a device, and batched additions on the CPU.
fn long_rows<C: TestCurve>() {
    let mut rng = rng(SEED + 3);
    let count = 1 << 13;
    let consecutive = Bases::<C>::consecutive(count, &mut rng);
    let special = Bases::<C>::special(count, &mut rng);
    for accelerator in accelerators_and_cpu() {
        consecutive.check(&accelerator, &random(count, &mut rng), "random");
        special.check(&accelerator, &random(count, &mut rng), "random scalars of special points");
        consecutive.check(&accelerator, &vec![C::Scalar::random(&mut rng); count], "all equal");
    }
}

/// A device with too little memory for all points at once takes them in pieces.
fn pieces_add_up<C: TestCurve>() {
    let mut rng = rng(SEED + 7);
    let bases = Bases::<C>::special(3000, &mut rng);
    let scalars: Vec<C::Scalar> = random(3000, &mut rng);
    let limit = (3 << 19) + (C::AFFINE_BYTES << 13) as u64;
    for (accelerator, small) in accelerators_with_devices().iter().zip(alone(Some(limit))) {
        let launches = |accelerator: &Accelerator, hook: bool| {
            let never = || false;
            let abort: proofwarp::backend::Abort<'_> = if hook { Some(&never) } else { None };
            let (sum, report) = msm(accelerator, &bases.points, &bytes(&scalars), abort).expect("msm");
            assert!(sum == bases.expected(&scalars), "{} in pieces: {report}", C::NAME);
            report.traffic.launches
        };
        let [whole, pieces] = [launches(accelerator, false), launches(&small, true)];
        assert!(pieces > 2 * whole, "{pieces} launches where one piece takes {whole}");
    }
}

fn random_sums<C: TestCurve>() {
    let backends = accelerators_and_cpu();
    let config = ProptestConfig { cases: 12, failure_persistence: None, ..ProptestConfig::default() };
    proptest!(config, |(count in 0usize..=300, kind in 0usize..8, seed: u64)| {
        let mut rng = rng(seed);
        let bases = if seed % 2 == 0 { Bases::<C>::special(count, &mut rng) } else { Bases::consecutive(count, &mut rng) };
        let (name, scalars) = distributions(count, &mut rng).swap_remove(kind);
        for accelerator in &backends {
            bases.check(accelerator, &scalars, name);
        }
    });
}

/// The sum is the same each time, although work-items count entries in any order.
fn results_repeat<C: TestCurve>() {
    let mut rng = rng(SEED + 4);
    let bases = Bases::<C>::special(500, &mut rng);
    let scalars = random(500, &mut rng);
    for accelerator in accelerators_and_cpu() {
        (0..4).for_each(|_| bases.check(&accelerator, &scalars, "again"));
    }
}

/// However late the hook says yes, the call ends in an abort or in the right sum; the next one works.
fn an_abort_is_an_abort<C: TestCurve>() {
    let mut rng = rng(SEED + 5);
    let bases = Bases::<C>::consecutive(1000, &mut rng);
    let scalars = random(1000, &mut rng);
    for accelerator in accelerators_and_cpu() {
        let outcome = |questions| msm(&accelerator, &bases.points, &bytes(&scalars), Some(&abort_after(questions)));
        assert!(matches!(outcome(0), Err(Error::Aborted)), "{accelerator:?}");
        for questions in [1, 2, 3, 5, 9, u32::MAX] {
            match outcome(questions) {
                Err(Error::Aborted) => assert!(questions != u32::MAX),
                other => assert!(other.expect("no other error").0 == bases.expected(&scalars), "{accelerator:?}"),
            }
        }
    }
}

/// Whichever launch fails, it is an error, and the next call works.
fn a_failure_is_an_error<C: TestCurve>() {
    let mut rng = rng(SEED + 6);
    let bases = Bases::<C>::special(100, &mut rng);
    let scalars = random(100, &mut rng);
    for accelerator in alone(None) {
        for launch in 0.. {
            accelerator.devices()[0].inject_launch_fault(launch);
            match msm(&accelerator, &bases.points, &bytes(&scalars), None) {
                Err(error) => assert!(error.to_string().contains("injected"), "{error}"),
                Ok((sum, _)) => {
                    assert!(launch > 5, "only {launch} launches: {accelerator:?}");
                    assert!(sum == bases.expected(&scalars));
                    break;
                }
            }
        }
    }
}

/// Windows and segments of a real size, on the curve where that is quickest.
#[test]
fn many_points() {
    let mut rng = rng(SEED + 8);
    let count = (1 << 16) + 1;
    let bases = Bases::<halo2curves::bn256::G1Affine>::consecutive(count, &mut rng);
    let bits: Vec<_> = (0..count).map(|_| halo2curves::bn256::Fr::from(rng.gen_range(0..2u64))).collect();
    for accelerator in accelerators_and_cpu() {
        bases.check(&accelerator, &random(count, &mut rng), "random");
        bases.check(&accelerator, &bits, "0 or 1");
    }
}

macro_rules! of_every_curve {
    ($($body:ident)*) => {
        proofwarp::for_each_curve! { of_every_curve! { @curves [$($body)*] } }
    };
    (@curves $bodies:tt $($curve:ident: $type:ty;)*) => {
        $(of_every_curve! { @curve $curve: $type; $bodies })*
    };
    (@curve $curve:ident: $type:ty; [$($body:ident)*]) => {
        mod $curve {
            $(#[test] fn $body() { super::$body::<$type>(); })*
        }
    };
}

of_every_curve! {
    every_length
    scalars_of_every_distribution
    few_special_points
    long_rows
    pieces_add_up
    random_sums
    results_repeat
    an_abort_is_an_abort
    a_failure_is_an_error
}
