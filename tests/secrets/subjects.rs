//! Operations on secrets, and what is secret in each.

use std::iter::successors;

use ff::Field;
use group::{Curve, Group};
use halo2curves::bn256::{Fr, G1Affine};
use proofwarp::backend::Abort;
use proofwarp::column_ops::{Argument, Operation, enqueue, on_cpu};
use proofwarp::curve::MsmCurve;
use proofwarp::field::{DeviceVector, HostVector, NttField};
use proofwarp::matrix::dense::{DenseMatrix, DenseOptions, Method};
use proofwarp::matrix::dynamic::{Action, Change, DynamicCsr, Policy, Threshold};
use proofwarp::matrix::{Csr, SparseMatrix};
use proofwarp::msm::{Msm, ScalarForm, Scalars};
use proofwarp::ntt::{Direction, ExtendedDomain, NttDomain};
use proofwarp::sumcheck::{BoundTranscript, Claim, Columns, HashTranscript, prove};
use proofwarp::{Accelerator, BackendKind, Error};

use crate::common::{abort_after, rng};
use crate::numbers::{Secrets, forms};
use crate::{COUNT, groth16};

/// An operation.
pub struct Subject {
    pub name: &'static str,
    pub run: fn(&Accelerator),
    /// The forms of what is secret in it.
    pub secrets: fn() -> Vec<[u32; 8]>,
    pub left: Left,
}

/// What others leave in memory of their own.
pub enum Left {
    Nothing,
    /// The last entries of tiles, where the local memory of work-groups is the driver's heap.
    InLocalMemory,
    /// The sums of halo2curves free copies of all scalars.
    ByHalo2curves,
}

impl Subject {
    /// Secrets that may be in a heap which is not this crate's.
    pub fn may_keep(&self, backend: BackendKind) -> usize {
        match (&self.left, backend) {
            (Left::InLocalMemory, BackendKind::OpenCl) => COUNT / 64,
            (Left::ByHalo2curves, BackendKind::Cpu) => COUNT,
            _ => 0,
        }
    }
}

pub const SUBJECTS: [Subject; 15] = [
    Subject {
        name: "kept",
        run: |_| std::mem::forget(Secrets::<Fr>::new()),
        secrets: inputs::<Fr>,
        left: Left::Nothing,
    },
    Subject { name: "msm", run: msm::<blstrs::G1Affine>, secrets: inputs::<blstrs::Scalar>, left: Left::Nothing },
    Subject { name: "msm of halo2curves", run: msm::<G1Affine>, secrets: inputs::<Fr>, left: Left::ByHalo2curves },
    Subject { name: "ntt", run: ntt, secrets: transformed, left: Left::Nothing },
    Subject { name: "aborted ntt", run: aborted_ntt, secrets: transformed, left: Left::Nothing },
    Subject { name: "page-locked vectors", run: page_locked, secrets: transformed, left: Left::Nothing },
    Subject { name: "sparse product", run: sparse, secrets: of_sparse, left: Left::Nothing },
    Subject { name: "dense product", run: dense, secrets: of_dense, left: Left::InLocalMemory },
    Subject { name: "dynamic matrix", run: dynamic, secrets: of_dynamic, left: Left::Nothing },
    Subject { name: "sumcheck", run: sumcheck, secrets: inputs::<Fr>, left: Left::Nothing },
    Subject { name: "columns", run: columns, secrets: of_columns, left: Left::Nothing },
    Subject { name: "groth16", run: groth16::proofs, secrets: groth16::secrets, left: Left::Nothing },
    Subject { name: "groth16 by evaluations", run: groth16::evaluated, secrets: groth16::secrets, left: Left::Nothing },
    Subject { name: "aborted groth16", run: groth16::aborted, secrets: groth16::secrets, left: Left::Nothing },
    Subject { name: "failed groth16", run: groth16::failed, secrets: groth16::secrets, left: Left::Nothing },
];

fn inputs<F: NttField>() -> Vec<[u32; 8]> {
    forms(&Secrets::<F>::new())
}

