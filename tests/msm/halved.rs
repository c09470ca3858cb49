//! Scalars halved by the curve's endomorphism: the same sums as of whole ones.

use ff::{Field, PrimeField};
use proofwarp::Accelerator;
use proofwarp::msm::{DeviceScalars, Msm, MsmOptions, ScalarForm, Scalars};
use rand_chacha::ChaCha8Rng;

use crate::common::points::{Bases, TestCurve, bytes, distributions, montgomery, random};
use crate::common::{accelerators_with_devices, every_curve, rng};

type G1 = blstrs::G1Affine;
type Fr = blstrs::Scalar;

const SEED: u64 = 211;

fn halving(window: u32, rounds: Option<u32>) -> MsmOptions {
    MsmOptions { window, affine_rounds: rounds, halved: Some(true), ..MsmOptions::default() }
}

/// A third root of unity that is not 1.
fn lambda<S: PrimeField>() -> S {
    // As a number a third of −1 is (r − 1)/3.
    let third = (-S::from(3).invert().expect("3 is not 0")).to_repr();
    let exponent: Vec<u64> =
        third.as_ref().chunks_exact(8).map(|word| u64::from_le_bytes(word.try_into().expect("8 bytes"))).collect();
    S::MULTIPLICATIVE_GENERATOR.pow_vartime(exponent)
}

/// P, λP and λ²P with their negatives, doubles and infinity, in turns: what the endomorphism makes equal or opposite.
fn images<C: TestCurve>(count: usize, rng: &mut ChaCha8Rng) -> Bases<C> {
    let (root, one) = (lambda::<C::Scalar>(), C::Scalar::random(rng));
    let images = [one, one * root, one * root.square()];
    let choices: Vec<C::Scalar> =
        images.iter().flat_map(|image| [*image, -*image, image.double()]).chain([C::Scalar::ZERO]).collect();
    let of = Bases::<C>::new(choices);
    let pick = |i: usize| i * 7 % of.points.len();
    Bases {
        points: (0..count).map(|i| of.points[pick(i)]).collect(),
        logarithms: (0..count).map(|i| of.logarithms[pick(i)]).collect(),
    }
}

/// Scalars whose halves are short, equal, opposite or as long as can be.
fn ends<S: PrimeField>(count: usize) -> Vec<S> {
    let (root, half) = (lambda::<S>(), S::TWO_INV);
    let ends = [S::ONE, root, root.square(), root + S::ONE, root - S::ONE, half, half * root, half * (root + S::ONE)];
    (0..count).map(|i| if i / 8 % 2 == 0 { ends[i % 8] } else { -ends[i % 8] }).collect()
}

fn check<C: TestCurve>(accelerator: &Accelerator, bases: &Bases<C>, scalars: &[C::Scalar], what: &str, o: MsmOptions) {
    let msm = Msm::with_options(accelerator, &bases.points, o).expect("bases");
    assert!(msm.explain(None).expect("plan").halved);
    let (sum, report) = msm.run(Scalars::elements(scalars), None).expect("run");
    assert!(report.fallbacks.is_empty(), "{report}");
    assert!(sum == bases.expected(scalars), "{} of {} points, {what}, {o:?}: {report}", C::NAME, scalars.len());
}

fn sums<C: TestCurve>() {
    let mut rng = rng(SEED);
    let count = 150;
    let bases = [Bases::<C>::consecutive(count, &mut rng), Bases::special(count, &mut rng), images(count, &mut rng)];
    let mut scalars = distributions::<C::Scalar>(count, &mut rng);
    scalars.push(("ends", ends(count)));
    for accelerator in accelerators_with_devices() {
        for (number, options) in
            [halving(4, Some(0)), halving(5, Some(2)), halving(9, Some(1)), halving(0, None)].into_iter().enumerate()
        {
            for (of, bases) in bases.iter().enumerate() {
                for (what, scalars) in scalars.iter().skip((number + of) % 2).step_by(2) {
                    check(&accelerator, bases, scalars, what, options);
                }
            }
        }
    }
}

every_curve!(sums);

