//! Precomputed multiples of the bases: windows that share buckets sum to the same.

use ff::Field;
use proofwarp::Accelerator;
use proofwarp::msm::{DeviceScalars, Msm, MsmOptions, ScalarForm, Scalars};

use crate::common::points::{Bases, TestCurve, bytes, distributions, random};
use crate::common::{accelerators_and_cpu, accelerators_with_devices, rng};

type G1 = blstrs::G1Affine;
type Fr = blstrs::Scalar;

const SEED: u64 = 51;
const COPIES: [u32; 5] = [2, 3, 5, 16, 64];

fn options(precompute: u32, window: u32) -> MsmOptions {
    MsmOptions { precompute, window, ..MsmOptions::default() }
}

/// The bases on the accelerator, in a table of as many copies as were asked for and there are windows for.
fn table<'a, C: TestCurve>(accelerator: &Accelerator, bases: &'a Bases<C>, options: MsmOptions) -> Msm<'a, C> {
    let msm = Msm::with_options(accelerator, &bases.points, options).expect("bases");
    if accelerator.devices().is_empty() {
        assert_eq!(msm.table_bytes(), 0);
        return msm;
    }
    let asked = u64::from(options.precompute.max(1));
    let copies = match msm.explain(None) {
        Ok(plan) if asked > 1 => asked.min(u64::from(plan.window.1.div_ceil(plan.sets))),
        _ => 1,
    };
    assert_eq!(msm.table_bytes(), bases.points.len() as u64 * copies * C::AFFINE_BYTES as u64);
    msm
}

fn check<C: TestCurve>(msm: &Msm<'_, C>, bases: &Bases<C>, scalars: &[C::Scalar], what: &str) {
    let (sum, report) = msm.run(Scalars::elements(scalars), None).expect("run");
    let plan = || msm.explain(None).map_or("on the CPU".into(), |plan| plan.to_string());
    assert!(sum == bases.expected(scalars), "{what}: {report}\n{}", plan());
}

fn copies_of_small_sums<C: TestCurve>(copies: &[u32]) {
    let mut rng = rng(SEED);
    let kinds = [Bases::<C>::consecutive(40, &mut rng), Bases::special(40, &mut rng)];
    let distributions = distributions(40, &mut rng);
    for accelerator in accelerators_and_cpu() {
        for (bases, copies) in kinds.iter().flat_map(|bases| copies.iter().map(move |copies| (bases, copies))) {
            for window in [0, 5] {
                let msm = table(&accelerator, bases, options(*copies, window));
                for (name, scalars) in &distributions {
                    check(&msm, bases, scalars, name);
                }
            }
        }
    }
}

#[test]
fn copies_on_bls12_377_g1() {
    copies_of_small_sums::<proofwarp::curve::bls12_377::G1Affine>(&[4]);
}

#[test]
fn copies_on_bls12_377_g2() {
    copies_of_small_sums::<proofwarp::curve::bls12_377::G2Affine>(&[2]);
}

#[test]
fn copies_on_bls12_381_g1() {
    copies_of_small_sums::<G1>(&COPIES);
}

#[test]
fn copies_on_bls12_381_g2() {
    copies_of_small_sums::<blstrs::G2Affine>(&[3]);
}

#[test]
fn copies_on_bn254_g1() {
    copies_of_small_sums::<halo2curves::bn256::G1Affine>(&[2, 64]);
}

#[test]
fn copies_on_bn254_g2() {
    copies_of_small_sums::<halo2curves::bn256::G2Affine>(&[5]);
}

#[test]
fn copies_on_pallas() {
    copies_of_small_sums::<pasta_curves::EpAffine>(&[3]);
}

#[test]
fn copies_on_vesta() {
    copies_of_small_sums::<pasta_curves::EqAffine>(&[16]);
}

/// Every number of copies divides the windows otherwise: all of them, and windows narrow and wide.
#[test]
fn every_number_of_copies() {
    let mut rng = rng(SEED + 1);
    let bases = Bases::<G1>::special(20, &mut rng);
    for accelerator in accelerators_with_devices() {
        for copies in 1..=64 {
            let window = [4, 7, 11][copies as usize % 3];
            let msm = table(&accelerator, &bases, options(copies, window));
            check(&msm, &bases, &random(20, &mut rng), &format!("{copies} copies, windows of {window} bits"));
            let plan = msm.explain(None).expect("plan");
            assert_eq!((plan.window.0, plan.sets), (window, plan.window.1.div_ceil(copies)), "{plan}");
        }
    }
}

