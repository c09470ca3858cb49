//! Sparse matrices times vectors over every field on every backend and on the CPU, against the definition.

mod common;

use common::{abort_after, accelerators_and_cpu, accelerators_with_devices, alone, rng};
use ff::Field;
use halo2curves::bn256::Fr;
use proofwarp::backend::{Buffer, Stream};
use proofwarp::field::{NttField, as_bytes, as_bytes_mut};
use proofwarp::matrix::{Csr, DeviceVectors, Kernel, SparseMatrix, SparseOptions};
use proofwarp::{Accelerator, BackendKind, Error};
use proptest::prelude::*;
use rand::Rng;

/// A row's columns and coefficients.
type Row<F> = Vec<(usize, F)>;

const KERNELS: [Option<Kernel>; 4] = [None, Some(Kernel::Scalar), Some(Kernel::Vector), Some(Kernel::Balanced)];

/// A matrix as the tests have it.
#[derive(Clone, Debug)]
struct Matrix<F> {
    columns: usize,
    rows: Vec<Row<F>>,
}

impl<F: NttField> Matrix<F> {
    /// Rows of such lengths; coefficients are ±1, zero, or one of `kinds` random ones.
    fn random(columns: usize, lengths: &[usize], kinds: usize, seed: u64) -> Self {
        let mut rng = rng(seed);
        let mut values = vec![F::ONE, -F::ONE, F::ONE, -F::ONE, F::ZERO];
        values.extend((0..kinds).map(|_| F::random(&mut rng)));
        let mut row = |length: &usize| {
            let entry = |_| (rng.gen_range(0..columns), values[rng.gen_range(0..values.len())]);
            (0..*length).map(entry).collect()
        };
        Self { columns, rows: lengths.iter().map(&mut row).collect() }
    }

    fn csr(&self) -> Csr<F> {
        Csr::from_rows(self.columns, self.rows.iter().map(|row| row.iter().copied())).expect("matrix")
    }

    /// The definition.
    fn times(&self, x: &[F]) -> Vec<F> {
        self.rows.iter().map(|row| row.iter().map(|(column, value)| *value * x[*column]).sum()).collect()
    }

    /// The definition for the transpose.
    fn transposed_times(&self, x: &[F]) -> Vec<F> {
        let mut y = vec![F::ZERO; self.columns];
        for (row, x) in self.rows.iter().zip(x) {
            for (column, value) in row {
                y[*column] += *value * x;
            }
        }
        y
    }
}

fn vector<F: Field>(length: usize, seed: u64) -> Vec<F> {
    let mut rng = rng(seed);
    // As witnesses are: zeros and ones among others.
    let mut value = || [F::ZERO, F::ONE, F::random(&mut rng), -F::random(&mut rng)][rng.gen_range(0..4)];
    (0..length).map(|_| value()).collect()
}

fn on<F: NttField>(accelerator: &Accelerator, csr: &Csr<F>, kernel: Option<Kernel>) -> SparseMatrix<F> {
    let options = SparseOptions { kernel, ..SparseOptions::default() };
    SparseMatrix::with_options(accelerator, csr.clone(), options).expect("matrix on the devices")
}

/// Both products by every kernel on every backend.
fn agrees<F: NttField>(matrix: &Matrix<F>) {
    let csr = matrix.csr();
    let (x, z) = (vector::<F>(matrix.columns, 1), vector::<F>(matrix.rows.len(), 2));
    let expected = (matrix.times(&x), matrix.transposed_times(&z));
    for (accelerator, kernel) in accelerators_and_cpu().iter().flat_map(|a| KERNELS.map(|kernel| (a, kernel))) {
        let matrix = on(accelerator, &csr, kernel);
        // What lies there is to be overwritten.
        let (mut y, mut w) = (vec![-F::ONE; csr.rows()], vec![-F::ONE; csr.columns()]);
        matrix.multiply(&x, &mut y, None).expect("multiply");
        assert!(y == expected.0, "{kernel:?} {accelerator:?}\n{}", matrix.explain());
        matrix.multiply_transposed(&z, &mut w, None).expect("multiply_transposed");
        assert!(w == expected.1, "transposed, {kernel:?} {accelerator:?}\n{}", matrix.explain_transposed());
        assert!(kernel.is_none_or(|kernel| matrix.explain().kernel == kernel));
    }
}

