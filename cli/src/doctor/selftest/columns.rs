//! Runs an operation on columns: adds i and i + 1 in row i, which is 2i + 1.

use proofwarp::column_ops::Argument::{Column, Number};
use proofwarp::column_ops::{Operation, enqueue, on_cpu};
use proofwarp::field::{DeviceVector, NttField};
use proofwarp::{Accelerator, Error, Result};

use super::{Answer, counted, report, timed};

pub fn test<F: NttField>(accelerator: &Accelerator, log: u32) -> Result<Answer> {
    let n = 1_usize << log;
    let a = counted::<F>(n);
    let b: Vec<F> = a.iter().map(|a| *a + F::ONE).collect();
    let (sums, time) = match accelerator.devices().first() {
        None => timed(|| sums_on_cpu(&a, &b))?,
        Some(device) => {
            let mut stream = device.stream()?;
            let columns = [&vec![F::ZERO; n], &a, &b].map(|column| DeviceVector::upload(&mut stream, column));
            let [to, a, b] = columns;
            let (to, a, b) = (to?, a?, b?);
            let arguments = [Column(&to), Column(&a), Column(&b), Number(0), Number(0), Number(n as i64)];
            let mut run = || {
                enqueue(&mut stream, Operation::Sum, &arguments, 0)?;
                stream.synchronize(None)
            };
            run()?;
            let ((), time) = timed(run)?;
            let mut sums = vec![F::ZERO; n];
            to.download(&mut stream, &mut sums)?;
            (sums, time)
        }
    };
    let is_right = sums.len() == n && sums.iter().zip(&a).all(|(sum, i)| *sum == i.double() + F::ONE);
    Ok(Answer { report: report(accelerator, n, time), time, is_right })
}

fn sums_on_cpu<F: NttField>(a: &[F], b: &[F]) -> Result<Vec<F>> {
    let to = vec![F::ZERO; a.len()];
    let arguments = [Column(&to[..]), Column(a), Column(b), Number(0), Number(0), Number(a.len() as i64)];
    let written = on_cpu(Operation::Sum, &arguments, 0)?.pop();
    written.map(|(_, sums)| sums).ok_or_else(|| Error::invalid("self-test", "columns", "one that was written", "none"))
}
