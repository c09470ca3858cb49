//! Vectors of a batch that are multiplied as one matrix: the same sums as each for itself.

use std::sync::Arc;

use ff::Field;
use halo2curves::bn256;
use proofwarp::backend::Device;
use proofwarp::msm::{DeviceScalars, Msm, MsmOptions, ScalarForm, Scalars};
use proofwarp::{Accelerator, Error};

use crate::common::points::{Bases, TestCurve, below, bytes, distributions, montgomery, random};
use crate::common::{abort_after, accelerators_with_devices, alone, fresh_driver, rng};

type G1 = blstrs::G1Affine;
type Fr = blstrs::Scalar;

const SEED: u64 = 191;

fn joining(joined: usize) -> MsmOptions {
    MsmOptions { joined, ..MsmOptions::default() }
}

/// As many vectors, 16 at most: other distributions, and random ones among them.
fn vectors<C: TestCurve>(vectors: usize, count: usize) -> Vec<Vec<C::Scalar>> {
    let mut rng = rng(SEED);
    let named = distributions::<C::Scalar>(count, &mut rng).into_iter().rev().map(|(_, scalars)| scalars);
    let mixed = named.flat_map(|scalars| [scalars, random(count, &mut rng)]);
    mixed.take(vectors).collect::<Vec<_>>()
}

/// Every vector on the accelerator's devices, in forms by turns.
fn on_devices<C: TestCurve>(msm: &Msm<'_, C>, vectors: &[Vec<C::Scalar>]) -> Vec<DeviceScalars> {
    let upload = |(number, scalars): (usize, &Vec<C::Scalar>)| match number % 2 {
        0 => msm.upload_scalars(&montgomery(scalars), ScalarForm::Montgomery),
        _ => msm.upload_scalars(&bytes(scalars), ScalarForm::Canonical),
    };
    vectors.iter().enumerate().map(upload).collect::<Result<_, _>>().expect("upload")
}

/// Batches of so many vectors each, with scalars on the host and on the devices by turns.
fn check<C: TestCurve>(msm: &Msm<'_, C>, bases: &Bases<C>, vectors: &[Vec<C::Scalar>], lengths: &[usize], what: &str) {
    let there = on_devices(msm, vectors);
    let canonical: Vec<_> = vectors.iter().map(|scalars| bytes(scalars)).collect();
    let form = |number: usize| match number % 4 {
        0 => Scalars::elements(&vectors[number]),
        1 => Scalars::canonical(&canonical[number]),
        _ => (&there[number]).into(),
    };
    let forms: Vec<_> = (0..vectors.len()).map(form).collect();
    let expected: Vec<_> = vectors.iter().map(|scalars| bases.expected(scalars)).collect();
    for length in lengths {
        let (sums, report) = msm.run_batch(&forms[..*length], None).expect("batch");
        assert!(report.fallbacks.is_empty() && report.elements == length * bases.points.len(), "{report}");
        for (number, (sum, expected)) in sums.iter().zip(&expected).enumerate() {
            assert!(
                sum == expected,
                "{what}: vector {number} of {length}, {report}\n{}",
                msm.explain(None).expect("plan")
            );
        }
        assert_eq!(sums.len(), *length);
    }
}

fn every_batch<C: TestCurve>(lengths: &[usize]) {
    let mut rng = rng(SEED + 1);
    let bases = Bases::<C>::special(90, &mut rng);
    let vectors = vectors::<C>(lengths.iter().copied().max().unwrap_or(0), 90);
    for accelerator in accelerators_with_devices() {
        for options in [
            joining(0),
            MsmOptions { window: 5, affine_rounds: Some(2), ..joining(3) },
            MsmOptions { window: 6, precompute: 3, affine_rounds: Some(1), ..joining(7) },
        ] {
            let msm = Msm::with_options(&accelerator, &bases.points, options).expect("bases");
            check(&msm, &bases, &vectors, lengths, &format!("{options:?}"));
        }
    }
}

