//! Multiplications whose windows are shared by several devices, which are views of one.

use halo2curves::bn256;
use proofwarp::backend::Device;
use proofwarp::msm::{DeviceScalars, Msm, MsmOptions, ScalarForm, Scalars};
use proofwarp::{Accelerator, Error};
use rand::Rng;

use crate::common::points::{Bases, TestCurve, below, bytes, distributions, montgomery, random};
use crate::common::{abort_after, accelerators_with_devices, fresh_driver, rng};

type G1 = blstrs::G1Affine;
type Fr = blstrs::Scalar;

const SEED: u64 = 171;
/// Enough points for four devices, the last of which has fewer.
const MANY: usize = (3 << 15) + 1;
const SMALL_POINTS: usize = 300;

/// Each backend's accelerator on so many devices, which are views of its first.
fn on(devices: usize) -> Vec<Accelerator> {
    let device = |like: &Device| Device::new(fresh_driver(like), None);
    let views = |accelerator: &Accelerator| (0..devices).map(|_| device(&accelerator.devices()[0])).collect();
    accelerators_with_devices().iter().map(|accelerator| accelerator.with_devices(views(accelerator))).collect()
}

fn in_groups(window_groups: usize) -> MsmOptions {
    MsmOptions { window_groups, ..MsmOptions::default() }
}

/// Every distribution of scalars, from the host and on the devices, by groups of the windows of the same points.
fn any_scalars<C: TestCurve>(most: usize) {
    let mut rng = rng(SEED);
    let bases = Bases::<C>::special(SMALL_POINTS, &mut rng);
    let vectors = distributions::<C::Scalar>(SMALL_POINTS, &mut rng);
    for (accelerator, groups) in on(most).iter().flat_map(|accelerator| (2..=most).map(move |g| (accelerator, g))) {
        let msm = Msm::with_options(accelerator, &bases.points, in_groups(groups)).expect("bases");
        assert_eq!(msm.table_bytes(), (groups * SMALL_POINTS * C::AFFINE_BYTES) as u64, "all hold all");
        for (name, scalars) in &vectors {
            let there = msm.upload_scalars(&montgomery(scalars), ScalarForm::Montgomery).expect("upload");
            for form in [Scalars::elements(scalars), (&there).into()] {
                let plan = msm.explain(Some(form)).expect("plan");
                let (sum, report) = msm.run(form, None).expect("run");
                assert!(sum == bases.expected(scalars), "{name}: {report}\n{plan}");
                assert_eq!(plan.window_groups.len(), groups, "{plan}");
                let windows = plan.window_groups.iter().sum::<u32>();
                assert!((plan.window.1..plan.window.1 + groups as u32).contains(&windows), "{plan}");
            }
        }
    }
}

#[test]
fn any_scalars_bls12_381_g1() {
    any_scalars::<G1>(4);
}

#[test]
fn any_scalars_bls12_381_g2() {
    any_scalars::<blstrs::G2Affine>(2);
}

#[test]
fn any_scalars_vesta() {
    any_scalars::<pasta_curves::EqAffine>(3);
}

/// Short scalars have few windows, of every width: groups share them by points, and more than two may share one.
#[test]
fn few_windows() {
    let mut rng = rng(SEED + 1);
    let bases = Bases::<G1>::consecutive(SMALL_POINTS, &mut rng);
    for (accelerator, groups) in on(4).iter().flat_map(|accelerator| [2, 3, 4].map(|g| (accelerator, g))) {
        for (window, bits) in [(0, 0), (0, 1), (4, 3), (4, 4), (4, 9), (9, 30), (13, 64), (20, 254)] {
            let options = MsmOptions { window, ..in_groups(groups) };
            let msm = Msm::with_options(accelerator, &bases.points, options).expect("bases");
            let scalars: Vec<Fr> = (0..SMALL_POINTS).map(|_| below(bits, &mut rng)).collect();
            let promised = Scalars::elements(&scalars).with_bit_length(bits);
            let plan = msm.explain(Some(promised)).expect("plan");
            let (sum, report) = msm.run(promised, None).expect("run");
            assert!(sum == bases.expected(&scalars), "{bits} bits: {report}\n{plan}");
            if bits < 20 {
                let longer = [Fr::from(1 << 31); SMALL_POINTS];
                let error = msm.run(Scalars::elements(&longer).with_bit_length(bits), None).expect_err("too long");
                assert!(error.to_string().contains(&format!("below 2^{bits}")), "{error}");
            }
        }
    }
}