fn shapes<F: NttField>() {
    let short: Vec<usize> = (0..300).map(|row| row % 5).collect();
    agrees::<F>(&Matrix::random(200, &short, 10, 1));
    // No non-zeros, no rows, no columns, neither.
    agrees::<F>(&Matrix::random(7, &[0; 1300], 1, 2));
    agrees::<F>(&Matrix::random(7, &[], 1, 3));
    agrees::<F>(&Matrix::random(0, &[0; 9], 1, 4));
    agrees::<F>(&Matrix::random(0, &[], 1, 5));
    agrees::<F>(&Matrix::random(1, &[1], 1, 6));
    // ±1 alone.
    let mut signs = Matrix::random(100, &short, 0, 7);
    signs.rows.iter_mut().flatten().for_each(|(column, value)| *value = [F::ONE, -F::ONE][*column % 2]);
    agrees::<F>(&signs);
}

fn long_rows<F: NttField>() {
    // One dense row among short ones, rows that end about where tiles do, and one that is all of the matrix.
    let mut lengths: Vec<usize> = (0..1000).map(|row| row % 4).collect();
    lengths[400] = 3000;
    agrees::<F>(&Matrix::random(3000, &lengths, 20, 8));
    agrees::<F>(&Matrix::random(90, &[511, 1, 0, 512, 0, 513, 1, 1023, 1024, 1025, 0, 3, 40, 128, 129], 5, 9));
    agrees::<F>(&Matrix::random(50, &[20_000], 3, 10));
    agrees::<F>(&Matrix::random(2000, &[150; 64], 1000, 11));
    // Empty rows at both ends.
    agrees::<F>(&Matrix::random(20, &[vec![0; 600], vec![700, 2], vec![0; 600]].concat(), 3, 12));
}

/// Dictionaries in the same word as columns, in 16 bits and in 32.
fn formats<F: NttField>() {
    for (kinds, bytes) in [(100, 4), (40_000, 6), (69_000, 8)] {
        let mut matrix = Matrix::<F>::random(1 << 17, &[35; 2000], 1, 13);
        let entries = matrix.rows.iter_mut().flatten();
        entries.take(kinds).zip(2..).for_each(|((_, value), number)| *value = F::from(number));
        let explanation = on(&cpu(), &matrix.csr(), None).explain();
        assert_eq!(explanation.nonzero_bytes, bytes, "{explanation}");
        agrees(&matrix);
    }
}

fn cpu() -> Accelerator {
    Accelerator::with_backend(BackendKind::Cpu).expect("always there")
}

fn batches<F: NttField>() {
    let matrix = Matrix::<F>::random(300, &[vec![3; 500], vec![2000], vec![9; 70]].concat(), 9, 14);
    let csr = matrix.csr();
    for count in [0, 1, 2, 5] {
        let x: Vec<Vec<F>> = (0..count).map(|k| vector(300, k)).collect();
        let expected: Vec<Vec<F>> = x.iter().map(|x| matrix.times(x)).collect();
        let x: Vec<&[F]> = x.iter().map(Vec::as_slice).collect();
        for (accelerator, kernel) in accelerators_and_cpu().iter().flat_map(|a| KERNELS.map(|kernel| (a, kernel))) {
            let mut y = vec![vec![F::ONE; csr.rows()]; x.len()];
            let mut slices: Vec<&mut [F]> = y.iter_mut().map(Vec::as_mut_slice).collect();
            on(accelerator, &csr, kernel).multiply_many(&x, &mut slices, None).expect("multiply_many");
            assert!(y == expected, "{count}, {kernel:?} {accelerator:?}");
        }
    }
}

