//! Transforms the polynomial X, whose values are the powers of ω, and back.

use proofwarp::field::{DeviceVector, NttField};
use proofwarp::ntt::{Direction, NttDomain};
use proofwarp::{Accelerator, Result};

use super::{Answer, timed};

/// Number of NTTs queued at once, so that the time of one does not depend on how long waiting takes.
const QUEUED: u32 = 8;

pub fn test<F: NttField>(accelerator: &Accelerator, log: u32) -> Result<Answer> {
    let domain = NttDomain::<F>::new(accelerator, log)?;
    let mut values = vec![F::ZERO; 1 << log];
    values[1] = F::ONE;
    let (report, on_host) = timed(|| domain.forward(&mut values))?;
    let mut power = F::ONE;
    let is_right = values.iter().all(|value| {
        let is_next = *value == power;
        power *= domain.omega();
        is_next
    });
    domain.inverse(&mut values)?;
    let is_back = values.iter().enumerate().all(|(place, value)| *value == if place == 1 { F::ONE } else { F::ZERO });
    let time = match accelerator.devices().first() {
        None => on_host,
        Some(device) => {
            let mut stream = device.stream()?;
            let mut vector = DeviceVector::upload(&mut stream, &values)?;
            domain.enqueue(Direction::Forward, &mut stream, &mut vector)?;
            stream.synchronize(None)?;
            let ((), time) = timed(|| {
                for _ in 0..QUEUED {
                    domain.enqueue(Direction::Forward, &mut stream, &mut vector)?;
                }
                stream.synchronize(None)
            })?;
            time / QUEUED
        }
    };
    Ok(Answer { report, time, is_right: is_right && is_back })
}