#[test]
fn lengths() {
    let mut rng = rng(SEED + 2);
    let all = Bases::<G1>::consecutive(1025, &mut rng);
    for accelerator in accelerators_and_cpu() {
        for (count, copies) in [1, 2, 3, 31, 32, 33, 255, 257, 1025].into_iter().zip(COPIES.into_iter().cycle()) {
            let bases = all.truncated(count);
            let msm = table(&accelerator, &bases, options(copies, 0));
            check(&msm, &bases, &random(count, &mut rng), "random");
        }
        assert_eq!(table(&accelerator, &all.truncated(0), options(5, 0)).table_bytes(), 0);
        check(&table(&accelerator, &all.truncated(0), options(5, 0)), &all.truncated(0), &[], "none");
    }
}

/// Short scalars reach some of the copies only.
#[test]
fn short_scalars() {
    let mut rng = rng(SEED + 3);
    let bases = Bases::<G1>::special(30, &mut rng);
    for accelerator in accelerators_and_cpu() {
        for (copies, window) in [(2, 0), (3, 8), (5, 4), (16, 0), (64, 6), (64, 0)] {
            let msm = table(&accelerator, &bases, options(copies, window));
            for bits in [0, 1, 8, 31, 63, 64, 65, 84, 85, 86, 127, 128, 129, 200, 254, 255] {
                let scalars: Vec<Fr> = (0..30).map(|_| crate::common::points::below(bits, &mut rng)).collect();
                let (sum, report) = msm.run(Scalars::elements(&scalars).with_bit_length(bits), None).expect("short");
                assert!(sum == bases.expected(&scalars), "{copies} copies, {bits} bits, window {window}: {report}");
            }
            let long = vec![Fr::random(&mut rng); 30];
            let error = msm.run(Scalars::elements(&long).with_bit_length(64), None).expect_err("too long");
            assert!(error.to_string().contains("below 2^64"), "{error}");
        }
    }
}

#[test]
fn batches_with_rounds_and_scalars_on_devices() {
    let mut rng = rng(SEED + 4);
    let bases = Bases::<G1>::special(150, &mut rng);
    let vectors: Vec<Vec<Fr>> = (0..5).map(|_| random(150, &mut rng)).collect();
    for accelerator in accelerators_with_devices() {
        let upload = |scalars: &Vec<Fr>| DeviceScalars::upload(&accelerator, &bytes(scalars), ScalarForm::Canonical);
        let there: Vec<_> = vectors.iter().map(|scalars| upload(scalars).expect("upload")).collect();
        for (copies, rounds) in [(2, 0), (3, 1), (5, 3), (16, 5)] {
            let msm = table(&accelerator, &bases, MsmOptions { affine_rounds: Some(rounds), ..options(copies, 6) });
            let forms: Vec<Scalars<'_>> = there.iter().map(Scalars::from).collect();
            let (sums, report) = msm.run_batch(&forms, None).expect("batch");
            for (sum, scalars) in sums.iter().zip(&vectors) {
                assert!(*sum == bases.expected(scalars), "{copies} copies, {rounds} rounds: {report}");
            }
        }
    }
}

/// Pieces of a table: the copies of a base are all bases apart, not all of a piece.
#[test]
#[ignore = "a minute on PoCL: ./test --full"]
fn little_memory() {
    let mut rng = rng(SEED + 5);
    let bases = Bases::<G1>::consecutive(700, &mut rng);
    let scalars: Vec<Fr> = random(700, &mut rng);
    for accelerator in accelerators_with_devices() {
        for copies in COPIES {
            let (mut memory, mut cut) = (u64::MAX, (false, false));
            loop {
                let msm = table(&accelerator, &bases, MsmOptions { memory, ..options(copies, 6) });
                let Ok(plan) = msm.explain(Some(Scalars::elements(&scalars))) else { break };
                assert!(plan.bytes.0 <= memory, "{plan}");
                cut = (cut.0 || plan.chunk < 700, cut.1 || plan.band < plan.sets || plan.sets == 1);
                check(&msm, &bases, &scalars, "in pieces");
                // Less each time, until the smallest piece takes more.
                memory = plan.bytes.0 - 1;
            }
            assert_eq!(cut, (true, true), "{copies} copies are never cut in chunks and bands");
        }
    }
}
