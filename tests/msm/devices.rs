//! Multiplications over several devices, on some of them, and with little memory.

use group::Curve;
use halo2curves::bn256;
use proofwarp::backend::Device;
use proofwarp::msm::{DeviceScalars, Msm, MsmOptions, ScalarForm, Scalars, msm};
use proofwarp::{Accelerator, Error};
use rand::Rng;

use crate::common::points::{Bases, bytes, montgomery, random};
use crate::common::{abort_after, accelerators_with_devices, alone, fresh_driver, rng};

type G1 = blstrs::G1Affine;
type Fr = blstrs::Scalar;

const SEED: u64 = 71;
/// Enough points for two devices, but not for three, the last of which has fewer.
const COUNT: usize = (1 << 16) - 1;
const BITS: u32 = 6;

/// Each backend's accelerator on three devices, which are views of its first.
fn of_three() -> Vec<Accelerator> {
    let device = |like: &Device| Device::new(fresh_driver(like), None);
    let three = |accelerator: &Accelerator| (0..3).map(|_| device(&accelerator.devices()[0])).collect();
    accelerators_with_devices().iter().map(|accelerator| accelerator.with_devices(three(accelerator))).collect()
}

fn many() -> (Bases<bn256::G1Affine>, [Vec<bn256::Fr>; 2]) {
    let mut rng = rng(SEED);
    let mut short = || (0..COUNT).map(|_| bn256::Fr::from(rng.gen_range(0..1u64 << BITS))).collect();
    let scalars = [short(), short()];
    (Bases::consecutive(COUNT, &mut rng), scalars)
}

/// Shares of devices add up, for every form and every way to call.
#[test]
fn several_devices() {
    let (bases, vectors) = many();
    let expected = vectors.each_ref().map(|scalars| bases.expected(scalars));
    for accelerator in of_three() {
        let msm = Msm::new(&accelerator, &bases.points).expect("bases");
        let plan = msm.explain(None).expect("plan");
        assert_eq!(msm.table_bytes(), 64 * (plan.window_groups.len() * COUNT) as u64, "{plan}");
        assert_eq!((plan.devices.len(), plan.points), (2, COUNT), "{plan}");
        let upload = |scalars: Vec<_>, form| DeviceScalars::upload(&accelerator, &scalars, form).expect("upload");
        let canonical = upload(bytes(&vectors[0]), ScalarForm::Canonical);
        let in_montgomery = upload(montgomery(&vectors[1]), ScalarForm::Montgomery);
        let forms = [Scalars::elements(&vectors[0]), (&in_montgomery).into(), (&canonical).into()];
        let forms = forms.map(|scalars| scalars.with_bit_length(BITS));
        let (sums, report) = msm.run_batch(&forms, None).expect("batch");
        assert!(sums == [expected[0], expected[1], expected[0]], "{report}");
        let [one, other] = [0, 1].map(|i| msm.start(forms[i]).expect("start"));
        assert!(other.wait(None).expect("wait").0 == expected[1] && one.wait(None).expect("wait").0 == expected[0]);
        let aborted = msm.run(forms[0], Some(&abort_after(0)));
        assert!(matches!(aborted, Err(Error::Aborted)), "{aborted:?}");
    }
}

/// Fewer devices than there are: the sum is the same, and scalars have to be shared among as many.
#[test]
fn one_device_of_several() {
    let (bases, vectors) = many();
    for accelerator in of_three() {
        let options = MsmOptions { devices: 1, ..MsmOptions::default() };
        let msm = Msm::with_options(&accelerator, &bases.points, options).expect("bases");
        assert_eq!(msm.explain(None).expect("plan").devices.len(), 1);
        let run = |scalars: Scalars<'_>| msm.run(scalars.with_bit_length(BITS), None);
        assert!(run(Scalars::elements(&vectors[0])).expect("run").0 == bases.expected(&vectors[0]));
        let canonical = bytes(&vectors[1]);
        let on_two = DeviceScalars::upload(&accelerator, &canonical, ScalarForm::Canonical).expect("upload");
        let error = run((&on_two).into()).expect_err("shared otherwise").to_string();
        assert!(error.contains("expected shared among 1 devices as the bases are, got among 2"), "{error}");
        let first = accelerator.with_devices(accelerator.devices()[..1].to_vec());
        let on_one = DeviceScalars::upload(&first, &canonical, ScalarForm::Canonical).expect("upload");
        assert!(run((&on_one).into()).expect("run").0 == bases.expected(&vectors[1]));
        let both = Msm::new(&accelerator, &bases.points).expect("bases");
        let error = both.run(&on_one, None).expect_err("shared otherwise").to_string();
        assert!(error.contains("expected shared among 2 devices as the bases are, got among 1"), "{error}");
        let exchanged: Vec<_> = [1, 0, 2].map(|i| accelerator.devices()[i].clone()).into();
        let exchanged = Msm::new(&accelerator.with_devices(exchanged), &bases.points).expect("bases");
        let error = exchanged.run(&on_two, None).expect_err("the other way round").to_string();
        assert!(error.contains("on the device of their bases"), "{error}");
    }
}