/// Numbers that are not secret.
pub fn public<F: Field>(count: usize, seed: u64) -> Vec<F> {
    let mut rng = rng(seed);
    (0..count).map(|_| F::random(&mut rng)).collect()
}

fn msm<C: MsmCurve>(accelerator: &Accelerator)
where
    C::Scalar: NttField,
{
    let secrets = Secrets::<C::Scalar>::new();
    let bases: Vec<C::Curve> =
        successors(Some(C::Curve::generator()), |point| Some(point.double())).take(COUNT).collect();
    let bases: Vec<C> = bases.iter().map(Curve::to_affine).collect();
    let multiplication = Msm::new(accelerator, &bases).expect("bases");
    let bytes = || proofwarp::field::as_bytes(&secrets).as_chunks().0;
    for scalars in [Scalars::elements(&secrets), Scalars::canonical(bytes()), Scalars::montgomery(bytes())] {
        multiplication.run(scalars, None).expect("a sum");
    }
    multiplication.run_batch(&[Scalars::elements(&secrets); 3], None).expect("sums");
    if !accelerator.devices().is_empty() {
        let there = multiplication.upload_scalars(bytes(), ScalarForm::Canonical).expect("scalars");
        multiplication.run(&there, None).expect("a sum");
    }
    let aborted = multiplication.run(&*secrets, Some(&abort_after(1)));
    assert!(matches!(aborted, Err(Error::Aborted) | Ok(_)), "{aborted:?}");
}

/// In order and out of order, as all of a column.
fn transform(accelerator: &Accelerator, abort: Abort<'_>) -> proofwarp::Result<()> {
    let mut secrets = Secrets::<Fr>::new();
    let domain = NttDomain::new(accelerator, COUNT.ilog2()).expect("a domain");
    domain.run(Direction::Forward, &mut [&mut secrets], abort).map(drop)
}

fn ntt(accelerator: &Accelerator) {
    transform(accelerator, None).expect("a transform");
    drop(extended(accelerator));
}

/// Values on a coset of four times as many elements.
fn extended(accelerator: &Accelerator) -> Secrets<Fr> {
    let domain = ExtendedDomain::new(accelerator, COUNT.ilog2(), 2).expect("a domain");
    Secrets(domain.forward(&Secrets::<Fr>::new()).expect("values").0)
}

fn aborted_ntt(accelerator: &Accelerator) {
    for questions in 0..3 {
        let aborted = transform(accelerator, Some(&abort_after(questions)));
        assert!(matches!(aborted, Err(Error::Aborted) | Ok(())), "{aborted:?}");
    }
}

/// Vectors in page-locked memory, which go back to the pool of a stream that lives on.
fn page_locked(accelerator: &Accelerator) {
    let Some(device) = accelerator.devices().first() else { return };
    let stream = device.stream().expect("a stream");
    let [mut from, mut to] = [(); 2].map(|()| HostVector::<Fr>::new(&stream, COUNT).expect("page-locked memory"));
    from.copy_from_slice(&Secrets::<Fr>::new());
    let domain = NttDomain::new(accelerator, COUNT.ilog2()).expect("a domain");
    domain.run_pinned(Direction::Forward, &mut [(&from, &mut to)], None).expect("a transform");
}

fn transformed() -> Vec<[u32; 8]> {
    let mut values = Secrets::<Fr>::new();
    let mut all = forms(&values);
    let host = Accelerator::with_backend(BackendKind::Cpu).expect("the host");
    let domain = NttDomain::new(&host, COUNT.ilog2()).expect("a domain");
    domain.forward(&mut values).expect("a transform");
    all.extend(forms(&values));
    all.extend(forms(&extended(&host)));
    all
}

/// Rows of several lengths, the last of which is long.
fn csr() -> Csr<Fr> {
    let numbers = public::<Fr>(7, 1);
    let length = |row: usize| if row == 199 { COUNT } else { row % 13 };
    let row = |row| (0..length(row)).map(move |k| ((row * 31 + k * 7) % COUNT, k));
    let rows = (0..200).map(|number| row(number).map(|(column, k)| (column, numbers[k % 7])).collect::<Vec<_>>());
    Csr::from_rows(COUNT, rows).expect("a matrix")
}

