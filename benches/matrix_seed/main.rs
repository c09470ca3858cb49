//! The experiments that dense and dynamic matrices began with, the numbers published of them beside ours: banks of local memory, ways to
//! multiply floating point numbers and elements, Montgomery's product and the remainder, changes of a sparse matrix. Each result is
//! checked before it is timed. `crates/bench-support/src/session.rs` lists the variables; sizes are fixed.
//!
//! `cargo bench -p proofwarp-benches --features cuda --bench matrix_seed -- modulo`

mod kernels;
mod updates;

use std::process::ExitCode;

use bench_support::contestants::{Contestant, How, cpu};
use bench_support::protocol::{Answer, RESIDENT, Request};
use bench_support::results::Outcome;
use bench_support::sampling::median;
use bench_support::session::Session;
use bench_support::{Failure, exit, inputs};
use halo2curves::bn256::Fr;
use proofwarp::matrix::dense::{DenseMatrix, DenseOptions, Method};
use proofwarp::{Accelerator, BackendKind};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

/// Binary logarithm of the matrices' rows and columns.
pub const LOG_SIDE: u32 = 12;

/// Milliseconds that were published, on another card: operation, what, ms.
const PUBLISHED: [(&str, &str, f64); 12] = [
    ("local_memory", "stride 1", 19.01),
    ("local_memory", "stride 32", 581.22),
    ("register_banks", "no conflict", 41.687),
    ("register_banks", "conflict", 56.534),
    ("floats_4096", "plain", 73.88),
    ("floats_4096", "tiled", 41.79),
    ("floats_4096", "packed", 40.7),
    ("floats_4096", "packed, tensor cores", 13.68),
    ("floats_4096", "tensor cores, 16 bits", 0.69),
    ("floats_4096", "plain, 16 bits", 81.429),
    ("modulo_64", "montgomery", 37.64),
    ("modulo_64", "remainder", 251.5),
];

fn main() -> ExitCode {
    exit::code(env!("CARGO_CRATE_NAME"), run())
}

fn run() -> Result<(), Failure> {
    let mut table = Table { session: Session::new("matrix_seed")?, cuda: cuda() };
    for (operation, what, milliseconds) in PUBLISHED {
        table.publish(operation, what, milliseconds);
    }
    for stride in [1, 32] {
        table.measure("local_memory", &format!("stride {stride}"), |cuda| kernels::stride(cuda, stride));
    }
    let banks = "the compiler gives out registers: no conflicts can be asked for in CUDA C++ or PTX";
    table.absent("register_banks", "conflict", banks);
    for (kernel, what, entries) in kernels::FLOATS {
        table.measure("floats_4096", what, |cuda| kernels::floats(cuda, (kernel, entries)));
    }
    table.measure("floats_4096", "bytes, exact, by the plan", bytes);
    for method in [Method::Montgomery, Method::Lazy, Method::Crt] {
        table.measure("elements_4096", &format!("{method}"), |cuda| elements(cuda, method));
    }
    for montgomery in [true, false] {
        let what = if montgomery { "montgomery" } else { "remainder" };
        table.measure("modulo_64", what, |cuda| kernels::modulo(cuda, montgomery));
        table.measure("modulo_255", what, |cuda| kernels::modulo_long(cuda, montgomery));
    }
    for percent in [0.1, 1.0, 5.0, 10.0, 20.0, 50.0] {
        updates::measure(&mut table, percent);
    }
    table.session.finish()
}

fn cuda() -> Result<Accelerator, String> {
    Accelerator::with_backend(BackendKind::Cuda).map_err(|error| error.to_string())
}

/// The numbers, each beside what was published.
pub struct Table {
    session: Session,
    cuda: Result<Accelerator, String>,
}

impl Table {
    /// On CUDA's first device.
    pub fn measure(
        &mut self,
        operation: &str,
        what: &str,
        time: impl FnOnce(&Accelerator) -> Result<Outcome, Failure>,
    ) {
        let how = self.cuda.clone().map_or_else(How::Absent, How::Ours);
        let who = Contestant { implementation: format!("proofwarp, {what}"), place: RESIDENT, how };
        let request = Request::new(operation, inputs::RANDOM, LOG_SIDE);
        self.session.measure(&who, &request, |how| match how {
            How::Ours(accelerator) => time(accelerator),
            _ => Err("not on CUDA".into()),
        });
    }

    /// On the host.
    pub fn measure_on_host(&mut self, operation: &str, what: &str, time: impl FnOnce() -> Result<Outcome, Failure>) {
        let request = Request::new(operation, inputs::RANDOM, LOG_SIDE);
        self.session.measure(&cpu(what), &request, |_| time());
    }

    fn publish(&mut self, operation: &str, what: &str, milliseconds: f64) {
        self.keep(operation, &format!("published, {what}"), Outcome::single(milliseconds, "published"));
    }

    fn absent(&mut self, operation: &str, what: &str, reason: &str) {
        self.keep(operation, &format!("proofwarp, {what}"), Outcome::Absent(reason.to_owned()));
    }

    fn keep(&mut self, operation: &str, implementation: &str, outcome: Outcome) {
        self.session.keep(operation, (implementation, RESIDENT), LOG_SIDE, outcome);
    }

    /// Whether anything of an operation is asked for.
    pub fn wants(&self, operation: &str) -> bool {
        self.session.wants_name(operation)
    }
}

/// Bytes times bytes to 32 bits.
fn bytes(cuda: &Accelerator) -> Result<Outcome, Failure> {
    let side = 1 << LOG_SIDE;
    let entries: Vec<i8> = (0..side * side).map(|i: usize| (i.wrapping_mul(0x9e37_79b9) >> 13) as i8).collect();
    let (a, options) = (DenseMatrix::upload(cuda, &entries, side, side)?, DenseOptions::default());
    let b = a.transposed();
    let product = a.multiply(&b, &options, None)?.to_field::<Fr>()?;
    check(
        product.check_product::<Fr, _, _>(&a, &b.to_field::<Fr>()?, 1, &mut ChaCha8Rng::seed_from_u64(9))?.is_valid(),
    )?;
    median(|iterations| Ok(Answer::timed(iterations, || a.multiply(&b, &options, None))?))
}

/// Elements of BN254 by a method.
fn elements(cuda: &Accelerator, method: Method) -> Result<Outcome, Failure> {
    let side = 1 << LOG_SIDE;
    let entries: Vec<Fr> = inputs::coefficients(side * side);
    let (a, options) = (DenseMatrix::upload(cuda, &entries, side, side)?, DenseOptions::default().method(method));
    let b = a.transposed();
    let product = a.multiply(&b, &options, None)?;
    check(product.check_product::<Fr, _, _>(&a, &b, 1, &mut ChaCha8Rng::seed_from_u64(9))?.is_valid())?;
    drop(product);
    median(|iterations| Ok(Answer::timed(iterations, || a.multiply(&b, &options, None))?))
}

/// # Errors
/// It does not hold.
pub fn check(holds: bool) -> Result<(), Failure> {
    if holds { Ok(()) } else { Err("the result is wrong".into()) }
}
