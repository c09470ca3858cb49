//! An adapter for the types of pasta_curves, whose memory is read as it is.

use ff::{Field, WithSmallOrderMulGroup};
use group::{Curve, Group};
use pasta_curves::arithmetic::CurveAffine;
use pasta_curves::{Ep, EpAffine, Eq, EqAffine, Fp, Fq};
use proofwarp::bytes::{ByteBases, ByteDomain, CurveId, FieldId};
use proofwarp::msm::{ScalarForm, Scalars};
use proofwarp::ntt::{Direction, NttOptions};

use crate::common::{accelerators_and_cpu, rng};

/// A type whose memory is Montgomery limbs without padding, all of whose bit patterns are values: with the feature
/// `repr-c`, fields are transparent over `[u64; 4]`, and points are x and y, zeros for infinity.
///
/// # Safety
/// The type is such a type.
unsafe trait Limbs: Copy {}
// SAFETY: the feature `repr-c` makes pasta_curves' types as described above.
unsafe impl Limbs for Fp {}
// SAFETY: as above.
unsafe impl Limbs for Fq {}
// SAFETY: as above.
unsafe impl Limbs for EpAffine {}
// SAFETY: as above.
unsafe impl Limbs for EqAffine {}

fn as_bytes<T: Limbs>(values: &[T]) -> &[u8] {
    // SAFETY: `Limbs` promises memory without padding.
    unsafe { std::slice::from_raw_parts(values.as_ptr().cast(), size_of_val(values)) }
}

fn as_bytes_mut<T: Limbs>(values: &mut [T]) -> &mut [u8] {
    // SAFETY: as above, and all bytes are values.
    unsafe { std::slice::from_raw_parts_mut(values.as_mut_ptr().cast(), size_of_val(values)) }
}

fn point<C: Limbs + Default>(bytes: &[u8]) -> C {
    let mut point = [C::default()];
    as_bytes_mut(&mut point).copy_from_slice(bytes);
    point[0]
}

/// Checks sums over random points and infinity against their definition.
fn check_sums<G: Group<Scalar: Limbs> + Curve<AffineRepr: Limbs + CurveAffine + Default>>(name: &str) {
    let mut rng = rng(41);
    let mut sums: Vec<G> = (0..200).map(|_| G::random(&mut rng)).collect();
    sums[3] = G::identity();
    let scalars: Vec<G::Scalar> = (0..200).map(|_| G::Scalar::random(&mut rng)).collect();
    let expected = sums.iter().zip(&scalars).map(|(point, scalar)| *point * *scalar).sum::<G>().to_affine();
    let mut points = vec![G::AffineRepr::default(); sums.len()];
    G::batch_normalize(&sums, &mut points);
    let curve = CurveId::from_name(name).expect("a curve");
    for accelerator in accelerators_and_cpu() {
        let bases = ByteBases::from_montgomery(&accelerator, curve, as_bytes(&points)).expect("bases");
        let montgomery = Scalars::from_bytes(as_bytes(&scalars), ScalarForm::Montgomery).expect("whole scalars");
        let (sum, report) = bases.run(montgomery, None).expect("a sum");
        assert_eq!(point::<G::AffineRepr>(&sum), expected, "{report}");
    }
}

/// Checks transforms of two vectors, in place, against Horner's rule.
fn check_transforms<F: Limbs + WithSmallOrderMulGroup<3>>(name: &str) {
    const LOG_N: u32 = 6;
    let mut rng = rng(42);
    let coefficients = [(); 2].map(|()| (0..1 << LOG_N).map(|_| F::random(&mut rng)).collect::<Vec<F>>());
    let omega = (LOG_N..F::S).fold(F::ROOT_OF_UNITY, |root, _| root.square());
    let shift = F::ZETA;
    let at = |coefficients: &[F], x: F| coefficients.iter().rev().fold(F::ZERO, |sum, c| sum * x + c);
    let values = coefficients.each_ref().map(|coefficients| {
        (0..1 << LOG_N).map(|i| at(coefficients, shift * omega.pow_vartime([i]))).collect::<Vec<F>>()
    });
    let field = FieldId::from_name(name).expect("a field");
    for accelerator in accelerators_and_cpu() {
        let options = NttOptions { coset: Some(as_bytes(std::slice::from_ref(&shift))), ..NttOptions::default() };
        let domain = ByteDomain::with_options(&accelerator, field, LOG_N, options).expect("a domain");
        assert_eq!(domain.omega(), as_bytes(&[omega]));
        let [mut a, mut b] = coefficients.clone();
        let report = domain
            .run(Direction::CosetForward, &mut [as_bytes_mut(&mut a), as_bytes_mut(&mut b)], None)
            .expect("values");
        assert!([&a, &b] == values.each_ref(), "{report}");
        domain.run(Direction::CosetInverse, &mut [as_bytes_mut(&mut a)], None).expect("coefficients");
        assert!(a == coefficients[0], "{name}");
    }
}

#[test]
fn sums() {
    check_sums::<Ep>("pallas");
    check_sums::<Eq>("vesta");
}

#[test]
fn transforms() {
    check_transforms::<Fp>("pasta_fp");
    check_transforms::<Fq>("pasta_fq");
}
