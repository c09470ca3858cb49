//! Bases that nobody vouches for: good ones pass, and of bad ones the first is named, with what is wrong, on
//! every backend and on the CPU.

use ff::{Field, PrimeField};
use group::prime::PrimeCurveAffine;
use group::{Curve, Group, GroupEncoding};
use halo2curves::serde::SerdeObject;
use halo2curves::{CurveAffine, bn256};
use proofwarp::curve::short_weierstrass::{Affine, Coordinate, ShortWeierstrass};
use proofwarp::curve::{MsmCurve, bls12_377};
use proofwarp::kernels::{self, FieldDescription};
use proofwarp::msm::{Msm, MsmOptions};
use proofwarp::{Accelerator, BackendKind, Error};
use rand::RngCore;
use rand_chacha::ChaCha8Rng;

use crate::common::{accelerators_and_cpu, accelerators_with_devices, alone, rng};

const REDUCED: &str = "coordinates below the field's modulus";
const ON_CURVE: &str = "a point on the curve";
const IN_SUBGROUP: &str = "a point of the prime-order subgroup";

/// Curves with what it takes to make bad points.
trait TestCurve: MsmCurve<Curve: Curve<AffineRepr = Self>> {
    /// The point that lies in memory as the device has it, whatever it is.
    fn from_memory(bytes: &[u8]) -> Self;

    /// A random point on the curve, of any order; `None` where all have the same.
    fn any_order(_: &mut ChaCha8Rng) -> Option<Self> {
        None
    }
}

/// Random bytes as compressed points until one is on the curve.
macro_rules! blst_curve {
    ($affine:ty, $bytes:literal) => {
        impl TestCurve for $affine {
            fn from_memory(bytes: &[u8]) -> Self {
                assert_eq!(bytes.len(), size_of::<Self>());
                // SAFETY: the length was checked, and all bit patterns are values of blst's struct of limbs.
                unsafe { std::ptr::read_unaligned(bytes.as_ptr().cast()) }
            }

            fn any_order(rng: &mut ChaCha8Rng) -> Option<Self> {
                let mut bytes = [0; $bytes];
                loop {
                    rng.fill_bytes(&mut bytes);
                    // Compressed, not infinity, and low enough to be below the modulus often.
                    bytes[0] = bytes[0] & 0x3f | 0x80;
                    let point: Option<Self> = Self::from_compressed_unchecked(&bytes).into();
                    if let Some(point) = point.filter(|point| bool::from(point.is_on_curve())) {
                        return Some(point);
                    }
                }
            }
        }
    };
}

macro_rules! pasta_curve {
    ($affine:ty) => {
        impl TestCurve for $affine {
            fn from_memory(bytes: &[u8]) -> Self {
                assert_eq!(bytes.len(), size_of::<Self>());
                // SAFETY: the length was checked, and the type is `repr(C)` of x and y, arrays of limbs.
                unsafe { std::ptr::read_unaligned(bytes.as_ptr().cast()) }
            }
        }
    };
}

blst_curve!(blstrs::G1Affine, 48);
blst_curve!(blstrs::G2Affine, 96);
pasta_curve!(pasta_curves::EpAffine);
pasta_curve!(pasta_curves::EqAffine);

impl<C: ShortWeierstrass> TestCurve for Affine<C> {
    fn from_memory(bytes: &[u8]) -> Self {
        assert_eq!(bytes.len(), size_of::<Self>());
        // SAFETY: the length was checked, and the type is `repr(C)` of x and y, for which all bit patterns are values.
        unsafe { std::ptr::read_unaligned(bytes.as_ptr().cast()) }
    }

    fn any_order(rng: &mut ChaCha8Rng) -> Option<Self> {
        loop {
            // An encoded x is a point without flags.
            let point: Option<Self> = Self::from_bytes_unchecked(&C::Base::random(&mut *rng).encode()).into();
            if point.is_some() {
                return point;
            }
        }
    }
}

