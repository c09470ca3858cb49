//! Published numbers, on every backend and on the CPU.

mod common;

use common::accelerators_and_cpu;
use ff::{Field, PrimeField};
use group::{Curve, Group};
use halo2curves::bn256;
use proofwarp::curve::{MsmCurve, bls12_377};
use proofwarp::msm::msm;
use proofwarp::ntt::{Transform, transform_many};

/// Powers 1 to 4 of the BN254 scalar field's root of order 16 that is 5^((r − 1)/16).
const BN254_OMEGA_16: [&str; 4] = [
    "21082ca216cbbf4e1c6e4f4594dd508c996dfbe1174efb98b11509c6e306460b",
    "2b337de1c8c14f22ec9b9e2f96afef3652627366f8170a0a948dad4ac1bd5e80",
    "107aab49e65a67f9da9cd2abf78be38bd9dc1d5db39f81de36bcfa5b4b039043",
    "30644e72e131a029048b6e193fd841045cea24f6fd736bec231204708f703636",
];

/// 2·G of BN254 (tests of EIP-196): x, y.
const BN254_2G: [&str; 2] = [
    "030644e72e131a029b85045b68181585d97816a916871ca8d3c208c16d87cfd3",
    "15ed738c0e0a7c92e7845f96b2ae9c0a68a6a449e3538fc7ff3ebf7a5a18a2c4",
];

/// 2·G of BLS12-381 (tests of EIP-2537): x, y.
const BLS12_381_2G: [&str; 2] = [
    "0572cbea904d67468808c8eb50a9450c9721db309128012543902d0ac358a62ae28f75bb8f1c7c42c39a8c5529bf0f4e",
    "166a9d8cabc673a322fda673779d8e3822ba3ecb8670e461f73bb9021d5fd76a4c56d9d4cd16bd1bba86881979749d28",
];

/// 2·G of BLS12-377 (the tangent at arkworks' generator, by Python's integers): x, y.
const BLS12_377_2G: [&str; 2] = [
    "00ed453141939e91056edb5a4b5452ed7e61f7f3dd2a4b7ee90e97c9a2301955880661656781dc90857aed6d6a416390",
    "00cfb0b9717bc8e5ae04601813171337ad99cdae42c561cae80b12f135c64479d6a23f5675ed5ca7e2dd5e8727d7c7ed",
];

/// The field element of a hexadecimal number.
fn number<F: PrimeField>(hexadecimal: &str) -> F {
    let digit = |digit: char| F::from(u64::from(digit.to_digit(16).expect("a hexadecimal digit")));
    hexadecimal.chars().fold(F::ZERO, |sum, next| sum * F::from(16) + digit(next))
}

/// A delta at index 1 becomes the twiddles, wherever they are made.
#[test]
fn twiddles_of_bn254() {
    let known = BN254_OMEGA_16.map(number::<bn256::Fr>);
    let transform = Transform::new(4, known[0]);
    for accelerator in accelerators_and_cpu() {
        let mut values = vec![bn256::Fr::ZERO; 16];
        values[1] = bn256::Fr::ONE;
        transform_many(&accelerator, &mut [&mut values], &[transform], None).expect("transform");
        assert_eq!(values[0], bn256::Fr::ONE, "{accelerator:?}");
        assert_eq!(values[1..5], known, "{accelerator:?}");
        let others: Vec<_> = (5..16).map(|i| known[0].pow_vartime([i])).collect();
        assert_eq!(values[5..], others, "{accelerator:?}");
    }
}

/// 2·G as a scalar's multiple, as a sum of equal points, and with the order's wrap-around.
fn twice_the_generator<C: MsmCurve>() -> Vec<C::Curve> {
    let g = C::generator();
    let sums = [
        (vec![g], vec![C::Scalar::from(2)]),
        (vec![g; 2], vec![C::Scalar::ONE; 2]),
        (vec![g; 4], vec![-C::Scalar::ONE, C::Scalar::from(4), C::Scalar::ZERO, -C::Scalar::ONE]),
    ];
    let bytes = |scalar: &C::Scalar| scalar.to_repr().as_ref().try_into().expect("32 bytes");
    let backends = accelerators_and_cpu();
    let on_all = sums.iter().flat_map(|sum| backends.iter().map(move |accelerator| (accelerator, sum)));
    on_all
        .map(|(accelerator, (points, scalars))| {
            let scalars: Vec<[u8; 32]> = scalars.iter().map(bytes).collect();
            msm(accelerator, points, &scalars, None).expect("msm").0
        })
        .collect()
}

#[test]
fn a_multiple_of_the_generator_of_bn254() {
    let [x, y] = BN254_2G.map(number::<bn256::Fq>);
    for sum in twice_the_generator::<bn256::G1Affine>() {
        assert_eq!(bn256::G1Affine::from(sum), bn256::G1Affine { x, y });
    }
}

#[test]
fn a_multiple_of_the_generator_of_bls12_381() {
    let known = BLS12_381_2G.map(|number| {
        let byte = |i: usize| u8::from_str_radix(&number[i..i + 2], 16).expect("a byte");
        (0..number.len()).step_by(2).map(byte).collect::<Vec<u8>>()
    });
    for sum in twice_the_generator::<blstrs::G1Affine>() {
        assert_eq!(blstrs::G1Affine::from(sum).to_uncompressed().to_vec(), known.concat());
    }
}

#[test]
fn a_multiple_of_the_generator_of_bls12_377() {
    let [x, y] = BLS12_377_2G.map(number::<bls12_377::Fq>);
    for sum in twice_the_generator::<bls12_377::G1Affine>() {
        assert_eq!(sum.to_affine(), bls12_377::G1Affine { x, y });
    }
}

/// Pasta publishes no multiples of its generators: theirs are those of the curves' own types.
#[test]
fn multiples_of_the_generators_of_pasta() {
    fn check<C: MsmCurve>() {
        let double = C::Curve::generator().double();
        assert!(twice_the_generator::<C>().iter().all(|sum| *sum == double));
    }
    check::<pasta_curves::EpAffine>();
    check::<pasta_curves::EqAffine>();
}
