//! Transforms and the steps between them on devices: provers' pipelines, layouts, extended domains, page-locked
//! memory, vectors larger than free memory, and many threads at once.

use std::sync::atomic::{AtomicU32, Ordering};

use proofwarp::backend::Stream;
use proofwarp::field::{DeviceVector, HostVector, TransformField};
use proofwarp::ntt::{
    Direction, ExtendedDomain, NttDomain, NttOptions, Order, Transform, VectorLayout, transform_many,
};
use proofwarp::{Accelerator, Error};

use crate::common::ntt::{of_every_field, omega, ordered, power, random, reference};
use crate::common::{abort_after, accelerators, accelerators_and_cpu, accelerators_with_devices, alone};

fn stream(accelerator: &Accelerator) -> Stream {
    accelerator.devices()[0].stream().expect("stream")
}

fn upload<F: TransformField>(stream: &mut Stream, values: &[F]) -> DeviceVector<F> {
    DeviceVector::upload(stream, values).expect("upload")
}

fn download<F: TransformField>(stream: &mut Stream, values: &DeviceVector<F>) -> Vec<F> {
    let mut result = vec![F::ZERO; values.len()];
    values.download(stream, &mut result).expect("download");
    result
}

/// Value at a point, by Horner's rule.
fn evaluate<F: TransformField>(coefficients: &[F], point: F) -> F {
    coefficients.iter().rev().fold(F::ZERO, |sum, coefficient| sum * point + coefficient)
}

/// h with a·b − c = h·(x^n − 1), as Groth16 finds it: nothing leaves the device on the way.
fn quotients_stay_on_the_device<F: TransformField>() {
    for (log_n, accelerator) in
        [4, 9, 11].into_iter().flat_map(|log_n| accelerators_with_devices().into_iter().map(move |a| (log_n, a)))
    {
        let domain = NttDomain::<F>::new(&accelerator, log_n).expect("domain");
        let mut stream = stream(&accelerator);
        let (a, b) = (random::<F>(log_n, 1), random::<F>(log_n, 2));
        let c: Vec<F> = a.iter().zip(&b).map(|(a, b)| *a * b).collect();
        let [mut a, mut b, mut c] = [&a, &b, &c].map(|values| upload(&mut stream, values));
        for values in [&mut a, &mut b, &mut c] {
            domain.enqueue(Direction::Inverse, &mut stream, values).expect("inverse");
        }
        let coefficients = [&a, &b, &c].map(|values| download(&mut stream, values));
        for values in [&mut a, &mut b, &mut c] {
            domain.enqueue(Direction::CosetForward, &mut stream, values).expect("coset");
        }
        domain.multiply_pointwise(&mut stream, &mut a, &b).expect("product");
        domain.subtract_pointwise(&mut stream, &mut a, &c).expect("difference");
        domain.divide_by_vanishing_on_coset(&mut stream, &mut a).expect("division");
        domain.enqueue(Direction::CosetInverse, &mut stream, &mut a).expect("inverse");
        let h = download(&mut stream, &a);
        let point = F::from(0xabcd_ef01).square();
        let [a, b, c] = coefficients.map(|coefficients| evaluate(&coefficients, point));
        let vanishing = power(point, 1 << log_n) - F::ONE;
        assert!(a * b - c == evaluate(&h, point) * vanishing, "2^{log_n}, {accelerator:?}");
    }
}

fn pointwise_steps<F: TransformField>() {
    for accelerator in accelerators_with_devices() {
        let domain = NttDomain::<F>::new(&accelerator, 6).expect("domain");
        let mut stream = stream(&accelerator);
        let (x, y) = (random::<F>(8, 3), random::<F>(2, 4));
        let base = F::from(12345).square();
        let mut values = upload(&mut stream, &x);
        let other = upload(&mut stream, &y);
        domain.add_pointwise(&mut stream, &mut values, &other).expect("sum");
        domain.multiply_pointwise(&mut stream, &mut values, &other).expect("product");
        domain.scale(&mut stream, &mut values, -F::from(3)).expect("scale");
        domain.scale_by_powers(&mut stream, &mut values, base).expect("powers");
        let expected: Vec<F> =
            (0..x.len()).map(|i| -F::from(3) * (x[i] + y[i % 4]) * y[i % 4] * power(base, i % 64)).collect();
        assert!(download(&mut stream, &values) == expected, "{accelerator:?}");
        let three = upload(&mut stream, &x[..3]);
        assert!(matches!(domain.add_pointwise(&mut stream, &mut values, &three), Err(Error::Invalid { .. })));
        let subgroup = NttOptions { coset: Some(F::ONE), ..NttOptions::default() };
        let subgroup = NttDomain::<F>::with_options(&accelerator, 6, subgroup).expect("domain");
        let result = subgroup.divide_by_vanishing_on_coset(&mut stream, &mut values);
        assert!(matches!(result, Err(Error::Invalid { .. })));
    }
}

