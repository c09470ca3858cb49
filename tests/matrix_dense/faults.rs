//! Aborts and failures: results are made whole or not at all.

use halo2curves::bn256::Fr;
use proofwarp::matrix::dense::{DenseMatrix, DenseOptions};
use proofwarp::{Accelerator, BackendKind, Error};

use crate::common::{abort_after, accelerators_and_cpu, alone};
use crate::tools::{elements, product, upload};

#[test]
fn an_abort_leaves_the_result() {
    let (a, b) = (elements::<Fr>(40 * 30, 1), elements::<Fr>(30 * 20, 2));
    let expected = product((&a, &b), [40, 30, 20], |a, b| a * b);
    for accelerator in accelerators_and_cpu() {
        let (a, b) = (upload(&accelerator, &a, 40, 30), upload(&accelerator, &b, 30, 20));
        let before = vec![Fr::one(); 40 * 20];
        let mut c: DenseMatrix<Fr> = upload(&accelerator, &before, 40, 20);
        let mut aborted = 0;
        for questions in 0.. {
            match a.multiply_into(&b, &mut c, &DenseOptions::default(), Some(&abort_after(questions))) {
                Err(Error::Aborted) => assert!(c.download().expect("download") == before, "{accelerator:?}"),
                other => {
                    other.expect("no other error");
                    assert!(c.download().expect("download") == expected, "{accelerator:?}");
                    break;
                }
            }
            aborted += 1;
        }
        assert!(aborted > 0, "{accelerator:?}");
    }
}

/// A forced device's failure is an error, whichever launch it is; else the CPU makes the product.
#[test]
fn a_failure_leaves_the_result() {
    let (a, b) = (elements::<Fr>(40 * 30, 1), elements::<Fr>(30 * 20, 2));
    let expected = product((&a, &b), [40, 30, 20], |a, b| a * b);
    for accelerator in alone(None) {
        let device = &accelerator.devices()[0];
        let (x, y) = (upload(&accelerator, &a, 40, 30), upload(&accelerator, &b, 30, 20));
        let before = vec![Fr::one(); 40 * 20];
        let mut c: DenseMatrix<Fr> = upload(&accelerator, &before, 40, 20);
        // The product, and the copy to its place.
        for launch in 0..2 {
            device.inject_launch_fault(launch);
            let error = x.multiply_into(&y, &mut c, &DenseOptions::default(), None).expect_err("injected").to_string();
            assert!(error.contains("injected"), "{error}");
            assert!(c.download().expect("download") == before);
        }
        x.multiply_into(&y, &mut c, &DenseOptions::default(), None).expect("the next call");
        assert!(c.download().expect("download") == expected);
        let unforced = Accelerator::automatic().expect("settings").with_devices(accelerator.devices().to_vec());
        let (x, y) = (upload(&unforced, &a, 40, 30), upload(&unforced, &b, 30, 20));
        device.inject_launch_fault(0);
        let product = x.multiply(&y, &DenseOptions::default(), None).expect("the CPU's");
        let report = product.report().expect("a report");
        assert!(product.download().expect("download") == expected && report.backend == BackendKind::Cpu);
        assert!(report.fallbacks.iter().any(|reason| reason.contains("injected")), "{report}");
        // A factor on the host, and one on the device.
        let mixed = product.multiply(&y.transposed(), &DenseOptions::default(), None).expect("a product");
        assert!(mixed.device().is_none());
    }
}
