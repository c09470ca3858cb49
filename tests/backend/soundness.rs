//! What safe code may do with memory: any lengths, any order of calls, any stream, and guards that are forgotten.
#![forbid(unsafe_code)]

use std::sync::Arc;

use ff::Field;
use proofwarp::Error;
use proofwarp::backend::{Buffer, Device, Stream};
use proofwarp::column_ops::{Argument, Operation};
use proofwarp::expression::{Coset, DeviceColumn, Expression, Program};
use proofwarp::field::{DeviceVector, HostVector};
use proofwarp::plonk::steps::{
    DeviceColumn as StepColumn, RowCounts, StridedColumns, blinding, combine, divide, evaluate, lookup_permute,
    quotient_pieces,
};

use crate::{MIB, devices, downloaded, drivers, pattern};

type F = halo2curves::bn256::Fr;

/// Bytes of one long copy.
const LONG: usize = 32 * MIB;

/// Keeps a stream busy for some ten milliseconds, without waiting.
fn occupy(stream: &mut Stream) {
    let [from, to] = [(); 2].map(|()| stream.allocate(LONG).unwrap());
    for _ in 0..8 {
        stream.copy((&to, 0), (&from, 0), LONG).unwrap();
    }
}

/// A buffer of `bytes` bytes of 7, which are there.
fn of_sevens(stream: &mut Stream, bytes: usize) -> Buffer {
    let buffer = stream.allocate(bytes).unwrap();
    stream.upload(&buffer, &vec![7; bytes]).unwrap();
    stream.synchronize(None).unwrap();
    buffer
}

fn two_streams(device: &Arc<Device>) -> [Stream; 2] {
    [(); 2].map(|()| device.stream().unwrap())
}

/// 32 * (2^59 + 1) wraps to 32 bytes, and so does rounding `usize::MAX` up to whole pages to none.
#[test]
fn lengths_that_wrap_are_errors() {
    for device in devices() {
        let mut stream = device.stream().unwrap();
        for len in [(1 << 59) + 1, 1 << 58, usize::MAX, usize::MAX / 32 + 1] {
            let host = HostVector::<F>::new(&stream, len).map(|vector| vector.len());
            assert!(matches!(host, Err(Error::Invalid { .. })), "{len} elements: {host:?}");
            let vector = DeviceVector::<F>::allocate(&mut stream, len).map(|vector| vector.buffer().bytes());
            assert!(matches!(vector, Err(Error::Invalid { .. })), "{len} elements: {vector:?}");
        }
        for bytes in [usize::MAX, usize::MAX - 4094, 1 << 63, isize::MAX as usize] {
            let buffer = stream.allocate(bytes).map(|buffer| buffer.bytes());
            assert!(matches!(buffer, Err(Error::OutOfMemory { .. })), "{bytes} bytes: {buffer:?}");
            assert!(stream.scratch(bytes).is_err() && stream.allocate_pinned(bytes).is_err(), "{bytes} bytes");
        }
    }
}

#[test]
fn vectors_begin_as_zeros() {
    for device in devices() {
        let mut stream = device.stream().unwrap();
        drop(of_sevens(&mut stream, 32 << 10));
        let vector = DeviceVector::<F>::allocate(&mut stream, 1 << 10).unwrap();
        let mut elements = vec![F::ONE; 1 << 10];
        vector.download(&mut stream, &mut elements).unwrap();
        assert!(elements.iter().all(|element| bool::from(element.is_zero())));
    }
}

#[test]
fn fetched_bytes_are_there_without_a_wait() {
    for device in devices() {
        let mut stream = device.stream().unwrap();
        let from = of_sevens(&mut stream, LONG);
        occupy(&mut stream);
        let mut host = stream.allocate_pinned(LONG).unwrap();
        stream.copy_to_pinned(&mut host, &from).unwrap();
        let mut out = vec![0; LONG];
        host.drain_into(&mut out);
        assert!(out.iter().all(|byte| *byte == 7), "read before the copy had ended");
        let mut left = vec![1; LONG];
        stream.allocate_pinned(LONG).unwrap().drain_into(&mut left);
        assert!(left.iter().all(|byte| *byte == 0), "the pool's next owner finds what was fetched");
    }
}

