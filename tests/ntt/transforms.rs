//! Transforms over every field on every backend and on the CPU, against their definition.

use proofwarp::field::{DeviceVector, TransformField};
use proofwarp::ntt::{Direction, NttDomain, NttOptions, Order, TableSize, Transform, transform_many};
use proofwarp::{Accelerator, Error};
use proptest::prelude::*;
use rand::Rng;

use crate::common::ntt::{of_every_field, omega, ordered, power, random, reference};
use crate::common::{abort_after, accelerators_and_cpu, accelerators_with_devices, alone, rng};

/// The documented sum, term by term.
fn definition<F: TransformField>(x: &[F], transform: &Transform<F>) -> Vec<F> {
    let [shift_in, shift_out, scale] =
        [transform.shift_in, transform.shift_out, transform.scale].map(|factor| factor.unwrap_or(F::ONE));
    let x = ordered(x, transform.input);
    let output = |j: usize| {
        let point = shift_in * power(transform.omega, j);
        let sum: F = x.iter().enumerate().map(|(i, x)| *x * power(point, i)).sum();
        scale * power(shift_out, j) * sum
    };
    let natural: Vec<F> = (0..x.len()).map(output).collect();
    ordered(&natural, transform.order)
}

/// Every combination of the options of a transform.
fn variants<F: TransformField>(log_n: u32) -> Vec<Transform<F>> {
    let choose = |bits: usize, bit: usize, value: u64| (bits >> bit & 1 == 1).then(|| F::from(value).square() - F::ONE);
    let order = |bits: usize, bit: usize| if bits >> bit & 1 == 1 { Order::BitReversed } else { Order::Natural };
    (0..32)
        .map(|bits| Transform {
            shift_in: choose(bits, 0, 7),
            shift_out: choose(bits, 1, 1 << 40),
            scale: choose(bits, 2, 99),
            order: order(bits, 3),
            input: order(bits, 4),
            ..Transform::new(log_n, omega(log_n))
        })
        .collect()
}

fn transformed<F: TransformField>(accelerator: &Accelerator, x: &[F], transform: &Transform<F>) -> Vec<F> {
    let mut values = x.to_vec();
    transform_many(accelerator, &mut [&mut values], &[*transform], None).expect("transform");
    values
}

fn equals_the_definition<F: TransformField>() {
    for log_n in 0..=5 {
        let x = random::<F>(log_n, 1);
        for transform in variants(log_n) {
            let expected = definition(&x, &transform);
            assert!(reference(&x, &transform) == expected, "the test's own reference, {transform:?}");
            for accelerator in accelerators_and_cpu() {
                assert!(transformed(&accelerator, &x, &transform) == expected, "{accelerator:?}, {transform:?}");
            }
        }
    }
}

/// 2^8 and 2^16 are the longest of one and two passes on a device, 2^9 the shortest that the CPU cuts.
fn every_length<F: TransformField>() {
    for log_n in (0..=12).chain([16]) {
        equals_the_reference::<F>(log_n);
    }
}

fn equals_the_reference<F: TransformField>(log_n: u32) {
    let x = random::<F>(log_n, 2);
    let variants = variants(log_n);
    // All options at once, in both orders, and none.
    for transform in [variants[0], variants[7], variants[15], variants[31]] {
        let expected = reference(&x, &transform);
        for accelerator in accelerators_and_cpu() {
            assert!(transformed(&accelerator, &x, &transform) == expected, "{accelerator:?}, {transform:?}");
        }
    }
}

