//! The types of BLS12-377 against arkworks': fields, points, encodings and sums on the CPU.

mod common;

use ark_ec::short_weierstrass::{Affine as ArkAffine, Projective as ArkProjective, SWCurveConfig};
use ark_ec::{AffineRepr, CurveGroup, VariableBaseMSM};
use ark_ff::{AdditiveGroup, FftField, Field as ArkField, UniformRand};
use ark_serialize::{CanonicalDeserialize, CanonicalSerialize};
use ff::{Field, PrimeField};
use group::prime::PrimeCurveAffine;
use group::{Curve, Group, GroupEncoding};
use proofwarp::curve::MsmCurve;
use proofwarp::curve::bls12_377::{Fq, Fq2, Fr, G1, G2};
use proofwarp::curve::short_weierstrass::{Affine, Coordinate, Projective, ShortWeierstrass};
use rand::Rng;

/// Bytes of arkworks' value: canonical little-endian numbers.
fn encoded(value: &impl CanonicalSerialize) -> Vec<u8> {
    let mut bytes = Vec::new();
    value.serialize_compressed(&mut bytes).expect("a vector takes all bytes");
    bytes
}

/// A field here and in arkworks.
trait Pair: Field {
    type Ark: ArkField;

    fn encode(&self) -> Vec<u8>;
    fn decode(bytes: &[u8]) -> Option<Self>;

    fn from_ark(element: &Self::Ark) -> Self {
        Self::decode(&encoded(element)).expect("a canonical element")
    }
    fn to_ark(&self) -> Self::Ark {
        Self::Ark::deserialize_compressed(&*self.encode()).expect("a canonical element")
    }
}

macro_rules! prime_pair {
    ($type:ty, $ark:ty) => {
        impl Pair for $type {
            type Ark = $ark;

            fn encode(&self) -> Vec<u8> {
                self.to_repr().as_ref().to_vec()
            }
            fn decode(bytes: &[u8]) -> Option<Self> {
                let mut repr = <Self as PrimeField>::Repr::default();
                repr.as_mut().copy_from_slice(bytes);
                Self::from_repr(repr).into()
            }
        }
    };
}

prime_pair!(Fr, ark_bls12_377::Fr);
prime_pair!(Fq, ark_bls12_377::Fq);

impl Pair for Fq2 {
    type Ark = ark_bls12_377::Fq2;

    fn encode(&self) -> Vec<u8> {
        Coordinate::encode(self).as_ref().to_vec()
    }
    fn decode(bytes: &[u8]) -> Option<Self> {
        let mut encoding = <Self as Coordinate>::Encoding::default();
        encoding.as_mut().copy_from_slice(bytes);
        Coordinate::decode(&encoding)
    }
}

/// 0, ±1, ±2, 1/2, then random elements.
fn elements<F: Pair>(count: usize, seed: u64) -> Vec<F> {
    let mut rng = common::rng(seed);
    let two = F::ONE.double();
    let half = two.invert().expect("2 is not 0");
    let special = [F::ZERO, F::ONE, -F::ONE, two, -two, half];
    special.into_iter().chain(std::iter::repeat_with(|| F::random(&mut rng)).take(count)).collect()
}

fn same<F: Pair>(what: &str, ours: F, ark: F::Ark) {
    assert_eq!(ours.encode(), encoded(&ark), "{what}");
    assert_eq!(F::from_ark(&ark), ours, "{what}");
}

fn arithmetic<F: Pair>() {
    for (a, b) in elements::<F>(200, 1).into_iter().flat_map(|a| elements::<F>(3, 2).into_iter().map(move |b| (a, b))) {
        let (x, y) = (a.to_ark(), b.to_ark());
        same("sum", a + b, x + y);
        same("difference", a - b, x - y);
        same("product", a * b, x * y);
        same("negative", -a, -x);
        same("double", a.double(), x.double());
        same("square", a.square(), x.square());
        same("power", a.pow_vartime([12345, 678]), x.pow([12345, 678]));
    }
    let all = elements::<F>(100, 3);
    same::<F>("sum of all", all.iter().sum(), all.iter().map(Pair::to_ark).sum());
    same::<F>("product of all", all[1..].iter().product(), all[1..].iter().map(Pair::to_ark).product());
}