#[test]
fn a_copy_of_another_stream_holds_its_host_memory() {
    for device in devices() {
        let [home, mut other] = two_streams(&device);
        let from = of_sevens(&mut other, MIB);
        occupy(&mut other);
        let mut host = home.allocate_pinned(MIB).unwrap();
        other.copy_to_pinned(&mut host, &from).unwrap();
        drop(host);
        let vector = HostVector::<F>::new(&home, MIB / 32).unwrap();
        let borrowed: &[F] = &vector;
        other.synchronize(None).unwrap();
        assert!(borrowed.iter().all(|element| bool::from(element.is_zero())), "it changed under a shared borrow");
    }
}

#[test]
fn a_forgotten_stream_takes_nothing_along() {
    for driver in drivers() {
        // Its streams' memory stays with it: a device of its own.
        let device = Device::new(driver, None);
        let mut stream = device.stream().unwrap();
        let from = of_sevens(&mut stream, LONG);
        let mut host = stream.allocate_pinned(LONG).unwrap();
        occupy(&mut stream);
        stream.copy_to_pinned(&mut host, &from).unwrap();
        std::mem::forget(stream);
        let mut out = vec![0; LONG];
        host.drain_into(&mut out);
        assert!(out.iter().all(|byte| *byte == 7));
    }
}

/// What a stream has queued on a buffer of another one runs before the memory's next owner.
#[test]
fn a_buffer_may_go_before_another_stream_is_done_with_it() {
    for driver in drivers() {
        let device = Device::new(driver, None);
        let [mut home, mut other] = two_streams(&device);
        let buffer = of_sevens(&mut home, MIB);
        occupy(&mut other);
        other.zero(&buffer).unwrap();
        drop(buffer);
        let next = home.allocate(MIB).unwrap();
        let bytes = pattern(MIB);
        home.upload(&next, &bytes).unwrap();
        other.synchronize(None).unwrap();
        assert!(downloaded(&mut home, &next) == bytes, "the last owner's command came later");
    }
}

#[test]
fn streams_take_turns_on_a_buffer() {
    for driver in drivers() {
        let device = Device::new(driver, None);
        let [mut home, mut other] = two_streams(&device);
        let (buffer, bytes) = (of_sevens(&mut home, MIB), pattern(MIB));
        occupy(&mut home);
        home.upload(&buffer, &bytes).unwrap();
        assert!(downloaded(&mut other, &buffer) == bytes, "read before the other stream had written");
        occupy(&mut other);
        let copy = other.allocate(MIB).unwrap();
        other.copy((&copy, 0), (&buffer, 0), MIB).unwrap();
        home.zero(&buffer).unwrap();
        assert!(downloaded(&mut other, &copy) == bytes, "written before the other stream had read");
    }
}

/// OpenCL's events mean nothing in another context; CUDA's devices know each other's.
#[test]
fn marks_of_another_driver_are_refused() {
    for (device, driver) in devices().into_iter().zip(drivers()) {
        let stranger = Device::new(driver, None);
        let [mut own, mut others] = [&device, &stranger].map(|device| device.stream().unwrap());
        let mark = others.record_event().unwrap();
        let result = own.wait_event(&mark);
        let shared = device.info().backend == proofwarp::BackendKind::Cuda;
        assert_eq!(result.is_ok(), shared, "{result:?}");
        own.synchronize_event(&mark, None).unwrap();
        let buffer = others.allocate(MIB).unwrap();
        assert!(own.zero(&buffer).is_err() && own.upload(&buffer, &[1]).is_err());
        let mut host = others.allocate_pinned(MIB).unwrap();
        let from = of_sevens(&mut own, MIB);
        own.copy_to_pinned(&mut host, &from).unwrap();
        others.synchronize(None).unwrap();
        let mut out = vec![0; MIB];
        host.drain_into(&mut out);
        assert!(out.iter().all(|byte| *byte == 7), "host memory is any driver's");
    }
}