fn upload<F: NttField>(stream: &mut Stream, values: &[F]) -> Buffer {
    let buffer = stream.allocate(size_of_val(values)).expect("buffer").mark_secret();
    stream.upload(&buffer, as_bytes(values)).expect("upload");
    buffer
}

fn download<F: NttField>(stream: &mut Stream, buffer: &Buffer) -> Vec<F> {
    let mut values = vec![F::ZERO; buffer.bytes() / size_of::<F>()];
    // SAFETY: what the test uploads and the kernels leave are reduced elements.
    stream.download(unsafe { as_bytes_mut(&mut values) }, buffer).expect("download");
    values
}

/// Vectors that lie apart in their buffers; what lies between is left as it was. Products follow one another on the
/// stream without a wait.
fn vectors_on_the_device<F: NttField>() {
    let matrix = Matrix::<F>::random(50, &[vec![3; 80], vec![1200]].concat(), 9, 15);
    let (rows, columns, count) = (matrix.rows.len(), matrix.columns, 3);
    let (x, y) = (vector::<F>(400, 1), vector::<F>(500, 2));
    let ((x_first, x_stride), (y_first, y_stride)) = ((11, 60), (7, 90));
    let mut expected = y.clone();
    for k in 0..count {
        let (from, to) = (x_first + k * x_stride, y_first + k * y_stride);
        expected[to..to + rows].copy_from_slice(&matrix.times(&x[from..from + columns]));
    }
    for (accelerator, kernel) in accelerators_with_devices().iter().flat_map(|a| KERNELS.map(|kernel| (a, kernel))) {
        let resident = on(accelerator, &matrix.csr(), kernel);
        let (there, back) = (resident.on_device(0).expect("there"), resident.transposed_on_device(0).expect("there"));
        let mut stream = there.device().stream().expect("stream");
        let (x_buffer, y_buffer) = (upload(&mut stream, &x), upload(&mut stream, &y));
        let z_buffer = stream.allocate(32 * columns).expect("buffer");
        let x_there = DeviceVectors { buffer: &x_buffer, first: x_first, stride: x_stride };
        let y_there = DeviceVectors { buffer: &y_buffer, first: y_first, stride: y_stride };
        there.enqueue(&mut stream, x_there, y_there, count).expect("enqueue");
        back.enqueue(&mut stream, y_there, DeviceVectors::one(&z_buffer), 1).expect("enqueue");
        assert!(download::<F>(&mut stream, &y_buffer) == expected, "{kernel:?} {accelerator:?}");
        let product = matrix.transposed_times(&expected[y_first..y_first + rows]);
        assert!(download::<F>(&mut stream, &z_buffer) == product, "{kernel:?} {accelerator:?}");
    }
}

common::every_curve! {
    shapes;
    shapes_bls12_377: proofwarp::curve::bls12_377::Fr;
    shapes_bls12_381: blstrs::Scalar;
    shapes_bn254: Fr;
    shapes_pasta_fp: pasta_curves::Fp;
    shapes_pasta_fq: pasta_curves::Fq;
}
common::every_curve! {
    long_rows;
    long_rows_bls12_377: proofwarp::curve::bls12_377::Fr;
    long_rows_bls12_381: blstrs::Scalar;
    long_rows_bn254: Fr;
    long_rows_pasta_fp: pasta_curves::Fp;
    long_rows_pasta_fq: pasta_curves::Fq;
}
common::every_curve! {
    formats;
    formats_bls12_381: blstrs::Scalar;
    formats_bn254: Fr;
}
common::every_curve! {
    batches;
    batches_bls12_377: proofwarp::curve::bls12_377::Fr;
    batches_bls12_381: blstrs::Scalar;
    batches_pasta_fq: pasta_curves::Fq;
}
common::every_curve! {
    vectors_on_the_device;
    vectors_on_the_device_bls12_381: blstrs::Scalar;
    vectors_on_the_device_bn254: Fr;
}

