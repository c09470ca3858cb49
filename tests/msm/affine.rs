//! Rounds of batched affine additions: however rows are paired, the sum is right.

use ff::{Field, PrimeField};
use group::Curve;
use proofwarp::Accelerator;
use proofwarp::msm::{Msm, MsmOptions, Scalars};
use rand_chacha::ChaCha8Rng;

use crate::common::points::{Bases, TestCurve, below, bytes, distributions, random};
use crate::common::{accelerators_and_cpu, accelerators_with_devices, rng};

type G1 = blstrs::G1Affine;
type Fr = blstrs::Scalar;

const SEED: u64 = 41;

/// Every number of rounds with every window, each pair of which a test takes.
const ROUNDS: [u32; 6] = [1, 2, 3, 4, 5, 8];
const WINDOWS: [u32; 3] = [4, 7, 12];

fn options(window: u32, rounds: u32) -> MsmOptions {
    MsmOptions { window, affine_rounds: Some(rounds), halved: Some(false), ..MsmOptions::default() }
}

fn check<C: TestCurve>(accelerator: &Accelerator, bases: &Bases<C>, scalars: &[C::Scalar], what: &str, o: MsmOptions) {
    let msm = Msm::with_options(accelerator, &bases.points, o).expect("bases");
    let (sum, report) = msm.run(Scalars::elements(scalars), None).expect("run");
    let rounds = msm.explain(None).map_or(o.affine_rounds, |plan| Some(plan.affine_rounds));
    assert_eq!(rounds, o.affine_rounds, "as many rounds as asked for");
    assert!(sum == bases.expected(scalars), "{} of {} points, {what}, {o:?}: {report}", C::NAME, scalars.len());
}

