//! What `explain` says agrees with what is known and with what is done.

use ff::Field;
use proofwarp::msm::{DeviceScalars, Msm, MsmExplanation, MsmOptions, ScalarForm, Scalars};
use proofwarp::{Accelerator, BackendKind, Error};

use crate::common::points::{Bases, TestCurve, below, bytes, montgomery, random};
use crate::common::{accelerators_with_devices, alone, rng};

type G1 = blstrs::G1Affine;
type Fr = blstrs::Scalar;

const SEED: u64 = 61;

/// What holds for every plan of scalars of so many bits.
fn consistent(plan: &MsmExplanation, bits: u32, options: MsmOptions) {
    let ((c, windows), (rows, mean)) = (plan.window, plan.rows);
    // Scalars above half of the order are negated: a bit less, and one for the sign.
    let held = c * windows - plan.narrow_windows;
    assert!(held >= bits && plan.narrow_windows < windows, "{plan}");
    assert!(c * (windows - 1) < bits.max(1), "a window to spare: {plan}");
    match options.precompute {
        0 | 1 => assert!(plan.narrow_windows == 0 || held == bits || plan.narrow_windows == windows - 1, "{plan}"),
        _ => assert_eq!(plan.narrow_windows, 0, "{plan}"),
    }
    assert!((4..=20).contains(&c) && (options.window == 0 || options.window == c), "{plan}");
    assert_eq!(rows, u64::from(2 * plan.sets - plan.narrow_windows) << (c - 2), "{plan}");
    assert!(plan.sets <= windows && windows <= plan.sets * options.precompute.max(1), "{plan}");
    assert!((1..=plan.sets).contains(&plan.band) && (1..=plan.points).contains(&plan.chunk), "{plan}");
    assert_eq!(mean, plan.chunk as u64 * u64::from(windows.div_ceil(plan.sets) * plan.sets) / rows, "{plan}");
    assert!(options.affine_rounds.is_none_or(|rounds| rounds == plan.affine_rounds), "{plan}");
}

#[test]
fn plans_hold_what_they_say() {
    let mut rng = rng(SEED);
    let bases = Bases::<G1>::consecutive(1000, &mut rng);
    for accelerator in accelerators_with_devices() {
        let name = &accelerator.devices()[0].info().name;
        for (window, precompute, affine_rounds) in
            [(0, 0, None), (5, 1, Some(0)), (13, 3, None), (20, 0, Some(2)), (0, 16, Some(1)), (4, 64, None)]
        {
            let options =
                MsmOptions { window, precompute, affine_rounds, halved: Some(false), ..MsmOptions::default() };
            let msm = Msm::with_options(&accelerator, &bases.points[..100], options).expect("bases");
            let plan = msm.explain(None).expect("plan");
            consistent(&plan, 255, options);
            assert_eq!((plan.curve, plan.points, &plan.devices), ("bls12_381_g1", 100, &vec![name.clone()]));
            assert_eq!(plan.bytes.1, msm.table_bytes());
            assert!(plan.bytes.0 <= accelerator.devices()[0].free_memory().expect("memory"), "{plan}");
            for bits in [1, 8, 64, 200] {
                let short = [Fr::ONE; 100];
                let short = Scalars::elements(&short).with_bit_length(bits);
                let plan = msm.explain(Some(short)).expect("plan");
                assert!(plan.window.0 * plan.window.1 > bits, "the carry has room: {plan}");
                consistent(&plan, bits + 1, options);
            }
        }
    }
}

/// More points never make windows narrower.
#[test]
fn windows_widen_with_points() {
    let mut rng = rng(SEED + 1);
    let bases = Bases::<G1>::consecutive(1 << 14, &mut rng);
    for accelerator in accelerators_with_devices() {
        let width = |count| {
            let msm = Msm::new(&accelerator, &bases.points[..count]).expect("bases");
            msm.explain(None).expect("plan").window.0
        };
        let widths = [1, 100, 1000, 1 << 14].map(width);
        assert!(widths.is_sorted() && widths[0] < widths[3], "{widths:?}");
    }
}