/// A matrix of any shape, its transpose, and the transpose's transpose.
#[test]
fn any_matrix() {
    let lengths = prop_oneof![3 => 0..6usize, 1 => 0..40usize, 1 => 0..900usize];
    let matrices = (1..200usize, prop::collection::vec(lengths, 0..120), 0..50usize, any::<u64>());
    let matrices =
        matrices.prop_map(|(columns, lengths, kinds, seed)| Matrix::<Fr>::random(columns, &lengths, kinds, seed));
    proptest!(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() }, |(matrix in matrices)| {
        agrees(&matrix);
        let csr = matrix.csr();
        let there_and_back = csr.transpose().transpose();
        prop_assert_eq!(there_and_back.row_pointers(), csr.row_pointers());
        for row in 0..csr.rows() {
            let mut expected: Vec<_> = csr.row(row).map(|(column, _)| column).collect();
            expected.sort_unstable();
            prop_assert_eq!(there_and_back.row(row).map(|(column, _)| column).collect::<Vec<_>>(), expected);
        }
    });
}

#[test]
fn from_arrays_as_from_rows() {
    let matrix = Matrix::<Fr>::random(40, &[0, 3, 8, 0, 1], 6, 16);
    let entries: Vec<_> = matrix.rows.iter().flatten().copied().collect();
    let (columns, coefficients): (Vec<u32>, Vec<Fr>) = entries.iter().map(|(c, v)| (*c as u32, *v)).unzip();
    let csr = Csr::new(40, vec![0, 0, 3, 11, 11, 12], columns, &coefficients).expect("matrix");
    let same = matrix.csr();
    assert_eq!((csr.rows(), csr.columns(), csr.nonzeros()), (5, 40, 12));
    assert_eq!(csr.row_pointers(), same.row_pointers());
    assert_eq!(csr.column_indices(), same.column_indices());
    assert_eq!(csr.coefficient_indices(), same.coefficient_indices());
    assert_eq!(csr.dictionary(), same.dictionary());
    assert!((0..6).all(|row| csr.row(row).eq(matrix.rows.get(row).into_iter().flatten().copied())));
}

#[test]
fn from_a_dictionary_as_from_rows() {
    let two = Fr::from(2);
    let dictionary = vec![Fr::ONE, -Fr::ONE, two];
    let csr = Csr::with_dictionary(9, vec![0, 2, 2, 3], vec![8, 0, 4], vec![2, 1, 0], dictionary).expect("matrix");
    let rows = [vec![(8, two), (0, -Fr::ONE)], vec![], vec![(4, Fr::ONE)]];
    for (number, row) in rows.iter().enumerate() {
        assert_eq!(csr.row(number).collect::<Vec<_>>(), *row, "row {number}");
    }
    let refused = |indices: Vec<u32>, dictionary: Vec<Fr>| {
        let result = Csr::with_dictionary(9, vec![0, 1], vec![3], indices, dictionary);
        result.map(|_| ()).expect_err("no matrix").to_string()
    };
    let units = vec![Fr::ONE, -Fr::ONE];
    assert!(refused(vec![2], units.clone()).contains("coefficient of non-zero 0"), "a place beyond the end");
    assert!(refused(vec![0, 1], units).contains("number of coefficients"), "too many places");
    assert!(refused(vec![0], vec![-Fr::ONE, Fr::ONE]).contains("dictionary"), "the wrong way round");
    assert!(refused(vec![0], vec![]).contains("dictionary"), "an empty one");
}