/// Rows of one entry tell an element of the vector, and are left out.
fn product(csr: &Csr<Fr>, x: &[Fr]) -> Vec<Fr> {
    let rows = (0..csr.rows()).filter(|row| csr.row(*row).count() > 1);
    rows.map(|row| csr.row(row).map(|(column, value)| value * x[column]).sum()).collect()
}

fn sparse(accelerator: &Accelerator) {
    let (x, mut y) = (Secrets::<Fr>::new(), [200, 200].map(Secrets::<Fr>::zeros));
    let matrix = SparseMatrix::new(accelerator, csr()).expect("a matrix");
    let [one, other] = &mut y;
    matrix.multiply_many(&[&x, &x], &mut [&mut *one, &mut *other], None).expect("products");
    let aborted = matrix.multiply(&x, one, Some(&abort_after(1)));
    assert!(matches!(aborted, Err(Error::Aborted) | Ok(_)), "{aborted:?}");
    let mut long = Secrets::<Fr>::zeros(COUNT);
    matrix.multiply_transposed(&x[..200], &mut long, None).expect("a product");
}

fn of_sparse() -> Vec<[u32; 8]> {
    [inputs::<Fr>(), forms(&product(&csr(), &Secrets::<Fr>::new()))].concat()
}

const ROWS: usize = 16;
const ROWS_OF_COLUMNS: i64 = 256;

fn dense(accelerator: &Accelerator) {
    let (secrets, numbers) = (Secrets::<Fr>::new(), public::<Fr>(COUNT, 2));
    let [a, b] =
        [&secrets.0, &numbers].map(|all| DenseMatrix::upload(accelerator, all, ROWS, COUNT / ROWS).expect("a"));
    for method in [Method::Lazy, Method::Montgomery] {
        let product = a.multiply(&b.transposed(), &DenseOptions::default().method(method), None).expect("a product");
        drop(Secrets(product.download().expect("entries")));
        let product = b.transposed().multiply(&a, &DenseOptions::default().method(method), None).expect("a product");
        assert!(product.check_product::<Fr, _, _>(&b.transposed(), &a, 1, &mut rng(1)).expect("a check").is_valid());
        drop(Secrets(product.download().expect("entries")));
    }
    let x = DenseMatrix::upload_vector(accelerator, &numbers[..COUNT / ROWS]).expect("a vector");
    drop(Secrets(a.times_vector(&x).expect("a product").download().expect("entries")));
    drop(Secrets(a.transposed().download().expect("entries")));
}

fn of_dense() -> Vec<[u32; 8]> {
    let (a, b) = (Secrets::<Fr>::new(), public::<Fr>(COUNT, 2));
    let dot = |a: &[Fr], b: &[Fr]| a.iter().zip(b).map(|(a, b)| *a * b).sum::<Fr>();
    let of_row = |a: &[Fr]| b.chunks(COUNT / ROWS).map(|b| dot(a, b)).collect::<Vec<_>>();
    let products: Vec<Fr> = a.chunks(COUNT / ROWS).flat_map(of_row).collect();
    [inputs::<Fr>(), forms(&products)].concat()
}

/// Half of the secrets are changes, and all of them the vector.
fn dynamic(accelerator: &Accelerator) {
    let (x, mut y) = (Secrets::<Fr>::new(), Secrets::<Fr>::zeros(200));
    let policy = Policy { merge_above: Threshold::Never, at_least: 0 };
    let matrix = DynamicCsr::new(accelerator, csr(), policy).expect("a matrix");
    for round in 0..2 {
        let value = Fr::from(round + 5);
        let change = |row| Change { row, column: (row * 3) % COUNT, action: Action::Add(value) };
        matrix.update(&(0..100).map(change).collect::<Vec<_>>()).expect("changes");
        matrix.snapshot().expect("a snapshot").multiply(&x, &mut y, None).expect("a product");
        let aborted = matrix.snapshot().expect("a snapshot").multiply(&x, &mut y, Some(&abort_after(1)));
        assert!(matches!(aborted, Err(Error::Aborted) | Ok(_)), "{aborted:?}");
        matrix.merge().expect("a merge");
    }
    matrix.snapshot().expect("a snapshot").multiply(&x, &mut y, None).expect("a product");
}

