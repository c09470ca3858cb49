//! Scalars of every form, their lengths, batches, calls that do not wait, and options that are none.

use std::sync::Arc;

use ff::{Field, PrimeField};
use group::{Curve, Group};
use proofwarp::backend::{Buffer, Device};
use proofwarp::msm::{DeviceScalars, Msm, MsmOptions, ScalarForm, Scalars, msm, msm_with_options};
use proofwarp::{Accelerator, BackendKind, Error};

use crate::common::points::{Bases, TestCurve, below, bytes, distributions, montgomery, random};
use crate::common::{abort_after, accelerators_and_cpu, accelerators_with_devices, alone, rng};

type G1 = blstrs::G1Affine;
type Fr = blstrs::Scalar;

const SEED: u64 = 31;

/// A buffer of a device that holds bytes, and 100 more.
fn buffer(device: &Arc<Device>, contents: &[u8]) -> Arc<Buffer> {
    let mut stream = device.stream().expect("stream");
    let buffer = stream.allocate(contents.len() + 100).expect("memory");
    stream.upload(&buffer, contents).expect("upload");
    stream.synchronize(None).expect("wait");
    Arc::new(buffer)
}

/// The scalars on the accelerator's devices in both forms, uploaded and as a buffer.
fn on_devices<C: TestCurve>(accelerator: &Accelerator, scalars: &[C::Scalar]) -> Vec<DeviceScalars> {
    let forms = [(bytes(scalars), ScalarForm::Canonical), (montgomery(scalars), ScalarForm::Montgomery)];
    let both = forms.iter().flat_map(|(bytes, form)| {
        let device = &accelerator.devices()[0];
        let buffer = buffer(device, bytes.as_flattened());
        let uploaded = DeviceScalars::upload(accelerator, bytes, *form).expect("upload");
        [uploaded, DeviceScalars::from_buffer(device, buffer, scalars.len(), *form).expect("from_buffer")]
    });
    both.collect()
}

/// Every form of the scalars, on the host and on the devices, gives what the plain call does.
fn forms_agree<C: TestCurve>() {
    let mut rng = rng(SEED);
    let (accelerators, with_devices) = (accelerators_and_cpu(), accelerators_with_devices());
    for count in [1, 2, 65, 300] {
        let bases = Bases::<C>::special(count, &mut rng);
        for (name, scalars) in distributions::<C::Scalar>(count, &mut rng).split_off(5) {
            let (canonical, in_montgomery) = (bytes(&scalars), montgomery(&scalars));
            let on_host = [Scalars::from(&canonical), Scalars::montgomery(&in_montgomery), Scalars::elements(&scalars)];
            let everywhere = with_devices.iter().map(|accelerator| on_devices::<C>(accelerator, &scalars));
            let everywhere: Vec<_> = everywhere.collect();
            for accelerator in &accelerators {
                let (plain, _) = msm(accelerator, &bases.points, &canonical, None).expect("msm");
                assert!(plain == bases.expected(&scalars));
                // The CPU fetches scalars from any device; a device takes those that are on it.
                let own = with_devices.iter().position(|other| other.forced() == accelerator.forced());
                let theirs = everywhere.get(own.unwrap_or(0)).into_iter().flatten().map(Scalars::from);
                let msm = Msm::new(accelerator, &bases.points).expect("bases");
                for form in on_host.into_iter().chain(theirs) {
                    let (sum, report) = msm.run(form, None).expect("run");
                    assert!(sum == plain, "{}, {count} scalars, {name}, {form:?}: {report}", C::NAME);
                    assert!(report.fallbacks.is_empty() && report.elements == count, "{report}");
                }
            }
        }
    }
}

#[test]
fn forms_agree_on_bls12_381_g1() {
    forms_agree::<G1>();
}

#[test]
fn forms_agree_on_bls12_381_g2() {
    forms_agree::<blstrs::G2Affine>();
}

#[test]
fn forms_agree_on_bn254_g1() {
    forms_agree::<halo2curves::bn256::G1Affine>();
}

/// Scalars of so many bits, the longest among them.
fn of_length<S: PrimeField>(bits: u32, count: usize, rng: &mut rand_chacha::ChaCha8Rng) -> Vec<S> {
    let longest = if bits < S::NUM_BITS { S::from(2).pow_vartime([bits.into()]) - S::ONE } else { -S::ONE };
    let mut scalars: Vec<S> = (0..count).map(|_| below(bits, rng)).collect();
    scalars[..2].fill(longest);
    scalars[2] = S::ZERO;
    scalars
}

