//! Bytes that are refused, and memory that is not aligned.

use ff::Field;
use group::Curve;
use halo2curves::bn256::{Fr, G1, G1Affine};
use proofwarp::Error;
use proofwarp::bytes::{ByteBases, ByteDomain, CurveId, FieldId, msm};
use proofwarp::curve::MsmCurve;
use proofwarp::field::as_bytes;
use proofwarp::msm::{MsmOptions, ScalarForm, Scalars};
use proofwarp::ntt::{Direction, NttDomain, NttOptions};
use rand::Rng;

use crate::common::{accelerators_and_cpu, rng};

/// BN254's r, which is not below itself.
const R: [u64; 4] = [0x43e1_f593_f000_0001, 0x2833_e848_79b9_7091, 0xb850_45b6_8181_585d, 0x3064_4e72_e131_a029];

fn modulus() -> Vec<u8> {
    R.iter().flat_map(|limb| limb.to_le_bytes()).collect()
}

/// Checks that `result` is an error that ends with `text`.
fn refused<T>(result: Result<T, Error>, text: &str) {
    let error = result.err().expect("an error").to_string();
    assert!(error.ends_with(text), "{error}, not {text}");
}

#[test]
fn bases_and_scalars() {
    let (curve, twist) = (CurveId::from_name("bn254_g1").expect("G1"), CurveId::from_name("bn254_g2").expect("G2"));
    let points: Vec<G1Affine> = (1..5).map(|i| (G1::generator() * Fr::from(i)).to_affine()).collect();
    let bytes = G1Affine::to_device(&points).into_owned();
    let scalars = [1, 2, 3, 4].map(Fr::from);
    let three = Scalars::elements(&scalars[..3]);
    for accelerator in accelerators_and_cpu() {
        let bases = |bytes: &[u8]| ByteBases::shared(&accelerator, curve, bytes, MsmOptions::default()).map(drop);
        refused(bases(&bytes[..200]), "number of bytes of the bases: expected a multiple of 64, got 200");
        let too_large = [&bytes[..64], &[255; 64]].concat();
        refused(
            bases(&too_large),
            "base 1: expected coordinates below the field's modulus, got one that is not below it",
        );
        refused(
            msm(&accelerator, curve, &bytes, three, MsmOptions::default(), None),
            "number of scalars: expected 4, got 3",
        );
        // (1, 1) is not on the curve; the other group has longer points.
        let mut off_curve = bytes.clone();
        off_curve.copy_within(0..32, 32);
        let checked =
            |curve, bytes: &[u8]| ByteBases::checked(&accelerator, curve, bytes, MsmOptions::default()).map(drop);
        checked(curve, &bytes).expect("good points");
        refused(
            checked(curve, &off_curve),
            "base 0: expected a point on the curve, got coordinates that are not on the curve",
        );
        refused(checked(twist, &bytes[..64]), "expected a multiple of 128, got 64");
        refused(
            ByteBases::from_montgomery(&accelerator, curve, &bytes).expect("bases").run(three, None),
            "expected 4, got 3",
        );
    }
    refused(Scalars::from_bytes(&[0; 33], ScalarForm::Canonical), "expected a multiple of 32, got 33");
}

#[test]
fn vectors_and_options() {
    let field = FieldId::from_name("bn254_fr").expect("Fr");
    let modulus = modulus();
    let small = FieldId::from_name("goldilocks").expect("a field without transforms here");
    for accelerator in accelerators_and_cpu() {
        let with = |omega, coset| {
            let options = NttOptions { omega, coset, ..NttOptions::default() };
            ByteDomain::with_options(&accelerator, field, 2, options).map(drop)
        };
        refused(with(Some(&[0; 31]), None), "omega: expected 32 bytes, got 31");
        refused(with(None, Some(&modulus)), "element 0: expected limbs below the modulus, got others");
        refused(with(None, Some(&[0; 32])), "generator of the coset: expected a nonzero element, got zero");
        refused(ByteDomain::new(&accelerator, field, 29), "log_n: expected at most the two-adicity 28, got 29");
        refused(ByteDomain::new(&accelerator, small, 2), "got goldilocks");
        let domain = ByteDomain::new(&accelerator, field, 2).expect("a domain");
        let good: Vec<u8> = as_bytes(&[1, 2, 3, 4].map(Fr::from)).to_vec();
        let bad = [&good[..96], &modulus[..]].concat();
        for (second, text) in [
            (&bad, "element 3: expected limbs below the modulus, got others"),
            (&good[..96].to_vec(), "got 3"),
            (&good[..100].to_vec(), "number of bytes: expected a multiple of 32, got 100"),
        ] {
            let (mut a, mut b) = (good.clone(), second.clone());
            refused(domain.run(Direction::Forward, &mut [&mut a, &mut b], None), text);
            assert_eq!((&a, &b), (&good, second), "unchanged");
        }
    }
}

/// Checks that memory at every address modulo 8 gives the typed results.
#[test]
fn any_alignment() {
    let mut rng = rng(51);
    let points: Vec<G1Affine> = (0..40).map(|_| (G1::generator() * Fr::random(&mut rng)).to_affine()).collect();
    let elements: Vec<Fr> = (0..64).map(|_| Fr::random(&mut rng)).collect();
    let scalars = &elements[..40];
    let expected = points.iter().zip(scalars).map(|(point, scalar)| *point * *scalar).sum::<G1>().to_affine();
    let (curve, field) = (CurveId::from_name("bn254_g1").expect("G1"), FieldId::from_name("bn254_fr").expect("Fr"));
    for accelerator in accelerators_and_cpu() {
        let mut values = elements.clone();
        NttDomain::new(&accelerator, 6).and_then(|domain| domain.coset_forward(&mut values)).expect("values");
        let domain = ByteDomain::new(&accelerator, field, 6).expect("a domain");
        for shift in 0..8 {
            let padding: Vec<u8> = (0..shift).map(|_| rng.r#gen()).collect();
            let bases = [&padding, &G1Affine::to_device(&points)[..]].concat();
            let numbers = [&padding, as_bytes(scalars)].concat();
            let bases = ByteBases::from_montgomery(&accelerator, curve, &bases[shift..]).expect("bases");
            let numbers = Scalars::from_bytes(&numbers[shift..], ScalarForm::Montgomery).expect("scalars");
            assert_eq!(bases.run(numbers, None).expect("a sum").0, G1Affine::to_device(&[expected])[..]);
            let mut vector = [&padding, as_bytes(&elements)].concat();
            domain.run(Direction::CosetForward, &mut [&mut vector[shift..]], None).expect("values");
            assert_eq!(vector, [&padding, as_bytes(&values)].concat());
        }
    }
}
