//! Compares transforms with stock ec-gpu-gen and halo2curves.

use anyhow::{Result, ensure};
use bench_support::inputs;
use ec_gpu_gen::fft_cpu::parallel_fft;
use ec_gpu_gen::threadpool::Worker;
use proofwarp::field::{DeviceVector, NttField};
use proofwarp::ntt::{Direction, NttDomain};

use super::measure::Session;
use super::stock_kernels::{self, Transform, leave_out};
use crate::cli::Field;

/// Measures NTTs over `field`, at all sizes of `session`.
pub fn measure(session: &mut Session, field: Field) -> Result<()> {
    match field {
        Field::Bls12 => all_sizes::<blstrs::Scalar>(session, stock_kernels::transform()),
        Field::Bn254 => all_sizes::<halo2curves::bn256::Fr>(session, None),
    }
}

fn all_sizes<F: NttField>(session: &mut Session, mut stock: Option<Transform<F>>) -> Result<()> {
    let logs = session.logs.clone();
    session.expect(logs.len() * (3 + usize::from(session.has_device()) + usize::from(stock.is_some())));
    logs.into_iter().try_for_each(|log| one_size::<F>(session, &mut stock, log))
}

fn one_size<F: NttField>(session: &mut Session, stock: &mut Option<Transform<F>>, log: u32) -> Result<()> {
    let input: Vec<F> = inputs::elements(1 << log, u64::from(log));
    let operation = format!("ntt {}", F::NAME);
    let name = |implementation: &'static str| (operation.as_str(), implementation, log);
    let domain = NttDomain::<F>::new(&session.accelerator, log)?;
    let omega = domain.omega();
    let mut results = Vec::new();
    if let Some(device) = session.accelerator.devices().first().cloned() {
        results.push(resident(session, name("proofwarp, resident"), &domain, &device, &input)?);
    }
    // Each call transforms in place. New memory for each would take longer than an NTT on a device.
    let mut values = input.clone();
    domain.forward(&mut values)?;
    results.push(values.clone());
    session.ours(name("proofwarp, from the host"), || Ok(((), domain.forward(&mut values)?)))?;
    if let Some(transform) = stock {
        let transform = |values: &mut Vec<F>| transform(values, &omega, log);
        match in_place(session, (&operation, &stock_kernels::name(), log), &input, transform) {
            Ok(values) => results.push(values),
            Err(error) => leave_out(session, stock, &error),
        }
    }
    let worker = Worker::new();
    let on_cpu = |values: &mut Vec<F>| {
        parallel_fft(values, &worker, &omega, log, worker.log_num_threads());
        Ok(())
    };
    results.push(in_place(session, name("ec-gpu-gen 0.7.1, CPU"), &input, on_cpu)?);
    let halo2curves = |values: &mut Vec<F>| {
        halo2curves::fft::best_fft(values, omega, log);
        Ok(())
    };
    results.push(in_place(session, name("halo2curves"), &input, halo2curves)?);
    ensure!(results.iter().all(|values| *values == results[0]), "{operation} of 2^{log}: results differ");
    session.checked(format!("{operation} of 2^{log}: {} equal results", results.len()));
    Ok(())
}

/// Measures repeated calls of `transform` on a copy of `input`. Returns the result of the first call.
fn in_place<F: NttField>(
    session: &mut Session,
    name: (&str, &str, u32),
    input: &[F],
    mut transform: impl FnMut(&mut Vec<F>) -> Result<()>,
) -> Result<Vec<F>> {
    let mut values = input.to_vec();
    transform(&mut values)?;
    let first = values.clone();
    session.timed(name, || transform(&mut values))?;
    Ok(first)
}

/// Measures repeated NTTs of a vector that stays on `device`. Returns the result of the first NTT, to compare it with
/// other implementations' results.
fn resident<F: NttField>(
    session: &mut Session,
    name: (&str, &str, u32),
    domain: &NttDomain<F>,
    device: &std::sync::Arc<proofwarp::Device>,
    input: &[F],
) -> Result<Vec<F>> {
    let mut stream = device.stream()?;
    let mut vector = DeviceVector::upload(&mut stream, input)?;
    domain.enqueue(Direction::Forward, &mut stream, &mut vector)?;
    let mut values = vec![F::ZERO; input.len()];
    vector.download(&mut stream, &mut values)?;
    session.timed(name, || {
        domain.enqueue(Direction::Forward, &mut stream, &mut vector)?;
        Ok(stream.synchronize(None)?)
    })?;
    Ok(values)
}
