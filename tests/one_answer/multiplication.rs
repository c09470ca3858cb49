//! Multi-scalar multiplication: numbers of 256 bits, reduced or not, promises of their length, points at infinity,
//! nothing at all.

use ff::{Field, PrimeField};
use group::prime::PrimeCurveAffine;
use num_bigint::BigUint;
use proofwarp::msm::{DeviceScalars, Msm, MsmOptions, ScalarForm, Scalars, msm, msm_with_options};
use proofwarp::{Accelerator, Result};

use super::common::points::{Bases, TestCurve};
use super::common::{every_curve, rng};
use super::{common, one_answer};

type Number = [u8; 32];

fn power(bits: u32) -> BigUint {
    BigUint::from(1u32) << bits
}

/// The group's order.
fn order<S: PrimeField>() -> BigUint {
    BigUint::from_bytes_le((-S::ONE).to_repr().as_ref()) + 1u32
}

/// Numbers below 2^256 beside every bound: multiples of the order, halves, powers of two, and where r − s modulo 2^256
/// becomes smaller than s.
fn numbers<S: PrimeField>() -> Vec<Number> {
    let (order, all) = (order::<S>(), power(256));
    let multiples = (0..8u32).map(|k| &order * k);
    let bounds = [&order / 2u32, (&order + &all) / 2u32, &all - &order].into_iter();
    let bounds: Vec<_> = bounds.chain([8, 128, 252, 253, 254, 255, 256].map(power)).chain(multiples).collect();
    let beside = bounds
        .iter()
        .flat_map(|bound| [-1i32, 0, 1].map(|step| &all + bound + step.max(0) as u32 - (-step).max(0) as u32));
    let mut beside: Vec<_> =
        beside.filter(|number| *number >= all && *number < &all * 2u32).map(|number| number - &all).collect();
    beside.sort();
    beside.dedup();
    beside.iter().map(bytes).collect()
}

fn bytes(number: &BigUint) -> Number {
    let mut bytes = number.to_bytes_le();
    bytes.resize(32, 0);
    bytes.try_into().expect("256 bits")
}

/// The number modulo the order.
fn reduced<S: PrimeField>(number: &Number) -> S {
    number.iter().rev().fold(S::ZERO, |sum, byte| sum * S::from(256) + S::from(u64::from(*byte)))
}

/// A way to a sum.
type Way<C> = fn(&Accelerator, &[C], &[Number]) -> Result<<C as PrimeCurveAffine>::Curve>;

fn with<C: TestCurve>(
    accelerator: &Accelerator,
    bases: &[C],
    scalars: &[Number],
    options: MsmOptions,
) -> Result<C::Curve> {
    Msm::with_options(accelerator, bases, options)?.run(scalars, None).map(|(sum, _)| sum)
}

/// Every way that takes canonical numbers.
fn ways<C: TestCurve>() -> Vec<(&'static str, Way<C>)> {
    vec![
        ("msm", |accelerator, bases, scalars| msm(accelerator, bases, scalars, None).map(|(sum, _)| sum)),
        ("a hook", |accelerator, bases, scalars| msm(accelerator, bases, scalars, Some(&|| false)).map(|(sum, _)| sum)),
        ("whole scalars", |accelerator, bases, scalars| {
            let options = MsmOptions { halved: Some(false), ..MsmOptions::default() };
            msm_with_options(accelerator, bases, scalars, options, None).map(|(sum, _)| sum)
        }),
        ("halved scalars", |accelerator, bases, scalars| {
            let options = MsmOptions { halved: Some(true), ..MsmOptions::default() };
            msm_with_options(accelerator, bases, scalars, options, None).map(|(sum, _)| sum)
        }),
        ("narrow windows", |accelerator, bases, scalars| {
            with(accelerator, bases, scalars, MsmOptions { window: 4, halved: Some(false), ..MsmOptions::default() })
        }),
        ("copies", |accelerator, bases, scalars| {
            with(accelerator, bases, scalars, MsmOptions { precompute: 3, ..MsmOptions::default() })
        }),
        ("checked", |accelerator, bases, scalars| {
            Msm::checked(accelerator, bases, MsmOptions::default())?.run(scalars, None).map(|(sum, _)| sum)
        }),
        ("start", |accelerator, bases, scalars| {
            Msm::new(accelerator, bases)?.start(scalars)?.wait(None).map(|(sum, _)| sum)
        }),
        ("on the device", |accelerator, bases, scalars| {
            let msm = Msm::new(accelerator, bases)?;
            if accelerator.devices().is_empty() {
                return msm.run(scalars, None).map(|(sum, _)| sum);
            }
            let there = DeviceScalars::upload(accelerator, scalars, ScalarForm::Canonical)?;
            msm.run(&there, None).map(|(sum, _)| sum)
        }),
        ("batch", |accelerator, bases, scalars| {
            let vectors = [Scalars::canonical(scalars); 3];
            let (sums, _) = Msm::new(accelerator, bases)?.run_batch(&vectors, None)?;
            assert!(sums[1..].iter().all(|sum| *sum == sums[0]));
            Ok(sums[0])
        }),
    ]
}

