//! Transforms through the public interface, on whatever devices there are.
#![cfg(any(feature = "cuda", feature = "opencl"))]
#![allow(missing_docs, clippy::unwrap_used)]

mod common;

use std::panic::{AssertUnwindSafe, catch_unwind};

use blstrs::Scalar;
use common::{Patience, assert_soon, exclusive, fail_after, programs};
use ec_gpu_gen::fft::{FftKernel, SingleFftKernel};
use ec_gpu_gen::fft_cpu::{parallel_fft, serial_fft};
use ec_gpu_gen::threadpool::Worker;
use ec_gpu_gen::{EcError, EcResult};
use ff::{Field, PrimeField};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

fn omega(log_n: u32) -> Scalar {
    (log_n..Scalar::S).fold(Scalar::ROOT_OF_UNITY, |root, _| root.square())
}

fn random(log_n: u32, seed: u64) -> Vec<Scalar> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    (0..1 << log_n).map(|_| Scalar::random(&mut rng)).collect()
}

fn on_cpu(values: &[Scalar], log_n: u32) -> Vec<Scalar> {
    let mut values = values.to_vec();
    serial_fft(&mut values, &omega(log_n), log_n);
    values
}

/// A kernel on all devices, or none where there is no device.
fn kernel<'a>() -> Option<FftKernel<'a, Scalar>> {
    match FftKernel::create(programs()) {
        Ok(kernel) => Some(kernel),
        Err(error) => {
            assert!(programs().is_empty(), "{error}");
            None
        }
    }
}

/// Polynomials of different lengths.
const LOGS: [u32; 5] = [9, 12, 7, 11, 10];

fn inputs() -> Vec<Vec<Scalar>> {
    LOGS.iter().zip(0..).map(|(log_n, seed)| random(*log_n, seed)).collect()
}

fn run(kernel: &mut FftKernel<'_, Scalar>, values: &mut [Vec<Scalar>]) -> EcResult<()> {
    let mut slices: Vec<&mut [Scalar]> = values.iter_mut().map(Vec::as_mut_slice).collect();
    kernel.radix_fft_many(&mut slices, &LOGS.map(omega), &LOGS)
}

fn assert_transformed(values: &[Vec<Scalar>]) {
    for ((value, input), log_n) in values.iter().zip(inputs()).zip(LOGS) {
        assert!(*value == on_cpu(&input, log_n), "log_n {log_n}");
    }
}

#[test]
fn parallel_equals_serial() {
    let worker = Worker::new();
    for log_n in worker.log_num_threads()..14 {
        let mut values = random(log_n, 1);
        let expected = on_cpu(&values, log_n);
        parallel_fft(&mut values, &worker, &omega(log_n), log_n, worker.log_num_threads());
        assert!(values == expected, "log_n {log_n}");
    }
}

#[test]
fn devices_equal_the_cpu() {
    let _exclusive = exclusive();
    let Some(mut kernel) = kernel() else { return };
    for log_n in 0..=13 {
        let mut values = random(log_n, u64::from(log_n));
        let expected = on_cpu(&values, log_n);
        kernel.radix_fft(&mut values, &omega(log_n), log_n).unwrap();
        assert!(values == expected, "log_n {log_n}");
    }
    let mut values = inputs();
    run(&mut kernel, &mut values).unwrap();
    assert_transformed(&values);
}

#[test]
fn one_device_equals_the_cpu() {
    let _exclusive = exclusive();
    for program in programs() {
        let mut kernel = SingleFftKernel::<Scalar>::create(program, None).unwrap();
        let mut values = random(10, 3);
        kernel.radix_fft(&mut values, &omega(10), 10).unwrap();
        assert!(values == on_cpu(&random(10, 3), 10));
    }
}

#[test]
fn a_failure_anywhere_leaves_all_inputs() {
    let _exclusive = exclusive();
    let Some(mut kernel) = kernel() else { return };
    let mut values = inputs();
    let mut failures = 0;
    loop {
        fail_after(Some(failures));
        match run(&mut kernel, &mut values) {
            Ok(()) => break,
            Err(error) => assert!(matches!(error, EcError::GpuTools(_)), "launch {failures}: {error}"),
        }
        assert!(values == inputs(), "launch {failures} failed and changed inputs");
        failures += 1;
        assert!(failures < 10_000, "every call fails");
    }
    fail_after(None);
    assert!(failures > 3, "only {failures} launches");
    assert_transformed(&values);
}