#[test]
fn a_cap_on_memory_cuts_chunks_and_bands() {
    every_cap_on_memory(&[(0, false)]);
}

#[test]
#[ignore = "minutes on PoCL: ./test --full"]
fn a_cap_on_memory_of_halves_and_of_affine_additions() {
    every_cap_on_memory(&[(0, true), (2, false), (2, true)]);
}

/// Ever less memory, by the caller's cap: chunks and bands get smaller, the sum stays, of every form. The ways are rounds of affine
/// additions, and whether scalars are halved.
fn every_cap_on_memory(ways: &[(u32, bool)]) {
    let mut rng = rng(SEED + 1);
    let bases = Bases::<G1>::special(1500, &mut rng);
    let scalars: Vec<Fr> = random(1500, &mut rng);
    for accelerator in accelerators_with_devices() {
        let there = DeviceScalars::upload(&accelerator, &montgomery(&scalars), ScalarForm::Montgomery).expect("upload");
        let forms = [Scalars::elements(&scalars), (&there).into()];
        for ((rounds, halved), form) in ways.iter().flat_map(|way| forms.map(|form| (*way, form))) {
            let (mut memory, mut chunks, mut bands) = (u64::MAX, 1, 1);
            loop {
                let (affine_rounds, halved) = (Some(rounds), Some(halved));
                let options = MsmOptions { memory, window: 7, affine_rounds, halved, ..MsmOptions::default() };
                let msm = Msm::with_options(&accelerator, &bases.points, options).expect("bases");
                let plan = match msm.explain(Some(form)) {
                    Err(Error::OutOfMemory { .. }) => break,
                    plan => plan.expect("no other error"),
                };
                assert!(plan.bytes.0 <= memory, "{plan}");
                chunks = chunks.max(1500usize.div_ceil(plan.chunk));
                bands = bands.max(plan.sets.div_ceil(plan.band));
                let (sum, report) = msm.run(form, None).expect("run");
                assert!(sum == bases.expected(&scalars), "{report}\n{plan}");
                memory = plan.bytes.0 - 1;
            }
            // As many as windows, if these are not of halves.
            assert!(chunks >= 4 && bands >= if halved { 15 } else { 30 }, "{chunks} chunks, {bands} bands");
        }
    }
}

/// A device's own cap: bases that do not fit stay on the host, which a forced backend refuses.
#[test]
fn bases_that_do_not_fit_stay_on_the_host() {
    let mut rng = rng(SEED + 2);
    let bases = Bases::<G1>::consecutive(50_000, &mut rng);
    let scalars: Vec<Fr> = (0..50_000).map(|_| Fr::from(rng.gen_range(0..16u64))).collect();
    let promised = Scalars::elements(&scalars).with_bit_length(4);
    for forced in alone(Some(4 << 20)) {
        let error = Msm::new(&forced, &bases.points).expect_err("4.8 MB in 4 MiB");
        assert!(matches!(error, Error::OutOfMemory { .. }), "{error}");
        let free = Accelerator::automatic().expect("settings").with_devices(forced.devices().to_vec());
        let msm = Msm::new(&free, &bases.points).expect("bases stay on the host");
        assert_eq!(msm.table_bytes(), 0);
        let plan = msm.explain(Some(promised)).expect("plan");
        assert!(plan.bytes.0 <= 4 << 20 && plan.bytes.1 == 0 && plan.chunk < 50_000, "{plan}");
        let (sums, report) = msm.run_batch(&[promised; 2], None).expect("batch");
        let expected = bases.expected(&scalars).to_affine();
        assert!(sums.iter().all(|sum| sum.to_affine() == expected), "{report}");
        assert_eq!(report.backend, forced.forced().expect("it is"), "{report}");
        assert!(msm.start(promised).expect("start").wait(None).expect("wait").0.to_affine() == expected);
    }
}

