//! One transform over several devices, against one device: parts of one device, and all the CUDA devices there are.

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use proofwarp::backend::Device;
use proofwarp::field::{DeviceVector, TransformField};
use proofwarp::ntt::{Direction, NttDomain, NttOptions, Order, ShardedVector};
use proofwarp::{Accelerator, BackendKind};

use crate::common::ntt::random;
use crate::common::{accelerators_with_devices, alone, fresh_driver};

const DIRECTIONS: [Direction; 4] =
    [Direction::Forward, Direction::Inverse, Direction::CosetForward, Direction::CosetInverse];

/// A domain on the first device so many times.
fn repeated<F: TransformField>(
    accelerator: &Accelerator,
    times: usize,
    log_n: u32,
    max_radix_log: u32,
) -> NttDomain<F> {
    let accelerator = accelerator.with_devices(vec![accelerator.devices()[0].clone(); times]);
    let options = NttOptions { max_radix_log, ..NttOptions::default() };
    NttDomain::with_options(&accelerator, log_n, options).expect("domain")
}

/// What one device makes of a vector.
fn on_one<F: TransformField>(accelerator: &Accelerator, direction: Direction, x: &[F]) -> Vec<F> {
    let domain = NttDomain::new(accelerator, x.len().trailing_zeros()).expect("domain");
    let mut stream = accelerator.devices()[0].stream().expect("stream");
    let mut vector = DeviceVector::upload(&mut stream, x).expect("upload");
    domain.enqueue(direction, &mut stream, &mut vector).expect("enqueue");
    let mut result = vec![F::ZERO; x.len()];
    vector.download(&mut stream, &mut result).expect("download");
    result
}

/// What the vector's devices make of it.
fn on_peers<F: TransformField>(
    domain: &NttDomain<F>,
    direction: Direction,
    vector: &mut ShardedVector<F>,
    x: &[F],
) -> Vec<F> {
    vector.upload(x).expect("upload");
    domain.enqueue_on_peers(direction, vector).expect("enqueue");
    let mut result = vec![F::ZERO; x.len()];
    vector.download(&mut result).expect("download");
    result
}

/// Every direction on the same memory, and both ways without leaving the devices.
fn every_direction<F: TransformField>(one: &Accelerator, domain: &NttDomain<F>, what: &str) {
    let x = random::<F>(domain.log_n(), 5);
    let mut vector = domain.allocate_sharded_vector().unwrap_or_else(|error| panic!("{what}: {error}"));
    for direction in DIRECTIONS {
        let result = on_peers(domain, direction, &mut vector, &x);
        assert!(result == on_one(one, direction, &x), "{direction:?}, 2^{}, {what}", domain.log_n());
    }
    vector.upload(&x).expect("upload");
    for direction in DIRECTIONS {
        domain.enqueue_on_peers(direction, &mut vector).expect("enqueue");
    }
    let mut result = vec![F::ZERO; x.len()];
    vector.download(&mut result).expect("download");
    assert!(result == x, "there and back, 2^{}, {what}", domain.log_n());
}

/// Three and four passes, on one to eight parts of one device.
fn parts_of_one_device<F: TransformField>() {
    for accelerator in accelerators_with_devices() {
        for (log_n, max_radix_log, parts) in [(17, 0, 2), (14, 5, 1), (14, 5, 8), (18, 5, 4)] {
            let domain = repeated::<F>(&accelerator, parts, log_n, max_radix_log);
            every_direction(&accelerator, &domain, &format!("{parts} parts of {accelerator:?}"));
        }
    }
}

#[test]
fn parts_of_one_device_bls12_381() {
    parts_of_one_device::<blstrs::Scalar>();
}

#[test]
fn parts_of_one_device_bn254() {
    parts_of_one_device::<halo2curves::bn256::Fr>();
}

#[test]
fn from_host_memory_to_host_memory() {
    let x = random::<blstrs::Scalar>(17, 6);
    for accelerator in accelerators_with_devices() {
        let domain = repeated(&accelerator, 2, 17, 0);
        let mut result = x.clone();
        let report = domain.run_on_peers(Direction::CosetForward, &x, &mut result, None).expect("run");
        assert!(result == on_one(&accelerator, Direction::CosetForward, &x), "{report}");
        assert!(report.traffic.bytes_up >= 32 << 17 && report.traffic.bytes_down == 32 << 17, "{report}");
        let short = domain.run_on_peers(Direction::Forward, &x, &mut result[1..], None).expect_err("too short");
        assert!(short.to_string().contains("expected 131072, got 131071"), "{short}");
    }
}