fn domains_transform_both_ways<F: TransformField>() {
    for (log_n, accelerator) in
        [0, 1, 7, 10].into_iter().flat_map(|log_n| accelerators_and_cpu().into_iter().map(move |a| (log_n, a)))
    {
        let domain = NttDomain::<F>::new(&accelerator, log_n).expect("domain");
        let x = random::<F>(log_n, 3);
        let plain = Transform::new(log_n, domain.omega());
        let coset = Transform { shift_in: Some(F::MULTIPLICATIVE_GENERATOR), ..plain };
        let mut values = x.clone();
        domain.forward(&mut values).expect("forward");
        assert!(values == reference(&x, &plain), "forward, 2^{log_n}, {accelerator:?}");
        domain.inverse(&mut values).expect("inverse");
        assert!(values == x, "inverse, 2^{log_n}, {accelerator:?}");
        domain.coset_forward(&mut values).expect("coset_forward");
        assert!(values == reference(&x, &coset), "coset_forward, 2^{log_n}, {accelerator:?}");
        domain.coset_inverse(&mut values).expect("coset_inverse");
        assert!(values == x, "coset_inverse, 2^{log_n}, {accelerator:?}");
        let options = NttOptions { output: Order::BitReversed, ..NttOptions::default() };
        let reversed = NttDomain::<F>::with_options(&accelerator, log_n, options).expect("domain");
        reversed.coset_forward(&mut values).expect("coset_forward");
        let expected = reference(&x, &Transform { order: Order::BitReversed, ..coset });
        assert!(values == expected, "bit-reversed coset_forward, 2^{log_n}, {accelerator:?}");
    }
}

/// On the device, several vectors at once, with one to three passes, in every direction and order.
fn passes_on_the_device<F: TransformField>() {
    in_passes::<F>(&[(9, 0), (10, 0), (11, 6), (13, 0), (14, 5), (15, 5)]);
}

/// What fields share: more passes, and long vectors.
#[test]
fn four_passes_on_the_device() {
    equals_the_reference::<blstrs::Scalar>(17);
    in_passes::<blstrs::Scalar>(&[(17, 0), (18, 5)]);
}

/// Sizes, and the most that a pass takes at a time.
fn in_passes<F: TransformField>(sizes: &[(u32, u32)]) {
    for accelerator in accelerators_with_devices() {
        for &(log_n, max_radix_log) in sizes {
            for output in [Order::Natural, Order::BitReversed] {
                let options = NttOptions { output, max_radix_log, ..NttOptions::default() };
                let domain = NttDomain::<F>::with_options(&accelerator, log_n, options).expect("domain");
                both_ways_on_the_device(&accelerator, &domain);
            }
        }
    }
}

fn both_ways_on_the_device<F: TransformField>(accelerator: &Accelerator, domain: &NttDomain<F>) {
    let log_n = domain.log_n();
    let x: Vec<Vec<F>> = (0..if log_n > 14 { 1 } else { 3 }).map(|seed| random(log_n, seed)).collect();
    let mut stream = accelerator.devices()[0].stream().expect("stream");
    let mut directions = vec![Direction::Forward, Direction::CosetForward];
    if domain.transform(Direction::Forward).order == Order::Natural {
        directions.extend([Direction::Inverse, Direction::CosetInverse]);
    }
    for direction in directions {
        let mut vectors = DeviceVector::upload(&mut stream, &x.concat()).expect("upload");
        domain.enqueue(direction, &mut stream, &mut vectors).expect("enqueue");
        let mut results = vec![F::ZERO; vectors.len()];
        vectors.download(&mut stream, &mut results).expect("download");
        for (x, result) in x.iter().zip(results.chunks(1 << log_n)) {
            assert!(result == reference(x, &domain.transform(direction)), "{direction:?}, 2^{log_n}, {accelerator:?}");
        }
    }
}

/// With all factors in one table, and in two.
fn tables_of_both_sizes<F: TransformField>() {
    let options = |tables| NttOptions { tables, ..NttOptions::default() };
    for accelerator in accelerators_with_devices() {
        for tables in [TableSize::Short, TableSize::Full] {
            let domain = NttDomain::<F>::with_options(&accelerator, 17, options(tables)).expect("domain");
            both_ways_on_the_device(&accelerator, &domain);
        }
    }
}

/// Vectors of several lengths, each with a transform of its own.
fn batch<F: TransformField>(logs: &[u32]) -> (Vec<Vec<F>>, Vec<Transform<F>>) {
    let vectors = logs.iter().enumerate().map(|(seed, log_n)| random(*log_n, seed as u64)).collect();
    let transforms = logs.iter().enumerate().map(|(i, log_n)| variants(*log_n)[5 * i % 32]).collect();
    (vectors, transforms)
}