/// Pieces of points and groups of windows, for every number of devices; every way to call, scalars from everywhere.
#[test]
fn pieces_and_groups() {
    let mut rng = rng(SEED + 2);
    let bases = Bases::<bn256::G1Affine>::consecutive(MANY, &mut rng);
    let mut short = || (0..MANY).map(|_| bn256::Fr::from(rng.gen_range(0..1u64 << 6))).collect::<Vec<_>>();
    let vectors = [short(), short()];
    let expected = vectors.each_ref().map(|scalars| bases.expected(scalars));
    for (devices, groups, held) in [(2, 1, 2), (2, 2, 2), (3, 3, 3), (3, 2, 2), (4, 1, 4), (4, 2, 4), (4, 4, 4)] {
        for accelerator in on(devices) {
            let options = MsmOptions { window: 4, ..in_groups(groups) };
            let msm = Msm::with_options(&accelerator, &bases.points, options).expect("bases");
            let plan = msm.explain(None).expect("plan");
            assert_eq!((plan.devices.len(), plan.window_groups.len()), (held, groups), "{plan}");
            assert!(msm.table_bytes().abs_diff((64 * MANY * groups) as u64) < 1000, "{plan}");
            let canonical = msm.upload_scalars(&bytes(&vectors[0]), ScalarForm::Canonical).expect("upload");
            let by_points = DeviceScalars::upload(&accelerator, &montgomery(&vectors[1]), ScalarForm::Montgomery);
            let by_points = by_points.expect("upload");
            let other = if held == devices { (&by_points).into() } else { Scalars::elements(&vectors[1]) };
            let forms = [Scalars::elements(&vectors[0]), other, (&canonical).into()];
            let forms = forms.map(|scalars| scalars.with_bit_length(6));
            let (sums, report) = msm.run_batch(&forms, None).expect("batch");
            assert!(sums == [expected[0], expected[1], expected[0]], "{report}\n{plan}");
            let [one, other] = [2, 1].map(|i| msm.start(forms[i]).expect("start"));
            assert!(other.wait(None).expect("wait").0 == expected[1] && one.wait(None).expect("wait").0 == expected[0]);
            let aborted = msm.run(forms[2], Some(&abort_after(0)));
            assert!(matches!(aborted, Err(Error::Aborted)), "{aborted:?}");
            assert!(msm.run(forms[2], Some(&|| false)).expect("not aborted").0 == expected[0]);
        }
    }
}

/// Ever less memory makes chunks and bands smaller; all devices still cut scalars alike.
#[test]
fn little_memory() {
    let mut rng = rng(SEED + 3);
    let bases = Bases::<G1>::special(700, &mut rng);
    let scalars: Vec<Fr> = random(700, &mut rng);
    for accelerator in on(2) {
        let (mut memory, mut chunks, mut bands) = (u64::MAX, 1, 1);
        loop {
            let options = MsmOptions { memory, window: 7, affine_rounds: Some(1), ..in_groups(2) };
            let msm = Msm::with_options(&accelerator, &bases.points, options).expect("bases");
            let there = msm.upload_scalars(&bytes(&scalars), ScalarForm::Canonical).expect("upload");
            let plan = match msm.explain(Some((&there).into())) {
                Err(Error::OutOfMemory { .. }) => break,
                plan => plan.expect("no other error"),
            };
            assert!(plan.bytes.0 <= memory, "{plan}");
            chunks = chunks.max(700usize.div_ceil(plan.chunk));
            bands = bands.max(plan.window_groups[0].div_ceil(plan.band));
            let (sum, report) = msm.run(&there, None).expect("run");
            assert!(sum == bases.expected(&scalars), "{report}\n{plan}");
            memory = plan.bytes.0 - 1;
        }
        assert!(chunks >= 2 && bands >= 15, "{chunks} chunks, {bands} bands");
    }
}

/// What cannot be done is refused, and what goes without groups has none.
#[test]
fn without_groups() {
    let mut rng = rng(SEED + 4);
    let bases = Bases::<G1>::consecutive(SMALL_POINTS, &mut rng);
    let scalars: Vec<Fr> = random(SMALL_POINTS, &mut rng);
    for accelerator in on(2) {
        let options = MsmOptions { precompute: 2, ..in_groups(2) };
        let error = Msm::with_options(&accelerator, &bases.points, options).expect_err("copies").to_string();
        assert!(error.contains("window_groups with copies of the bases: expected 0 or 1, got 2"), "{error}");
        let copies = Msm::with_options(&accelerator, &bases.points, MsmOptions { precompute: 2, ..in_groups(0) });
        assert_eq!(copies.expect("bases").explain(None).expect("plan").window_groups.len(), 1);
        let more = Msm::with_options(&accelerator, &bases.points, in_groups(5)).expect("bases");
        assert_eq!(more.explain(None).expect("plan").window_groups.len(), 2, "as many as there are devices");
        assert!(more.run(Scalars::elements(&scalars), None).expect("run").0 == bases.expected(&scalars));
        let error =
            more.upload_scalars(&bytes(&scalars[1..]), ScalarForm::Canonical).expect_err("one less").to_string();
        assert!(error.contains(&format!("expected {SMALL_POINTS}, got {}", SMALL_POINTS - 1)), "{error}");
        let alone = accelerator.with_devices(accelerator.devices()[..1].to_vec());
        let msm = Msm::with_options(&alone, &bases.points, in_groups(2)).expect("bases");
        let there = msm.upload_scalars(&bytes(&scalars), ScalarForm::Canonical).expect("upload");
        assert!(msm.run(&there, None).expect("run").0 == bases.expected(&scalars));
    }
}
