//! Matrices times vectors, and folds.

use halo2curves::bn256::Fr;
use proofwarp::matrix::dense::{DenseField, DenseMatrix, Entry, MatMulElement};

use crate::common::{accelerators_and_cpu, every_curve};
use crate::tools::{bytes, element, elements, product, upload, words};

/// Long ones are cut into pieces for several groups.
const SHAPES: [[usize; 2]; 9] =
    [[0, 4], [4, 0], [1, 1], [1, 5000], [5000, 1], [63, 65], [130, 127], [7, 3000], [3000, 7]];

pub fn agrees<T: Entry + MatMulElement<F, Product = F>, F: DenseField>(
    entries: impl Fn(usize) -> Vec<T>,
    value: impl Fn(T) -> F,
) {
    for [rows, columns] in SHAPES {
        let entries = entries(rows * columns);
        let (x, w) = (elements::<F>(columns, 3), elements::<F>(rows, 4));
        let expected = product((&entries, &x), [rows, columns, 1], |a, x| value(a) * x);
        let mut folded = vec![F::ZERO; columns];
        for (number, entry) in entries.iter().enumerate() {
            folded[number % columns] += value(*entry) * w[number / columns];
        }
        for accelerator in accelerators_and_cpu() {
            let a = upload(&accelerator, &entries, rows, columns);
            let [x, w] = [&x, &w].map(|vector| DenseMatrix::upload_vector(&accelerator, vector).expect("a vector"));
            assert!(a.times_vector(&x).expect("y").download().expect("download") == expected, "{accelerator:?}");
            assert!(a.fold_columns(&x).expect("y").download().expect("download") == expected, "{accelerator:?}");
            assert!(
                a.fold_rows(&w).expect("y").download().expect("download") == folded,
                "{rows} {columns} {accelerator:?}"
            );
        }
    }
}

pub fn of_elements<F: DenseField>() {
    agrees::<F, F>(|count| elements(count, 1), |entry| entry);
}

every_curve! {
    of_elements;
    of_elements_bls12_377: proofwarp::curve::bls12_377::Fr;
    of_elements_bls12_381: blstrs::Scalar;
    of_elements_bn254: Fr;
    of_elements_pasta_fp: pasta_curves::Fp;
    of_elements_pasta_fq: pasta_curves::Fq;
}

#[test]
fn of_numbers() {
    agrees::<i8, Fr>(|count| bytes(count, 1), |entry| element(entry.into()));
    agrees::<i32, Fr>(|count| words(count, 1), |entry| element(entry.into()));
}