fn of_dynamic() -> Vec<[u32; 8]> {
    let x = Secrets::<Fr>::new();
    let host = Accelerator::with_backend(BackendKind::Cpu).expect("the host");
    let mut y = Secrets::<Fr>::zeros(200);
    let policy = Policy { merge_above: Threshold::Never, at_least: 0 };
    let matrix = DynamicCsr::new(&host, csr(), policy).expect("a matrix");
    let change = |row| Change { row, column: (row * 3) % COUNT, action: Action::Add(Fr::from(11)) };
    matrix.update(&(0..100).map(change).collect::<Vec<_>>()).expect("changes");
    matrix.snapshot().expect("a snapshot").multiply(&x, &mut y, None).expect("a product");
    let results: Vec<Fr> = y.iter().copied().filter(|sum| *sum != Fr::ZERO).collect();
    [inputs::<Fr>(), forms(&results)].concat()
}

/// More than rounds on the host have.
const VARIABLES: u32 = 12;

fn sumcheck(accelerator: &Accelerator) {
    let secrets = Secrets::<Fr>::new();
    let mut long = [1, 2].map(|seed| Secrets(public::<Fr>(1 << VARIABLES, seed)));
    for (column, secrets) in long.iter_mut().zip(secrets.chunks(COUNT / 2)) {
        column[..COUNT / 2].copy_from_slice(secrets);
    }
    let columns = long.each_ref().map(|column| &column[..]);
    let sum = columns[0].iter().zip(columns[1]).map(|(a, b)| *a * b).sum();
    let claim = Claim::product(VARIABLES, &[0, 1]).with_sum(sum);
    let prove = |abort| {
        let mut transcript = HashTranscript::new(b"secrets");
        let unbound = BoundTranscript::insecure_without_commitment(&mut transcript);
        prove(accelerator, &claim, Columns::host(&columns), unbound, abort).map(drop)
    };
    prove(None).expect("a proof");
    let aborted = prove(Some(&abort_after(2)));
    assert!(matches!(aborted, Err(Error::Aborted) | Ok(())), "{aborted:?}");
}

fn columns(accelerator: &Accelerator) {
    let secrets = Secrets::<Fr>::new();
    let number = [0, 0, ROWS_OF_COLUMNS].map(Argument::Number);
    let Some(device) = accelerator.devices().first() else {
        let columns: Vec<_> = secrets.chunks(COUNT / 2).map(Argument::Column).collect();
        let arguments = [&[columns[0], columns[0], columns[1]][..], &number].concat();
        for operation in [Operation::Sum, Operation::Product] {
            on_cpu(operation, &arguments, 0).expect("columns").into_iter().for_each(|(_, rows)| drop(Secrets(rows)));
        }
        return;
    };
    let mut stream = device.stream().expect("a stream");
    let mut columns = Vec::new();
    for column in secrets.chunks(COUNT / 2) {
        columns.push(DeviceVector::upload(&mut stream, column).expect("a column"));
    }
    for operation in [Operation::Sum, Operation::Product] {
        let [a, b] = [&columns[0], &columns[1]].map(Argument::Column);
        enqueue(&mut stream, operation, &[&[a, a, b][..], &number_of_device()].concat(), 0).expect("queued");
    }
    let mut result = Secrets::<Fr>::zeros(COUNT / 2);
    columns[0].download(&mut stream, &mut result).expect("a column");
    stream.synchronize(None).expect("all is done");
}

fn number_of_device<'a>() -> [Argument<'a, DeviceVector<Fr>>; 3] {
    [0, 0, ROWS_OF_COLUMNS].map(Argument::Number)
}

fn of_columns() -> Vec<[u32; 8]> {
    let secrets = Secrets::<Fr>::new();
    let (a, b) = secrets.split_at(COUNT / 2);
    let pairs = || a.iter().zip(b);
    let sums: Vec<Fr> = pairs().flat_map(|(a, b)| [a + b, a * b, (a + b) * b]).collect();
    [inputs::<Fr>(), forms(&sums)].concat()
}
