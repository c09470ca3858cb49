//! Sumcheck of products of two, three and four columns: this crate by every path on every backend and on the CPU, by size, beside
//! published numbers. `crates/bench-support/src/session.rs` lists the variables.
//!
//! `PROOFWARP_BENCH_LOG=20..28 cargo bench -p proofwarp-benches --features cuda --bench sumcheck -- sumcheck_tower_d2`

use std::path::Path as File;
use std::process::ExitCode;

use bench_support::contestants::{Contestant, How, cpu};
use bench_support::inputs::elements;
use bench_support::protocol::{Answer, HOST, RESIDENT, Request};
use bench_support::results::Outcome;
use bench_support::sampling::median;
use bench_support::session::Session;
use bench_support::{Failure, binius, exit};
use proofwarp::field::{DeviceVector, Element, ghash::Ghash, tower::Tower};
use proofwarp::sumcheck::{
    BoundTranscript, Claim, Columns, HashTranscript, KernelPath, SumcheckField, SumcheckOptions, prove_with,
};
use proofwarp::{Accelerator, BackendKind};
use rayon::prelude::*;

/// Columns that are multiplied.
const DEGREES: [usize; 3] = [2, 3, 4];

/// Milliseconds for 2^20, 2^24 and 2^28 rows, and where they come from.
type Published = (&'static str, usize, &'static str, [Option<f64>; 3]);

const PUBLISHED: [Published; 8] = [
    ("tower", 2, "binius-gpu on an L4, published", [Some(26.3), Some(299.0), Some(4572.0)]),
    ("tower", 3, "binius-gpu on an L4, published", [Some(46.1), Some(508.0), Some(7807.0)]),
    ("tower", 4, "binius-gpu on an L4, published", [Some(74.2), Some(768.0), Some(11838.0)]),
    ("tower", 2, "binius on 22 cores, published", [Some(68.6), Some(1026.0), Some(16204.0)]),
    ("tower", 3, "binius on 22 cores, published", [Some(126.0), Some(1897.0), Some(30053.0)]),
    ("tower", 4, "binius on 22 cores, published", [Some(198.0), Some(3001.0), Some(47646.0)]),
    ("bls12_381_fr", 2, "zkDuel on an H100, published", [Some(2.43), Some(8.83), Some(109.0)]),
    ("bls12_381_fr", 3, "zkDuel on an H100, published", [None, Some(15.7), None]),
];

fn main() -> ExitCode {
    exit::code(env!("CARGO_CRATE_NAME"), run())
}

fn run() -> Result<(), Failure> {
    let mut session = Session::new("sumcheck")?;
    let contestants = contestants();
    beside(&mut session)?;
    bench::<Tower>(&mut session, &contestants);
    bench::<Ghash>(&mut session, &contestants);
    bench::<blstrs::Scalar>(&mut session, &contestants);
    bench::<halo2curves::bn256::Fr>(&mut session, &contestants);
    session.finish()
}

/// What binius-gpu's own program measures on this machine, where it is given.
fn beside(session: &mut Session) -> Result<(), Failure> {
    let Some(program) = std::env::var_os("PROOFWARP_BINIUS_GPU").filter(|program| !program.is_empty()) else {
        return Ok(());
    };
    for times in binius::run(File::new(&program))? {
        let operation = format!("sumcheck_{}_d{}", Tower::NAME, times.degree);
        for (place, milliseconds) in [(RESIDENT, times.resident), (HOST, times.host)] {
            let outcome = Outcome::single(milliseconds, "its own program's mean");
            session.keep(&operation, ("binius-gpu", place), times.log_n, outcome);
        }
    }
    Ok(())
}

/// Each backend by each path, from both places; a path that is not there is absent, with the reason.
fn contestants() -> Vec<(Contestant, SumcheckOptions)> {
    let mut all = Vec::new();
    for (backend, name) in [(BackendKind::Cuda, "CUDA"), (BackendKind::OpenCl, "OpenCL")] {
        let accelerator = Accelerator::with_backend(backend).map_err(|error| error.to_string());
        for path in [KernelPath::Clmad, KernelPath::Portable, KernelPath::Bitsliced] {
            for place in [RESIDENT, HOST] {
                let how = accelerator.clone().map_or_else(How::Absent, How::Ours);
                let implementation = format!("proofwarp {name} {path}");
                all.push((
                    Contestant { implementation, place, how },
                    SumcheckOptions { path: Some(path), ..SumcheckOptions::default() },
                ));
            }
        }
    }
    all.push((cpu("proofwarp on the CPU"), SumcheckOptions::default()));
    all
}