/// Bases and scalars by what they are.
type Case<C, S> = (&'static str, Bases<C>, Vec<S>);

/// Bases and scalars that make rows which rounds find hard.
fn hard<C: TestCurve>(count: usize, rng: &mut ChaCha8Rng) -> Vec<Case<C, C::Scalar>> {
    let one = C::Scalar::random(&mut *rng);
    let equal = vec![one; count];
    let points = Bases::<C>::new(vec![one, -one, C::Scalar::ZERO, C::Scalar::ONE]);
    let of = |picks: &dyn Fn(usize) -> usize| Bases::<C> {
        points: (0..count).map(|i| points.points[picks(i)]).collect(),
        logarithms: (0..count).map(|i| points.logarithms[picks(i)]).collect(),
    };
    let (different, special) = (Bases::<C>::consecutive(count, rng), Bases::<C>::special(count, rng));
    let alternating = (0..count).map(|i| if i % 2 == 0 { one } else { -one }).collect();
    let ascending = (0..count).map(|i| C::Scalar::from(i as u64)).collect();
    vec![
        ("P and −P, which cancel", of(&|i| i % 2), equal.clone()),
        ("P, P, −P, −P: doublings, then sums that cancel", of(&|i| i / 2 % 2), equal.clone()),
        ("one base, doublings only", of(&|_| 0), equal.clone()),
        ("one base, random scalars", of(&|_| 0), random(count, rng)),
        ("one base, s and −s", of(&|_| 0), alternating),
        ("infinity in every pair", of(&|i| 2 + i % 2), equal.clone()),
        ("infinity alone", of(&|_| 2), equal.clone()),
        ("infinity once", of(&|i| if i == count / 2 { 2 } else { 3 }), random(count, rng)),
        ("special points, one bucket a window", special.clone(), equal.clone()),
        ("special points, ascending scalars", special, ascending),
        ("one bucket of all", different.clone(), vec![C::Scalar::ONE; count]),
        ("one bucket of all, negative", different, vec![-C::Scalar::ONE; count]),
    ]
}

fn hard_rows<C: TestCurve>(count: usize, rounds: &[u32], windows: &[u32]) {
    let mut rng = rng(SEED);
    let hard = hard::<C>(count, &mut rng);
    let different = Bases::<C>::consecutive(count, &mut rng);
    let distributions = distributions::<C::Scalar>(count, &mut rng);
    for accelerator in accelerators_and_cpu() {
        for rounds in rounds {
            for window in windows {
                let options = options(*window, *rounds);
                for (what, bases, scalars) in &hard {
                    check(&accelerator, bases, scalars, what, options);
                }
                for (what, scalars) in &distributions {
                    check(&accelerator, &different, scalars, what, options);
                }
            }
        }
    }
}

#[test]
fn hard_rows_in_narrow_windows() {
    hard_rows::<G1>(193, &ROUNDS, &WINDOWS[..1]);
}

#[test]
fn hard_rows_in_wide_windows() {
    hard_rows::<G1>(193, &ROUNDS, &WINDOWS[1..2]);
    hard_rows::<G1>(500, &[1, 4], &WINDOWS[2..]);
}

#[test]
fn hard_rows_on_bn254() {
    hard_rows::<halo2curves::bn256::G1Affine>(193, &[1, 5], &[7]);
}

#[test]
fn hard_rows_of_g2() {
    hard_rows::<blstrs::G2Affine>(70, &[3], &[4]);
}

#[test]
fn lengths_around_powers_of_two() {
    let mut rng = rng(SEED + 1);
    let consecutive = Bases::<G1>::consecutive(4097, &mut rng);
    let special = Bases::<G1>::special(4097, &mut rng);
    for accelerator in accelerators_and_cpu() {
        for (number, count) in [1, 2, 3, 7, 8, 9, 31, 32, 33, 63, 64, 65].into_iter().enumerate() {
            for rounds in ROUNDS {
                let options = options(WINDOWS[number % 2], rounds);
                check(&accelerator, &consecutive.truncated(count), &random(count, &mut rng), "random", options);
                let equal = vec![Fr::random(&mut rng); count];
                check(&accelerator, &special.truncated(count), &equal, "equal", options);
            }
        }
        for (number, count) in [2047, 2048, 2049, 4095, 4096, 4097].into_iter().enumerate() {
            let options = options(WINDOWS[number % 3], ROUNDS[number % 5]);
            check(&accelerator, &consecutive.truncated(count), &random(count, &mut rng), "random", options);
            check(&accelerator, &special.truncated(count), &random(count, &mut rng), "special", options);
        }
    }
}

/// Few points for rounds enough that longer rows cost nothing: all windows that can be narrow are.
const SMALL_POINTS: usize = 60;

fn narrow(window: u32) -> MsmOptions {
    options(window, 8u32.saturating_sub(window).max(window % 3))
}

/// Short scalars: random, the largest, one in many places, and where all bits are allowed what is at the ends.
fn ends_of_range<S: PrimeField>(bits: u32, rng: &mut ChaCha8Rng) -> Vec<S> {
    let mut scalars: Vec<S> = (0..SMALL_POINTS).map(|_| below(bits, rng)).collect();
    scalars[..20].fill(below(bits, rng));
    scalars[20] = (0..bits.min(S::NUM_BITS - 1)).fold(S::ZERO, |scalar, _| scalar.double() + S::ONE);
    if bits == S::NUM_BITS {
        scalars[21..24].copy_from_slice(&[-S::ONE, S::TWO_INV, S::TWO_INV - S::ONE]);
    }
    scalars
}

/// Windows of every width, the highest of which have a bit less, as many as leave no bit to spare.
fn windows_of_two_widths<C: TestCurve>(bits: &[u32]) {
    let mut rng = rng(SEED + 9);
    let bases = Bases::<C>::consecutive(SMALL_POINTS, &mut rng);
    for (accelerator, window) in accelerators_with_devices().iter().flat_map(|a| (4..=13).map(move |w| (a, w))) {
        let msm = Msm::with_options(accelerator, &bases.points, narrow(window)).expect("bases");
        for &bits in bits {
            let scalars = ends_of_range::<C::Scalar>(bits, &mut rng);
            let promised = Scalars::elements(&scalars).with_bit_length(bits);
            let plan = msm.explain(Some(promised)).expect("plan");
            let (windows, needed) = (plan.window.1, (bits + 1).min(C::Scalar::NUM_BITS));
            assert_eq!(plan.narrow_windows, (windows * window - needed).min(windows - 1), "{plan}");
            let (sum, report) = msm.run(promised, None).expect("run");
            assert!(sum == bases.expected(&scalars), "{} with {bits} bits: {report}\n{plan}", C::NAME);
        }
    }
}

#[test]
fn windows_of_two_widths_on_bls12_381() {
    windows_of_two_widths::<G1>(&[9, 64, 255]);
}

#[test]
fn windows_of_two_widths_on_bn254() {
    windows_of_two_widths::<halo2curves::bn256::G1Affine>(&[127, 253, 254]);
}

/// So many buckets that a work-item each reduces the segments.
#[test]
fn many_segments_of_two_widths() {
    let mut rng = rng(SEED + 11);
    let bases = Bases::<halo2curves::bn256::G1Affine>::consecutive(SMALL_POINTS, &mut rng);
    let scalars = ends_of_range(254, &mut rng);
    for accelerator in accelerators_with_devices() {
        let msm = Msm::with_options(&accelerator, &bases.points, narrow(18)).expect("bases");
        let plan = msm.explain(None).expect("plan");
        assert_eq!((plan.narrow_windows, plan.rows.0), (14, 1 << 20), "{plan}");
        let (sum, report) = msm.run(Scalars::elements(&scalars), None).expect("run");
        assert!(sum == bases.expected(&scalars), "{report}\n{plan}");
    }
}

/// Bands start and end among windows of either width.
#[test]
fn bands_of_two_widths() {
    let mut rng = rng(SEED + 10);
    let bases = Bases::<G1>::consecutive(SMALL_POINTS, &mut rng);
    let scalars = ends_of_range::<Fr>(255, &mut rng);
    for (accelerator, window) in accelerators_with_devices().iter().flat_map(|a| [6, 10, 11].map(|w| (a, w))) {
        let (mut memory, mut bands) = (u64::MAX, Vec::new());
        loop {
            let msm = Msm::with_options(accelerator, &bases.points, MsmOptions { memory, ..narrow(window) });
            let msm = msm.expect("bases");
            let Ok(plan) = msm.explain(None) else { break };
            let (sum, report) = msm.run(Scalars::elements(&scalars), None).expect("run");
            assert!(sum == bases.expected(&scalars), "{report}\n{plan}");
            bands.extend((plan.narrow_windows > 0).then_some(plan.band));
            memory = plan.bytes.0 - 1;
        }
        assert!(bands.len() > 3 && bands.is_sorted_by(|a, b| a > b), "{bands:?}");
    }
}

/// One row a window, so many pairs that a group of a device with two compute units takes them in two turns.
#[test]
fn long_rows() {
    let mut rng = rng(SEED + 2);
    let count = 20_003;
    let bases = Bases::<G1>::consecutive(count, &mut rng);
    let scalars = vec![Fr::from(0x1234_5678_1234_5678); count];
    for accelerator in accelerators_and_cpu() {
        for rounds in [1, 4] {
            let msm = Msm::with_options(&accelerator, &bases.points, options(4, rounds)).expect("bases");
            let (sum, report) = msm.run(Scalars::elements(&scalars).with_bit_length(61), None).expect("run");
            assert!(sum == bases.expected(&scalars), "{rounds} rounds: {report}");
        }
    }
}

/// Two bases with the same x in one pair among chords: opposite, and equal, at every place of the row.
#[test]
fn one_doubtful_pair_among_chords() {
    let mut rng = rng(SEED + 3);
    let chords = Bases::<G1>::consecutive(70, &mut rng);
    let scalars = vec![Fr::from(5); 70];
    for accelerator in accelerators_and_cpu() {
        for place in [0, 1, 2, 31, 62, 63, 64, 67] {
            for opposite in [true, false] {
                let mut bases = chords.clone();
                let (point, logarithm) = (bases.points[place], bases.logarithms[place]);
                bases.points[place + 1] = if opposite { -point } else { point };
                bases.logarithms[place + 1] = if opposite { -logarithm } else { logarithm };
                for rounds in [1, 2, 5] {
                    check(&accelerator, &bases, &scalars, "one pair of the same x", options(4, rounds));
                }
            }
        }
    }
}

/// Groups list pairs in any order; the sum is the same, bit by bit.
#[test]
fn results_repeat() {
    let mut rng = rng(SEED + 4);
    let bases = Bases::<G1>::special(700, &mut rng);
    let scalars = bytes(&random::<Fr>(700, &mut rng));
    for accelerator in accelerators_with_devices() {
        let msm = Msm::with_options(&accelerator, &bases.points, options(5, 3)).expect("bases");
        let run = || msm.run(&scalars, None).expect("run").0.to_affine().to_uncompressed();
        let first = run();
        assert!((0..20).all(|_| run() == first), "{accelerator:?}");
    }
}

/// Scratch of one call is nothing to the next: large and small ones in turn on the same streams.
#[test]
fn calls_leave_nothing_behind() {
    let mut rng = rng(SEED + 5);
    let bases = Bases::<G1>::special(600, &mut rng);
    for accelerator in accelerators_with_devices() {
        for count in [600, 3, 599, 1, 64, 600, 2] {
            let scalars: Vec<Fr> = random(count, &mut rng);
            check(&accelerator, &bases.truncated(count), &scalars, "in turn", options(6, 2 + (count as u32) % 3));
            check(&accelerator, &bases.truncated(count), &vec![-Fr::ONE; count], "in turn", options(4, 5));
        }
    }
}