impl TestCurve for bn256::G1Affine {
    fn from_memory(bytes: &[u8]) -> Self {
        Self::from_raw_bytes_unchecked(bytes)
    }
}

impl TestCurve for halo2curves::grumpkin::G1Affine {
    fn from_memory(bytes: &[u8]) -> Self {
        Self::from_raw_bytes_unchecked(bytes)
    }
}

impl TestCurve for bn256::G2Affine {
    fn from_memory(bytes: &[u8]) -> Self {
        Self::from_raw_bytes_unchecked(bytes)
    }

    fn any_order(rng: &mut ChaCha8Rng) -> Option<Self> {
        loop {
            let x = bn256::Fq2::random(&mut *rng);
            let y: Option<bn256::Fq2> = (x.square() * x + Self::b()).sqrt().into();
            if let Some(y) = y {
                return Self::from_xy(x, y).into();
            }
        }
    }
}

/// Multiples of the generator, every seventh infinity.
fn good<C: TestCurve>(count: usize) -> Vec<C> {
    let multiples = std::iter::successors(Some(C::Curve::generator()), |point| Some(*point + C::generator()));
    let points = multiples.enumerate().map(|(i, point)| if i % 7 == 3 { C::Curve::identity() } else { point });
    points.take(count).map(|point| point.to_affine()).collect()
}

/// A point with its memory changed.
fn changed<C: TestCurve>(point: C, change: impl Fn(&mut [u8])) -> C {
    let mut bytes = C::to_device(&[point]).into_owned();
    change(&mut bytes);
    C::from_memory(&bytes)
}

/// The modulus's bytes in memory.
fn modulus<C: MsmCurve>() -> Vec<u8> {
    let curve = kernels::registry::curves().find(|curve| curve.name == C::NAME).expect("a curve");
    FieldDescription::new(curve.coordinates).modulus.iter().flat_map(|limb| limb.to_le_bytes()).collect()
}

/// The same point but for p added to the coefficient that starts at a byte: right modulo p, and not reduced.
fn not_reduced<C: TestCurve>(point: C, at: usize) -> C {
    changed(point, |bytes| {
        let mut carry = 0;
        for (byte, p) in bytes[at..].iter_mut().zip(modulus::<C>()) {
            carry += u16::from(*byte) + u16::from(p);
            *byte = carry as u8;
            carry >>= 8;
        }
    })
}

/// Points that are not on the curve: one coefficient differs from a point's.
fn off_curve<C: TestCurve>(point: C) -> Vec<C> {
    let coefficients = (0..C::AFFINE_BYTES).step_by(modulus::<C>().len());
    coefficients.map(|at| changed(point, |bytes| bytes[at] ^= 1)).collect()
}

/// [r]P, by double-and-add: what P has outside the subgroup. (Products by scalars suppose P inside.)
fn times_order<C: TestCurve>(point: C) -> C {
    let minus_one = (-C::Scalar::ONE).to_repr();
    let bits = minus_one.as_ref().iter().rev().flat_map(|byte| (0..8).rev().map(move |i| byte >> i & 1));
    let minus_one = bits.fold(C::Curve::identity(), |sum, bit| {
        let double = sum.double();
        if bit == 1 { double + point } else { double }
    });
    (minus_one + point).to_affine()
}

/// Points on the curve but outside its subgroup: random ones, such without a part inside, and sums of both.
fn outside<C: TestCurve>(rng: &mut ChaCha8Rng) -> Vec<C> {
    let random: Vec<C> = std::iter::from_fn(|| C::any_order(rng)).take(4).collect();
    let pure: Vec<C> = random.iter().map(|point| times_order(*point)).collect();
    assert!(pure.iter().all(|point| !bool::from(point.is_identity())), "random points are outside");
    let sums = pure.iter().map(|point| (point.to_curve() + C::generator()).to_affine());
    sums.chain(random).chain(pure.clone()).collect()
}