fn strided_vectors<F: TransformField>() {
    for accelerator in accelerators_with_devices() {
        for (log_n, gap) in [(5, 3), (10, 1), (12, 700)] {
            let domain = NttDomain::<F>::new(&accelerator, log_n).expect("domain");
            let (n, stride) = (1usize << log_n, (1usize << log_n) + gap);
            let x: Vec<F> = random::<F>(log_n + 2, 5)[..2 * stride + n].to_vec();
            let mut stream = stream(&accelerator);
            let mut values = upload(&mut stream, &x);
            let layout = VectorLayout { vectors: 3, stride: stride as u64 };
            domain.enqueue_strided(Direction::CosetForward, &mut stream, &mut values, layout).expect("enqueue");
            let mut expected = x;
            for start in [0, stride, 2 * stride] {
                let transformed = reference(&expected[start..start + n], &domain.transform(Direction::CosetForward));
                expected[start..start + n].copy_from_slice(&transformed);
            }
            assert!(download(&mut stream, &values) == expected, "2^{log_n}, {accelerator:?}");
            for (vectors, stride) in [(4, stride), (2, n - 1), (2, usize::MAX)] {
                let layout = VectorLayout { vectors, stride: stride as u64 };
                let result = domain.enqueue_strided(Direction::Forward, &mut stream, &mut values, layout);
                assert!(matches!(result, Err(Error::Invalid { .. })), "{layout:?}");
            }
        }
    }
}

fn bit_reversed_both_ways<F: TransformField>() {
    for (log_n, accelerator) in
        [0, 1, 8, 11].into_iter().flat_map(|log_n| accelerators_and_cpu().into_iter().map(move |a| (log_n, a)))
    {
        let options = NttOptions { input: Order::BitReversed, output: Order::BitReversed, ..NttOptions::default() };
        let domain = NttDomain::<F>::with_options(&accelerator, log_n, options).expect("domain");
        let x = random::<F>(log_n, 6);
        let mut values = x.clone();
        domain.coset_forward(&mut values).expect("coset_forward");
        let natural = NttDomain::<F>::new(&accelerator, log_n).expect("domain");
        let expected = reference(&x, &natural.transform(Direction::CosetForward));
        assert!(values == ordered(&expected, Order::BitReversed), "2^{log_n}, {accelerator:?}");
        domain.coset_inverse(&mut values).expect("coset_inverse");
        assert!(values == x, "2^{log_n}, {accelerator:?}");
    }
}

fn extended_domains<F: TransformField>() {
    for accelerator in accelerators_and_cpu() {
        for (log_n, log_factor) in [(0, 0), (0, 2), (3, 1), (9, 3), (11, 2), (10, 0)] {
            let domain = ExtendedDomain::<F>::new(&accelerator, log_n, log_factor).expect("domain");
            let coefficients = random::<F>(log_n, 7);
            let mut padded = coefficients.clone();
            padded.resize(1 << (log_n + log_factor), F::ZERO);
            let expected = reference(&padded, &domain.extended_domain().transform(Direction::CosetForward));
            let (values, _) = domain.forward(&coefficients).expect("forward");
            assert!(values == expected, "2^{log_n}, {log_factor}, {accelerator:?}");
            if !accelerator.devices().is_empty() {
                extended_on_the_device(&accelerator, &domain, &coefficients, &expected);
            }
        }
    }
}

