//! Small products that a batch must not make together. `tests/mutants.py` found that untested.

use halo2curves::bn256::Fr;
use proofwarp::matrix::dense::{DenseMatrix, DenseOptions, Method};

use crate::common::accelerators_and_cpu;
use crate::tools::{elements, product, upload};

/// Factors of one buffer and one shape, row after row and column after column.
#[test]
fn products_of_other_strides() {
    let sizes = [9, 9, 9];
    let entries = elements::<Fr>(81, 1);
    let turned: Vec<Fr> = (0..81).map(|at| entries[at % 9 * 9 + at / 9]).collect();
    let times = |a: &[Fr], b: &[Fr]| product((a, b), sizes, |a, b| a * b);
    for accelerator in accelerators_and_cpu() {
        let matrix = upload(&accelerator, &entries, 9, 9);
        let transposed = matrix.transposed();
        let pairs = [(&matrix, &matrix), (&transposed, &matrix), (&matrix, &transposed)];
        let options = DenseOptions::default().method(Method::Lazy);
        let products = DenseMatrix::multiply_batch(&pairs, &options, None).expect("products");
        let found: Vec<_> = products.iter().map(|product| product.download().expect("download")).collect();
        let expected = [times(&entries, &entries), times(&turned, &entries), times(&entries, &turned)];
        assert!(found == expected, "{accelerator:?}");
    }
}