/// Whichever launch fails, the next transform is right.
#[test]
fn a_failure_leaves_the_vector_usable() {
    let x = random::<blstrs::Scalar>(14, 7);
    for accelerator in alone(None) {
        let domain = repeated(&accelerator, 2, 14, 5);
        let mut vector = domain.allocate_sharded_vector().expect("vector");
        let expected = on_peers(&domain, Direction::Forward, &mut vector, &x);
        for launch in 0..=6 {
            vector.upload(&x).expect("upload");
            accelerator.devices()[0].inject_launch_fault(launch);
            let result = domain.enqueue_on_peers(Direction::Forward, &mut vector);
            assert_eq!(result.is_err(), launch < 6, "launch {launch} of 6: {result:?}");
            accelerator.devices()[0].inject_launch_fault(u32::MAX);
            assert!(on_peers(&domain, Direction::Forward, &mut vector, &x) == expected, "after launch {launch}");
        }
    }
}

#[test]
fn memory_is_counted_and_given_back() {
    for accelerator in alone(Some(64 << 20)) {
        let device = accelerator.devices()[0].clone();
        let free = device.free_memory().expect("free");
        let vector =
            repeated::<blstrs::Scalar>(&accelerator, 2, 19, 0).allocate_sharded_vector().expect("twice 16 MiB");
        assert!(device.free_memory().expect("free") <= free - (32 << 20));
        drop(vector);
        assert_eq!(device.free_memory().expect("free"), free);
        let error =
            repeated::<blstrs::Scalar>(&accelerator, 2, 21, 0).allocate_sharded_vector().expect_err("twice 64 MiB");
        assert!(error.to_string().contains("out of device memory"), "{error}");
        assert_eq!(device.free_memory().expect("free"), free);
    }
}

#[test]
fn what_cannot_be_done_is_an_error() {
    for accelerator in accelerators_with_devices() {
        let error = |times, log_n| {
            repeated::<blstrs::Scalar>(&accelerator, times, log_n, 0)
                .allocate_sharded_vector()
                .expect_err("none")
                .to_string()
        };
        assert!(error(0, 20).contains("number of devices: expected a power of two, got 0"));
        assert!(error(3, 20).contains("number of devices: expected a power of two, got 3"));
        assert!(error(128, 20).contains("number of devices: expected at most 64 for 2^20, got 128"));
        assert!(error(2, 16).contains("log_n: expected at least 17, got 16"));
        let options = NttOptions { output: Order::BitReversed, ..NttOptions::default() };
        let domain = NttDomain::<blstrs::Scalar>::with_options(&accelerator, 17, options).expect("domain");
        let accelerator = accelerator.with_devices(accelerator.devices()[..1].to_vec());
        let other = NttDomain::<blstrs::Scalar>::new(&accelerator, 17).expect("domain");
        let mut vector = other.allocate_sharded_vector().expect("of one device");
        let error = domain.enqueue_on_peers(Direction::Forward, &mut vector).expect_err("an order").to_string();
        assert!(error.contains("expected natural, got natural and bit-reversed"), "{error}");
        let longer = NttDomain::<blstrs::Scalar>::new(&accelerator, 18).expect("domain");
        let error = longer.enqueue_on_peers(Direction::Forward, &mut vector).expect_err("a length").to_string();
        assert!(error.contains("expected 262144, got 131072"), "{error}");
    }
}

/// Devices of OpenCL do not reach each other's memory, and say so; two handles of one CUDA device do.
#[test]
fn memory_of_two_devices() {
    for accelerator in alone(None) {
        let second = Device::new(fresh_driver(&accelerator.devices()[0]), None);
        let both = accelerator.with_devices(vec![accelerator.devices()[0].clone(), second]);
        let domain = NttDomain::<blstrs::Scalar>::new(&both, 17).expect("domain");
        if accelerator.devices()[0].info().backend == BackendKind::Cuda {
            every_direction(&accelerator, &domain, "two handles of one device");
        } else {
            let error = domain.allocate_sharded_vector().expect_err("no peers").to_string();
            assert!(error.contains("only devices of the cuda backend share memory"), "{error}");
        }
    }
}