#[test]
fn every_batch_bls12_381_g1() {
    every_batch::<G1>(&[1, 2, 3, 5, 6, 7]);
}

#[test]
fn every_batch_bls12_381_g2() {
    every_batch::<blstrs::G2Affine>(&[4]);
}

#[test]
fn every_batch_bn254_g1() {
    every_batch::<bn256::G1Affine>(&[3, 7]);
}

#[test]
fn every_batch_vesta() {
    every_batch::<pasta_curves::EqAffine>(&[5]);
}

/// Around the sizes of groups and of tiles, with windows that share a bin's rows among few and many bins.
#[test]
fn sizes_at_bounds() {
    let mut rng = rng(SEED + 2);
    let all = Bases::<bn256::G1Affine>::consecutive(4097, &mut rng);
    for accelerator in accelerators_with_devices() {
        for (count, window) in [(1, 4), (2, 0), (255, 11), (256, 8), (257, 0), (2047, 9), (2049, 12), (4097, 10)] {
            let bases = all.truncated(count);
            let options = MsmOptions { window, ..joining(3) };
            let msm = Msm::with_options(&accelerator, &bases.points, options).expect("bases");
            check(&msm, &bases, &vectors::<bn256::G1Affine>(4, count), &[3, 4], &format!("{count} points, {window}"));
        }
    }
}

/// Neighbours of one length are joined, others are not; where one is longer than promised, that is what is said.
#[test]
fn lengths_of_scalars() {
    let mut rng = rng(SEED + 3);
    let bases = Bases::<G1>::consecutive(70, &mut rng);
    let lengths = [255, 255, 10, 10, 10, 64, 255, 10];
    let vectors: Vec<Vec<Fr>> = lengths.iter().map(|bits| (0..70).map(|_| below(*bits, &mut rng)).collect()).collect();
    let promised =
        lengths.iter().zip(&vectors).map(|(bits, scalars)| Scalars::elements(scalars).with_bit_length(*bits));
    let promised: Vec<_> = promised.collect();
    for accelerator in accelerators_with_devices() {
        for joined in [0, 2, 8] {
            let msm = Msm::with_options(&accelerator, &bases.points, joining(joined)).expect("bases");
            let (sums, report) = msm.run_batch(&promised, None).expect("batch");
            let expected: Vec<_> = vectors.iter().map(|scalars| bases.expected(scalars)).collect();
            assert!(sums == expected, "{report}");
            for place in 2..5 {
                let mut broken = promised.clone();
                broken[place] = Scalars::elements(&vectors[5]).with_bit_length(10);
                let error = msm.run_batch(&broken, None).expect_err("longer").to_string();
                assert!(error.contains("below 2^10"), "{error}");
            }
            let aborted = msm.run_batch(&promised, Some(&abort_after(1)));
            assert!(matches!(aborted, Err(Error::Aborted)), "{aborted:?}");
            assert!(msm.run_batch(&promised, Some(&|| false)).expect("not aborted").0 == expected);
        }
    }
}

/// How many kernels a call launches.
fn launches(device: &Device, run: impl Fn() -> bool) -> u32 {
    let (mut fails, mut works) = (0, 1 << 12);
    while works - fails > 1 {
        let middle = u32::midpoint(fails, works);
        device.inject_launch_fault(middle);
        if run() { works = middle } else { fails = middle }
    }
    device.inject_launch_fault(u32::MAX);
    works
}

