//! Dense products by every method on every backend and on the CPU, by size: elements, bytes times elements, bytes, and a matrix times a
//! vector. Sizes are rows and columns. Each product is checked by Freivalds' check before it is timed. `crates/bench-support/src/session.rs` lists the variables.
//!
//! `PROOFWARP_BENCH_LOG=8..12 cargo bench -p proofwarp-benches --features cuda --bench matrix -- gemm_bn254_fr`

use std::process::ExitCode;

use bench_support::contestants::{Contestant, How, cpu};
use bench_support::inputs::{bytes, elements};
use bench_support::protocol::{Answer, RESIDENT, Request};
use bench_support::results::Outcome;
use bench_support::sampling::median;
use bench_support::session::Session;
use bench_support::{Failure, exit};
use proofwarp::matrix::dense::{DenseField, DenseMatrix, DenseOptions, Entry, MatMulElement, Method};
use proofwarp::{Accelerator, BackendKind};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

/// What bounds a product on an H200 in ms, by arithmetic or memory: for 1024 and for 4096 rows and columns.
const FLOORS: [(&str, [f64; 2]); 8] = [
    ("gemm_bn254_fr", [0.35, 10.0]),
    ("gemm_bls12_381_fr", [0.35, 10.0]),
    ("gemm_goldilocks", [0.05, 2.6]),
    ("gemm_babybear", [0.03, 1.4]),
    ("gemm_i8_bn254_fr", [0.1, 5.4]),
    ("gemm_i8_bls12_381_fr", [0.1, 5.4]),
    ("gemm_i8_i8", [0.003, 0.12]),
    ("gemv_bn254_fr", [0.008, 0.13]),
];

/// Who multiplies, and by which method.
type Way = (Contestant, Option<Method>);

fn main() -> ExitCode {
    exit::code(env!("CARGO_CRATE_NAME"), run())
}

fn run() -> Result<(), Failure> {
    let mut session = Session::new("matrix")?;
    let ways = ways();
    for (log_n, distribution) in session.cells(&[]) {
        let mut cell = Cell { session: &mut session, ways: &ways, log_n, distribution };
        cell.field::<halo2curves::bn256::Fr>();
        cell.field::<blstrs::Scalar>();
        #[cfg(feature = "plonky3")]
        {
            cell.field::<proofwarp::field::plonky3::Goldilocks>();
            cell.field::<proofwarp::field::plonky3::BabyBear>();
        }
        cell.bytes();
    }
    session.finish()
}

/// Each backend by each method, and the CPU; a method that is not there is absent, with the reason.
fn ways() -> Vec<Way> {
    let mut ways = Vec::new();
    for (backend, name) in [(BackendKind::Cuda, "CUDA"), (BackendKind::OpenCl, "OpenCL")] {
        let accelerator = Accelerator::with_backend(backend).map_err(|error| error.to_string());
        for method in [Method::Crt, Method::Lazy, Method::Montgomery] {
            let how = accelerator.clone().map_or_else(How::Absent, How::Ours);
            let implementation = format!("proofwarp {name} {method}");
            ways.push((Contestant { implementation, place: RESIDENT, how }, Some(method)));
        }
    }
    ways.push((cpu("proofwarp on the CPU"), None));
    ways
}

/// All of one size.
struct Cell<'a> {
    session: &'a mut Session,
    ways: &'a [Way],
    log_n: u32,
    distribution: &'static str,
}

