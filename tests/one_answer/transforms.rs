//! Transforms: every length from 1 on, lengths and roots that do not fit, and shifts and scales that are 0, 1 or −1.

use ff::Field;
use proofwarp::field::NttField;
use proofwarp::ntt::{Direction, ExtendedDomain, NttDomain, NttOptions, Order, Transform, transform_many};
use proofwarp::{Accelerator, Result};

use super::common::rng;
use super::one_answer;

const DIRECTIONS: [Direction; 4] =
    [Direction::Forward, Direction::Inverse, Direction::CosetForward, Direction::CosetInverse];

/// The primitive root of order `2^log_n`.
fn omega<F: NttField>(log_n: u32) -> F {
    (log_n..F::S).fold(F::ROOT_OF_UNITY, |root, _| root.square())
}

fn random<F: Field>(count: usize) -> Vec<F> {
    let mut rng = rng(count as u64);
    (0..count).map(|_| F::random(&mut rng)).collect()
}

/// A vector's answer; after an error it has to be as it was.
fn transformed<F: NttField>(accelerator: &Accelerator, values: &[F], transform: &Transform<F>) -> Result<Vec<F>> {
    let mut result = values.to_vec();
    let outcome = transform_many(accelerator, &mut [&mut result], &[*transform], None);
    assert!(outcome.is_ok() || result == values);
    outcome.map(|_| result)
}

fn powers<F: Field>(base: F) -> impl Iterator<Item = F> {
    std::iter::successors(Some(F::ONE), move |power| Some(*power * base))
}

/// The sum that a transform is, in natural order.
fn definition<F: NttField>(values: &[F], transform: &Transform<F>) -> Vec<F> {
    let [shift_in, shift_out, scale] =
        [transform.shift_in, transform.shift_out, transform.scale].map(|factor| factor.unwrap_or(F::ONE));
    let output = |(root, shift): (F, F)| {
        let terms = values.iter().zip(powers(shift_in)).zip(powers(root));
        scale * shift * terms.map(|((value, shift), root)| *value * shift * root).sum::<F>()
    };
    powers(transform.omega).zip(powers(shift_out)).take(values.len()).map(output).collect()
}

/// Every factor that may be absent, zero, one, or another, in each place.
fn factors<F: NttField>() {
    let special = [None, Some(F::ZERO), Some(F::ONE), Some(-F::ONE), Some(F::MULTIPLICATIVE_GENERATOR)];
    let places = special.iter().flat_map(|first| special.iter().map(move |second| (*first, *second)));
    for (number, (shift_in, shift_out)) in places.enumerate() {
        for log_n in [0, 1, 2, 3, 5] {
            let scale = special[(number + log_n as usize) % 5];
            let transform = Transform { shift_in, shift_out, scale, ..Transform::new(log_n, omega::<F>(log_n)) };
            let values = random::<F>(1 << log_n);
            let answer =
                one_answer(&format!("{transform:?}"), |accelerator| transformed(accelerator, &values, &transform));
            assert_eq!(answer, Ok(definition(&values, &transform)), "{transform:?}");
        }
    }
}

/// Lengths that the CPU splits and devices do in one pass or two, in every order.
fn lengths<F: NttField>() {
    for log_n in [0, 1, 8, 9, 10, 11] {
        let values = random::<F>(1 << log_n);
        for (input, output) in
            [Order::Natural, Order::BitReversed].into_iter().flat_map(|order| [(order, order), (order, Order::Natural)])
        {
            let options = NttOptions { input, output, ..NttOptions::default() };
            for direction in DIRECTIONS {
                let what = format!("{} 2^{log_n} {direction:?} {options:?}", F::NAME);
                let answer = one_answer(&what, |accelerator| {
                    let domain = NttDomain::<F>::with_options(accelerator, log_n, options)?;
                    transformed(accelerator, &values, &domain.transform(direction))
                });
                assert!(answer.is_ok(), "{answer:?}");
            }
        }
    }
}