#[test]
fn longest_rows_are_counted() {
    let mut rng = rng(SEED + 2);
    let bases = Bases::<G1>::consecutive(400, &mut rng);
    for accelerator in accelerators_with_devices() {
        let options = MsmOptions { window: 6, halved: Some(false), ..MsmOptions::default() };
        let msm = Msm::with_options(&accelerator, &bases.points, options).expect("bases");
        let longest = |scalars: &[Fr]| {
            let (canonical, in_montgomery) = (bytes(scalars), montgomery(scalars));
            let forms = [Scalars::canonical(&canonical), Scalars::montgomery(&in_montgomery)];
            let [one, other] = forms.map(|form| msm.explain(Some(form)).expect("plan").longest_row);
            assert_eq!(one, other, "the form does not matter");
            one
        };
        assert_eq!(longest(&[Fr::random(&mut rng); 400]), 400, "all equal");
        assert_eq!(longest(&[Fr::ZERO; 400]), 0);
        assert_eq!(longest(&[-Fr::ONE; 400]), 400, "negated");
        // 1 … 32 in turn, then nothing: 13 or 12 in each of the first window's rows.
        let ascending: Vec<Fr> = (0..400).map(|i| Fr::from(i % 32 + 1)).collect();
        assert_eq!(longest(&ascending), 13);
        // 33 … 63 are negative digits, and carry into the next window.
        let carrying: Vec<Fr> = (0..400).map(|i| Fr::from(33 + i % 31)).collect();
        assert_eq!(longest(&carrying), 400);
        let half: Vec<Fr> = (0..400).map(|i| if i < 150 { Fr::from(7) } else { Fr::ZERO }).collect();
        assert_eq!(longest(&half), 150);
        let expected = msm.explain(None).expect("plan").longest_row;
        let there =
            DeviceScalars::upload(&accelerator, &bytes(&[Fr::ONE; 400]), ScalarForm::Canonical).expect("upload");
        assert_eq!(msm.explain(Some((&there).into())).expect("plan").longest_row, expected, "not looked at");
    }
}

/// What is expected of random scalars bounds what is counted, without being much more, also where the highest
/// window has only a few digits.
fn rows_of_random_scalars<C: TestCurve>(precompute: u32, halved: bool) {
    let mut rng = rng(SEED + 7);
    let bases = Bases::<C>::consecutive(400, &mut rng);
    let accelerators = accelerators_with_devices();
    for (accelerator, window) in accelerators.iter().flat_map(|accelerator| (4..=12).map(move |w| (accelerator, w))) {
        let options = MsmOptions { window, precompute, halved: Some(halved), ..MsmOptions::default() };
        let msm = Msm::with_options(accelerator, &bases.points, options).expect("bases");
        for bits in [1, 4, 5, 64, 250, 255] {
            let scalars: Vec<C::Scalar> = (0..400).map(|_| below(bits, &mut rng)).collect();
            let scalars = bytes(&scalars);
            let there = DeviceScalars::upload(accelerator, &scalars, ScalarForm::Canonical).expect("upload");
            let explain = |scalars: Scalars<'_>| msm.explain(Some(scalars.with_bit_length(bits))).expect("plan");
            let [counted, plan] = [explain((&scalars).into()).longest_row, explain((&there).into()).longest_row];
            assert!(counted <= plan && plan <= 3 * counted + 12, "{counted} of {plan}: {}", explain((&there).into()));
        }
    }
}

#[test]
fn rows_of_random_scalars_are_as_long_as_expected() {
    rows_of_random_scalars::<G1>(1, false);
    rows_of_random_scalars::<G1>(3, false);
    rows_of_random_scalars::<halo2curves::bn256::G1Affine>(1, false);
    rows_of_random_scalars::<pasta_curves::EqAffine>(1, false);
    rows_of_random_scalars::<G1>(1, true);
    rows_of_random_scalars::<halo2curves::bn256::G1Affine>(1, true);
    rows_of_random_scalars::<pasta_curves::EqAffine>(1, true);
}