fn references<F: TransformField>(vectors: &[Vec<F>], transforms: &[Transform<F>]) -> Vec<Vec<F>> {
    vectors.iter().zip(transforms).map(|(x, transform)| reference(x, transform)).collect()
}

fn slices<F>(vectors: &mut [Vec<F>]) -> Vec<&mut [F]> {
    vectors.iter_mut().map(Vec::as_mut_slice).collect()
}

fn batches_of_several_lengths<F: TransformField>() {
    for logs in [&[][..], &[6], &[0, 9], &[10, 3, 12], &[5, 0, 11, 4, 8, 1, 13]] {
        let (vectors, transforms) = batch::<F>(logs);
        let expected = references(&vectors, &transforms);
        for accelerator in accelerators_and_cpu() {
            let mut values = vectors.clone();
            transform_many(&accelerator, &mut slices(&mut values), &transforms, None).expect("batch");
            assert!(values == expected, "{logs:?}, {accelerator:?}");
        }
    }
}

fn zero_delta_and_constant<F: TransformField>() {
    for (log_n, accelerator) in
        [1, 6, 9, 11].into_iter().flat_map(|log_n| accelerators_and_cpu().into_iter().map(move |a| (log_n, a)))
    {
        let transform = Transform::new(log_n, omega::<F>(log_n));
        let n = 1 << log_n;
        let zero = vec![F::ZERO; n];
        assert!(transformed(&accelerator, &zero, &transform) == zero);
        let delta_at = |index: usize| (0..n).map(|i| if i == index { -F::ONE } else { F::ZERO }).collect::<Vec<F>>();
        assert!(transformed(&accelerator, &delta_at(0), &transform) == vec![-F::ONE; n]);
        let powers: Vec<F> = (0..n).map(|j| -power(transform.omega, j * (n - 1))).collect();
        assert!(transformed(&accelerator, &delta_at(n - 1), &transform) == powers);
        let constant = transformed(&accelerator, &vec![-F::ONE; n], &transform);
        assert!(constant[0] == -F::from(n as u64) && constant[1..] == zero[1..]);
    }
}

/// However late the hook says yes, the vectors are either all as they were or all transformed.
fn an_abort_leaves_the_vectors<F: TransformField>() {
    let (vectors, transforms) = batch::<F>(&[12, 10, 13, 11]);
    let expected = references(&vectors, &transforms);
    for accelerator in accelerators_and_cpu() {
        let mut aborted = 0;
        for questions in (0..8).chain((3..20).map(|k| 1 << k)) {
            let mut values = vectors.clone();
            let hook = abort_after(questions);
            match transform_many(&accelerator, &mut slices(&mut values), &transforms, Some(&hook)) {
                Err(Error::Aborted) => {
                    aborted += 1;
                    assert!(values == vectors, "after {questions} questions, {accelerator:?}");
                }
                other => {
                    other.expect("no other error");
                    assert!(values == expected, "{accelerator:?}");
                    break;
                }
            }
        }
        assert!(aborted > 1, "asked only {aborted} times: {accelerator:?}");
        let mut values = vectors.clone();
        transform_many(&accelerator, &mut slices(&mut values), &transforms, None).expect("the next call");
        assert!(values == expected, "{accelerator:?}");
    }
}

/// Whichever launch fails, the vectors are as they were, and the next call works.
fn a_failure_leaves_the_vectors<F: TransformField>() {
    let (vectors, transforms) = batch::<F>(&[9, 4, 10]);
    let expected = references(&vectors, &transforms);
    for accelerator in alone(None) {
        let mut values = vectors.clone();
        for launch in 0.. {
            accelerator.devices()[0].inject_launch_fault(launch);
            let result = transform_many(&accelerator, &mut slices(&mut values), &transforms, None);
            if let Err(error) = result {
                assert!(error.to_string().contains("injected"), "{error}");
                assert!(values == vectors, "launch {launch}, {accelerator:?}");
            } else {
                assert!(launch > 3, "only {launch} launches: {accelerator:?}");
                assert!(values == expected, "{accelerator:?}");
                break;
            }
        }
    }
}

