//! Multiplications with bounds, zeros and infinity, by several threads.

#![allow(missing_docs, clippy::unwrap_used)]

mod common;

use std::sync::{Arc, Condvar, Mutex};

use common::bn254::{Fr, G1, G1Affine};
use common::{first, random, rng, root};
use ec_gpu_gen::multiexp::{MultiexpKernel, SingleMultiexpKernel};
use ec_gpu_gen::program;
use ec_gpu_gen::rust_gpu_tools::Device;
use ec_gpu_gen::threadpool::Worker;
use ff::{Field, PrimeField};
use group::prime::PrimeCurveAffine;
use group::{Curve, Group};
use rayon::prelude::*;

/// Points with infinity among them, and ones that come twice, once with the other sign.
fn points(length: usize) -> Vec<G1Affine> {
    let mut rng = rng(9);
    let mut points: Vec<_> = (0..length).map(|_| G1::random(&mut rng).to_affine()).collect();
    for i in (0..length).step_by(5) {
        points[i] = G1Affine::identity();
    }
    if length > 4 {
        points[3] = points[1];
        points[4] = -points[2];
    }
    points
}

fn sum(points: &[G1Affine], scalars: &[Fr]) -> G1 {
    points.iter().zip(scalars).map(|(point, scalar)| point.to_curve() * scalar).sum()
}

/// Scalars below 2^bits, with zeros, ones and the largest.
fn below(bits: u32, length: usize) -> Vec<Fr> {
    let two = Fr::from(2);
    let largest = if bits >= 254 { -Fr::one() } else { two.pow_vartime([u64::from(bits)]) - Fr::one() };
    let short = |scalar: Fr| {
        let bytes = scalar.to_repr();
        let bits = (0..bits.min(253)).rev().map(|i| bytes[i as usize / 8] >> (i % 8) & 1);
        bits.fold(Fr::zero(), |number, bit| number * two + Fr::from(u64::from(bit)))
    };
    let mut scalars: Vec<_> = random(length, bits as u8).into_iter().map(short).collect();
    scalars[1] = Fr::zero();
    scalars[2] = Fr::one();
    scalars[length - 1] = largest;
    scalars
}

fn kernel<'a>() -> SingleMultiexpKernel<'a, G1Affine> {
    SingleMultiexpKernel::create(first(), Device::all()[0], None).expect("a kernel")
}

#[test]
fn every_bound() {
    let points = points(24);
    let kernel = kernel();
    for bits in 1..=254 {
        let scalars = below(bits, points.len());
        let result = kernel.multiexp_bound(&points, &scalars, bits as usize).expect("a sum");
        assert_eq!(result, sum(&points, &scalars), "{bits} bits");
    }
}

/// A scalar above its bound is not cut off.
#[test]
fn a_bound_that_does_not_hold() {
    let points = points(24);
    let scalars = below(60, points.len());
    for bits in [0, 1, 59] {
        assert_eq!(kernel().multiexp_bound(&points, &scalars, bits).expect("a sum"), sum(&points, &scalars));
    }
}

#[test]
fn zeros_and_infinity_alone() {
    let kernel = kernel();
    let (points, zeros) = (points(100), vec![Fr::zero(); 100]);
    assert_eq!(kernel.multiexp_bound(&points, &zeros, 254).expect("a sum"), G1::identity());
    let infinity = vec![G1Affine::identity(); 100];
    assert_eq!(kernel.multiexp_bound(&infinity, &random(100, 1), 254).expect("a sum"), G1::identity());
    assert_eq!(kernel.multiexp_bound(&[], &[], 254).expect("a sum"), G1::identity());
    kernel.multiexp_bound(&points, &zeros[1..], 254).expect_err("as many scalars as bases");
}

/// Bases come again and again, among others.
#[test]
fn the_same_bases() {
    let (few, kernel) = (points(64), kernel());
    let bases: Vec<_> = few.iter().copied().cycle().take(2048).collect();
    for seed in 0..4 {
        let scalars = random(bases.len(), seed);
        let folded: Vec<Fr> = (0..few.len()).map(|i| scalars.iter().skip(i).step_by(few.len()).sum()).collect();
        assert_eq!(kernel.multiexp(&bases, &scalars).expect("a sum"), sum(&few, &folded), "{seed}");
        let mut others = bases.clone();
        others[100 + seed as usize] = G1Affine::generator();
        let ones = vec![Fr::one(); bases.len()];
        let expected = few.iter().map(PrimeCurveAffine::to_curve).sum::<G1>() * Fr::from(32);
        let expected = expected - bases[100 + seed as usize].to_curve() + G1::generator();
        assert_eq!(kernel.multiexp(&others, &ones).expect("a sum"), expected, "{seed}");
    }
}

#[test]
fn sum_and_inverse() {
    let log_n = 6;
    let (points, scalars) = (points(1 << log_n), random(1 << log_n, 2));
    let omega = root(log_n).invert().expect("not zero");
    let divisor = Fr::from(1 << log_n).invert().expect("not zero");
    let mut values = scalars.clone();
    let result = kernel().multiexp_bound_and_ifft(&points, &mut values, 254, &omega, &divisor, log_n).expect("a sum");
    assert_eq!(result, sum(&points, &scalars));
    let coefficients = |i: u64| common::horner(&scalars, omega.pow_vartime([i])) * divisor;
    assert!([0, 1, 17, 63].into_iter().all(|i| values[i as usize] == coefficients(i)));
    let before = values.clone();
    kernel().multiexp_bound_and_ifft(&points, &mut values, 254, &omega, &divisor, log_n - 1).expect_err("refused");
    assert!(values == before);
}

#[test]
fn all_devices() {
    let devices = Device::all();
    let programs = devices.iter().map(|device| program!(device)).collect::<Result<_, _>>().expect("programs");
    let mut kernel = MultiexpKernel::<G1Affine>::create(programs, &devices).expect("a kernel");
    let (points, scalars) = (points(50), random(40, 1));
    let expected = sum(&points[7..47], &scalars);
    let (points, scalars) = (Arc::new(points), Arc::new(scalars));
    assert_eq!(kernel.multiexp(&Worker::new(), points.clone(), scalars.clone(), 7).expect("a sum"), expected);
    kernel.multiexp(&Worker::new(), points, scalars, 11).expect_err("too few bases");
    assert_eq!(kernel.num_kernels(), devices.len());
}

/// Workers of rayon's pool take a device's number, as the fork does, and wait for one where there is none; who has one waits for
/// nothing that they would have to do.
#[test]
fn workers_that_wait_for_devices() {
    let free: Mutex<Vec<usize>> = Mutex::new((0..Device::all().len()).collect());
    let given_back = Condvar::new();
    let points = points(300);
    let expected = |seed: u8| sum(&points, &random(300, seed));
    let work = |seed: u8| {
        let number = given_back.wait_while(free.lock().expect("a lock"), |free| free.is_empty()).expect("a lock").pop();
        let devices = Device::all();
        let device = devices[number.expect("one is free") % devices.len()];
        let kernel = SingleMultiexpKernel::<G1Affine>::create(program!(device).expect("a program"), device, None);
        let result = kernel.expect("a kernel").multiexp_bound(&points, &random(300, seed), 254);
        free.lock().expect("a lock").push(number.expect("one was free"));
        given_back.notify_one();
        result.expect("a sum")
    };
    let sums: Vec<_> = (0..12u8).into_par_iter().map(work).collect();
    (0..12).for_each(|seed| assert_eq!(sums[usize::from(seed)], expected(seed), "{seed}"));
}
