//! Products that several devices share, each on its own rows of the first factor.

use halo2curves::bn256::Fr;
use proofwarp::Accelerator;
use proofwarp::backend::Device;
use proofwarp::matrix::dense::{DenseMatrix, DenseOptions, Entry, MatMulElement, View};

use crate::common::{accelerators_with_devices, fresh_driver};
use crate::tools::{bytes, element, elements, product, rows_of, words};

/// Each backend's accelerator with its own devices, and as many more of the first one as make three. With memory of its own, each
/// is another device.
fn with_three_devices() -> Vec<Accelerator> {
    let three = |accelerator: Accelerator| {
        let mut devices = accelerator.devices().to_vec();
        let first = devices[0].clone();
        devices.resize_with(devices.len().max(3), || Device::new(fresh_driver(&first), None));
        accelerator.with_devices(devices)
    };
    accelerators_with_devices().into_iter().map(three).collect()
}

/// Checks the product of what the views have, by one to four devices, against `expected`.
fn check<A: MatMulElement<B>, B: Entry>((a, left): (&[A], View), (b, right): (&[B], View), expected: &[A::Product])
where
    A::Product: PartialEq,
{
    for accelerator in with_three_devices() {
        let a = DenseMatrix::upload_view(&accelerator, a, left).expect("a view");
        let b = DenseMatrix::upload_view(&accelerator, b, right).expect("a view");
        for devices in 1..5 {
            let c = a.multiply(&b, &DenseOptions::default().devices(devices), None);
            let c = c.unwrap_or_else(|error| panic!("{left:?} by {devices} on {accelerator:?}: {error}"));
            assert!(c.download().expect("download") == expected, "{left:?} by {devices} on {accelerator:?}");
            assert_eq!(c.device().map(|device| device.info().ordinal), Some(accelerator.devices()[0].info().ordinal));
        }
    }
}

#[test]
fn rows_of_any_order() {
    let memory = elements::<Fr>(3000, 1);
    let strided = View { first: 13, ..View::row_major(20, 30).with_row_step(37) };
    let apart = View { rows: 20, columns: 30, first: 5, row_step: 1, column_step: 22 };
    for left in [View::row_major(20, 30), View::column_major(20, 30), strided, apart] {
        for right in [View::row_major(30, 7), View { first: 3, ..View::column_major(30, 7) }] {
            let expected = product((&rows_of(&memory, left), &rows_of(&memory, right)), [20, 30, 7], |a, b| a * b);
            check((&memory, left), (&memory, right), &expected);
        }
    }
}

#[test]
fn fewer_rows_than_devices() {
    for rows in 0..3 {
        let (a, b) = (elements::<Fr>(rows * 5, 2), elements::<Fr>(5 * 4, 3));
        let expected = product((&a, &b), [rows, 5, 4], |a, b| a * b);
        check((&a, View::row_major(rows, 5)), (&b, View::row_major(5, 4)), &expected);
    }
}

#[test]
fn small_integers() {
    let ([rows, inner, columns], views) = ([70, 33, 41], [View::row_major(70, 33), View::row_major(33, 41)]);
    let (small, field, long) = (bytes(rows * inner, 4), elements::<Fr>(inner * columns, 5), words(rows * inner, 6));
    let sizes = [rows, inner, columns];
    let expected = product((&small, &field), sizes, |a, b| element::<Fr>(a.into()) * b);
    check((&small, views[0]), (&field, views[1]), &expected);
    let expected = product((&long, &field), sizes, |a, b| element::<Fr>(a.into()) * b);
    check((&long, views[0]), (&field, views[1]), &expected);
    let other = bytes(inner * columns, 7);
    let expected = product((&small, &other), sizes, |a, b| i32::from(a) * i32::from(b));
    check((&small, views[0]), (&other, views[1]), &expected);
}

/// An abort ends all devices' work, and changes nothing.
#[test]
fn aborts() {
    let entries = elements::<Fr>(64 * 64, 8);
    for accelerator in with_three_devices() {
        let a = DenseMatrix::upload(&accelerator, &entries, 64, 64).expect("a matrix");
        let result = a.multiply(&a, &DenseOptions::default().devices(3), Some(&|| true));
        assert!(matches!(result, Err(proofwarp::Error::Aborted)), "{accelerator:?}");
        assert!(a.download().expect("download") == entries);
    }
}