/// Bases that stay on the host go up once for the vectors of a batch, of whatever length and form; with too little memory
/// for that, more than once.
#[test]
fn a_batch_shares_the_upload_of_bases() {
    const COUNT: usize = 20_000;
    let mut rng = rng(SEED + 3);
    let bases = Bases::<G1>::consecutive(COUNT, &mut rng);
    let mut below = |bits| (0..COUNT).map(|_| Fr::from(rng.gen_range(0..1u64 << bits))).collect();
    let vectors: Vec<Vec<Fr>> = (0..10).map(|number| below(number % 5)).collect();
    let expected: Vec<_> = vectors.iter().map(|scalars| bases.expected(scalars)).collect();
    let canonical: Vec<_> = vectors.iter().map(|scalars| bytes(scalars)).collect();
    let form = |number: usize| match number % 2 {
        0 => Scalars::from(&canonical[number]).with_bit_length(5),
        _ => Scalars::elements(&vectors[number]).with_bit_length(4),
    };
    let forms: Vec<_> = (0..10).map(form).collect();
    for forced in alone(Some(64 << 20)) {
        let accelerator = Accelerator::automatic().expect("settings").with_devices(forced.devices().to_vec());
        let others = accelerator.devices()[0].stream().expect("stream").allocate(63 << 20).expect("memory");
        let with = |memory| {
            let options = MsmOptions { memory, window: 7, ..MsmOptions::default() };
            Msm::with_options(&accelerator, &bases.points, options).expect("bases stay on the host")
        };
        let msms = [0, 4 << 20, 2 << 20].map(with);
        drop(others);
        for (number, msm) in msms.iter().enumerate() {
            assert_eq!(msm.table_bytes(), 0);
            for count in [1, 2, 3, 10] {
                let (sums, report) = msm.run_batch(&forms[..count], None).expect("batch");
                assert!(sums == expected[..count] && Some(report.backend) == forced.forced(), "{report}");
                let uploads = (report.traffic.bytes_up as usize / COUNT - 32 * count) / 96;
                assert!(if number == 0 { uploads == 1 } else { uploads <= count }, "{uploads} uploads: {report}");
            }
        }
        let run = |questions: u32| msms[0].run_batch(&forms[..3], Some(&abort_after((1 << questions) - 1)));
        let aborted = (0..20).take_while(|questions| matches!(run(*questions), Err(Error::Aborted))).count();
        assert!(aborted > 1, "{aborted} aborts");
        assert!(msms[0].run_batch(&forms[..3], None).expect("batch").0 == expected[..3]);
    }
}

/// Each sum has buffers of other sizes than the one before: what there is may be in parts that are too small for them, as on
/// PoCL it is with these seeds.
#[test]
fn sums_of_other_lengths_find_memory() {
    let mut first = rng(SEED + 4);
    let bases = Bases::<G1>::consecutive(20_000, &mut first);
    let scalars: Vec<Fr> = (0..20_000).map(|_| Fr::from(first.gen_range(0..16u64))).collect();
    let canonical = bytes(&scalars);
    for seed in [19, 21, 30] {
        let mut rng = rng(seed);
        let counts: Vec<usize> = (0..8).map(|_| rng.gen_range(1 << 11..20_000)).collect();
        for (forced, count) in alone(Some(11 << 20)).iter().flat_map(|forced| counts.iter().map(move |n| (forced, *n)))
        {
            let (sum, report) = msm(forced, &bases.points[..count], &canonical[..count], None).expect("memory");
            assert!(sum == bases.truncated(count).expected(&scalars[..count]), "{report}");
        }
    }
}