/// Fails where the body takes longer than that: a device that never answers must not keep a test for ever.
fn bounded(time: Duration, body: impl FnOnce() + Send + 'static) {
    let (done, is_done) = channel();
    let worker = std::thread::spawn(move || {
        body();
        let _ = done.send(());
    });
    let in_time = is_done.recv_timeout(time) != Err(RecvTimeoutError::Timeout);
    assert!(in_time, "not done after {time:?}");
    if let Err(panic) = worker.join() {
        std::panic::resume_unwind(panic);
    }
}

/// The CUDA accelerator on 2, 4 … of its devices; empty where there is one.
fn groups_of_devices() -> Vec<Accelerator> {
    let all = accelerators_with_devices();
    let cuda = all.into_iter().find(|accelerator| accelerator.devices()[0].info().backend == BackendKind::Cuda);
    let devices = cuda.as_ref().map_or(0, |cuda| cuda.devices().len());
    if devices < 2 {
        crate::common::skip(format_args!("expected several CUDA devices, got {devices}"));
    }
    let counts = (1..).map(|log| 1 << log).take_while(|count| *count <= devices);
    let first = |count: usize| cuda.as_ref().map(|cuda| cuda.with_devices(cuda.devices()[..count].to_vec()));
    counts.filter_map(first).collect()
}

fn over_all_devices<F: TransformField>(logs: [u32; 5]) {
    for accelerator in groups_of_devices() {
        for log_n in logs {
            let domain = NttDomain::<F>::new(&accelerator, log_n).expect("domain");
            every_direction(&accelerator, &domain, &format!("{} devices", accelerator.devices().len()));
        }
    }
}

#[test]
fn over_all_devices_bls12_381() {
    bounded(Duration::from_secs(240), || over_all_devices::<blstrs::Scalar>([17, 18, 20, 22, 24]));
}

#[test]
fn over_all_devices_bn254() {
    bounded(Duration::from_secs(240), || over_all_devices::<halo2curves::bn256::Fr>([17, 18, 20, 21, 23]));
}

/// The order in which devices get on must not matter.
#[test]
fn twenty_runs_over_all_devices_are_equal() {
    bounded(Duration::from_secs(120), || {
        let x = random::<blstrs::Scalar>(20, 8);
        for accelerator in groups_of_devices() {
            let domain = NttDomain::new(&accelerator, 20).expect("domain");
            let mut vector = domain.allocate_sharded_vector().expect("vector");
            let expected = on_one(&accelerator, Direction::CosetForward, &x);
            for run in 0..20 {
                let result = on_peers(&domain, Direction::CosetForward, &mut vector, &x);
                assert!(result == expected, "run {run} on {} devices", accelerator.devices().len());
            }
        }
    });
}

/// Four passes on a device: forward against one device, and back.
#[test]
fn two_to_the_26th_over_all_devices() {
    bounded(Duration::from_secs(240), || {
        let groups = groups_of_devices();
        let Some(first) = groups.first() else { return };
        let next = |x: &blstrs::Scalar| Some(x * x + blstrs::Scalar::from(3));
        let x: Vec<_> = std::iter::successors(Some(blstrs::Scalar::from(5)), next).take(1 << 26).collect();
        let expected = on_one(first, Direction::Forward, &x);
        for accelerator in groups {
            let domain = NttDomain::new(&accelerator, 26).expect("domain");
            let mut vector = domain.allocate_sharded_vector().expect("vector");
            let devices = accelerator.devices().len();
            assert!(on_peers(&domain, Direction::Forward, &mut vector, &x) == expected, "{devices} devices");
            domain.enqueue_on_peers(Direction::Inverse, &mut vector).expect("enqueue");
            let mut back = vec![blstrs::Scalar::from(0); x.len()];
            vector.download(&mut back).expect("download");
            assert!(back == x, "and back, {devices} devices");
        }
    });
}
