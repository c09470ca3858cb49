//! Every size that a device is for, checked as a whole at a random point: no reference transform is as fast.

use std::sync::{Mutex, PoisonError};

use ff::BatchInvert;
use proofwarp::Accelerator;
use proofwarp::field::TransformField;
use proofwarp::ntt::{Direction, NttDomain, NttOptions, Order};
use rayon::prelude::*;

use crate::common::ntt::{of_every_field, omega, power};
use crate::common::{accelerators_with_devices, rng};

/// Largest size on every GPU, and one for which elements take more than 2^32 bytes.
const ON_A_GPU: u32 = 24;
const LARGEST: u32 = 27;
/// Largest size where OpenCL runs on the host's processor.
const ON_A_CPU: u32 = 16;
/// Elements of a task.
const PIECE: usize = 1 << 12;

fn is_gpu(accelerator: &Accelerator) -> bool {
    !accelerator.devices()[0].info().is_cpu
}

/// The index of the element at a position, whose bits are the position's in some order.
type Index = fn(position: usize, log_n: u32) -> usize;

fn natural(position: usize, _: u32) -> usize {
    position
}

fn reversed(position: usize, log_n: u32) -> usize {
    position.reverse_bits().unbounded_shr(usize::BITS - log_n)
}

/// The polynomial whose coefficients lie in that order at r. Indices of a piece are those of the first piece, plus that of
/// its own first element, so that an element takes one product.
fn evaluate<F: TransformField>(values: &[F], log_n: u32, index: Index, r: F) -> F {
    let powers: Vec<F> = (0..PIECE.min(values.len())).into_par_iter().map(|at| power(r, index(at, log_n))).collect();
    let piece = |(number, piece): (usize, &[F])| {
        let sum: F = piece.iter().zip(&powers).map(|(value, power)| *value * power).sum();
        sum * power(r, index(number * PIECE, log_n))
    };
    values.par_chunks(PIECE).enumerate().map(piece).reduce(|| F::ZERO, |a, b| a + b)
}

/// What [`evaluate`] gives for the values X(j) = Σ x(i)·(g·ω^j)^i: Σ_j r^j X(j) = Σ_i x(i)·g^i·(r^n − 1)/(r·ω^i − 1).
fn expected<F: TransformField>(x: &[F], log_n: u32, shift: F, r: F) -> F {
    let omega = omega::<F>(log_n);
    let piece = |(number, piece): (usize, &[F])| {
        let mut point = r * power(omega, number * PIECE);
        let mut inverses: Vec<F> = piece
            .iter()
            .map(|_| {
                let denominator = point - F::ONE;
                point *= omega;
                denominator
            })
            .collect();
        inverses.iter_mut().batch_invert();
        let mut factor = power(shift, number * PIECE);
        piece.iter().zip(inverses).fold(F::ZERO, |sum, (x, inverse)| {
            let term = *x * factor * inverse;
            factor *= shift;
            sum + term
        })
    };
    let sum = x.par_chunks(PIECE).enumerate().map(piece).reduce(|| F::ZERO, |a, b| a + b);
    sum * (power(r, x.len()) - F::ONE)
}

/// Vectors that are written by all cores, which new memory of such sizes needs as much as what it holds.
fn filled<F: TransformField>(log_n: u32, piece: impl Fn(usize, &mut [F]) + Sync) -> Vec<F> {
    let mut values = vec![F::ZERO; 1 << log_n];
    values.par_chunks_mut(PIECE).enumerate().for_each(|(number, values)| piece(number, values));
    values
}

/// Random elements: each task has a generator of its own.
fn many<F: TransformField>(log_n: u32) -> Vec<F> {
    filled(log_n, |number, values| {
        let mut rng = rng(number as u64);
        values.fill_with(|| F::random(&mut rng));
    })
}

fn inputs<F: TransformField>(log_n: u32) -> [Vec<F>; 4] {
    let zeros = filled(log_n, |_, _| ());
    let mut delta = zeros.clone();
    delta[(1 << log_n) / 3] = -F::ONE;
    [many(log_n), zeros, delta, filled(log_n, |_, values| values.fill(-F::ONE))]
}

/// Forward and back on the coset, in natural and in bit-reversed order.
fn goes_both_ways<F: TransformField>(accelerator: &Accelerator, x: &[F], log_n: u32) {
    let r = F::random(rng(u64::from(log_n)));
    let mut values = filled(log_n, |number, values| values.copy_from_slice(&x[number * PIECE..][..values.len()]));
    let mut expected_value = None;
    for (order, index) in [(Order::Natural, natural as Index), (Order::BitReversed, reversed)] {
        let options = NttOptions { input: order, output: order, ..NttOptions::default() };
        let domain = NttDomain::<F>::with_options(accelerator, log_n, options).expect("domain");
        let expected = *expected_value.get_or_insert_with(|| expected(x, log_n, domain.coset(), r));
        domain.run(Direction::CosetForward, &mut [&mut values], None).expect("forward");
        let value = evaluate(&values, log_n, index, r);
        assert!(value == expected, "2^{log_n}, {order:?}, {accelerator:?}");
        domain.run(Direction::CosetInverse, &mut [&mut values], None).expect("inverse");
        let equal = values.par_chunks(PIECE).zip(x.par_chunks(PIECE)).all(|(one, other)| one == other);
        assert!(equal, "inverse, 2^{log_n}, {order:?}, {accelerator:?}");
    }
}

fn every_size<F: TransformField>() {
    for accelerator in accelerators_with_devices() {
        let most = if is_gpu(&accelerator) { ON_A_GPU } else { ON_A_CPU };
        if most < ON_A_GPU {
            eprintln!("left out: 2^{} to 2^{ON_A_GPU}, since {accelerator:?} is the host's processor", most + 1);
        }
        for log_n in 0..=most {
            for x in inputs::<F>(log_n) {
                goes_both_ways(&accelerator, &x, log_n);
            }
        }
    }
}

/// One field at a time: several vectors of this size and their tables are more than a card has.
fn the_largest<F: TransformField>() {
    static ONE: Mutex<()> = Mutex::new(());
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    for accelerator in accelerators_with_devices() {
        if is_gpu(&accelerator) {
            let log_n = LARGEST.min(F::S);
            goes_both_ways(&accelerator, &many::<F>(log_n), log_n);
        } else {
            eprintln!("left out: 2^{LARGEST}, since {accelerator:?} is the host's processor");
        }
    }
}

of_every_field! {
    every_size
    the_largest
}