#[test]
fn arrays_that_are_no_matrix() {
    let refused = |columns: usize, pointers: &[u32], indices: &[u32], values: usize, message: &str| {
        let result = Csr::new(columns, pointers.to_vec(), indices.to_vec(), &vec![Fr::ONE; values]);
        let error = result.map(|_| ()).expect_err(message);
        assert!(matches!(error, Error::Invalid { .. }));
        assert_eq!(error.to_string(), format!("csr: {message}"));
    };
    refused(3, &[], &[], 0, "number of row pointers: expected at least 1, got 0");
    refused(3, &[1], &[], 0, "the only row pointer: expected 0, got 1");
    refused(3, &[0], &[1], 1, "number of non-zeros: expected 0, got 1");
    refused(3, &[1, 2], &[0, 0], 2, "first row pointer: expected 0, got 1");
    refused(3, &[0, 2, 1, 2], &[0, 0], 2, "row pointer 2: expected at least 2, got 1");
    refused(3, &[0, 1], &[0, 0], 2, "last row pointer: expected 2, got 1");
    refused(3, &[0, 3], &[0, 0], 2, "last row pointer: expected 2, got 3");
    refused(3, &[0, 2], &[0, 0], 1, "number of coefficients: expected 2, got 1");
    refused(3, &[0, 2], &[2, 3], 2, "column of non-zero 1: expected below 3, got 3");
    refused(0, &[0, 1], &[0], 1, "column of non-zero 0: expected below 0, got 0");
    refused((1 << 31) + 1, &[0, 1], &[0], 1, "columns: expected at most 2147483648, got 2147483649");
    let error = Csr::from_rows(2, [vec![(0, Fr::ONE)], vec![(2, Fr::ONE)]]).map(|_| ()).expect_err("column");
    assert_eq!(error.to_string(), "csr: column in row 1: expected below 2, got 2");
}

#[test]
fn vectors_that_do_not_fit() {
    let csr = Matrix::<Fr>::random(4, &[2, 1, 3], 2, 17).csr();
    let (x, z) = (vector::<Fr>(4, 1), vector::<Fr>(3, 2));
    for accelerator in accelerators_and_cpu() {
        let matrix = on(&accelerator, &csr, None);
        let refused = |x: &[&[Fr]], lengths: &[usize], message: &str| {
            let mut y: Vec<Vec<Fr>> = lengths.iter().map(|length| vec![Fr::from(7); *length]).collect();
            let mut slices: Vec<&mut [Fr]> = y.iter_mut().map(Vec::as_mut_slice).collect();
            let error = matrix.multiply_many(x, &mut slices, None).expect_err(message);
            assert_eq!(error.to_string(), format!("csr: {message}"));
            assert!(y.iter().flatten().all(|value| *value == Fr::from(7)), "{accelerator:?}");
        };
        refused(&[&x[..3]], &[3], "length of vector 0: expected 4, got 3");
        refused(&[&x, &z], &[3, 3], "length of vector 1: expected 4, got 3");
        refused(&[&x], &[4], "length of result 0: expected 3, got 4");
        refused(&[&x, &x], &[3, 2], "length of result 1: expected 3, got 2");
        refused(&[&x, &x], &[3], "number of results: expected 2, got 1");
        let mut y = vec![Fr::from(7); 3];
        let error = matrix.multiply_transposed(&z, &mut y, None).expect_err("length");
        assert_eq!(error.to_string(), "csr: length of result 0: expected 4, got 3");
        assert!(y == [Fr::from(7); 3]);
        let devices = accelerator.devices().len();
        let error = matrix.on_device(devices).map(|_| ()).expect_err("device").to_string();
        assert_eq!(error, format!("csr: device: expected below {devices}, got {devices}"));
    }
}

