//! Tests limits, aborts and times of sparse products. `tests/mutants.py` found them untested.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use ff::Field;
use halo2curves::bn256::Fr;

use super::csr::Csr;
use super::{SparseMatrix, cpu};
use crate::exec::ExecCtx;
use crate::{Accelerator, Error};

/// Checks that a matrix may have 2^31 columns, and no more.
#[test]
fn columns_are_limited() {
    let of = |columns| Csr::<Fr>::from_rows(columns, [[(0, Fr::ONE)]]);
    assert_eq!(of(1 << 31).expect("as many as there may be").columns(), 1 << 31);
    assert!(matches!(of((1 << 31) + 1), Err(Error::Invalid { .. })));
}

/// Checks that an abort after the last row leaves the result unchanged.
#[test]
fn nothing_is_written_after_an_abort() {
    let csr = Csr::from_rows(2, [[(0, Fr::ONE)], [(1, Fr::ONE)]]).expect("a matrix");
    for questions in 0..2 {
        let (asked, x, mut y) = (AtomicU32::new(0), [Fr::ONE; 2], [Fr::from(7); 2]);
        let hook = || asked.fetch_add(1, Ordering::Relaxed) >= questions;
        let result = cpu::multiply(&csr, &[&x], &mut [&mut y], ExecCtx::unreported(Some(&hook)));
        assert!(matches!(result, Err(Error::Aborted)), "{questions} questions: {result:?}");
        assert_eq!(y, [Fr::from(7); 2]);
    }
}

/// Checks that a product on a device reports the time of its kernels.
#[test]
fn kernels_are_timed() {
    let accelerator = Accelerator::automatic().expect("settings are right");
    if accelerator.devices().is_empty() {
        return println!("skipped: no device");
    }
    let csr = Csr::from_rows(64, (0..64).map(|row| [(row, Fr::from(3))])).expect("a matrix");
    let matrix = SparseMatrix::new(&accelerator, csr).expect("memory");
    let mut y = vec![Fr::ZERO; 64];
    // The first launch of a kernel is counted separately.
    matrix.multiply(&[Fr::ONE; 64], &mut y, None).expect("a product");
    let report = matrix.multiply(&[Fr::ONE; 64], &mut y, None).expect("a product");
    assert!(y.iter().all(|value| *value == Fr::from(3)));
    assert!(report.traffic.kernels > Duration::ZERO, "{report}");
}