/// Refused for base `index`, of which something else was expected.
fn refused<C: TestCurve>(accelerator: &Accelerator, bases: &[C], index: usize, expectation: &str) {
    match Msm::checked(accelerator, bases, MsmOptions::default()).map(drop) {
        Err(Error::Invalid { place: "msm", what, expected, actual }) => {
            assert_eq!((what, &*expected), (format!("base {index}"), expectation), "{} of {}", C::NAME, bases.len());
            assert!(!actual.is_empty());
        }
        other => panic!("{}, base {index} of {}, {expectation}: {other:?}", C::NAME, bases.len()),
    }
}

fn good_ones_pass<C: TestCurve>(accelerator: &Accelerator) {
    let bases = good::<C>(100);
    for count in [0, 1, 4, 100] {
        let msm = Msm::checked(accelerator, &bases[..count], MsmOptions::default()).expect("they are good");
        let mut one = [0; 32];
        one[0] = 1;
        let (sum, _) = msm.run(&vec![one; count], None).expect("sum");
        assert_eq!(sum, bases[..count].iter().fold(C::Curve::identity(), |sum, base| sum + base));
    }
}

/// Each bad point alone, last, and before others that are bad in other ways.
fn bad_ones_are_named<C: TestCurve>(accelerator: &Accelerator) {
    let good = good::<C>(100);
    let coefficients = (0..C::AFFINE_BYTES).step_by(modulus::<C>().len());
    let not_reduced: Vec<C> = coefficients.map(|at| not_reduced(good[1], at)).collect();
    let outside = outside::<C>(&mut rng(3));
    let bad = [(not_reduced, REDUCED), (off_curve(good[1]), ON_CURVE), (outside, IN_SUBGROUP)];
    for (points, expectation) in &bad {
        for point in points {
            refused(accelerator, &[*point], 0, expectation);
            let mut bases = good.clone();
            bases[99] = *point;
            refused(accelerator, &bases, 99, expectation);
        }
        for others in bad.iter().filter_map(|(points, _)| points.first()) {
            let Some(point) = points.first() else { continue };
            let mut bases = good.clone();
            (bases[17], bases[18], bases[70]) = (*point, *others, *others);
            refused(accelerator, &bases, 17, expectation);
        }
    }
}

/// Not infinity: zero, but for p in place of 0.
fn infinity_has_one_form<C: TestCurve>(accelerator: &Accelerator) {
    let infinity = C::identity();
    let y = C::AFFINE_BYTES / 2;
    refused(accelerator, &[infinity, not_reduced(infinity, 0)], 1, REDUCED);
    refused(accelerator, &[infinity, not_reduced(infinity, y)], 1, REDUCED);
    refused(accelerator, &[infinity, changed(infinity, |bytes| bytes[y] = 1)], 1, ON_CURVE);
}

fn check<C: TestCurve>() {
    for accelerator in accelerators_and_cpu() {
        good_ones_pass::<C>(&accelerator);
        bad_ones_are_named::<C>(&accelerator);
        infinity_has_one_form::<C>(&accelerator);
    }
}

crate::common::every_curve!(check);

/// The tests above have points outside the subgroup of these curves, and of no others.
#[test]
fn curves_with_points_outside() {
    let mut rng = rng(3);
    assert!(!outside::<bls12_377::G1Affine>(&mut rng).is_empty());
    assert!(!outside::<bls12_377::G2Affine>(&mut rng).is_empty());
    assert!(!outside::<blstrs::G1Affine>(&mut rng).is_empty());
    assert!(!outside::<blstrs::G2Affine>(&mut rng).is_empty());
    assert!(!outside::<bn256::G2Affine>(&mut rng).is_empty());
}

