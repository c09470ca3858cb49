//! NTT over the scalar fields of BLS12-381 and BN254, natural order in and out: this crate on every backend,
//! sppark and the stock crate, by size. `common/mod.rs` lists the variables.
//!
//! `PROOFWARP_BENCH_LOG=10..24 PROOFWARP_PEERS=stock,sppark cargo bench --features cuda --bench ntt`

mod common;

use blstrs::Scalar;
use common::inputs;
use common::{Answer, Contestant, Failure, HOST, How, KERNELS, Outcome, Request, Session, cpu, median};
use halo2curves::bn256;
use proofwarp::field::NttField;
use proofwarp::ntt::NttDomain;
use proofwarp::{Accelerator, BackendKind};

fn main() -> Result<(), Failure> {
    let mut session = Session::new("ntt")?;
    let mut contestants = session.contestants(&[KERNELS, HOST]);
    contestants.push(cpu("proofwarp on the CPU"));
    bench::<Scalar>(&mut session, &contestants)?;
    bench::<bn256::Fr>(&mut session, &contestants)?;
    session.finish()
}

fn bench<F: NttField>(session: &mut Session, contestants: &[Contestant]) -> Result<(), Failure> {
    for (log_n, distribution) in session.cells(&[]) {
        let mut values: Vec<F> = inputs::coefficients(1 << log_n);
        let domain = NttDomain::new(log_n)?;
        let request = Request::new(&format!("ntt_{}", F::NAME), distribution, log_n);
        for who in contestants {
            session.measure(who, &request, |how| time(how, who.place, &domain, &mut values));
        }
    }
    Ok(())
}

/// The time of one transform. All calls of this crate's NTT are here.
fn time<F: NttField>(how: &How, place: &str, domain: &NttDomain<F>, values: &mut [F]) -> Result<Outcome, Failure> {
    match (how, place) {
        (How::Ours(accelerator), KERNELS) => kernels(accelerator, domain, values),
        (How::Ours(accelerator), HOST) => from_host(accelerator, domain, values),
        (How::Cpu, _) => from_host(&Accelerator::with_backend(BackendKind::Cpu)?, domain, values),
        _ => Err(format!("not measured from {place}").into()),
    }
}

fn from_host<F: NttField>(
    accelerator: &Accelerator,
    domain: &NttDomain<F>,
    values: &mut [F],
) -> Result<Outcome, Failure> {
    median(|iterations| Ok(Answer::timed(iterations, || domain.forward(accelerator, values))?))
}

/// Device time of the kernels alone, which a call from host to host reports.
fn kernels<F: NttField>(
    accelerator: &Accelerator,
    domain: &NttDomain<F>,
    values: &mut [F],
) -> Result<Outcome, Failure> {
    median(|iterations| {
        let reports = (0..iterations).map(|_| domain.forward(accelerator, values));
        let times = reports.map(|report| Ok(report?.traffic.kernels)).collect::<Result<Vec<_>, Failure>>()?;
        Ok(Answer { time: times.iter().sum(), note: "of a call from host to host".to_owned() })
    })
}
