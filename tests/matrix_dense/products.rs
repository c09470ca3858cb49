//! Products of every shape by every method.

use halo2curves::bn256::Fr;
use proofwarp::matrix::dense::{DenseField, DenseMatrix, DenseOptions, Method};

use crate::common::{accelerators_and_cpu, every_curve, rng};
use crate::tools::{METHODS, bytes, element, elements, ends, options, product, upload, words};

/// Sizes at which tiles and steps of kernels end.
const SHAPES: [[usize; 3]; 14] = [
    [0, 3, 2],
    [3, 0, 2],
    [2, 3, 0],
    [1, 1, 1],
    [1, 17, 1],
    [7, 1, 5],
    [13, 31, 11],
    [16, 8, 32],
    [17, 9, 33],
    [63, 3, 64],
    [65, 64, 7],
    [5, 65, 63],
    [2, 127, 3],
    [64, 64, 64],
];

pub fn shapes<F: DenseField>() {
    for sizes @ [rows, inner, columns] in SHAPES {
        let (a, b) = (elements::<F>(rows * inner, 1), elements::<F>(inner * columns, 2));
        let small = words(rows * inner, 3);
        let expected = product((&a, &b), sizes, |a, b| a * b);
        let of_small = product((&small, &b), sizes, |a, b| element::<F>(a.into()) * b);
        for accelerator in accelerators_and_cpu() {
            let (a, b) = (upload(&accelerator, &a, rows, inner), upload(&accelerator, &b, inner, columns));
            for method in METHODS {
                let c = a.multiply(&b, &options(method), None).expect("a product");
                assert!(c.download().expect("download") == expected, "{sizes:?} {method:?} {accelerator:?}");
            }
            let small = upload(&accelerator, &small, rows, inner);
            let c = small.multiply(&b, &DenseOptions::default(), None).expect("a product");
            assert!(c.download().expect("download") == of_small, "i32 {sizes:?} {accelerator:?}");
        }
    }
}

/// All entries the same end of the range: sums as large as they get.
pub fn extremes<F: DenseField>() {
    let sizes @ [rows, inner, columns] = [3, 40, 5];
    for x in ends::<F>() {
        for y in ends::<F>() {
            let expected = vec![x * y * F::from(inner as u64); rows * columns];
            let (a, b) = (vec![x; rows * inner], vec![y; inner * columns]);
            for accelerator in accelerators_and_cpu() {
                let (a, b) = (upload(&accelerator, &a, rows, inner), upload(&accelerator, &b, inner, columns));
                let c = a.multiply(&b, &DenseOptions::default(), None).expect("a product");
                assert!(c.download().expect("download") == expected, "{sizes:?} {accelerator:?}");
            }
        }
    }
}

every_curve! {
    shapes;
    shapes_bls12_377: proofwarp::curve::bls12_377::Fr;
    shapes_bls12_381: blstrs::Scalar;
    shapes_bn254: Fr;
    shapes_pasta_fp: pasta_curves::Fp;
    shapes_pasta_fq: pasta_curves::Fq;
}
every_curve! {
    extremes;
    extremes_bls12_377: proofwarp::curve::bls12_377::Fr;
    extremes_bls12_381: blstrs::Scalar;
    extremes_bn254: Fr;
    extremes_pasta_fp: pasta_curves::Fp;
    extremes_pasta_fq: pasta_curves::Fq;
}

#[test]
fn bytes_times_bytes() {
    for sizes @ [rows, inner, columns] in SHAPES {
        let (a, b) = (bytes(rows * inner, 1), bytes(inner * columns, 2));
        let expected: Vec<i32> = product((&a, &b), sizes, |a, b| i32::from(a) * i32::from(b));
        for accelerator in accelerators_and_cpu() {
            let (a, b) = (upload(&accelerator, &a, rows, inner), upload(&accelerator, &b, inner, columns));
            let c = a.multiply(&b, &DenseOptions::default(), None).expect("a product");
            assert!(c.download().expect("download") == expected, "{sizes:?} {accelerator:?}");
            let field = c.to_field::<Fr>().expect("elements").download().expect("download");
            assert!(field.iter().zip(&expected).all(|(a, b)| *a == element(i64::from(*b))), "{accelerator:?}");
        }
    }
}