/// The plan for scalars longer than promised is refused as the multiplication is, and fewer scalars too.
#[test]
fn scalars_that_do_not_fit_are_not_explained() {
    let mut rng = rng(SEED + 3);
    let bases = Bases::<G1>::consecutive(20, &mut rng);
    let scalars: Vec<Fr> = random(20, &mut rng);
    for accelerator in accelerators_with_devices() {
        let msm = Msm::new(&accelerator, &bases.points).expect("bases");
        let explain = |scalars: Scalars<'_>| msm.explain(Some(scalars)).expect_err("no plan").to_string();
        assert!(explain(Scalars::elements(&scalars).with_bit_length(9)).contains("below 2^9"));
        assert!(explain(Scalars::elements(&scalars[..19])).contains("expected 20, got 19"));
    }
}

#[test]
fn memory_bounds_the_plan() {
    let mut rng = rng(SEED + 4);
    let bases = Bases::<G1>::consecutive(1000, &mut rng);
    for accelerator in accelerators_with_devices() {
        let plan = |memory| {
            let options = MsmOptions { memory, halved: Some(false), ..MsmOptions::default() };
            Msm::with_options(&accelerator, &bases.points, options).expect("bases").explain(None)
        };
        let all = plan(0).expect("plan");
        let some = plan(all.bytes.0 - 1).expect("plan");
        assert!(some.bytes.0 < all.bytes.0, "{some}");
        // That is what one vector takes: fewer may be joined.
        let same = plan(all.bytes.0).expect("plan");
        assert!(same.joined <= all.joined, "{same}");
        assert_eq!(MsmExplanation { joined: all.joined, ..same }, all);
        let error = plan(1000).expect_err("too little");
        assert!(matches!(error, Error::OutOfMemory { available: 1000, .. }), "{error}");
    }
    for capped in alone(Some(4 << 20)) {
        let msm = Msm::new(&capped, &bases.points).expect("bases");
        let plan = msm.explain(None).expect("plan");
        assert!(plan.bytes.0 + plan.bytes.1 <= 4 << 20 && plan.bytes.1 == 96_000, "{plan}");
    }
}

#[test]
fn plans_are_for_people() {
    let bases = Bases::<G1>::consecutive(300, &mut rng(SEED + 5));
    for accelerator in accelerators_with_devices() {
        let options = MsmOptions { window: 8, affine_rounds: Some(3), halved: Some(false), ..MsmOptions::default() };
        let msm = Msm::with_options(&accelerator, &bases.points, options).expect("bases");
        let plan = msm.explain(None).expect("plan");
        let text = plan.to_string();
        let device = &accelerator.devices()[0].info().name;
        for part in [
            format!("msm bls12_381_g1 of 300 points on {device}"),
            "windows   31 of 8 bits and 1 of 7, 32 with buckets of their own".to_owned(),
            format!("buckets   4032, of 2 entries on average, the longest {}", plan.longest_row),
            "chunks    1 of 300 points".to_owned(),
            "3 rounds of batched affine additions".to_owned(),
            format!("bytes     {} to work with on each device, {} of bases", plan.bytes.0, 300 * 96),
        ] {
            assert!(text.contains(&part), "no '{part}' in:\n{text}");
        }
        let less = MsmOptions { memory: plan.bytes.0 / 4 * 3, ..options };
        let plan = Msm::with_options(&accelerator, &bases.points, less).expect("bases").explain(None).expect("plan");
        let chunks = 300usize.div_ceil(plan.chunk);
        assert!(plan.to_string().contains(&format!("chunks    {chunks} of {} points", plan.chunk)), "{plan}");
    }
}

#[test]
fn there_is_no_plan_without_a_device_or_bases() {
    let bases = Bases::<G1>::consecutive(3, &mut rng(SEED + 6));
    let cpu = Accelerator::with_backend(BackendKind::Cpu).expect("always there");
    let error = Msm::new(&cpu, &bases.points).expect("bases").explain(None).expect_err("no device");
    assert!(matches!(error, Error::Invalid { .. }) && error.to_string().contains("a device and bases"), "{error}");
    for accelerator in accelerators_with_devices() {
        let error = Msm::<G1>::new(&accelerator, &[]).expect("bases").explain(None).expect_err("no bases");
        assert!(error.to_string().contains("a device and bases"), "{error}");
    }
}