/// Numbers of 256 bits are scalars modulo the order, whichever way they come.
fn any_number<C: TestCurve>() {
    let numbers = numbers::<C::Scalar>();
    let bases = Bases::<C>::consecutive(numbers.len(), &mut rng(1));
    let scalars: Vec<C::Scalar> = numbers.iter().map(reduced).collect();
    for (way, sum) in ways::<C>() {
        let what = format!("{} by {way}", C::NAME);
        let answer = one_answer(&what, |accelerator| sum(accelerator, &bases.points, &numbers));
        assert_eq!(answer, Ok(bases.expected(&scalars)), "{what}");
    }
}

/// 2^256 times a scalar, as limbs that are not reduced.
fn any_montgomery_form<C: TestCurve>() {
    let all = numbers::<C::Scalar>();
    let bases = Bases::<C>::consecutive(all.len(), &mut rng(2));
    let inverse = C::Scalar::from(2).pow_vartime([256]).invert().expect("r is odd");
    let scalars: Vec<C::Scalar> = all.iter().map(|number| reduced::<C::Scalar>(number) * inverse).collect();
    for halved in [false, true] {
        let options = MsmOptions { halved: Some(halved), ..MsmOptions::default() };
        let answer = one_answer(&format!("{}, Montgomery form, halved: {halved}", C::NAME), |accelerator| {
            let msm = Msm::with_options(accelerator, &bases.points, options)?;
            msm.run(Scalars::montgomery(&all), None).map(|(sum, _)| sum)
        });
        assert_eq!(answer, Ok(bases.expected(&scalars)));
    }
}

/// A number modulo the order is as short as promised, or the call fails.
fn promises<C: TestCurve>() {
    let all = numbers::<C::Scalar>();
    let bases = Bases::<C>::consecutive(1, &mut rng(3));
    let inverse = C::Scalar::from(2).pow_vartime([256]).invert().expect("r is odd");
    for bits in [0, 8, 253, 254, 255, u32::MAX] {
        for number in all.iter().step_by(5) {
            for form in [ScalarForm::Canonical, ScalarForm::Montgomery] {
                let (scalar, vector) = match form {
                    ScalarForm::Canonical => {
                        (reduced::<C::Scalar>(number), Scalars::canonical(std::slice::from_ref(number)))
                    }
                    ScalarForm::Montgomery => {
                        (reduced::<C::Scalar>(number) * inverse, Scalars::montgomery(std::slice::from_ref(number)))
                    }
                };
                let what = format!("{} {form:?} {number:02x?} of {bits} bits", C::NAME);
                let answer = one_answer(&what, |accelerator| {
                    let msm = Msm::new(accelerator, &bases.points)?;
                    msm.run(vector.with_bit_length(bits), None).map(|(sum, _)| sum)
                });
                let length = BigUint::from_bytes_le(scalar.to_repr().as_ref()).bits();
                if length <= u64::from(bits) {
                    assert_eq!(answer, Ok(bases.expected(&[scalar])), "{what}");
                } else {
                    let error = format!("msm: scalars: expected below 2^{bits}, got a longer one");
                    assert_eq!(answer, Err(error), "{what}");
                }
            }
        }
    }
}

/// Infinity, equal and opposite points, nothing at all, lengths that differ.
fn edges<C: TestCurve>() {
    let mut rng = rng(4);
    let special = Bases::<C>::special(14, &mut rng);
    let infinity = Bases::<C>::new(vec![C::Scalar::from(0); 3]);
    for (way, sum) in ways::<C>() {
        for bases in [&special, &infinity, &special.truncated(1), &special.truncated(0)] {
            let scalars = vec![C::Scalar::from(5); bases.points.len()];
            let bytes = common::points::bytes(&scalars);
            let what = format!("{} points of {} by {way}", bases.points.len(), C::NAME);
            let answer = one_answer(&what, |accelerator| sum(accelerator, &bases.points, &bytes));
            assert_eq!(answer, Ok(bases.expected(&scalars)), "{what}");
        }
        let what = format!("lengths of {} by {way}", C::NAME);
        for (bases, scalars) in [(0, 1), (3, 2)] {
            let answer =
                one_answer(&what, |accelerator| sum(accelerator, &special.points[..bases], &vec![[1; 32]; scalars]));
            let error = answer.expect_err(&what);
            assert_eq!(error, format!("msm: number of scalars: expected {bases}, got {scalars}"), "{what}");
        }
    }
}

/// Of vectors that break their promises the first one's is the error.
#[test]
fn the_first_broken_promise_is_named() {
    let bases = Bases::<pasta_curves::EpAffine>::consecutive(2, &mut rng(5));
    let [short, long] = [[bytes(&power(3)); 2], [bytes(&power(70)); 2]];
    for (first, second) in [(5, 60), (60, 5)] {
        let vectors = [Scalars::from(&short[..]).with_bit_length(4), Scalars::from(&long[..]).with_bit_length(first)];
        let vectors = [&vectors[..], &[Scalars::from(&long[..]).with_bit_length(second)]].concat();
        let answer = one_answer("a batch", |accelerator| {
            Msm::new(accelerator, &bases.points)?.run_batch(&vectors, None).map(|(sums, _)| sums)
        });
        assert_eq!(answer, Err(format!("msm: scalars: expected below 2^{first}, got a longer one")));
    }
}

fn check<C: TestCurve>() {
    any_number::<C>();
    any_montgomery_form::<C>();
    edges::<C>();
}

every_curve!(check);

#[test]
fn promises_on_bls12_381_g1() {
    promises::<blstrs::G1Affine>();
}

#[test]
fn promises_on_pallas() {
    promises::<pasta_curves::EpAffine>();
}
