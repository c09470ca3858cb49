//! An adapter for arkworks' types, and its results against arkworks' own sums and transforms.

use ark_ec::short_weierstrass::{Affine, Projective, SWCurveConfig};
use ark_ec::{AffineRepr, CurveGroup, VariableBaseMSM};
use ark_ff::{BigInt, FftField, Fp, FpConfig, PrimeField, QuadExtConfig, QuadExtField, UniformRand};
use ark_poly::{EvaluationDomain, Radix2EvaluationDomain};
use proofwarp::bytes::{ByteBases, ByteDomain, CurveId, FieldId, msm};
use proofwarp::msm::{MsmOptions, ScalarForm, Scalars};
use proofwarp::ntt::{Direction, NttOptions, Order};

use crate::common::{accelerators_and_cpu, rng};

/// A value of arkworks whose Montgomery limbs are read and written.
trait Limbs: Sized {
    const BYTES: usize;
    fn write(&self, bytes: &mut Vec<u8>);
    fn read(bytes: &[u8]) -> Self;
}

impl<P: FpConfig<N>, const N: usize> Limbs for Fp<P, N> {
    const BYTES: usize = 8 * N;

    fn write(&self, bytes: &mut Vec<u8>) {
        bytes.extend(self.0.0.iter().flat_map(|limb| limb.to_le_bytes()));
    }

    fn read(bytes: &[u8]) -> Self {
        let limbs = bytes.as_chunks().0;
        Self(BigInt(std::array::from_fn(|i| u64::from_le_bytes(limbs[i]))), std::marker::PhantomData)
    }
}

impl<P: QuadExtConfig<BaseField: Limbs>> Limbs for QuadExtField<P> {
    const BYTES: usize = 2 * P::BaseField::BYTES;

    fn write(&self, bytes: &mut Vec<u8>) {
        self.c0.write(bytes);
        self.c1.write(bytes);
    }

    fn read(bytes: &[u8]) -> Self {
        let (c0, c1) = bytes.split_at(P::BaseField::BYTES);
        Self::new(Limbs::read(c0), Limbs::read(c1))
    }
}

impl<P: SWCurveConfig<BaseField: Limbs>> Limbs for Affine<P> {
    const BYTES: usize = 2 * P::BaseField::BYTES;

    fn write(&self, bytes: &mut Vec<u8>) {
        if self.infinity {
            return bytes.resize(bytes.len() + Self::BYTES, 0);
        }
        self.x.write(bytes);
        self.y.write(bytes);
    }

    fn read(bytes: &[u8]) -> Self {
        let (x, y) = bytes.split_at(P::BaseField::BYTES);
        let is_infinity = bytes.iter().all(|byte| *byte == 0);
        if is_infinity { Self::identity() } else { Self::new_unchecked(Limbs::read(x), Limbs::read(y)) }
    }
}

fn to_bytes<T: Limbs>(values: &[T]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(values.len() * T::BYTES);
    for value in values {
        value.write(&mut bytes);
    }
    bytes
}

fn from_bytes<T: Limbs>(bytes: &[u8]) -> Vec<T> {
    bytes.chunks_exact(T::BYTES).map(T::read).collect()
}

