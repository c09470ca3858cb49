//! `csr_…`, `gemm_…` and `gemm_int8_…`.

use proofwarp::field::NttField;
use proofwarp::matrix::dense::{DenseField, DenseMatrix, DenseOptions, Method};
use proofwarp::matrix::dynamic::{Action, Change, DynamicCsr, Policy, Threshold};
use proofwarp::matrix::{Csr, SparseMatrix};
use proofwarp::{Accelerator, BackendKind};

use crate::common::{accelerators_with_devices, rng};
use crate::{agree, every_field};

fn random<F: NttField>(count: usize, seed: u64) -> Vec<F> {
    let mut rng = rng(seed);
    (0..count).map(|_| F::random(&mut rng)).collect()
}

/// Short rows, empty ones, and one that is cut.
fn csr<F: NttField>() -> Csr<F> {
    let row = |row: usize| {
        let length = [2, 0, 1, 300, 5][row % 5];
        (0..length).map(move |i| (i * 7 % 30, F::from((row + i) as u64 + 1)))
    };
    Csr::from_rows(30, (0..20).map(row)).expect("columns are in range")
}

fn sparse<F: NttField>() {
    let (x, z) = (random::<F>(30, 1), random::<F>(20, 2));
    agree(|accelerator| {
        let matrix = SparseMatrix::new(accelerator, csr::<F>())?;
        let (mut y, mut w) = (vec![F::ZERO; 20], vec![F::ZERO; 30]);
        matrix.multiply_many(&[&x], &mut [&mut y], None)?;
        matrix.multiply_transposed_many(&[&z], &mut [&mut w], None)?;
        Ok((y, w))
    });
}
every_field!(sparse);

fn dynamic<F: NttField>() {
    let x = random::<F>(30, 3);
    let changes: Vec<Change<F>> = (0..9)
        .map(|i| Change {
            row: i % 4,
            column: i * 11 % 30,
            action: if i % 2 == 0 { Action::Set(F::from(i as u64)) } else { Action::Add(F::ONE) },
        })
        .collect();
    agree(|accelerator| {
        let matrix = DynamicCsr::new(accelerator, csr::<F>(), Policy { merge_above: Threshold::Never, at_least: 0 })?;
        matrix.update(&changes)?;
        let mut y = vec![F::ZERO; 20];
        matrix.snapshot()?.multiply(&x, &mut y, None)?;
        matrix.merge()?;
        let mut merged = vec![F::ZERO; 20];
        matrix.snapshot()?.multiply(&x, &mut merged, None)?;
        assert!(y == merged);
        Ok(y)
    });
}
every_field!(dynamic);

/// Every method that the accelerator's device has: products on tensor cores are CUDA's.
fn methods(accelerator: &Accelerator) -> Vec<Option<Method>> {
    let is_cuda = accelerator.devices().first().is_some_and(|device| device.info().backend == BackendKind::Cuda);
    let all = [None, Some(Method::Lazy), Some(Method::Montgomery)];
    all.into_iter().chain(is_cuda.then_some(Some(Method::Crt))).collect()
}

/// Whole tiles and parts of them, and bytes times elements.
fn dense<F: DenseField>() {
    let [rows, inner, columns] = [19, 37, 21];
    let mut rng = rng(5);
    let mut elements = |count: usize| (0..count).map(|_| F::random(&mut rng)).collect::<Vec<F>>();
    let (a, b) = (elements(rows * inner), elements(inner * columns));
    let small: Vec<i8> = (0..rows * inner).map(|i| ((i * 37 % 256) as u8).cast_signed()).collect();
    let product = |accelerator: &Accelerator, method: Option<Method>| {
        let options = DenseOptions { method, ..DenseOptions::default() };
        let b = DenseMatrix::upload(accelerator, &b, inner, columns)?;
        let c = DenseMatrix::upload(accelerator, &a, rows, inner)?.multiply(&b, &options, None)?.download()?;
        let small = DenseMatrix::upload(accelerator, &small, rows, inner)?;
        Ok::<_, proofwarp::Error>((c, small.multiply(&b, &DenseOptions::default(), None)?.download()?))
    };
    let cpu = Accelerator::with_backend(BackendKind::Cpu).expect("always there");
    let expected = product(&cpu, None).expect("on the CPU");
    for accelerator in accelerators_with_devices() {
        for method in methods(&accelerator) {
            let found = product(&accelerator, method).unwrap_or_else(|error| panic!("{method:?}: {error}"));
            assert!(found == expected, "{method:?}");
        }
    }
}
every_field!(dense);

#[cfg(feature = "plonky3")]
#[test]
fn dense_goldilocks() {
    dense::<proofwarp::field::plonky3::Goldilocks>();
}

#[cfg(feature = "plonky3")]
#[test]
fn dense_baby_bear() {
    dense::<proofwarp::field::plonky3::BabyBear>();
}