#[test]
fn bytes_times_elements() {
    let sizes @ [rows, inner, columns] = [19, 45, 34];
    let (a, b) = (bytes(rows * inner, 1), elements::<blstrs::Scalar>(inner * columns, 2));
    let expected = product((&a, &b), sizes, |a, b| element::<blstrs::Scalar>(a.into()) * b);
    for accelerator in accelerators_and_cpu() {
        let (a, b) = (upload(&accelerator, &a, rows, inner), upload(&accelerator, &b, inner, columns));
        let c = a.multiply(&b, &DenseOptions::default(), None).expect("a product");
        assert!(c.download().expect("download") == expected, "{accelerator:?}");
        // Elements times bytes, by transposes.
        let c = a.transposed().to_field::<blstrs::Scalar>().expect("elements");
        assert_eq!((c.rows(), c.columns()), (inner, rows));
    }
}

/// As many terms as sums of bytes of 32 bits have, and one more than tensor cores add without a remainder.
#[test]
fn long_sums() {
    let inner = (1 << 17) - 1;
    let (a, b) = (vec![i8::MIN; inner], vec![i8::MIN; inner]);
    let (x, small) = (elements::<Fr>(inner + 2, 1), vec![i8::MIN; inner + 2]);
    let sum: Fr = x.iter().sum();
    for accelerator in accelerators_and_cpu() {
        let c = upload(&accelerator, &a, 1, inner).multiply(
            &upload(&accelerator, &b, inner, 1),
            &DenseOptions::default(),
            None,
        );
        assert_eq!(
            c.expect("a product").download().expect("download"),
            [(1 << 14) * i32::try_from(inner).expect("small")]
        );
        let (a, x) = (upload(&accelerator, &small, 1, inner + 2), upload(&accelerator, &x, inner + 2, 1));
        let c = a.multiply(&x, &DenseOptions::default(), None).expect("a product").download().expect("download");
        assert_eq!(c, [-sum * Fr::from(128)]);
    }
}

/// By residues, where there are tensor cores: all shapes, against sums; in one piece and in many.
pub fn residues<F: DenseField>() {
    for accelerator in accelerators_and_cpu() {
        let crt = DenseOptions::default().method(Method::Crt);
        for sizes @ [rows, inner, columns] in [[1, 1, 1], [17, 9, 33], [65, 64, 63], [300, 130, 270]] {
            let a = upload(&accelerator, &elements::<F>(rows * inner, 1), rows, inner);
            let b = upload(&accelerator, &elements::<F>(inner * columns, 2), inner, columns);
            let lazy = a.multiply(&b, &options(Some(Method::Lazy)), None).expect("sums").download().expect("download");
            let product = match a.multiply(&b, &crt, None) {
                Err(error) if error.to_string().contains("dense: method: expected lazy, since") => {
                    eprintln!("left out: residues on {accelerator:?}: {error}");
                    break;
                }
                product => product.expect("residues"),
            };
            assert!(product.download().expect("download") == lazy, "{sizes:?} {accelerator:?}");
            let smallest = 3 * 49 * (128 * 256 + 256 * 256 + 128 * 256);
            let pieces = a.multiply(&b, &crt.bytes(smallest), None).expect("pieces").download().expect("download");
            assert!(pieces == lazy, "in pieces, {sizes:?} {accelerator:?}");
            for value in ends::<F>() {
                let all = upload(&accelerator, &vec![value; rows * inner], rows, inner);
                let c = all.multiply(&b, &crt, None).expect("residues").download().expect("download");
                let lazy = all.multiply(&b, &options(Some(Method::Lazy)), None).expect("sums");
                assert!(c == lazy.download().expect("download"), "{value:?} {sizes:?}");
            }
            let small = upload(&accelerator, &words(rows * inner, 3), rows, inner);
            let c = small.multiply(&b, &crt, None).expect("residues").download().expect("download");
            let lazy = small.multiply(&b, &options(Some(Method::Lazy)), None).expect("sums");
            assert!(c == lazy.download().expect("download"), "i32, {sizes:?}");
        }
    }
}