fn bench<F: SumcheckField>(session: &mut Session, contestants: &[(Contestant, SumcheckOptions)]) {
    for degree in DEGREES {
        let operation = format!("sumcheck_{}_d{degree}", F::NAME);
        for (log_n, distribution) in session.cells(&[]) {
            publish(session, F::NAME, degree, &operation, log_n);
            if !contestants.iter().any(|(who, _)| session.wants(who, &operation)) {
                continue;
            }
            let inputs = Inputs::<F>::new(log_n, degree);
            let request = Request::new(&operation, distribution, log_n);
            for (who, options) in contestants {
                session.measure(who, &request, |how| time(how, who.place, options, &inputs));
            }
        }
    }
}

/// Keeps what others published of the same.
fn publish(session: &mut Session, field: &str, degree: usize, operation: &str, log_n: u32) {
    let of_it = PUBLISHED.iter().filter(|published| (published.0, published.1) == (field, degree));
    for (_, _, implementation, times) in of_it {
        let number = [20, 24, 28].iter().position(|size| *size == log_n);
        let Some(milliseconds) = number.and_then(|number| times[number]) else { continue };
        session.keep(operation, (implementation, RESIDENT), log_n, Outcome::single(milliseconds, "published"));
    }
}

/// A claim that holds, and its columns.
struct Inputs<F> {
    claim: Claim<F>,
    columns: Vec<Vec<F>>,
}

impl<F: SumcheckField> Inputs<F> {
    fn new(log_n: u32, degree: usize) -> Self {
        let columns: Vec<Vec<F>> = (0..degree).map(|number| elements(1 << log_n, number as u64)).collect();
        let product = |row: usize| columns.iter().map(|column| column[row].to_compute_field()).product::<F::Compute>();
        let sum = (0..1usize << log_n).into_par_iter().map(product).reduce(|| F::ZERO.to_compute_field(), |a, b| a + b);
        let claim = Claim::product(log_n, &(0..degree).collect::<Vec<_>>()).with_sum(F::from_compute_field(sum));
        Self { claim, columns }
    }
}

/// The time of one proof. All calls of this crate's sumcheck are here.
fn time<F: SumcheckField>(
    how: &How,
    place: &str,
    options: &SumcheckOptions,
    inputs: &Inputs<F>,
) -> Result<Outcome, Failure> {
    match (how, place) {
        (How::Ours(accelerator), RESIDENT) => resident(accelerator, options, inputs),
        (How::Ours(accelerator), HOST) => from_host(accelerator, options, inputs),
        (How::Cpu, _) => from_host(&Accelerator::with_backend(BackendKind::Cpu)?, options, inputs),
        _ => Err(format!("not measured from {place}").into()),
    }
}

fn from_host<F: SumcheckField>(
    accelerator: &Accelerator,
    options: &SumcheckOptions,
    inputs: &Inputs<F>,
) -> Result<Outcome, Failure> {
    let slices: Vec<&[F]> = inputs.columns.iter().map(Vec::as_slice).collect();
    warmed(accelerator, || prove(accelerator, options, &inputs.claim, Columns::host(&slices)))
}

/// Of columns that lie on the device, and stay there.
fn resident<F: SumcheckField>(
    accelerator: &Accelerator,
    options: &SumcheckOptions,
    inputs: &Inputs<F>,
) -> Result<Outcome, Failure> {
    let device = accelerator.devices().first().ok_or("no device")?;
    let mut stream = device.stream()?;
    let vector = DeviceVector::upload(&mut stream, &inputs.columns.concat())?;
    stream.synchronize(None)?;
    warmed(accelerator, || prove(accelerator, options, &inputs.claim, Columns::device(&vector)))
}

/// The median, on devices after a proof that is not counted: some drivers compile kernels at their first use, for seconds.
fn warmed(accelerator: &Accelerator, prove: impl Fn() -> proofwarp::Result<()>) -> Result<Outcome, Failure> {
    if !accelerator.devices().is_empty() {
        prove()?;
    }
    median(|iterations| Ok(Answer::timed(iterations, &prove)?))
}

fn prove<F: SumcheckField>(
    accelerator: &Accelerator,
    options: &SumcheckOptions,
    claim: &Claim<F>,
    columns: Columns<'_, F>,
) -> proofwarp::Result<()> {
    let mut transcript = HashTranscript::new(b"bench");
    // Its proofs are thrown away.
    let unbound = BoundTranscript::insecure_without_commitment(&mut transcript);
    prove_with(accelerator, claim, columns, unbound, options, None).map(drop)
}