/// Rows of several pieces, of which some are of both halves.
#[test]
fn long_rows() {
    let mut rng = rng(SEED + 1);
    let bases = Bases::<G1>::consecutive(3000, &mut rng);
    let equal = vec![Fr::random(&mut rng); 3000];
    let small = (0..3000).map(|i| Fr::from(i % 3) + Fr::from(i % 2) * lambda::<Fr>()).collect();
    for accelerator in accelerators_with_devices() {
        for (what, scalars) in [("equal", &equal), ("small halves", &small), ("ends", &ends(3000))] {
            for rounds in [0, 1, 4] {
                check(&accelerator, &bases, scalars, what, halving(6, Some(rounds)));
            }
        }
    }
}

#[test]
fn widest_windows() {
    let mut rng = rng(SEED + 2);
    let bases = Bases::<G1>::consecutive(500, &mut rng);
    for accelerator in accelerators_with_devices() {
        check(&accelerator, &bases, &random(500, &mut rng), "random", halving(19, Some(1)));
    }
}

/// In chunks and bands, from the host and on the device, in both forms.
#[test]
fn in_chunks() {
    let mut rng = rng(SEED + 3);
    let bases = Bases::<G1>::consecutive(3000, &mut rng);
    let scalars = random::<Fr>(3000, &mut rng);
    let (canonical, in_montgomery) = (bytes(&scalars), montgomery(&scalars));
    for accelerator in accelerators_with_devices() {
        for window in [6, 8] {
            let options = MsmOptions { memory: 2 << 20, ..halving(window, None) };
            let msm = Msm::with_options(&accelerator, &bases.points, options).expect("bases");
            let plan = msm.explain(None).expect("plan");
            assert!(plan.halved && plan.chunk < 3000, "{plan}");
            let there = DeviceScalars::upload(&accelerator, &canonical, ScalarForm::Canonical).expect("upload");
            for form in [Scalars::canonical(&canonical), Scalars::montgomery(&in_montgomery), (&there).into()] {
                let (sum, report) = msm.run(form, None).expect("run");
                assert!(sum == bases.expected(&scalars), "{report}\n{plan}");
            }
        }
    }
}

#[test]
fn joined_vectors() {
    let mut rng = rng(SEED + 4);
    let bases = Bases::<G1>::consecutive(200, &mut rng);
    let vectors: Vec<Vec<Fr>> = distributions(200, &mut rng).into_iter().map(|(_, scalars)| scalars).collect();
    let scalars: Vec<_> = vectors.iter().map(|scalars| Scalars::elements(scalars)).collect();
    for accelerator in accelerators_with_devices() {
        for joined in [1, 3] {
            let options = MsmOptions { joined, ..halving(7, Some(2)) };
            let msm = Msm::with_options(&accelerator, &bases.points, options).expect("bases");
            let (sums, report) = msm.run_batch(&scalars, None).expect("batch");
            assert!(sums.iter().zip(&vectors).all(|(sum, scalars)| *sum == bases.expected(scalars)), "{report}");
        }
    }
}

/// A scalar that is not reduced is refused, or its sum is right.
#[test]
fn scalars_that_are_not_reduced() {
    let mut rng = rng(SEED + 5);
    let bases = Bases::<G1>::consecutive(1, &mut rng);
    for accelerator in accelerators_with_devices() {
        let msm = Msm::with_options(&accelerator, &bases.points, halving(8, Some(0))).expect("bases");
        // 2^256 − 1 in the field.
        let all = Fr::from(2).pow_vartime([256]) - Fr::ONE;
        if let Ok((sum, report)) = msm.run(Scalars::canonical(&[[0xff; 32]]), None) {
            assert!(sum == bases.expected(&[all]), "{report}");
        }
    }
}

/// Short scalars, and bases with copies, have whole ones.
#[test]
fn what_is_not_halved() {
    let mut rng = rng(SEED + 6);
    let bases = Bases::<G1>::consecutive(100, &mut rng);
    for accelerator in accelerators_with_devices() {
        let halved = |options: MsmOptions, bits: u32| {
            let msm = Msm::with_options(&accelerator, &bases.points, options).expect("bases");
            let scalars = [Fr::ONE; 100];
            msm.explain(Some(Scalars::elements(&scalars).with_bit_length(bits))).expect("plan").halved
        };
        assert!(halved(halving(0, None), 255) && !halved(halving(0, None), 254) && !halved(halving(20, None), 255));
        assert!(!halved(MsmOptions { precompute: 2, ..halving(0, None) }, 255));
        assert!(!halved(MsmOptions { halved: Some(false), ..MsmOptions::default() }, 255));
    }
}