#[test]
fn buffers_that_do_not_fit() {
    let csr = Matrix::<Fr>::random(4, &[2, 1, 3], 2, 18).csr();
    for accelerator in accelerators_with_devices() {
        let there = on(&accelerator, &csr, None).on_device(0).expect("matrix");
        let mut stream = there.device().stream().expect("stream");
        let before = vector::<Fr>(32, 1);
        let buffers = [upload(&mut stream, &before), upload(&mut stream, &before)];
        let at = |buffer: usize, first, stride| DeviceVectors { buffer: &buffers[buffer], first, stride };
        let mut refused = |x, y, count, message: &str| {
            let error = there.enqueue(&mut stream, x, y, count).expect_err(message).to_string();
            assert_eq!(error, format!("csr: {message}"));
        };
        refused(at(0, 29, 0), at(1, 0, 0), 1, "buffer of x: expected 33 elements, got 32");
        refused(at(0, 0, 0), at(1, 28, 2), 2, "buffer of y: expected 33 elements, got 32");
        refused(at(0, usize::MAX, 0), at(1, 0, 0), 1, "buffer of x: expected fewer elements than memory has, got 32");
        refused(at(0, 0, usize::MAX), at(1, 0, 0), 3, "buffer of x: expected fewer elements than memory has, got 32");
        refused(at(0, 0, 4), at(1, 0, 2), 2, "stride of y: expected at least 3, got 2");
        refused(at(0, 0, 0), at(0, 3, 0), 1, "y: expected vectors that do not overlap x (0 to 4), got 3 to 6");
        there.enqueue(&mut stream, at(0, 0, 0), at(0, 4, 0), 1).expect("beside one another");
        assert!(download::<Fr>(&mut stream, &buffers[1]) == before);
        assert!(download::<Fr>(&mut stream, &buffers[0])[..4] == before[..4]);
    }
    for (accelerator, other) in accelerators_with_devices().iter().zip(alone(None)) {
        let there = on(accelerator, &csr, None).on_device(0).expect("matrix");
        let mut stream = other.devices()[0].stream().expect("stream");
        let buffer = upload(&mut stream, &vector::<Fr>(8, 1));
        let (x, y) = (DeviceVectors::one(&buffer), DeviceVectors { buffer: &buffer, first: 4, stride: 0 });
        let error = there.enqueue(&mut stream, x, y, 1).expect_err("device").to_string();
        assert!(error.starts_with("csr: stream: expected one of"), "{error}");
        let mut stream = there.device().stream().expect("stream");
        let error = there.enqueue(&mut stream, x, y, 1).expect_err("device").to_string();
        assert!(error.starts_with("csr: buffer of x: expected one of"), "{error}");
    }
}

/// A batch over two devices, and over two of which the second fails.
#[test]
fn several_devices() {
    let matrix = Matrix::<Fr>::random(60, &[vec![2; 300], vec![800]].concat(), 9, 23);
    let x: Vec<Vec<Fr>> = (0..5).map(|k| vector(60, k)).collect();
    let expected: Vec<Vec<Fr>> = x.iter().map(|x| matrix.times(x)).collect();
    let x: Vec<&[Fr]> = x.iter().map(Vec::as_slice).collect();
    for (first, second) in alone(None).iter().zip(alone(None)) {
        let accelerator = first.with_devices([first.devices(), second.devices()].concat());
        let there = on(&accelerator, &matrix.csr(), None);
        let mut y = vec![vec![Fr::ONE; 301]; 5];
        let product = |y: &mut [Vec<Fr>]| {
            there.multiply_many(&x, &mut y.iter_mut().map(Vec::as_mut_slice).collect::<Vec<_>>(), None)
        };
        second.devices()[0].inject_launch_fault(0);
        let error = product(&mut y).expect_err("injected").to_string();
        assert!(error.contains("injected"), "{error}");
        assert!(y.iter().flatten().all(|value| *value == Fr::ONE));
        let report = product(&mut y).expect("multiply_many");
        // Tiles and merged rows of five vectors.
        assert_eq!(report.traffic.launches, 10);
        assert!(y == expected);
    }
}

/// However late the hook says yes, results are either all as they were or all there.
#[test]
fn an_abort_leaves_the_results() {
    let matrix = Matrix::<Fr>::random(500, &vec![20; 4000], 9, 19);
    let x: Vec<Vec<Fr>> = (0..4).map(|k| vector(500, k)).collect();
    let expected: Vec<Vec<Fr>> = x.iter().map(|x| matrix.times(x)).collect();
    let x: Vec<&[Fr]> = x.iter().map(Vec::as_slice).collect();
    for accelerator in accelerators_and_cpu() {
        let there = on(&accelerator, &matrix.csr(), None);
        let mut aborted = 0;
        for questions in 0.. {
            let mut y = vec![vec![Fr::ONE; 4000]; 4];
            let mut slices: Vec<&mut [Fr]> = y.iter_mut().map(Vec::as_mut_slice).collect();
            match there.multiply_many(&x, &mut slices, Some(&abort_after(questions))) {
                Err(Error::Aborted) => assert!(y.iter().flatten().all(|value| *value == Fr::ONE)),
                other => {
                    other.expect("no other error");
                    assert!(y == expected, "{accelerator:?}");
                    break;
                }
            }
            aborted += 1;
        }
        assert!(aborted > 4, "asked only {aborted} times: {accelerator:?}");
    }
}