fn every_bit_length<C: TestCurve>(lengths: impl Iterator<Item = u32> + Clone) {
    let mut rng = rng(SEED + 1);
    let bases = Bases::<C>::consecutive(9, &mut rng);
    for accelerator in accelerators_and_cpu() {
        let msm = Msm::new(&accelerator, &bases.points).expect("bases");
        for bits in lengths.clone() {
            let scalars: Vec<C::Scalar> = of_length(bits, 9, &mut rng);
            let canonical = bytes(&scalars);
            let forms = [Scalars::canonical(&canonical), Scalars::elements(&scalars)];
            let form = forms[bits as usize % 2].with_bit_length(bits);
            let (sum, report) = msm.run(form, None).expect("as short as promised");
            assert!(sum == bases.expected(&scalars), "{} scalars of {bits} bits: {report}", C::NAME);
        }
    }
}

/// Longer promises than the order's length hold as well.
#[test]
fn scalars_of_every_bit_length() {
    every_bit_length::<G1>((0..=256).chain([300, u32::MAX]));
}

#[test]
fn bn254_scalars_of_some_bit_lengths() {
    every_bit_length::<halo2curves::bn256::G1Affine>([0, 1, 31, 32, 33, 64, 128, 252, 253, 254, 255, 256].into_iter());
}

/// The sum is right, or the error says which length was promised; whether it was an error.
fn right_or_refused(
    bases: &Bases<G1>,
    result: proofwarp::Result<(blstrs::G1Projective, proofwarp::Report)>,
    scalars: &[Fr],
    bits: u32,
) -> bool {
    match result {
        Ok((sum, report)) => assert!(sum == bases.expected(scalars), "wrong beyond {bits} bits: {report}"),
        Err(Error::Invalid { place, what, expected, .. }) => {
            assert_eq!((place, what, expected), ("msm", "scalars".to_owned(), format!("below 2^{bits}")));
            return true;
        }
        Err(error) => panic!("another error: {error}"),
    }
    false
}

#[test]
fn scalars_that_are_too_long_are_refused_or_right() {
    let mut rng = rng(SEED + 2);
    let bases = Bases::<G1>::consecutive(40, &mut rng);
    for accelerator in accelerators_and_cpu() {
        let msm = Msm::new(&accelerator, &bases.points).expect("bases");
        for bits in [0, 1, 7, 31, 32, 63, 64, 128, 200, 253, 254] {
            let power = Fr::from(2).pow_vartime([u64::from(bits)]);
            let random = Fr::random(&mut rng);
            for (position, long) in
                [power, power.double(), power.double() - Fr::ONE, -power, -Fr::ONE, random].into_iter().enumerate()
            {
                let mut scalars: Vec<Fr> = of_length(bits, 40, &mut rng);
                scalars[7 * position] = long;
                let result = msm.run(Scalars::elements(&scalars).with_bit_length(bits), None);
                let refused = right_or_refused(&bases, result, &scalars, bits);
                // A scalar of full length that is not the negative of a short one cannot be done.
                assert!(refused || position < 5 || bits >= 200, "{bits} bits did for a random scalar");
            }
            let fine: Vec<Fr> = of_length(bits, 40, &mut rng);
            assert!(msm.run(Scalars::elements(&fine), None).expect("fine").0 == bases.expected(&fine));
        }
    }
}

#[test]
fn batches_are_the_same_as_single_calls() {
    let mut rng = rng(SEED + 3);
    let bases = Bases::<G1>::special(200, &mut rng);
    for accelerator in accelerators_and_cpu() {
        let msm = Msm::new(&accelerator, &bases.points).expect("bases");
        let vectors: Vec<Vec<Fr>> = (0..7).map(|i| of_length([255, 10, 64][i % 3], 200, &mut rng)).collect();
        let canonical: Vec<_> = vectors.iter().map(|scalars| bytes(scalars)).collect();
        let on_devices = if accelerator.devices().is_empty() {
            None
        } else {
            Some(DeviceScalars::upload(&accelerator, &canonical[4], ScalarForm::Canonical).expect("upload"))
        };
        let mut forms: Vec<_> = canonical.iter().map(Scalars::from).collect();
        forms[1] = Scalars::elements(&vectors[1]).with_bit_length(10);
        if let Some(there) = &on_devices {
            forms[4] = there.into();
        }
        for length in [0, 1, 2, 5, 7] {
            let (sums, report) = msm.run_batch(&forms[..length], None).expect("batch");
            assert_eq!((sums.len(), report.elements), (length, 200 * length));
            for (sum, (form, scalars)) in sums.iter().zip(forms.iter().zip(&vectors)) {
                assert!(*sum == bases.expected(scalars), "{form:?} of {length}: {report}");
                assert!(*sum == msm.run(*form, None).expect("single").0);
            }
        }
    }
}