impl Cell<'_> {
    fn field<F: DenseField>(&mut self) {
        let count = 1 << (2 * self.log_n);
        let name = <F as Entry>::NAME;
        self.product::<F, F>(&format!("gemm_{name}"), || elements(count, 1), || elements(count, 2));
        self.product::<i8, F>(&format!("gemm_i8_{name}"), || bytes(count, 3), || elements(count, 2));
        self.vector::<F>(&format!("gemv_{name}"));
    }

    /// Sums of 32 bits, each checked.
    fn bytes(&mut self) {
        let (operation, log_n) = ("gemm_i8_i8", self.log_n);
        self.measure(operation, |accelerator, method| {
            let count = 1 << (2 * log_n);
            let (a, b) = (square(accelerator, &bytes(count, 3))?, square(accelerator, &bytes(count, 4))?);
            let options = DenseOptions { method, ..DenseOptions::default() };
            let c = a.multiply(&b, &options, None)?.to_field::<halo2curves::bn256::Fr>()?;
            let b_field = b.to_field::<halo2curves::bn256::Fr>()?;
            check(c.check_product(&a, &b_field, 1, &mut ChaCha8Rng::seed_from_u64(9))?.is_valid())?;
            median(|iterations| Ok(Answer::timed(iterations, || a.multiply(&b, &options, None))?))
        });
    }

    fn product<A: MatMulElement<F, Product = F>, F: DenseField>(
        &mut self,
        operation: &str,
        a: impl Fn() -> Vec<A>,
        b: impl Fn() -> Vec<F>,
    ) {
        self.measure(operation, |accelerator, method| {
            let (a, b) = (square(accelerator, &a())?, square(accelerator, &b())?);
            let options = DenseOptions { method, ..DenseOptions::default() };
            let c = a.multiply(&b, &options, None)?;
            let rounds = 100u32.div_ceil(F::NUM_BITS - 1);
            check(c.check_product::<F, _, _>(&a, &b, rounds, &mut ChaCha8Rng::seed_from_u64(9))?.is_valid())?;
            drop(c);
            median(|iterations| Ok(Answer::timed(iterations, || a.multiply(&b, &options, None))?))
        });
    }

    fn vector<F: DenseField>(&mut self, operation: &str) {
        let size = 1usize << self.log_n;
        self.measure(operation, |accelerator, method| {
            if method == Some(Method::Crt) || method == Some(Method::Montgomery) {
                return Err("vectors are multiplied by whole sums alone".into());
            }
            let (entries, x) = (elements::<F>(size * size, 1), elements::<F>(size, 2));
            let (a, vector) = (square(accelerator, &entries)?, DenseMatrix::upload_vector(accelerator, &x)?);
            let row = |row: &[F]| row.iter().zip(&x).map(|(a, x)| *a * x).sum::<F>();
            let expected: Vec<F> = entries.par_chunks(size).map(row).collect();
            check(a.times_vector(&vector)?.download()? == expected)?;
            median(|iterations| Ok(Answer::timed(iterations, || a.times_vector(&vector))?))
        });
    }

    /// By each way, and what bounds it.
    fn measure(&mut self, operation: &str, time: impl Fn(&Accelerator, Option<Method>) -> Result<Outcome, Failure>) {
        let request = Request::new(operation, self.distribution, self.log_n);
        for (who, method) in self.ways {
            self.session.measure(who, &request, |how| match how {
                How::Ours(accelerator) => time(accelerator, *method),
                How::Cpu => time(&Accelerator::with_backend(BackendKind::Cpu)?, *method),
                _ => Err(format!("not measured from {}", who.place).into()),
            });
        }
        self.floor(operation);
    }

    fn floor(&mut self, operation: &str) {
        let number = [10, 12].iter().position(|size| *size == self.log_n);
        let floor = FLOORS.iter().find(|(name, _)| *name == operation);
        let Some((floor, number)) = floor.zip(number) else { return };
        let outcome = Outcome::single(floor.1[number], "counted");
        self.session.keep(operation, ("an H200's floor, counted", RESIDENT), self.log_n, outcome);
    }
}

fn square<T: Entry>(accelerator: &Accelerator, entries: &[T]) -> Result<DenseMatrix<T>, Failure> {
    let side = entries.len().isqrt();
    Ok(DenseMatrix::upload(accelerator, entries, side, side)?)
}

fn check(holds: bool) -> Result<(), Failure> {
    if holds { Ok(()) } else { Err("the product is wrong".into()) }
}