/// Places whose products and sums of lengths wrap, for every step that takes one.
#[test]
fn steps_refuse_places_that_wrap() {
    let hostile = [
        StridedColumns { first: usize::MAX, stride: 0, count: 1 },
        StridedColumns { first: 0, stride: usize::MAX, count: 3 },
        StridedColumns { first: 8, stride: 1 << 63, count: 3 },
        StridedColumns { first: 0, stride: 0, count: 1 << 63 },
        StridedColumns { first: 0, stride: 0, count: 1 << 62 },
        StridedColumns { first: 1, stride: 1 << 60, count: 17 },
    ];
    for device in devices() {
        let mut stream = device.stream().unwrap();
        let vector = |stream: &mut Stream| DeviceVector::<F>::upload(stream, &[F::ONE; 64]).unwrap();
        let (mut written, read) = (vector(&mut stream), vector(&mut stream));
        let of = RowCounts { log_n: 4, usable: 10 };
        let pieces = quotient_pieces::Cosets::<F>::new(4, 2, F::from(7), 3).unwrap();
        for place in hostile {
            assert!(
                blinding::enqueue(&mut stream, 16, &mut written, place, 0..16, &[F::ONE; 16]).is_err(),
                "{place:?}"
            );
            assert!(divide::enqueue(&mut stream, 16, &mut written, place, &[vec![F::ONE]]).is_err(), "{place:?}");
            assert!(lookup_permute::enqueue(&mut stream, of, (&read, place), (&read, place)).is_err(), "{place:?}");
            assert!(pieces.enqueue(&mut stream, &mut written, place).is_err(), "{place:?}");
        }
        for first in [49, 1 << 59, usize::MAX, usize::MAX - 15] {
            let column = StepColumn::new(&read, first);
            let query = evaluate::EvaluationQuery { polynomial: column, point: 0 };
            assert!(evaluate::enqueue(&mut stream, 16, &[query], &[F::ONE]).is_err(), "{first}");
            let sum = combine::LinearCombination { terms: vec![(column, F::ONE)], minus: Vec::new() };
            assert!(combine::enqueue(&mut stream, 16, &[sum]).is_err(), "{first}");
        }
        stream.synchronize(None).unwrap();
        for vector in [&written, &read] {
            let mut elements = [F::ZERO; 64];
            vector.download(&mut stream, &mut elements).unwrap();
            assert!(elements.iter().all(|element| *element == F::ONE), "an error left its inputs changed");
        }
    }
}

#[test]
fn operations_and_expressions_refuse_lengths_that_wrap() {
    for device in devices() {
        let mut stream = device.stream().unwrap();
        let vector = DeviceVector::<F>::upload(&mut stream, &[F::ONE; 16]).unwrap();
        let out = DeviceVector::<F>::allocate(&mut stream, 16).unwrap();
        for rows in [17, 1 << 32, i64::MAX] {
            let columns = [&out, &vector, &vector].map(Argument::Column);
            let arguments = [&columns[..], &[0, 0, rows].map(Argument::Number)].concat();
            let result = proofwarp::column_ops::enqueue(&mut stream, Operation::Sum, &arguments, 16);
            assert!(result.is_err(), "{rows} rows");
        }
        let program = Program::lower_vectors(&[Expression::column(0, 0)], 0);
        let coset = Coset { log_n: 4, shift: F::ONE };
        for first in [1, usize::MAX, usize::MAX - 15, 1 << 60] {
            let (good, bad) = (DeviceColumn { vector: &vector, first: 0 }, DeviceColumn { vector: &vector, first });
            let result = DeviceColumn { vector: &out, first: 0 };
            assert!(program.enqueue(&mut stream, &[bad], &[], coset, &[result]).is_err(), "column at {first}");
            let output = DeviceColumn { vector: &out, first };
            assert!(program.enqueue(&mut stream, &[good], &[], coset, &[output]).is_err(), "output at {first}");
        }
    }
}