/// Whichever launch fails, results are as they were, and the next call works; unforced it is the CPU's.
#[test]
fn a_failure_leaves_the_results() {
    let matrix = Matrix::<Fr>::random(100, &[vec![3; 900], vec![2000]].concat(), 9, 20);
    let x = vector::<Fr>(100, 1);
    let expected = matrix.times(&x);
    for accelerator in alone(None) {
        let there = on(&accelerator, &matrix.csr(), Some(Kernel::Balanced));
        for launch in 0..2 {
            let mut y = vec![Fr::ONE; 901];
            accelerator.devices()[0].inject_launch_fault(launch);
            let error = there.multiply(&x, &mut y, None).expect_err("injected").to_string();
            assert!(error.contains("injected"), "{error}");
            assert!(y.iter().all(|value| *value == Fr::ONE));
            let report = there.multiply(&x, &mut y, None).expect("the next call");
            assert!(y == expected && report.traffic.launches == 2);
        }
        let unforced = Accelerator::automatic().expect("settings").with_devices(accelerator.devices().to_vec());
        let there = on(&unforced, &matrix.csr(), None);
        let mut y = vec![Fr::ONE; 901];
        accelerator.devices()[0].inject_launch_fault(0);
        let report = there.multiply(&x, &mut y, None).expect("the CPU's");
        assert!(y == expected && report.backend == BackendKind::Cpu);
        assert!(report.fallbacks.iter().any(|reason| reason.contains("injected")), "{report}");
    }
}

/// Where the matrix does not fit the CPU multiplies, unless the device was forced.
#[test]
fn too_little_memory() {
    let matrix = Matrix::<Fr>::random(1 << 12, &vec![8; 1 << 14], 3, 21);
    let x = vector::<Fr>(1 << 12, 1);
    for accelerator in alone(Some(1 << 18)) {
        let error = SparseMatrix::new(&accelerator, matrix.csr()).map(|_| ()).expect_err("no memory");
        assert!(matches!(error, Error::OutOfMemory { .. }), "{error}");
        let unforced = Accelerator::automatic().expect("settings").with_devices(accelerator.devices().to_vec());
        let there = SparseMatrix::new(&unforced, matrix.csr()).expect("on the host");
        let mut y = vec![Fr::ONE; 1 << 14];
        let report = there.multiply(&x, &mut y, None).expect("the CPU's");
        assert!(y == matrix.times(&x) && report.backend == BackendKind::Cpu);
    }
}

#[test]
fn explains_itself() {
    let matrix = Matrix::<Fr>::random(1 << 10, &[vec![3; 1 << 14], vec![0; 32], vec![6000]].concat(), 9, 22);
    let text = on(&cpu(), &matrix.csr(), None).explain().to_string();
    for part in [
        "csr bn254_fr, 16417 rows, 1024 columns, 55152 non-zeros",
        "the longest 6000, 32 empty",
        "12 distinct",
        "kernel    balanced: lengths of rows differ",
        "bytes     286664 on a device, 4 a non-zero; a product moves at least 844392",
    ] {
        assert!(text.contains(part), "{part:?} is not in\n{text}");
    }
    let forced = on(&cpu(), &matrix.csr(), Some(Kernel::Vector)).explain();
    assert!(forced.kernel == Kernel::Vector && forced.reason.contains("caller"), "{forced}");
}
