//! What is refused, with what was expected and what there was; nothing is changed.

use halo2curves::bn256::Fr;
use proofwarp::field::as_bytes_mut;
use proofwarp::matrix::dense::{DenseMatrix, DenseOptions, Method, View};
use proofwarp::{Error, Result};

use crate::common::{accelerators_and_cpu, accelerators_with_devices, alone};
use crate::tools::{elements, upload};

fn refused<T>(result: Result<T>, message: &str) {
    let error = result.map(|_| ()).expect_err(message);
    assert!(matches!(error, Error::Invalid { .. }), "{error}");
    assert_eq!(error.to_string(), format!("dense: {message}"));
}

#[test]
fn shapes_that_do_not_fit() {
    for accelerator in accelerators_and_cpu() {
        let entries = elements::<Fr>(12, 1);
        refused(DenseMatrix::upload(&accelerator, &entries, 3, 5), "number of entries: expected 15, got 12");
        let (a, b) = (upload(&accelerator, &entries, 3, 4), upload(&accelerator, &entries, 2, 6));
        refused(a.multiply(&b, &DenseOptions::default(), None), "rows of the second factor: expected 4, got 2");
        refused(a.explain(&b, &DenseOptions::default()), "rows of the second factor: expected 4, got 2");
        refused(a.times_vector(&b), "columns of the vector: expected 1, got 6");
        refused(a.times_vector(&b.block(0..2, 0..1).expect("inside")), "length of the vector: expected 4, got 2");
        refused(a.block(1..4, 0..4), "rows of a block: expected within 0..3, got 1..4");
        let mut rng = crate::common::rng(1);
        refused(a.check_product::<Fr, _, _>(&b, &b, 1, &mut rng), "rows of the product: expected 2, got 3");
        let mut c = upload(&accelerator, &entries, 4, 3);
        let before = c.download().expect("download");
        let product = a.multiply_into(&a.transposed(), &mut c, &DenseOptions::default(), None);
        refused(product, "rows of the result: expected 3, got 4");
        assert!(c.download().expect("download") == before);
    }
}

/// Factors without entries, whose product no memory has room for.
#[test]
fn products_of_any_size() {
    for accelerator in accelerators_and_cpu() {
        let (tall, wide) = (upload::<Fr>(&accelerator, &[], 1 << 30, 0), upload::<Fr>(&accelerator, &[], 0, 1 << 30));
        let message =
            format!("entries of the product: expected at most {}, got 1073741824 x 1073741824", usize::MAX / 64);
        refused(tall.multiply(&wide, &DenseOptions::default(), None), &message);
        refused(tall.explain(&wide, &DenseOptions::default()), &message);
        let narrower = wide.block(0..0, 0..1 << 20).expect("inside");
        let error = tall.multiply(&narrower, &DenseOptions::default(), None).map(|_| ()).expect_err("2^55 bytes");
        assert!(matches!(error, Error::OutOfMemory { .. }), "{error}");
        let two = [(&tall, &narrower), (&tall, &narrower)];
        let error =
            DenseMatrix::multiply_batch(&two, &DenseOptions::default(), None).map(|_| ()).expect_err("2^56 bytes");
        assert!(matches!(error, Error::OutOfMemory { .. }), "{error}");
    }
}

#[test]
fn memory_that_overlaps() {
    for accelerator in accelerators_and_cpu() {
        let a = upload(&accelerator, &elements::<Fr>(18, 1), 3, 6);
        let before = a.download().expect("download");
        let (left, right) = (a.block(0..3, 0..3).expect("inside"), a.block(0..3, 1..4).expect("inside"));
        let mut c = a.block(0..3, 2..5).expect("inside");
        let message = "result: expected memory of its own, got memory that a factor or another matrix overlaps";
        refused(left.multiply_into(&right, &mut c, &DenseOptions::default(), None), message);
        assert!(a.download().expect("download") == before);
    }
}

#[test]
fn views_that_do_not_fit() {
    for accelerator in accelerators_and_cpu() {
        let entries = elements::<Fr>(20, 1);
        let strided =
            |step| DenseMatrix::upload_view(&accelerator, &entries, View::row_major(3, 5).with_row_step(step));
        refused(strided(4), "stride of rows: expected at least 5, got 4");
        refused(strided(8), "number of entries: expected at least 21, got 20");
        assert!(strided(7).is_ok());
        let matrix = strided(7).expect("a matrix");
        refused(matrix.with_view(View::row_major(4, 6)), "number of entries: expected at least 24, got 20");
    }
}

#[test]
fn elements_that_are_none() {
    let mut entries = elements::<Fr>(12, 1);
    // SAFETY: Fr is four words, of which all patterns may be looked at; the test is that this one is refused.
    unsafe { as_bytes_mut(&mut entries[7..8]) }.fill(0xff);
    for accelerator in accelerators_and_cpu() {
        let error = DenseMatrix::upload(&accelerator, &entries, 3, 4).map(|_| ()).expect_err("no element").to_string();
        assert_eq!(error, "field: element 7: expected limbs below the modulus, got others");
    }
}

#[test]
fn methods_that_are_not_there() {
    for accelerator in accelerators_and_cpu() {
        let (a, small) = (upload(&accelerator, &elements::<Fr>(9, 1), 3, 3), upload(&accelerator, &[1i8; 9], 3, 3));
        let montgomery = DenseOptions::default().method(Method::Montgomery);
        refused(small.multiply(&a, &montgomery, None), "method: expected lazy or crt for numbers, got montgomery");
        match a.multiply(&a, &DenseOptions::default().method(Method::Crt), None) {
            Ok(product) => assert!(product.device().is_some()),
            Err(error) => {
                let text = error.to_string();
                assert!(
                    text.starts_with("dense: method: expected lazy, since ") && text.ends_with(", got crt"),
                    "{text}"
                );
            }
        }
        let long = upload(&accelerator, &vec![1i8; 1 << 17], 1, 1 << 17);
        let message = "columns of the first factor: expected below 131072 for sums of 32 bits, got 131072";
        refused(long.multiply(&long.transposed(), &DenseOptions::default(), None), message);
    }
}

#[test]
fn matrices_on_two_devices() {
    for (accelerator, other) in accelerators_with_devices().iter().zip(alone(None)) {
        let [a, b] = [accelerator, &other].map(|accelerator| upload(accelerator, &elements::<Fr>(9, 1), 3, 3));
        let error = a.multiply(&b, &DenseOptions::default(), None).map(|_| ()).expect_err("another device").to_string();
        assert!(error.starts_with("dense: second factor: expected a matrix on Device("), "{error}");
    }
}

#[test]
fn too_little_memory() {
    for accelerator in alone(Some(1 << 16)) {
        let entries = elements::<Fr>(64 * 64, 1);
        let error = DenseMatrix::upload(&accelerator, &entries, 64, 64).map(|_| ()).expect_err("no memory");
        assert!(matches!(error, Error::OutOfMemory { .. }), "{error}");
    }
}