fn proptest_config() -> ProptestConfig {
    ProptestConfig { cases: 12, failure_persistence: None, ..ProptestConfig::default() }
}

/// Lengths and contents of random vectors; a third of their elements are 0, 1 or −1.
fn inputs<F: TransformField>(vectors: usize) -> impl Strategy<Value = (u32, Vec<Vec<F>>)> {
    (0u32..=10, any::<u64>()).prop_map(move |(log_n, seed)| {
        let mut rng = rng(seed);
        let mut element = || match rng.gen_range(0..9) {
            0 => F::ZERO,
            1 => F::ONE,
            2 => -F::ONE,
            _ => F::random(&mut rng),
        };
        (log_n, (0..vectors).map(|_| (0..1 << log_n).map(|_| element()).collect()).collect())
    })
}

fn properties<F: TransformField>() {
    let backends = accelerators_and_cpu();
    proptest!(proptest_config(), |((log_n, inputs) in inputs::<F>(2))| {
        for accelerator in &backends {
            transforms_are_linear(accelerator, log_n, &inputs[0], &inputs[1]);
            products_of_values_are_convolutions(accelerator, log_n, &inputs[0], &inputs[1]);
            shifts_rotate(accelerator, log_n, &inputs[0]);
        }
    });
}

fn transforms_are_linear<F: TransformField>(accelerator: &Accelerator, log_n: u32, x: &[F], y: &[F]) {
    let transform = variants(log_n)[15];
    let factor = F::from(1 << 33) - F::from(1 << 34);
    let combine = |x: &[F], y: &[F]| x.iter().zip(y).map(|(x, y)| *x + factor * y).collect::<Vec<F>>();
    let sum = transformed(accelerator, &combine(x, y), &transform);
    assert!(sum == combine(&transformed(accelerator, x, &transform), &transformed(accelerator, y, &transform)));
}

/// inverse(forward(x)·forward(y)) is the cyclic convolution, and inverses undo.
fn products_of_values_are_convolutions<F: TransformField>(accelerator: &Accelerator, log_n: u32, x: &[F], y: &[F]) {
    let n = x.len();
    // Few elements of y are kept, so that the convolution is cheap by its definition.
    let mut sparse = vec![F::ZERO; n];
    for i in [0, n / 3, n - 1] {
        sparse[i] = y[i];
    }
    let mut convolution = vec![F::ZERO; n];
    for (i, y) in sparse.iter().enumerate().filter(|(_, y)| **y != F::ZERO) {
        (0..n).for_each(|k| convolution[(i + k) % n] += x[k] * y);
    }
    let domain = NttDomain::<F>::new(accelerator, log_n).expect("domain");
    let forward = |x: &[F]| {
        let mut values = x.to_vec();
        domain.coset_forward(&mut values).expect("coset_forward");
        domain.coset_inverse(&mut values).expect("coset_inverse");
        assert!(values == x, "coset inverse of coset forward");
        domain.forward(&mut values).expect("forward");
        values
    };
    let mut product: Vec<F> = forward(x).iter().zip(forward(&sparse)).map(|(x, y)| *x * y).collect();
    domain.inverse(&mut product).expect("inverse");
    assert!(product == convolution);
}

/// Factors ω^i of the inputs rotate the outputs by one.
fn shifts_rotate<F: TransformField>(accelerator: &Accelerator, log_n: u32, x: &[F]) {
    let plain = Transform::new(log_n, omega::<F>(log_n));
    let mut rotated = transformed(accelerator, x, &plain);
    rotated.rotate_left(1);
    assert!(transformed(accelerator, x, &Transform { shift_in: Some(plain.omega), ..plain }) == rotated);
}

of_every_field! {
    equals_the_definition
    every_length
    domains_transform_both_ways
    passes_on_the_device
    tables_of_both_sizes
    batches_of_several_lengths
    zero_delta_and_constant
    an_abort_leaves_the_vectors
    a_failure_leaves_the_vectors
    properties
}
