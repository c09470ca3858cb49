//! Runs a step of a PLONKish proof: evaluates 1 + X + X² + … at a point.

use proofwarp::field::{DeviceVector, NttField};
use proofwarp::plonk::steps::{DeviceColumn, evaluate};
use proofwarp::{Accelerator, Result};

use super::{Answer, inverse, report, timed};

pub fn test<F: NttField>(accelerator: &Accelerator, log: u32) -> Result<Answer> {
    let n = 1_u64 << log;
    let point = F::from(3);
    // (zⁿ − 1)/(z − 1)
    let known = (point.pow_vartime([n]) - F::ONE) * inverse(point - F::ONE)?;
    let coefficients = vec![F::ONE; n as usize];
    let (value, time) = match accelerator.devices().first() {
        None => {
            let query = evaluate::EvaluationQuery { polynomial: &coefficients[..], point: 0 };
            timed(|| evaluate::on_cpu(&[query], &[point]))?
        }
        Some(device) => {
            let mut stream = device.stream()?;
            let polynomial = DeviceVector::upload(&mut stream, &coefficients)?;
            let query = evaluate::EvaluationQuery { polynomial: DeviceColumn::new(&polynomial, 0), point: 0 };
            let mut run = || -> Result<Vec<F>> {
                let mut value = vec![F::ZERO];
                evaluate::enqueue(&mut stream, n as usize, &[query], &[point])?.download(&mut stream, &mut value)?;
                Ok(value)
            };
            run()?;
            timed(run)?
        }
    };
    Ok(Answer { report: report(accelerator, n as usize, time), time, is_right: value == [known] })
}