/// Points of order 2 and 3, which the cube roots of unity only permute, or leave as they are.
#[test]
fn points_of_small_order_of_bls12_377() {
    use bls12_377::{Fq, G1Affine};
    let [zero, one] = [Fq::ZERO, Fq::ONE];
    for point in [G1Affine { x: -one, y: zero }, G1Affine { x: zero, y: one }, G1Affine { x: zero, y: -one }] {
        assert!(bool::from((point.to_curve().double().double() + point.to_curve().double()).is_identity()));
        for accelerator in accelerators_and_cpu() {
            refused(&accelerator, &[G1Affine::generator(), point], 1, IN_SUBGROUP);
        }
    }
}

/// Points of order 3, which the cube roots of unity only permute, or leave as they are.
#[test]
fn points_of_small_order() {
    let two = blstrs::Fp::from(2);
    for y in [two, -two] {
        let point = blstrs::G1Affine::from_raw_unchecked(blstrs::Fp::ZERO, y, false);
        assert_eq!(blstrs::G1Projective::from(point).double(), -blstrs::G1Projective::from(point));
        for accelerator in accelerators_and_cpu() {
            refused(&accelerator, &[blstrs::G1Affine::generator(), point], 1, IN_SUBGROUP);
        }
    }
}

/// Little memory makes small chunks: a quarter of it for each of two.
#[test]
fn chunks() {
    const MEMORY: usize = 64 << 10;
    let chunk = MEMORY / 4 / pasta_curves::EpAffine::AFFINE_BYTES;
    for accelerator in alone(Some(MEMORY as u64)) {
        for count in [chunk - 1, chunk, chunk + 1, 2 * chunk, 3 * chunk + 1] {
            let mut bases = good::<pasta_curves::EpAffine>(count);
            let bad = off_curve(bases[0])[0];
            Msm::checked(&accelerator, &bases, MsmOptions::default()).expect("they are good");
            for index in [count - 1, count / 2, count / 3, 0] {
                bases[index] = bad;
                refused(&accelerator, &bases, index, ON_CURVE);
            }
        }
    }
}

/// A device that fails is no reason to trust: the CPU checks, or where it must not the failure is the answer.
#[test]
fn devices_that_fail() {
    let mut bases = good::<pasta_curves::EpAffine>(100);
    bases[50] = off_curve(bases[0])[0];
    for forced in alone(None) {
        let fail = |accelerator: &Accelerator| accelerator.devices()[0].inject_launch_fault(0);
        fail(&forced);
        let error = Msm::checked(&forced, &bases, MsmOptions::default()).map(drop).expect_err("the device fails");
        assert!(matches!(error, Error::Device { .. }), "{error}");
        let unforced = Accelerator::automatic().expect("settings").with_devices(forced.devices().to_vec());
        fail(&unforced);
        refused(&unforced, &bases, 50, ON_CURVE);
        assert_ne!(forced.forced(), Some(BackendKind::Cpu));
    }
}

/// Of faults in several devices' shares the first is named; one device stands for two.
#[test]
fn shares_of_devices() {
    const COUNT: usize = (1 << 15) + 2;
    let mut bases = good::<pasta_curves::EqAffine>(COUNT);
    let bad = [off_curve(bases[0])[0], not_reduced(bases[0], 0)];
    let pairs: Vec<Accelerator> = accelerators_with_devices()
        .iter()
        .map(|accelerator| accelerator.with_devices(vec![accelerator.devices()[0].clone(); 2]))
        .collect();
    for accelerator in &pairs {
        Msm::checked(accelerator, &bases, MsmOptions::default()).expect("they are good");
    }
    // The first share ends at COUNT / 2.
    for (index, bad, expectation) in
        [(COUNT - 1, bad[0], ON_CURVE), (COUNT / 2, bad[1], REDUCED), (COUNT / 2 - 1, bad[0], ON_CURVE)]
    {
        bases[index] = bad;
        for accelerator in &pairs {
            refused(accelerator, &bases, index, expectation);
        }
    }
}