/// Checks sums over random points and infinity, of bases that stay and of others, in both forms of scalars.
fn check_sums<P: SWCurveConfig<BaseField: Limbs, ScalarField: Limbs>>(name: &str) {
    let mut rng = rng(31);
    let mut points: Vec<Affine<P>> = (0..300).map(|_| Projective::rand(&mut rng).into_affine()).collect();
    points[7] = Affine::identity();
    let [a, b] = [(); 2].map(|()| (0..300).map(|_| P::ScalarField::rand(&mut rng)).collect::<Vec<_>>());
    let expected = [&a, &b].map(|scalars| Projective::msm(&points, scalars).expect("equal lengths").into_affine());
    let (points, [a_bytes, b_bytes]) = (to_bytes(&points), [&a, &b].map(|scalars| to_bytes(scalars)));
    let numbers: Vec<u8> = b
        .iter()
        .flat_map(|b| b.into_bigint().as_ref().iter().flat_map(|limb| limb.to_le_bytes()).collect::<Vec<_>>())
        .collect();
    let a = Scalars::from_bytes(&a_bytes, ScalarForm::Montgomery).expect("whole scalars");
    let b = Scalars::from_bytes(&numbers, ScalarForm::Canonical).expect("whole scalars");
    let curve = CurveId::from_name(name).expect("a curve");
    for accelerator in accelerators_and_cpu() {
        let (sum, report) = msm(&accelerator, curve, &points, a, MsmOptions::default(), None).expect("a sum");
        assert_eq!((from_bytes(&sum), report.elements), (vec![expected[0]], 300), "{report}");
        let bases = ByteBases::checked(&accelerator, curve, &points, MsmOptions::default()).expect("good points");
        let (sums, report) = bases.run_batch(&[a, b], None).expect("sums");
        assert_eq!(from_bytes::<Affine<P>>(&sums.concat()), expected, "{report}");
        let bases = ByteBases::shared(&accelerator, curve, &points, MsmOptions::default()).expect("bases");
        if !accelerator.devices().is_empty() {
            let resident = bases.upload_scalars(&b_bytes, ScalarForm::Montgomery).expect("scalars");
            assert_eq!(from_bytes::<Affine<P>>(&bases.run(&resident, None).expect("a sum").0), [expected[1]], "{name}");
            assert!(bases.table_bytes() >= points.len() as u64, "{name}");
        }
        let zeros = vec![0; 300 * 32];
        let (zero, _) = bases.run(Scalars::from_bytes(&zeros, ScalarForm::Canonical).expect("zeros"), None).expect("0");
        assert!(from_bytes::<Affine<P>>(&zero)[0].is_zero(), "{name}");
    }
}

/// Checks transforms on arkworks' subgroup and coset, forward and back, and in bit-reversed order.
fn check_transforms<F: FftField + PrimeField + Limbs>(name: &str) {
    let mut rng = rng(32);
    let field = FieldId::from_name(name).expect("a field");
    for log_n in [0, 1, 5, 10] {
        let plain = Radix2EvaluationDomain::<F>::new(1 << log_n).expect("a domain");
        let coset = plain.get_coset(F::rand(&mut rng)).expect("a coset");
        let coefficients: Vec<F> = (0..1 << log_n).map(|_| F::rand(&mut rng)).collect();
        let (omega, offset) = (to_bytes(&[plain.group_gen()]), to_bytes(&[coset.coset_offset()]));
        let options = NttOptions { omega: Some(&omega[..]), coset: Some(&offset[..]), ..NttOptions::default() };
        let reversed = NttOptions { output: Order::BitReversed, ..options };
        for accelerator in accelerators_and_cpu() {
            let domain = ByteDomain::with_options(&accelerator, field, log_n, options).expect("a domain");
            assert_eq!((domain.omega(), domain.coset(), domain.field()), (omega.clone(), offset.clone(), field));
            let [mut a, mut b] = [(); 2].map(|()| to_bytes(&coefficients));
            domain.run(Direction::Forward, &mut [&mut a], None).expect("values");
            domain.run(Direction::CosetForward, &mut [&mut b], None).expect("values");
            assert_eq!(from_bytes::<F>(&a), plain.fft(&coefficients), "{name}, 2^{log_n}");
            assert_eq!(from_bytes::<F>(&b), coset.fft(&coefficients), "{name}, 2^{log_n}");
            domain.run(Direction::CosetInverse, &mut [&mut b], None).expect("coefficients");
            assert_eq!(b, to_bytes(&coefficients));
            let domain = ByteDomain::with_options(&accelerator, field, log_n, reversed).expect("a domain");
            domain.run(Direction::Forward, &mut [&mut b], None).expect("values");
            let place = |i: usize| (0..log_n).fold(0, |place, bit| place << 1 | i >> bit & 1);
            let (a, b) = (from_bytes::<F>(&a), from_bytes::<F>(&b));
            assert!((0..1 << log_n).all(|i| a[i] == b[place(i)]), "{name}, 2^{log_n}");
        }
    }
}

#[test]
fn sums() {
    check_sums::<ark_bn254::g1::Config>("bn254_g1");
    check_sums::<ark_bn254::g2::Config>("bn254_g2");
    check_sums::<ark_bls12_377::g1::Config>("bls12_377_g1");
    check_sums::<ark_bls12_377::g2::Config>("bls12_377_g2");
}

#[test]
fn transforms() {
    check_transforms::<ark_bn254::Fr>("bn254_fr");
    check_transforms::<ark_bls12_377::Fr>("bls12_377_fr");
}