fn inverses_and_roots<F: Pair>() {
    let mut squares = 0;
    for a in elements::<F>(100, 4) {
        let inverse: Option<F> = a.invert().into();
        assert_eq!(inverse, a.to_ark().inverse().map(|inverse| F::from_ark(&inverse)));
        let root: Option<F> = a.sqrt().into();
        assert_eq!(root.is_some(), a.to_ark().sqrt().is_some(), "{a:?}");
        assert!(root.is_none_or(|root| root.square() == a), "{a:?}");
        squares += usize::from(root.is_some());
        let root: Option<F> = a.square().sqrt().into();
        assert!(root.is_some_and(|root| root == a || root == -a), "{a:?}");
    }
    assert!((30..80).contains(&squares), "{squares} squares");
}

/// The factor of a ratio that is no square is one element.
fn ratios<F: Pair>() {
    let mut factors = Vec::new();
    let values = elements::<F>(6, 5);
    for (a, b) in values.iter().flat_map(|a| values.iter().map(move |b| (*a, *b))) {
        let (is_square, root) = F::sqrt_ratio(&a, &b);
        let ratio = b.invert().map(|inverse| a * inverse).unwrap_or(F::ZERO);
        match bool::from(is_square) {
            true => assert_eq!(root.square(), ratio),
            false if ratio == F::ZERO => assert!(b == F::ZERO && a != F::ZERO && root == F::ZERO),
            false => factors.push(root.square() * ratio.invert().expect("not zero")),
        }
    }
    assert!(!factors.is_empty() && factors.iter().all(|factor| *factor == factors[0]));
    assert!(bool::from(factors[0].sqrt().is_none()));
}

macro_rules! of_every_field {
    ($($body:ident)*) => {
        $(mod $body {
            #[test] fn fr() { super::$body::<super::Fr>(); }
            #[test] fn fq() { super::$body::<super::Fq>(); }
            #[test] fn fq2() { super::$body::<super::Fq2>(); }
        })*
    };
}

of_every_field! { arithmetic inverses_and_roots ratios }

#[test]
fn constants() {
    same("generator of Fr", Fr::MULTIPLICATIVE_GENERATOR, ark_bls12_377::Fr::GENERATOR);
    same("generator of Fq", Fq::MULTIPLICATIVE_GENERATOR, ark_bls12_377::Fq::GENERATOR);
    same("root of unity of Fr", Fr::ROOT_OF_UNITY, ark_bls12_377::Fr::TWO_ADIC_ROOT_OF_UNITY);
    same("root of unity of Fq", Fq::ROOT_OF_UNITY, ark_bls12_377::Fq::TWO_ADIC_ROOT_OF_UNITY);
    assert_eq!([Fr::S, Fr::NUM_BITS, Fq::S, Fq::NUM_BITS], [47, 253, 46, 377]);
    same("b of G1", G1::b(), ark_bls12_377::g1::Config::COEFF_B);
    same("b of G2", G2::b(), ark_bls12_377::g2::Config::COEFF_B);
}

/// Devices read Montgomery form with R = 2^(64·limbs), as arkworks has it in memory.
#[test]
fn memory() {
    for element in elements::<Fr>(20, 6) {
        assert_eq!(proofwarp::field::as_bytes(&[element]), bytemuck(&element.to_ark().0.0));
    }
    for element in elements::<Fq2>(20, 7) {
        let ark = element.to_ark();
        assert_eq!(proofwarp::field::as_bytes(&[element]), [bytemuck(&ark.c0.0.0), bytemuck(&ark.c1.0.0)].concat());
    }
}