fn extended_on_the_device<F: TransformField>(
    accelerator: &Accelerator,
    domain: &ExtendedDomain<F>,
    coefficients: &[F],
    expected: &[F],
) {
    let mut stream = stream(accelerator);
    let on_device = upload(&mut stream, coefficients);
    let mut cosets: Vec<_> = (0..domain.coset_count())
        .map(|coset| domain.enqueue_coset(&mut stream, &on_device, coset).expect("coset"))
        .collect();
    assert!(download(&mut stream, &on_device) == coefficients, "the coefficients stay");
    let factor = domain.coset_count();
    for (j, values) in cosets.iter().enumerate() {
        let values = download(&mut stream, values);
        assert!(values.iter().enumerate().all(|(i, value)| *value == expected[j + i * factor]), "coset {j}");
    }
    let mut whole = domain.enqueue_interleaved(&mut stream, &cosets).expect("joined");
    assert!(download(&mut stream, &whole) == expected, "joined");
    domain.enqueue_inverse(&mut stream, &mut whole).expect("inverse");
    let back = download(&mut stream, &whole);
    assert!(back[..coefficients.len()] == *coefficients && back[coefficients.len()..].iter().all(F::is_zero_vartime));
    // Both ways to divide by x^n − 1 agree with the definition.
    let mut whole = domain.enqueue_forward(&mut stream, &on_device).expect("forward");
    domain.divide_by_vanishing_on_coset(&mut stream, &mut whole).expect("division");
    for (j, values) in cosets.iter_mut().enumerate() {
        domain.divide_coset_by_vanishing(&mut stream, values, j).expect("division");
    }
    let joined = domain.enqueue_interleaved(&mut stream, &cosets).expect("joined");
    let quotients = download(&mut stream, &joined);
    assert!(download(&mut stream, &whole) == quotients, "divided before or after joining");
    for (i, quotient) in quotients.iter().enumerate().step_by(expected.len().div_ceil(7)) {
        let point = domain.extended_domain().coset() * power(domain.extended_domain().omega(), i);
        assert!(*quotient * (power(point, coefficients.len()) - F::ONE) == expected[i], "element {i}");
    }
}

fn page_locked_vectors<F: TransformField>() {
    for accelerator in accelerators_with_devices() {
        for log_n in [0, 7, 12] {
            let domain = NttDomain::<F>::new(&accelerator, log_n).expect("domain");
            let home = stream(&accelerator);
            let vector = || HostVector::<F>::new(&home, 1 << log_n).expect("page-locked memory");
            let mut inputs: Vec<_> = (0..5).map(|_| vector()).collect();
            inputs.iter_mut().zip(8..).for_each(|(input, seed)| input.copy_from_slice(&random::<F>(log_n, seed)));
            let mut outputs: Vec<_> = (0..5).map(|_| vector()).collect();
            let mut pairs: Vec<_> = inputs.iter().zip(&mut outputs).collect();
            domain.run_pinned(Direction::CosetForward, &mut pairs, None).expect("run_pinned");
            for ((input, output), seed) in inputs.iter().zip(&outputs).zip(8..) {
                assert!(input[..] == random::<F>(log_n, seed), "inputs stay");
                let expected = reference(input, &domain.transform(Direction::CosetForward));
                assert!(output[..] == expected, "2^{log_n}, {accelerator:?}");
            }
            let mut pairs: Vec<_> = inputs.iter().zip(&mut outputs).collect();
            let aborted = domain.run_pinned(Direction::Forward, &mut pairs, Some(&|| true));
            assert!(matches!(aborted, Err(Error::Aborted)));
        }
    }
}

/// Every option of a transform at once, and none.
fn extremes<F: TransformField>(log_n: u32) -> [Transform<F>; 2] {
    let plain = Transform::new(log_n, omega(log_n));
    let (shift_in, shift_out, scale) = (Some(F::from(7)), Some(-F::from(5)), Some(F::from(11)));
    [plain, Transform { shift_in, shift_out, scale, input: Order::BitReversed, order: Order::BitReversed, ..plain }]
}

/// A vector of 4 MiB where only 2 MiB are left, one between two that fit; what is in the way goes.
fn larger_than_free_memory<F: TransformField>() {
    for accelerator in alone(Some(2 << 20)) {
        for number in 0..2 {
            let transforms = [extremes::<F>(10)[0], extremes(17)[number], extremes(13)[number]];
            let vectors: Vec<Vec<F>> = transforms.iter().map(|transform| random(transform.log_n, 9)).collect();
            let expected: Vec<Vec<F>> = vectors.iter().zip(&transforms).map(|(x, t)| reference(x, t)).collect();
            let mut values = vectors.clone();
            let mut slices: Vec<&mut [F]> = values.iter_mut().map(Vec::as_mut_slice).collect();
            transform_many(&accelerator, &mut slices, &transforms, None).expect("streamed");
            assert!(values == expected, "{number}, {accelerator:?}");
        }
    }
}