#[test]
fn an_abort_anywhere_leaves_all_inputs() {
    let _exclusive = exclusive();
    if programs().is_empty() {
        return;
    }
    let mut values = inputs();
    for questions in 0..1000 {
        let patience = Patience::new(questions);
        let hook = || patience.ended();
        let mut kernel = FftKernel::create_with_abort(programs(), &hook).unwrap();
        match run(&mut kernel, &mut values) {
            Ok(()) => {
                assert!(questions > LOGS.len(), "the hook was asked {questions} times");
                return assert_transformed(&values);
            }
            Err(error) => assert!(matches!(error, EcError::Aborted), "{error}"),
        }
        assert!(values == inputs(), "aborted at question {questions}, and inputs changed");
    }
    panic!("never finished");
}

#[test]
fn a_panic_of_the_hook_goes_on_and_leaves_all_inputs() {
    let _exclusive = exclusive();
    let Some(mut whole) = kernel() else { return };
    for questions in [0, 3] {
        let mut values = inputs();
        let patience = Patience::new(questions);
        let hook = || patience.ended() && panic!("words of the caller, {questions}");
        let mut kernel = FftKernel::create_with_abort(programs(), &hook).unwrap();
        let panic = catch_unwind(AssertUnwindSafe(|| run(&mut kernel, &mut values))).expect_err("the hook panics");
        let text = panic.downcast_ref::<String>().map(String::as_str);
        assert_eq!(text, Some(&*format!("words of the caller, {questions}")));
        assert!(values == inputs(), "inputs changed");
        run(&mut whole, &mut values).unwrap();
        assert_transformed(&values);
    }
}

#[test]
fn an_abort_is_soon() {
    let _exclusive = exclusive();
    if programs().is_empty() {
        return;
    }
    for questions in [0, 1, 10, 20] {
        let patience = Patience::new(questions);
        let hook = || patience.ended();
        let mut kernel = FftKernel::create_with_abort(programs(), &hook).unwrap();
        let mut values = vec![random(12, 7); 32];
        let mut slices: Vec<&mut [Scalar]> = values.iter_mut().map(Vec::as_mut_slice).collect();
        let error = kernel.radix_fft_many(&mut slices, &[omega(12); 32], &[12; 32]).unwrap_err();
        let time = patience.since().unwrap();
        assert!(matches!(error, EcError::Aborted), "{error}");
        assert_soon(time, format_args!("after question {questions}"));
    }
}

#[test]
fn bad_input_is_an_error_and_stays() {
    let _exclusive = exclusive();
    let Some(mut kernel) = kernel() else { return };
    let original = random(4, 5);
    let mut values = original.clone();
    let mut check = |omegas: &[Scalar], log_ns: &[u32]| {
        let error = kernel.radix_fft_many(&mut [&mut values], omegas, log_ns).unwrap_err();
        assert!(matches!(error, EcError::GpuTools(_)), "{error}");
        assert!(values == original, "{error}");
    };
    check(&[omega(3)], &[3]);
    check(&[omega(5)], &[5]);
    check(&[omega(3)], &[4]);
    check(&[omega(5)], &[4]);
    check(&[Scalar::ZERO], &[4]);
    check(&[omega(4)], &[Scalar::S + 1]);
    check(&[omega(4)], &[]);
    check(&[], &[4]);
    check(&[omega(4), omega(4)], &[4, 4]);
    check(&[omega(4), omega(4)], &[4]);
}

#[test]
fn nothing_is_transformed_at_once() {
    let _exclusive = exclusive();
    let Some(mut kernel) = kernel() else { return };
    kernel.radix_fft_many(&mut [], &[], &[]).unwrap();
}

#[test]
fn without_programs_there_is_no_kernel() {
    assert!(FftKernel::<Scalar>::create(Vec::new()).is_err());
}

#[test]
fn a_field_without_kernels_is_an_error() {
    let error = FftKernel::<blstrs::Fp>::create(programs()).err().unwrap();
    assert!(matches!(error, EcError::Simple("proofwarp has no transform over this field")), "{error}");
}
