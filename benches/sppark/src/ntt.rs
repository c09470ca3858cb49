//! sppark's NTT, natural order in and out.

use proofwarp::field::{NttField, as_bytes, as_bytes_mut};

use crate::device::{Curve, Memory};
use bench_support::Failure;
use bench_support::inputs;
use bench_support::protocol::{Answer, HOST, RESIDENT, Request};

/// Times what is asked for, after a call whose result is checked.
pub fn answer<F: NttField>(curve: &Curve, request: &Request) -> Result<Answer, Failure> {
    let log_n = request.log_n;
    let mut values: Vec<F> = inputs::coefficients(1 << log_n);
    let sum: F = values.iter().sum();
    match request.place.as_str() {
        RESIDENT => {
            let memory = Memory::upload(as_bytes(&values))?;
            curve.ntt_device(&memory, log_n)?;
            // SAFETY: the first element of a transform, which is reduced.
            memory.download(unsafe { as_bytes_mut(&mut values[..1]) })?;
            check(values[0], sum)?;
            Answer::timed(request.iterations, || curve.ntt_device(&memory, log_n))
        }
        HOST => {
            // SAFETY: transforms write reduced elements.
            let mut run = || curve.ntt_host(unsafe { as_bytes_mut(&mut values) }, log_n);
            run()?;
            check(values[0], sum)?;
            // SAFETY: as before.
            Answer::timed(request.iterations, || curve.ntt_host(unsafe { as_bytes_mut(&mut values) }, log_n))
        }
        other => Err(format!("expected {RESIDENT} or {HOST}, got {other}").into()),
    }
}

/// Whatever the root of unity, the value at its power 0 is the sum of the coefficients.
fn check<F: NttField>(value: F, sum: F) -> Result<(), Failure> {
    if value == sum { Ok(()) } else { Err("wrong transform".into()) }
}