/// However late the hook says yes, and whichever launch fails: vectors that are streamed are as they were.
fn streamed_vectors_are_all_or_nothing<F: TransformField>() {
    for accelerator in alone(Some(1 << 20)) {
        let transforms = [extremes::<F>(9)[1], extremes(16)[0]];
        let vectors: Vec<Vec<F>> = transforms.iter().map(|transform| random(transform.log_n, 10)).collect();
        let run = |values: &mut [Vec<F>], questions: u32| {
            let hook = abort_after(questions);
            let mut slices: Vec<&mut [F]> = values.iter_mut().map(Vec::as_mut_slice).collect();
            transform_many(&accelerator, &mut slices, &transforms, Some(&hook))
        };
        for questions in (0..20).step_by(3) {
            let mut values = vectors.clone();
            if run(&mut values, questions).is_err() {
                assert!(values == vectors, "after {questions} questions, {accelerator:?}");
            }
        }
        let launches = run(&mut vectors.clone(), u32::MAX).expect("no fault").traffic.launches;
        for launch in (0..launches.min(40)).step_by(4) {
            let mut values = vectors.clone();
            accelerator.devices()[0].inject_launch_fault(launch);
            let error = run(&mut values, u32::MAX).expect_err("the launch fails");
            assert!(error.to_string().contains("injected"), "{error}");
            assert!(values == vectors, "launch {launch}, {accelerator:?}");
        }
    }
}

/// A vector alone, whose result comes at once, and two on each device, by parts: aborted at any question, all are as they
/// were.
#[test]
fn parts_go_back() {
    let transform = Transform::new(19, omega::<blstrs::Scalar>(19));
    let x = random(19, 11);
    let expected = reference(&x, &transform);
    for accelerator in accelerators_with_devices() {
        for count in [1, 2 * accelerator.devices().len()] {
            let run = |vectors: &mut [Vec<blstrs::Scalar>], hook: &(dyn Fn() -> bool + Send + Sync)| {
                let mut slices: Vec<&mut [_]> = vectors.iter_mut().map(Vec::as_mut_slice).collect();
                transform_many(&accelerator, &mut slices, &vec![transform; count], Some(hook))
            };
            let vectors = vec![x.clone(); count];
            let asked = AtomicU32::new(0);
            let never = || asked.fetch_add(1, Ordering::Relaxed) == u32::MAX;
            run(&mut vectors.clone(), &never).expect("nobody aborts");
            // The last questions are those between parts; how many come before depends on how long kernels run.
            let most = asked.into_inner();
            let mut aborted = 0;
            for questions in [0, 1, 2].into_iter().chain(most.saturating_sub(8)..most) {
                let mut values = vectors.clone();
                match run(&mut values, &abort_after(questions)) {
                    Err(Error::Aborted) => {
                        aborted += 1;
                        assert!(values == vectors, "after {questions} questions, {accelerator:?}");
                    }
                    other => {
                        other.expect("no other error");
                        assert!(values.iter().all(|values| *values == expected), "{accelerator:?}");
                    }
                }
            }
            assert!(aborted > 2, "aborted only {aborted} times: {count} vectors, {accelerator:?}");
        }
    }
}

/// Threads with streams of their own, in place on the device and from host memory, all at once.
fn threads_at_once<F: TransformField>() {
    for accelerator in accelerators() {
        let accelerator = &accelerator;
        std::thread::scope(|scope| {
            for thread in 0..6u64 {
                scope.spawn(move || {
                    for round in 0..3 {
                        let log_n = [9, 10, 12, 13][((thread + round) % 4) as usize];
                        one_of_many::<F>(accelerator, log_n, thread);
                    }
                });
            }
        });
    }
}

fn one_of_many<F: TransformField>(accelerator: &Accelerator, log_n: u32, thread: u64) {
    let domain = NttDomain::<F>::new(accelerator, log_n).expect("domain");
    let x = random::<F>(log_n, thread);
    let expected = reference(&x, &domain.transform(Direction::Forward));
    if thread.is_multiple_of(2) || accelerator.devices().is_empty() {
        let mut values = x;
        domain.forward(&mut values).expect("forward");
        assert!(values == expected, "host, thread {thread}, 2^{log_n}");
        return;
    }
    let device = &accelerator.devices()[thread as usize / 2 % accelerator.devices().len()];
    let mut streams = [device.stream().expect("stream"), device.stream().expect("stream")];
    let mut vectors = streams.each_mut().map(|stream| upload(stream, &x));
    for _ in 0..4 {
        for (stream, vector) in streams.iter_mut().zip(&mut vectors) {
            domain.enqueue(Direction::Forward, stream, vector).expect("forward");
            domain.enqueue(Direction::Inverse, stream, vector).expect("inverse");
        }
    }
    for (stream, vector) in streams.iter_mut().zip(&mut vectors) {
        domain.enqueue(Direction::Forward, stream, vector).expect("forward");
        assert!(download(stream, vector) == expected, "device, thread {thread}, 2^{log_n}");
    }
}

of_every_field! {
    quotients_stay_on_the_device
    pointwise_steps
    strided_vectors
    bit_reversed_both_ways
    extended_domains
    page_locked_vectors
    larger_than_free_memory
    streamed_vectors_are_all_or_nothing
    threads_at_once
}