fn extended<F: NttField>() {
    for (log_n, log_factor) in [(0, 0), (0, 1), (1, 0), (3, 2), (9, 1)] {
        for count in [0, 1, (1 << log_n) - 1, 1 << log_n, (1 << log_n) + 1] {
            let coefficients = random::<F>(count);
            let answer = one_answer(&format!("{count} of 2^{log_n} by 2^{log_factor}"), |accelerator| {
                let domain = ExtendedDomain::<F>::new(accelerator, log_n, log_factor)?;
                domain.forward(&coefficients).map(|(values, _)| values)
            });
            assert_eq!(answer.is_ok(), count == 1 << log_n, "{answer:?}");
        }
    }
}

macro_rules! every_field {
    ($($test:ident: $type:ty;)*) => {
        $(#[test] fn $test() {
            factors::<$type>();
            lengths::<$type>();
            extended::<$type>();
        })*
    };
}

every_field! {
    bls12_377: proofwarp::curve::bls12_377::Fr;
    bls12_381: blstrs::Scalar;
    bn254: halo2curves::bn256::Fr;
    pasta_fp: pasta_curves::Fp;
    pasta_fq: pasta_curves::Fq;
}

type Fr = halo2curves::bn256::Fr;

/// Refused alike, and everything as it was.
#[test]
fn what_no_transform_takes() {
    let whole = Transform::new(3, omega::<Fr>(3));
    let of = |log_n, root| Transform::new(log_n, root);
    let root = omega::<Fr>(3);
    let cases = [
        (0, whole),
        (1, whole),
        (7, whole),
        (9, whole),
        (16, whole),
        (0, of(0, Fr::ONE)),
        (2, of(0, Fr::ONE)),
        (8, of(3, Fr::ZERO)),
        (8, of(3, Fr::ONE)),
        (8, of(3, -Fr::ONE)),
        (8, of(3, root.square())),
        (8, of(3, omega(4))),
        (8, of(3, Fr::from(3))),
        (1, of(0, -Fr::ONE)),
        (2, of(1, Fr::ONE)),
        (8, of(29, root)),
        (8, of(64, root)),
        (8, of(u32::MAX, root)),
    ];
    for (length, transform) in cases {
        let values = random::<Fr>(length);
        let what = format!("{length} elements, {transform:?}");
        let error = one_answer(&what, |accelerator| transformed(accelerator, &values, &transform)).expect_err(&what);
        assert!(error.starts_with("ntt: "), "{error}");
    }
}

/// No vector at all, and numbers of vectors and transforms that differ.
#[test]
fn numbers_of_vectors() {
    for (vectors, transforms) in [(0, 0), (0, 1), (1, 0), (2, 1), (1, 2), (3, 3)] {
        let answer = one_answer(&format!("{vectors} vectors, {transforms} transforms"), |accelerator| {
            let mut values = vec![random::<Fr>(8); vectors];
            let mut slices: Vec<&mut [Fr]> = values.iter_mut().map(Vec::as_mut_slice).collect();
            transform_many(accelerator, &mut slices, &vec![Transform::new(3, omega(3)); transforms], None)?;
            Ok(values)
        });
        assert_eq!(answer.is_ok(), vectors == transforms, "{answer:?}");
    }
}

/// Elements that no safe code but an unchecked reader makes: the twin of all that takes elements refuses them.
#[test]
fn elements_that_are_not_reduced() {
    use halo2curves::serde::SerdeObject;
    proofwarp::field::check_reduced(&[Fr::ZERO, -Fr::ONE]).expect("they are reduced");
    proofwarp::field::check_reduced::<Fr>(&[]).expect("there are none");
    let modulus = Fr::from_raw_bytes_unchecked(&modulus());
    for bad in [modulus, Fr::from_raw_bytes_unchecked(&[0xff; 32])] {
        let error = proofwarp::field::check_reduced(&[Fr::ONE, bad, bad]).expect_err("it is not reduced").to_string();
        assert_eq!(error, "field: element 1: expected limbs below the modulus, got others");
    }
}

/// p, little-endian.
fn modulus() -> [u8; 32] {
    use ff::PrimeField;
    let mut bytes = (-Fr::ONE).to_repr();
    bytes.as_mut()[0] += 1;
    bytes.into()
}