fn bytemuck(limbs: &[u64]) -> Vec<u8> {
    limbs.iter().flat_map(|limb| limb.to_le_bytes()).collect()
}

/// A curve here and in arkworks.
trait CurvePair: ShortWeierstrass<Base: Pair<Ark = <Self::Config as ark_ec::CurveConfig>::BaseField>, Scalar = Fr> {
    type Config: SWCurveConfig<ScalarField = ark_bls12_377::Fr>;

    fn to_ark(point: &Affine<Self>) -> ArkAffine<Self::Config> {
        match point.is_identity().into() {
            true => ArkAffine::identity(),
            false => ArkAffine::new_unchecked(point.x.to_ark(), point.y.to_ark()),
        }
    }
    fn from_ark(point: &ArkAffine<Self::Config>) -> Affine<Self> {
        let [x, y] = point.xy().map_or([Self::Base::ZERO; 2], |(x, y)| [x, y].map(|c| Self::Base::from_ark(&c)));
        Affine { x, y }
    }
}

impl CurvePair for G1 {
    type Config = ark_bls12_377::g1::Config;
}

impl CurvePair for G2 {
    type Config = ark_bls12_377::g2::Config;
}

/// Infinity, G, −G, 2G, −2G, and random points.
fn points<C: CurvePair>(count: usize, seed: u64) -> Vec<Affine<C>> {
    let mut rng = common::rng(seed);
    let g = Projective::<C>::generator();
    let special = [Projective::identity(), g, -g, g.double(), -g.double()];
    let random = std::iter::repeat_with(|| Projective::random(&mut rng)).take(count);
    special.into_iter().chain(random).map(|point| point.to_affine()).collect()
}

/// Points on the curve, but hardly ever in the subgroup.
fn outside<C: CurvePair>(count: usize, seed: u64) -> Vec<Affine<C>> {
    let mut rng = common::rng(seed);
    let x = std::iter::repeat_with(|| UniformRand::rand(&mut rng));
    let points = x.filter_map(|x| ArkAffine::get_point_from_x_unchecked(x, false));
    points.take(count).map(|point| C::from_ark(&point)).collect()
}

fn same_point<C: CurvePair>(what: &str, ours: Projective<C>, ark: impl Into<ArkProjective<C::Config>>) {
    let ark = ark.into().into_affine();
    assert_eq!(C::to_ark(&ours.to_affine()), ark, "{what}");
    assert_eq!(C::from_ark(&ark).to_curve(), ours, "{what}");
}

fn group_law<C: CurvePair>() {
    let points = points::<C>(3, 8);
    for (p, q) in points.iter().flat_map(|p| points.iter().map(move |q| (*p, *q))) {
        let (a, b) = (C::to_ark(&p), C::to_ark(&q));
        // Other denominators than 1.
        let (wide_p, wide_q) = (p.to_curve().double() - p, q.to_curve().double() - q.to_curve());
        same_point("mixed sum", p.to_curve() + q, a + b);
        same_point("sum", wide_p + wide_q, a + b);
        same_point("mixed difference", wide_p - q, a - b);
        same_point("difference", wide_p - wide_q, a - b);
        same_point("double", wide_p.double(), a + a);
        assert_eq!(wide_p == wide_q, a == b);
        assert_eq!(bool::from(wide_p.is_identity()), a.is_zero());
    }
    let mut affine = vec![Affine::identity(); points.len()];
    Projective::batch_normalize(&points.iter().map(|p| p.to_curve().double()).collect::<Vec<_>>(), &mut affine);
    assert!(points.iter().zip(affine).all(|(point, double)| point.to_curve().double().to_affine() == double));
    same_point(
        "sum of all",
        points.iter().map(PrimeCurveAffine::to_curve).sum(),
        points.iter().map(C::to_ark).sum::<ArkProjective<_>>(),
    );
}

fn products<C: CurvePair>() {
    for point in points::<C>(2, 9) {
        for scalar in elements::<Fr>(3, 10) {
            same_point("product", point * scalar, C::to_ark(&point) * scalar.to_ark());
        }
    }
}