#[test]
fn a_bad_vector_fails_its_batch() {
    let mut rng = rng(SEED + 4);
    let bases = Bases::<G1>::consecutive(20, &mut rng);
    let scalars: Vec<Fr> = random(20, &mut rng);
    for accelerator in accelerators_and_cpu() {
        let msm = Msm::new(&accelerator, &bases.points).expect("bases");
        let run = |bad: Scalars<'_>| {
            let good = Scalars::elements(&scalars);
            msm.run_batch(&[good, good, bad, good, good], None).expect_err("one is bad").to_string()
        };
        let error = run(Scalars::elements(&scalars[1..]));
        assert!(error.contains("number of scalars: expected 20, got 19"), "{error}");
        assert!(run(Scalars::elements(&scalars).with_bit_length(9)).contains("expected below 2^9"));
        let one_by_one = MsmOptions { joined: 1, ..MsmOptions::default() };
        let unjoined = Msm::with_options(&accelerator, &bases.points, one_by_one).expect("bases");
        let aborted = unjoined.run_batch(&[Scalars::elements(&scalars); 5], Some(&abort_after(2)));
        assert!(matches!(aborted, Err(Error::Aborted)), "{aborted:?}");
        assert!(msm.run(Scalars::elements(&scalars), None).expect("after that").0 == bases.expected(&scalars));
    }
}

#[test]
fn no_bases_sum_to_infinity() {
    for accelerator in accelerators_and_cpu() {
        let msm = Msm::<G1>::new(&accelerator, &[]).expect("no bases");
        assert_eq!(msm.table_bytes(), 0);
        for length in [0, 1, 5] {
            let vectors = vec![Scalars::elements::<Fr>(&[]); length];
            let (sums, _) = msm.run_batch(&vectors, None).expect("batch");
            assert!(sums.len() == length && sums.iter().all(|sum| sum.is_identity().into()));
        }
        let running = msm.start(Scalars::canonical(&[])).expect("start");
        assert!(bool::from(running.wait(None).expect("wait").0.is_identity()));
    }
}

/// Calls under way at once, waited for in any order, dropped, and aborted.
#[test]
fn calls_that_do_not_wait() {
    let mut rng = rng(SEED + 5);
    let bases = Bases::<G1>::special(500, &mut rng);
    let [first, second]: [Vec<Fr>; 2] = [random(500, &mut rng), random(500, &mut rng)];
    for accelerator in accelerators_and_cpu() {
        let msm = Msm::new(&accelerator, &bases.points).expect("bases");
        let start = |scalars| msm.start(Scalars::elements(scalars)).expect("start");
        for _ in 0..3 {
            let (one, dropped, two) = (start(&first), start(&first), start(&second));
            drop(dropped);
            let (sum, report) = two.wait(None).expect("wait");
            assert!(sum == bases.expected(&second) && report.elements == 500, "{report}");
            assert!(one.wait(Some(&abort_after(u32::MAX))).expect("wait").0 == bases.expected(&first));
        }
        let outcome = start(&first).wait(Some(&abort_after(0)));
        assert!(matches!(outcome, Err(Error::Aborted)), "{accelerator:?}");
        assert!(start(&second).wait(None).expect("after an abort").0 == bases.expected(&second));
        let error = msm.start(Scalars::elements(&first[3..])).err().expect("too few").to_string();
        assert!(error.contains("expected 500, got 497"), "{error}");
        let long = msm.start(Scalars::elements(&first).with_bit_length(8)).expect("start").wait(None);
        assert!(long.expect_err("too long").to_string().contains("below 2^8"));
    }
}

