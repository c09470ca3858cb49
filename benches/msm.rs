//! MSM over BLS12-381 G1 and G2 and BN254 G1: this crate on every backend, sppark, the stock crate and the
//! host's cores, by size and by the distribution of scalars. `crates/bench-support/src/session.rs` lists the variables.
//!
//! `PROOFWARP_BENCH_LOG=10..24 PROOFWARP_PEERS=stock,sppark cargo bench -p proofwarp-benches --features cuda --bench msm`

use std::process::ExitCode;

use bench_support::contestants::{Contestant, How, cpu};
use bench_support::inputs::{self, DISTRIBUTIONS, Scalars};
use bench_support::protocol::{Answer, HOST, RESIDENT, Request};
use bench_support::results::Outcome;
use bench_support::sampling::median;
use bench_support::session::Session;
use bench_support::{Failure, exit};
use blstrs::{G1Affine, G2Affine};
use group::Curve;
use halo2curves::bn256;
use proofwarp::Accelerator;
use proofwarp::curve::MsmCurve;
use proofwarp::msm::{Msm, ScalarForm, msm};

fn main() -> ExitCode {
    exit::code(env!("CARGO_CRATE_NAME"), run())
}

fn run() -> Result<(), Failure> {
    let mut session = Session::new("msm")?;
    let mut contestants = session.contestants(&[RESIDENT, HOST]);
    contestants.push(cpu("blst on the CPU"));
    bench::<G1Affine>(&mut session, &contestants);
    bench::<G2Affine>(&mut session, &contestants);
    contestants.pop();
    contestants.push(cpu("halo2curves on the CPU"));
    bench::<bn256::G1Affine>(&mut session, &contestants);
    session.finish()
}

/// Random scalars at all sizes, then all distributions at one.
fn bench<C: MsmCurve>(session: &mut Session, contestants: &[Contestant])
where
    C::Curve: Curve<AffineRepr = C>,
{
    let operation = format!("msm_{}", C::NAME);
    let contestants: Vec<_> = contestants.iter().filter(|who| session.wants(who, &operation)).collect();
    if contestants.is_empty() {
        return;
    }
    let cells = session.cells(&DISTRIBUTIONS);
    let largest = cells.iter().map(|(log_n, _)| *log_n).max().unwrap_or(0);
    let bases = inputs::bases::<C>(1 << largest);
    for (log_n, distribution) in cells {
        let scalars = inputs::scalars::<C>(distribution, 1 << log_n);
        let request = Request::new(&operation, distribution, log_n);
        for who in &contestants {
            session.measure(who, &request, |how| time(how, who.place, &bases[..1 << log_n], &scalars));
        }
    }
}

/// Makes sure that what a backend compiles at run time is compiled: that is not what is timed.
fn compile<C: MsmCurve>(accelerator: &Accelerator, bases: &[C], scalars: &Scalars) -> Result<(), Failure> {
    let few = bases.len().min(256);
    msm(accelerator, &bases[..few], &scalars[..few], None)?;
    Ok(())
}

/// The time of one sum. All calls of this crate's MSM are here.
fn time<C: MsmCurve>(how: &How, place: &str, bases: &[C], scalars: &Scalars) -> Result<Outcome, Failure> {
    if let How::Ours(accelerator) = how {
        compile(accelerator, bases, scalars)?;
    }
    match (how, place) {
        (How::Ours(accelerator), RESIDENT) => resident(accelerator, bases, scalars),
        (How::Ours(accelerator), HOST) => {
            median(|iterations| Ok(Answer::timed(iterations, || msm(accelerator, bases, scalars, None))?))
        }
        (How::Cpu, _) => median(|iterations| Answer::timed(iterations, || Ok(C::msm_cpu(bases, scalars)))),
        _ => Err(format!("not measured from {place}").into()),
    }
}

/// Bases and scalars are on the device before the clock starts.
fn resident<C: MsmCurve>(accelerator: &Accelerator, bases: &[C], scalars: &Scalars) -> Result<Outcome, Failure> {
    let resident = Msm::new(accelerator, bases)?;
    let scalars = resident.upload_scalars(scalars, ScalarForm::Canonical)?;
    median(|iterations| Ok(Answer::timed(iterations, || resident.run(&scalars, None))?))
}
