//! Every size that a device is for, checked as a whole at a random point: no reference transform is as fast.

use ff::BatchInvert;
use proofwarp::Accelerator;
use proofwarp::field::NttField;
use proofwarp::ntt::{Direction, NttDomain, Options, Order};
use rayon::prelude::*;

use crate::common::ntt::{of_every_field, omega, power, random};
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

/// The polynomial with these coefficients at r.
fn evaluate<F: NttField>(coefficients: &[F], r: F) -> F {
    let piece = |(number, piece): (usize, &[F])| {
        power(r, number * PIECE) * piece.iter().rev().fold(F::ZERO, |sum, coefficient| sum * r + coefficient)
    };
    coefficients.par_chunks(PIECE).enumerate().map(piece).reduce(|| F::ZERO, |a, b| a + b)
}

/// What [`evaluate`] gives for the values X(j) = Σ x(i)·(g·ω^j)^i: Σ_j r^j X(j) = Σ_i x(i)·g^i·(r^n − 1)/(r·ω^i − 1).
fn expected<F: NttField>(x: &[F], log_n: u32, shift: F, r: F) -> F {
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

fn permuted<F: NttField>(values: &[F], log_n: u32) -> Vec<F> {
    let reverse = |index: usize| index.reverse_bits().unbounded_shr(usize::BITS - log_n);
    (0..values.len()).into_par_iter().map(|index| values[reverse(index)]).collect()
}

/// Random elements, fast: each task has a generator of its own.
fn many<F: NttField>(log_n: u32) -> Vec<F> {
    if log_n < 12 {
        return random(log_n, 20);
    }
    (0..1u64 << (log_n - 12)).into_par_iter().flat_map_iter(|piece| random::<F>(12, piece)).collect()
}

fn inputs<F: NttField>(log_n: u32) -> Vec<Vec<F>> {
    let n = 1usize << log_n;
    let mut delta = vec![F::ZERO; n];
    delta[n / 3] = -F::ONE;
    vec![many(log_n), vec![F::ZERO; n], delta, vec![-F::ONE; n]]
}

/// Forward and back on the coset, in natural and in bit-reversed order.
fn goes_both_ways<F: NttField>(accelerator: &Accelerator, x: &[F], log_n: u32) {
    let r = F::random(rng(u64::from(log_n)));
    for order in [Order::Natural, Order::BitReversed] {
        let options = Options { input: order, output: order, ..Options::default() };
        let domain = NttDomain::<F>::with_options(accelerator, log_n, options).expect("domain");
        let mut values = x.to_vec();
        domain.run(Direction::CosetForward, &mut [&mut values], None).expect("forward");
        let value = match order {
            Order::Natural => evaluate(&values, r),
            Order::BitReversed => evaluate(&permuted(&values, log_n), r),
        };
        assert!(value == expected(x, log_n, domain.coset(), r), "2^{log_n}, {order:?}, {accelerator:?}");
        domain.run(Direction::CosetInverse, &mut [&mut values], None).expect("inverse");
        assert!(values == x, "inverse, 2^{log_n}, {order:?}, {accelerator:?}");
    }
}

fn every_size<F: NttField>() {
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

fn the_largest<F: NttField>() {
    for accelerator in accelerators_with_devices() {
        if is_gpu(&accelerator) {
            goes_both_ways(&accelerator, &many::<F>(LARGEST), LARGEST);
        } else {
            eprintln!("left out: 2^{LARGEST}, since {accelerator:?} is the host's processor");
        }
    }
}

of_every_field! {
    every_size
    the_largest
}
