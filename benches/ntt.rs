//! NTT over the scalar fields of BLS12-381 and BN254, natural order in and out: this crate on every backend,
//! sppark and the stock crate, by size. `crates/bench-support/src/session.rs` lists the variables.
//!
//! `PROOFWARP_BENCH_LOG=10..24 PROOFWARP_PEERS=stock,sppark cargo bench -p proofwarp-benches --features cuda --bench ntt`

use std::process::ExitCode;

use bench_support::contestants::{Contestant, How, cpu};
use bench_support::protocol::{Answer, HOST, RESIDENT, Request};
use bench_support::results::Outcome;
use bench_support::sampling::median;
use bench_support::session::Session;
use bench_support::{Failure, exit, inputs};
use blstrs::Scalar;
use halo2curves::bn256;
use proofwarp::field::{DeviceVector, NttField};
use proofwarp::ntt::{Direction, NttDomain};
use proofwarp::{Accelerator, BackendKind};

fn main() -> ExitCode {
    exit::code(env!("CARGO_CRATE_NAME"), run())
}

fn run() -> Result<(), Failure> {
    let mut session = Session::new("ntt")?;
    let mut contestants = session.contestants(&[RESIDENT, HOST]);
    contestants.push(cpu("proofwarp on the CPU"));
    bench::<Scalar>(&mut session, &contestants);
    bench::<bn256::Fr>(&mut session, &contestants);
    session.finish()
}

fn bench<F: NttField>(session: &mut Session, contestants: &[Contestant]) {
    for (log_n, distribution) in session.cells(&[]) {
        let mut values: Vec<F> = inputs::coefficients(1 << log_n);
        let request = Request::new(&format!("ntt_{}", F::NAME), distribution, log_n);
        for who in contestants {
            session.measure(who, &request, |how| time(how, who.place, log_n, &mut values));
        }
    }
}

/// The time of one transform. All calls of this crate's NTT are here.
fn time<F: NttField>(how: &How, place: &str, log_n: u32, values: &mut [F]) -> Result<Outcome, Failure> {
    let domain = |accelerator: &Accelerator| NttDomain::new(accelerator, log_n);
    match (how, place) {
        (How::Ours(accelerator), RESIDENT) => resident(accelerator, &domain(accelerator)?, values),
        (How::Ours(accelerator), HOST) => from_host(&domain(accelerator)?, values),
        (How::Cpu, _) => from_host(&domain(&Accelerator::with_backend(BackendKind::Cpu)?)?, values),
        _ => Err(format!("not measured from {place}").into()),
    }
}

fn from_host<F: NttField>(domain: &NttDomain<F>, values: &mut [F]) -> Result<Outcome, Failure> {
    median(|iterations| Ok(Answer::timed(iterations, || domain.forward(values))?))
}

/// From and to the device's memory.
fn resident<F: NttField>(
    accelerator: &Accelerator,
    domain: &NttDomain<F>,
    values: &mut [F],
) -> Result<Outcome, Failure> {
    let device = accelerator.devices().first().ok_or("no device")?;
    let mut stream = device.stream()?;
    let mut vector = DeviceVector::upload(&mut stream, values)?;
    domain.enqueue(Direction::Forward, &mut stream, &mut vector)?;
    stream.synchronize(None)?;
    median(|iterations| {
        let start = stream.stats().kernels;
        stream.begin_timing()?;
        (0..iterations).try_for_each(|_| domain.enqueue(Direction::Forward, &mut stream, &mut vector))?;
        stream.end_timing()?;
        stream.synchronize(None)?;
        Ok(Answer { time: stream.stats().kernels.saturating_sub(start), note: "by events".to_owned() })
    })
}