fn membership<C: CurvePair>() {
    same_point("generator", Projective::<C>::generator(), ArkAffine::generator());
    for point in points::<C>(5, 11) {
        assert!(point.is_on_curve() && point.is_torsion_free());
        let moved = Affine { x: point.x + C::Base::ONE, ..point };
        assert!(!moved.is_on_curve());
    }
    for point in outside::<C>(5, 12) {
        assert!(point.is_on_curve() && !point.is_torsion_free());
        let inside = C::from_ark(&C::to_ark(&point).clear_cofactor());
        assert!(inside.is_on_curve() && inside.is_torsion_free());
    }
}

fn encodings<C: CurvePair>() {
    let decode = |bytes: &[u8]| -> Option<Affine<C>> {
        let mut encoding = <Affine<C> as GroupEncoding>::Repr::default();
        encoding.as_mut().copy_from_slice(bytes);
        let point: Option<Affine<C>> = Affine::from_bytes(&encoding).into();
        let projective: Option<Projective<C>> = Projective::from_bytes(&encoding).into();
        assert_eq!(point.map(Projective::from), projective);
        point
    };
    for point in points::<C>(20, 13) {
        let bytes = point.to_bytes();
        assert_eq!(bytes.as_ref(), encoded(&C::to_ark(&point)));
        assert_eq!(
            point.to_curve().double().to_bytes().as_ref(),
            encoded(&(C::to_ark(&point) * ark_bls12_377::Fr::from(2)))
        );
        assert_eq!(decode(bytes.as_ref()), Some(point));
        // Both flags.
        let mut bytes = bytes.as_ref().to_vec();
        *bytes.last_mut().expect("bytes") |= 0xc0;
        assert_eq!(decode(&bytes), None);
    }
    for point in outside::<C>(5, 14) {
        assert_eq!(decode(point.to_bytes().as_ref()), None);
        assert!(bool::from(Affine::<C>::from_bytes_unchecked(&point.to_bytes()).is_some()));
    }
    // Coefficients that are not below the modulus.
    let mut bytes = Affine::<C>::identity().to_bytes().as_ref().to_vec();
    bytes.fill(0xff);
    *bytes.last_mut().expect("bytes") = 0x3f;
    assert_eq!(decode(&bytes), None);
}

/// Sums of many lengths; scalars are the ends of their range, small ones, and random ones.
fn sums<C: CurvePair>() {
    let mut rng = common::rng(15);
    let special = points::<C>(3, 16);
    for count in [0, 1, 2, 30, 300] {
        let points: Vec<Affine<C>> = (0..count).map(|_| special[rng.gen_range(0..special.len())]).collect();
        let choices = elements::<Fr>(5, count as u64);
        let scalars: Vec<Fr> = (0..count).map(|_| choices[rng.gen_range(0..choices.len())]).collect();
        let bytes: Vec<[u8; 32]> = scalars.iter().map(|scalar| scalar.to_repr().0).collect();
        let ark: (Vec<_>, Vec<_>) = points.iter().zip(&scalars).map(|(p, s)| (C::to_ark(p), s.to_ark())).unzip();
        let expected = ArkProjective::<C::Config>::msm(&ark.0, &ark.1).expect("as many scalars as points");
        same_point("sum", Affine::msm_cpu(&points, &bytes), expected);
    }
    // A scalar above the order counts modulo the order.
    let all = Fr::from(2).pow_vartime([256]) - Fr::ONE;
    let generator = Affine::<C>::generator();
    assert_eq!(Affine::msm_cpu(&[generator], &[[0xff; 32]]), generator * all);
}

macro_rules! of_both_curves {
    ($($body:ident)*) => {
        $(mod $body {
            #[test] fn g1() { super::$body::<super::G1>(); }
            #[test] fn g2() { super::$body::<super::G2>(); }
        })*
    };
}

of_both_curves! { group_law products membership encodings sums }