/// One matrix takes hardly more launches than one vector; the model takes it by itself where there are few points.
#[test]
fn a_matrix_of_six_vectors() {
    let mut rng = rng(SEED + 4);
    let bases = Bases::<G1>::consecutive(64, &mut rng);
    let vectors: Vec<Vec<Fr>> = (0..6).map(|_| random(64, &mut rng)).collect();
    let forms: Vec<_> = vectors.iter().map(|scalars| Scalars::elements(scalars)).collect();
    for accelerator in alone(None) {
        let count = |joined: usize, vectors: usize| {
            let options = MsmOptions { window: 6, affine_rounds: Some(1), ..joining(joined) };
            let msm = Msm::with_options(&accelerator, &bases.points, options).expect("bases");
            launches(&accelerator.devices()[0], || msm.run_batch(&forms[..vectors], None).is_ok())
        };
        let [one, each_alone, in_halves, joined, by_model] =
            [(1, 1), (1, 6), (3, 6), (6, 6), (0, 6)].map(|(j, v)| count(j, v));
        assert_eq!(each_alone, 6 * one);
        // A launch for the digits of each vector, and scans of two levels instead of one.
        assert!(joined < one + 6 + 6 && in_halves < 2 * (one + 3 + 6), "{one}, {in_halves}, {joined}");
        assert_eq!(by_model, joined);
    }
}

/// Where memory is short, fewer are joined, or in smaller chunks.
#[test]
fn little_memory() {
    let mut rng = rng(SEED + 5);
    let count = 3000;
    let bases = Bases::<bn256::G1Affine>::consecutive(count, &mut rng);
    let vectors = vectors::<bn256::G1Affine>(6, count);
    for accelerator in accelerators_with_devices() {
        let plan = |options| {
            let msm = Msm::with_options(&accelerator, &bases.points, options).expect("bases");
            let plan = msm.explain(None).expect("plan");
            check(&msm, &bases, &vectors, &[6], &format!("{options:?}"));
            plan
        };
        let all = plan(MsmOptions::default());
        for part in [1, 2] {
            plan(MsmOptions { memory: all.bytes.0 / part, ..joining(6) });
        }
        // As little as does for one at least, which has a MiB for this and that.
        let short = plan(MsmOptions { memory: 1_200_000, ..MsmOptions::default() });
        plan(MsmOptions { memory: 1_200_000, ..joining(6) });
        assert!(short.joined < all.joined && short.chunk < count, "{short}\n{all}");
    }
}

/// Devices that share the windows of the same points, some of them a part of the points each.
#[test]
fn windows_of_several_devices() {
    let mut rng = rng(SEED + 6);
    let bases = Bases::<G1>::special(300, &mut rng);
    let vectors = vectors::<G1>(5, 300);
    for accelerator in accelerators_with_devices() {
        let device = || Device::new(fresh_driver(&accelerator.devices()[0]), None);
        let devices: Vec<Arc<Device>> = (0..3).map(|_| device()).collect();
        let accelerator: Accelerator = accelerator.with_devices(devices);
        for window in [0, 9] {
            let options = MsmOptions { window_groups: 3, window, ..joining(3) };
            let msm = Msm::with_options(&accelerator, &bases.points, options).expect("bases");
            let there = on_devices(&msm, &vectors);
            let forms: Vec<Scalars<'_>> = there.iter().map(Scalars::from).collect();
            let plan = msm.explain(Some(forms[0])).expect("plan");
            assert_eq!(plan.window_groups.len(), 3, "{plan}");
            let (sums, report) = msm.run_batch(&forms, None).expect("batch");
            let expected: Vec<_> = vectors.iter().map(|scalars| bases.expected(scalars)).collect();
            assert!(sums == expected, "{report}\n{plan}");
        }
    }
}

/// Nothing to multiply by, and nothing but zeros, in the same matrix.
#[test]
fn vectors_of_zeros() {
    let mut rng = rng(SEED + 7);
    let bases = Bases::<G1>::consecutive(33, &mut rng);
    let zeros = vec![Fr::ZERO; 33];
    let one = random::<Fr>(33, &mut rng);
    for accelerator in accelerators_with_devices() {
        let msm = Msm::with_options(&accelerator, &bases.points, joining(4)).expect("bases");
        let forms = [&zeros, &one, &zeros, &zeros].map(|scalars| Scalars::elements(scalars));
        let (sums, _) = msm.run_batch(&forms, None).expect("batch");
        let expected = [&zeros, &one, &zeros, &zeros].map(|scalars| bases.expected(scalars));
        assert!(sums == expected);
    }
}