/// A device that fails under way: an error where it was forced, else the CPU's sum and the reason.
#[test]
fn calls_under_way_fail_or_fall_back() {
    let mut rng = rng(SEED + 6);
    let bases = Bases::<G1>::consecutive(50, &mut rng);
    let scalars: Vec<Fr> = random(50, &mut rng);
    for forced in alone(None) {
        let free = Accelerator::automatic().expect("settings").with_devices(forced.devices().to_vec());
        for launch in [0, 2, 5] {
            let run = |accelerator: &Accelerator| {
                let msm = Msm::new(accelerator, &bases.points).expect("bases");
                forced.devices()[0].inject_launch_fault(launch);
                msm.start(Scalars::elements(&scalars)).expect("start").wait(None)
            };
            assert!(run(&forced).expect_err("injected").to_string().contains("injected"));
            let (sum, report) = run(&free).expect("the CPU does it");
            assert!(sum == bases.expected(&scalars) && report.backend == BackendKind::Cpu, "{report}");
            assert!(report.fallbacks.iter().any(|reason| reason.contains("injected")), "{report}");
        }
    }
}

/// What lies in a device's buffer after `wait_into` is the sum as the device has points, at its place.
fn sums_in_buffers<C: TestCurve>() {
    let mut rng = rng(SEED + 7);
    let bases = Bases::<C>::consecutive(30, &mut rng);
    let vectors: [Vec<C::Scalar>; 2] = [random(30, &mut rng), vec![C::Scalar::ZERO; 30]];
    let devices = accelerators_with_devices();
    for accelerator in accelerators_and_cpu() {
        // A sum of the CPU goes to a device as well.
        let own = devices.iter().find(|other| other.forced() == accelerator.forced());
        let Some(device) = own.or(devices.first()).map(|own| &own.devices()[0]) else { continue };
        let size = C::AFFINE_BYTES;
        let buffer = buffer(device, &vec![7; 3 * size - 100]);
        let msm = Msm::new(&accelerator, &bases.points).expect("bases");
        for scalars in &vectors {
            let start = || msm.start(Scalars::elements(scalars)).expect("start");
            let report = start().wait_into(device, &buffer, size, None).expect("wait_into");
            assert_eq!(report.elements, 30);
            let mut found = vec![0; 2 * size];
            device.stream().expect("stream").download(&mut found, &buffer).expect("download");
            assert_eq!(found[..size], vec![7; size], "what is before it stays");
            assert_eq!(found[size..], *C::to_device(&[bases.expected(scalars).to_affine()]));
            for offset in [2 * size + 1, 3 * size, usize::MAX] {
                let error = start().wait_into(device, &buffer, offset, None).expect_err("no room");
                assert!(matches!(error, Error::Invalid { .. }), "{error}");
                assert!(error.to_string().contains(&format!("within {} bytes", 3 * size)), "{error}");
            }
            let aborted = start().wait_into(device, &buffer, 0, Some(&abort_after(0)));
            assert!(matches!(aborted, Err(Error::Aborted)), "{aborted:?}");
        }
    }
}

#[test]
fn sums_in_buffers_of_devices() {
    sums_in_buffers::<G1>();
    sums_in_buffers::<halo2curves::bn256::G1Affine>();
}

#[test]
fn options_out_of_range_are_refused() {
    let point = [G1::from(blstrs::G1Projective::generator())];
    let with = MsmOptions::default;
    let cases = [
        (MsmOptions { window: 1, ..with() }, "window: expected 0, or 4 to 20, got 1"),
        (MsmOptions { window: 3, ..with() }, "window: expected 0, or 4 to 20, got 3"),
        (MsmOptions { window: 21, ..with() }, "window: expected 0, or 4 to 20, got 21"),
        (MsmOptions { precompute: 65, ..with() }, "precompute: expected 0, or 1 to 64, got 65"),
        (MsmOptions { precompute: u32::MAX, ..with() }, "precompute: expected 0, or 1 to 64, got 4294967295"),
        (MsmOptions { affine_rounds: Some(9), ..with() }, "affine_rounds: expected 0, or 1 to 8, got 9"),
    ];
    for accelerator in accelerators_and_cpu() {
        for (options, expected) in cases {
            for msm in [Msm::with_options, Msm::checked].map(|make| make(&accelerator, &point[..], options)) {
                let error = msm.expect_err(expected);
                assert!(matches!(error, Error::Invalid { .. }) && error.to_string().contains(expected), "{error}");
            }
        }
        for options in [
            MsmOptions { window: 4, precompute: 64, affine_rounds: Some(8), ..with() },
            MsmOptions { window: 20, precompute: 1, affine_rounds: Some(0), ..with() },
        ] {
            // The widest windows take a device seconds that only emulates one.
            if options.window < 20 || accelerator.devices().is_empty() {
                let msm = Msm::with_options(&accelerator, &point, options).expect("in range");
                let five = Fr::from(5);
                assert!(msm.run(Scalars::elements(&[five]), None).expect("run").0 == point[0] * five, "{options:?}");
            }
        }
    }
}

