//! What tests of columns share: columns by number, and a run of an operation on each backend.

use ff::Field;
use halo2curves::bn256::Fr;
use proofwarp::Result;
use proofwarp::backend::Stream;
use proofwarp::column_ops::{Argument, Operation, Parameter, enqueue, on_cpu};
use proofwarp::field::DeviceVector;
use rand::Rng;

use crate::common::{accelerators_with_devices, rng};

/// An argument of a call: a column by its number, or a number.
#[derive(Debug, Clone, Copy)]
pub enum Given {
    Column(usize),
    Number(i64),
}

/// Elements as columns have them: zeros, ones and others.
pub fn column(length: usize, seed: u64) -> Vec<Fr> {
    let mut rng = rng(seed);
    (0..length).map(|_| [Fr::ZERO, Fr::ONE, Fr::random(&mut rng), -Fr::random(&mut rng)][rng.gen_range(0..4)]).collect()
}

/// Columns and arguments that an operation takes, `numbers` being those of its rotations and other numbers.
pub fn arguments(operation: Operation, rows: usize, numbers: &[i64], seed: u64) -> (Vec<Vec<Fr>>, Vec<Given>) {
    let mut numbers = numbers.iter().copied();
    let mut columns = Vec::new();
    let given = |(place, parameter): (usize, &Parameter)| match parameter {
        Parameter::Rotation | Parameter::Number => Given::Number(numbers.next().expect("a number")),
        Parameter::Rows => Given::Number(rows as i64),
        kind => {
            let length = if let Parameter::Elements(count) = kind { count.max(&2) } else { &rows };
            columns.push(column(*length, seed + place as u64));
            Given::Column(columns.len() - 1)
        }
    };
    let arguments = operation.parameters().iter().enumerate().map(given).collect();
    (columns, arguments)
}

fn resolved<'a, C: ?Sized>(arguments: &[Given], column: impl Fn(usize) -> &'a C) -> Vec<Argument<'a, C>> {
    let resolve = |argument: &Given| match *argument {
        Given::Column(number) => Argument::Column(column(number)),
        Given::Number(number) => Argument::Number(number),
    };
    arguments.iter().map(resolve).collect()
}

/// All columns after the operation on the host.
pub fn run_on_cpu(operation: Operation, columns: &[Vec<Fr>], given: &[Given], items: usize) -> Result<Vec<Vec<Fr>>> {
    let written = on_cpu(operation, &resolved(given, |number| &columns[number][..]), items)?;
    let mut all = columns.to_vec();
    for (place, rows) in written {
        let Given::Column(number) = given[place] else { panic!("a number is written") };
        all[number][..rows.len()].copy_from_slice(&rows);
    }
    Ok(all)
}

/// All columns after the operation on a device.
pub fn run_on(
    stream: &mut Stream,
    operation: Operation,
    columns: &[Vec<Fr>],
    given: &[Given],
    items: usize,
) -> Result<Vec<Vec<Fr>>> {
    let there = columns.iter().map(|column| DeviceVector::upload(stream, column)).collect::<Result<Vec<_>>>()?;
    enqueue(stream, operation, &resolved(given, |number| &there[number]), items)?;
    let mut all = columns.to_vec();
    for (column, there) in all.iter_mut().zip(&there) {
        there.download(stream, column)?;
    }
    Ok(all)
}

/// Calls a body with a stream of each device.
pub fn on_devices(mut body: impl FnMut(&mut Stream)) {
    for accelerator in accelerators_with_devices() {
        body(&mut accelerator.devices()[0].stream().expect("stream"));
    }
}

/// That the CPU and every device leave all columns as expected.
pub fn agree(operation: Operation, columns: &[Vec<Fr>], given: &[Given], items: usize, expected: &[Vec<Fr>]) {
    let what = format!("{operation:?} {given:?} of {} rows", columns[0].len());
    assert!(run_on_cpu(operation, columns, given, items).expect(&what) == expected, "CPU: {what}");
    on_devices(|stream| {
        let there = run_on(stream, operation, columns, given, items).expect(&what);
        assert!(there == expected, "{:?}: {what}", stream.device());
    });
}
