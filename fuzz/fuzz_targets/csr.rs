//! Matrices of any vectors: refused, or the product that the definition gives.
#![no_main]

use blstrs::Scalar;
use libfuzzer_sys::fuzz_target;
use proofwarp::matrix::{Csr, SparseMatrix};
use proofwarp::{Accelerator, BackendKind};

fuzz_target!(|input: (u16, Vec<u32>, Vec<u32>, Vec<u64>)| {
    let (columns, row_pointers, column_indices, coefficients) = input;
    let coefficients: Vec<_> = coefficients.into_iter().map(Scalar::from).collect();
    let Ok(csr) = Csr::new(usize::from(columns), row_pointers, column_indices, &coefficients) else { return };
    let (rows, columns) = (csr.rows(), csr.columns());
    let x: Vec<_> = (0..columns as u64).map(|i| Scalar::from(i * i + 7)).collect();
    let expected: Vec<Scalar> =
        (0..rows).map(|row| csr.row(row).map(|(column, value)| value * x[column]).sum()).collect();
    let twice = csr.transpose().transpose();
    assert!((0..rows).all(|row| row_sum(&twice, row, &x) == expected[row]), "transposed twice");
    let cpu = Accelerator::with_backend(BackendKind::Cpu).expect("the CPU");
    let matrix = SparseMatrix::new(&cpu, csr).expect("a matrix");
    let mut y = vec![Scalar::from(1); rows];
    matrix.multiply(&x, &mut y, None).expect("a product");
    assert!(y == expected, "product");
});

fn row_sum(csr: &Csr<Scalar>, row: usize, x: &[Scalar]) -> Scalar {
    csr.row(row).map(|(column, value)| value * x[column]).sum()
}