every_curve! {
    residues;
    residues_bls12_377: proofwarp::curve::bls12_377::Fr;
    residues_bls12_381: blstrs::Scalar;
    residues_bn254: Fr;
    residues_pasta_fp: pasta_curves::Fp;
    residues_pasta_fq: pasta_curves::Fq;
}

/// Sums of as many terms as tensor cores add before they take a remainder, and of one more.
#[test]
fn long_sums_of_residues() {
    for accelerator in accelerators_and_cpu() {
        for inner in [1 << 17, (1 << 17) + 1] {
            let a = upload(&accelerator, &vec![ends::<Fr>()[8]; inner], 1, inner);
            let b = upload(&accelerator, &elements::<Fr>(inner, 4), inner, 1);
            match a.multiply(&b, &DenseOptions::default().method(Method::Crt), None) {
                Err(error) if error.to_string().contains("since") => eprintln!("left out: residues: {error}"),
                c => {
                    let lazy = a.multiply(&b, &options(Some(Method::Lazy)), None).expect("sums");
                    let c = c.expect("residues").download().expect("download");
                    assert_eq!(c, lazy.download().expect("download"));
                }
            }
        }
    }
}

/// What is known of entries lowers the number of moduli, and changes nothing else.
#[test]
fn bounded_entries() {
    let sizes @ [rows, inner, columns] = [20, 30, 25];
    let small: Vec<Fr> = (0..rows * inner).map(|i| element(i64::try_from(i % 511).expect("small") - 255)).collect();
    let other = elements::<Fr>(inner * columns, 2);
    let expected = product((&small, &other), sizes, |a, b| a * b);
    for accelerator in accelerators_and_cpu() {
        let a = upload(&accelerator, &small, rows, inner).with_bound(8).expect("within the bound");
        let b = upload(&accelerator, &other, inner, columns);
        let c = a.multiply(&b, &DenseOptions::default(), None).expect("a product");
        assert!(c.download().expect("download") == expected, "{accelerator:?}");
        let error = upload(&accelerator, &small, rows, inner).with_bound(7).expect_err("beyond").to_string();
        assert_eq!(error, "dense: entry (0, 0): expected within ±(2^7 - 1), got another");
        let shifted = a.block(1..20, 3..30).expect("inside");
        assert!(shifted.with_bound(8).is_ok());
    }
}

#[test]
fn a_wrong_entry_is_caught() {
    let sizes @ [rows, inner, columns] = [9, 20, 11];
    let (a, b) = (bytes(rows * inner, 1), elements::<Fr>(inner * columns, 2));
    let right = product((&a, &b), sizes, |a, b| element::<Fr>(a.into()) * b);
    let mut wrong = right.clone();
    wrong[4 * columns + 3] += Fr::one();
    for accelerator in accelerators_and_cpu() {
        let (a, b) = (upload(&accelerator, &a, rows, inner), upload(&accelerator, &b, inner, columns));
        let check = |c: &[Fr]| {
            let c: DenseMatrix<Fr> = upload(&accelerator, c, rows, columns);
            c.check_product::<Fr, _, _>(&a, &b, 2, &mut rng(7)).expect("a check")
        };
        let verdict = check(&right);
        assert!(verdict.is_valid() && verdict.error_bits == 2 * 253, "{verdict:?}");
        assert_eq!(check(&wrong).wrong_row, Some(4));
    }
}