/// Sums of slices as the caller says: more windows are more work, and less memory is more chunks.
#[test]
fn slices_by_any_plan() {
    const COUNT: usize = 3000;
    let mut rng = rng(SEED + 20);
    let bases = Bases::<G1>::special(COUNT, &mut rng);
    let scalars = random::<Fr>(COUNT, &mut rng);
    let (canonical, expected) = (bytes(&scalars), bases.expected(&scalars));
    let plan = |window, rounds| MsmOptions { window, affine_rounds: Some(rounds), ..MsmOptions::default() };
    let whole = MsmOptions { halved: Some(false), ..plan(8, 1) };
    let small = MsmOptions { memory: 4 << 20, ..whole };
    for accelerator in accelerators_and_cpu() {
        let run = |options| msm_with_options(&accelerator, &bases.points, &canonical, options, None);
        let all = [MsmOptions::default(), whole, small, plan(6, 3), MsmOptions { devices: 1, ..plan(9, 0) }];
        let launches = all.map(|options| {
            let (sum, report) = run(options).expect("run");
            assert!(sum == expected, "{options:?}: {report}");
            report.traffic.launches
        });
        assert!(accelerator.devices().is_empty() || launches[1] < launches[2], "{launches:?}");
        let refused = [
            (MsmOptions { precompute: 2, ..whole }, "precompute of bases that do not stay: expected 0 or 1, got 2"),
            (MsmOptions { window: 3, ..whole }, "window: expected 0, or 4 to 20, got 3"),
        ];
        for (options, expected) in refused {
            let error = run(options).expect_err(expected);
            assert!(error.to_string().contains(expected), "{error}");
        }
    }
}

/// Scalars that cannot be put on devices, or were not.
#[test]
fn scalars_for_devices_that_do_not_fit() {
    let cpu = Accelerator::with_backend(BackendKind::Cpu).expect("always there");
    let error = DeviceScalars::upload(&cpu, &[[0; 32]], ScalarForm::Canonical).expect_err("no devices").to_string();
    assert!(error.contains("an accelerator with devices"), "{error}");
    let mut rng = rng(SEED + 8);
    let bases = Bases::<G1>::consecutive(10, &mut rng);
    let scalars = bytes(&random::<Fr>(10, &mut rng));
    for accelerator in accelerators_with_devices() {
        let device = &accelerator.devices()[0];
        let buffer = buffer(device, scalars.as_flattened());
        for (count, expected) in [(14, "expected 448 bytes, got 420"), (usize::MAX, "got 420")] {
            let error = DeviceScalars::from_buffer(device, buffer.clone(), count, ScalarForm::Canonical);
            let error = error.expect_err("shorter").to_string();
            assert!(error.contains(expected), "{error}");
        }
        let msm = Msm::new(&accelerator, &bases.points).expect("bases");
        for length in [0, 1, 9] {
            let short = DeviceScalars::upload(&accelerator, &scalars[..length], ScalarForm::Canonical).expect("upload");
            let error = msm.run(&short, None).expect_err("fewer than bases").to_string();
            assert!(error.contains(&format!("number of scalars: expected 10, got {length}")), "{error}");
        }
        let elsewhere = accelerator.with_devices(vec![Device::new(crate::common::fresh_driver(device), None)]);
        let elsewhere = DeviceScalars::upload(&elsewhere, &scalars, ScalarForm::Canonical).expect("upload");
        for error in [msm.run(&elsewhere, None), msm.start(&elsewhere).expect("start").wait(None)] {
            let error = error.expect_err("on another device");
            assert!(matches!(error, Error::Invalid { .. }), "{error}");
        }
    }
}
