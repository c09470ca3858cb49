//! Computes fast Fourier transforms on the CPU.
//!
//! Both functions transform in place, natural order in and out: X_j = Σ_i x_i · ω^(ij).

use ff::PrimeField;

use crate::threadpool::{Worker, requested_thread_count};
use crate::{forced_backend, type_dispatch};

/// Computes the NTT of the 2^`log_n` elements of `a` in place on one thread, with the root of unity `omega`. Input and
/// output are in natural order.
///
/// # Panics
/// Panics if the length is not 2^log_n, or if this thread's last kernel call failed on a backend that
/// `PROOFWARP_BACKEND` forces.
pub fn serial_fft<F: PrimeField>(a: &mut [F], omega: &F, log_n: u32) {
    forced_backend::panic_on_failure();
    assert_eq!(Some(a.len()), 1usize.checked_shl(log_n), "serial_fft: length of the slice");
    let twiddles = powers(*omega, a.len() / 2);
    decimation_in_frequency_ntt(a, &twiddles, 1);
    if log_n > 0 {
        bit_reverse_in_place(a, log_n);
    }
}

/// Computes the NTT of the 2^`log_n` elements of `a` in place on 2^`log_threads` threads, with the root of unity
/// `omega`. Input and output are in natural order.
///
/// # Panics
/// Panics if:
/// - the length is not 2^log_n;
/// - there are more threads than elements;
/// - this thread's last kernel call failed on a backend that `PROOFWARP_BACKEND` forces.
pub fn parallel_fft<F: PrimeField>(a: &mut [F], worker: &Worker, omega: &F, log_n: u32, log_threads: u32) {
    forced_backend::panic_on_failure();
    assert_eq!(Some(a.len()), 1usize.checked_shl(log_n), "parallel_fft: length of the slice");
    assert!(log_n >= log_threads, "parallel_fft: 2^{log_threads} threads for 2^{log_n} elements");
    if try_proofwarp_ntt(a, worker, omega, log_n, log_threads) {
        return;
    }
    if log_threads == 0 {
        return serial_fft(a, omega, log_n);
    }
    let twiddles = parallel_powers(worker, *omega, a.len() / 2, log_threads);
    (0..log_threads).for_each(|layer| parallel_butterfly_layer(a, worker, &twiddles, layer, log_threads));
    worker.scoped(|scope| {
        for piece in a.chunks_mut(1 << (log_n - log_threads)) {
            scope.execute(|| decimation_in_frequency_ntt(piece, &twiddles, 1 << log_threads));
        }
    });
    parallel_bit_reverse(a, worker, log_n, log_threads);
}

/// Computes the NTT of `a` with proofwarp's CPU code if that supports the field `F` and all threads may be used.
/// Returns whether it did; otherwise `a` is unchanged.
fn try_proofwarp_ntt<F: PrimeField>(a: &mut [F], worker: &Worker, omega: &F, log_n: u32, log_threads: u32) -> bool {
    if log_threads != worker.log_num_threads() || requested_thread_count().is_some() {
        return false;
    }
    let Some(ntt) = type_dispatch::find_ntt::<F>() else { return false };
    // An error, such as ω of another order, leaves the slice unchanged; the caller's own code has no such limits.
    type_dispatch::cpu_accelerator().and_then(|cpu| ntt(&cpu, &mut [a], &[*omega], &[log_n], None)).is_ok()
}

/// Returns the first `count` powers of `omega` in order: 1, ω, …, ω^(`count` − 1).
fn powers<F: PrimeField>(omega: F, count: usize) -> Vec<F> {
    std::iter::successors(Some(F::ONE), |power| Some(*power * omega)).take(count).collect()
}

fn parallel_powers<F: PrimeField>(worker: &Worker, omega: F, count: usize, log_threads: u32) -> Vec<F> {
    let mut table = vec![F::ONE; count];
    let chunk = (count >> log_threads).max(1);
    worker.scoped(|scope| {
        for (index, piece) in table.chunks_mut(chunk).enumerate() {
            scope.execute(move || {
                let mut power = omega.pow_vartime([(index * chunk) as u64]);
                for value in piece {
                    *value = power;
                    power *= omega;
                }
            });
        }
    });
    table
}

/// Computes the NTT of `a` with the root of unity ω^`step`, where `twiddles[i]` is ω^i (Gentleman and Sande 1966). The
/// input is in natural order, the output in bit-reversed order.
fn decimation_in_frequency_ntt<F: PrimeField>(a: &mut [F], twiddles: &[F], step: usize) {
    let (mut half, mut step) = (a.len() / 2, step);
    while half > 0 {
        for block in a.chunks_exact_mut(2 * half) {
            let (low, high) = block.split_at_mut(half);
            apply_butterflies(low, high, twiddles.iter().step_by(step));
        }
        half /= 2;
        step *= 2;
    }
}

fn apply_butterflies<'t, F: PrimeField>(low: &mut [F], high: &mut [F], twiddles: impl Iterator<Item = &'t F>) {
    for ((x, y), twiddle) in low.iter_mut().zip(high).zip(twiddles) {
        let difference = *x - *y;
        *x += *y;
        *y = difference * twiddle;
    }
}

/// Computes butterfly layer `layer` of an NTT, counted from 0, on 2^`log_threads` threads. The layer has 2^`layer`
/// blocks. Each block is split into at most 2^(`log_threads` − `layer`) jobs.
fn parallel_butterfly_layer<F: PrimeField>(a: &mut [F], worker: &Worker, twiddles: &[F], layer: u32, log_threads: u32) {
    let half = a.len() >> (layer + 1);
    let piece = (half >> (log_threads - layer)).max(1);
    worker.scoped(|scope| {
        for block in a.chunks_exact_mut(2 * half) {
            let (low, high) = block.split_at_mut(half);
            for (index, (low, high)) in low.chunks_mut(piece).zip(high.chunks_mut(piece)).enumerate() {
                let first = (index * piece) << layer;
                scope.execute(move || apply_butterflies(low, high, twiddles[first..].iter().step_by(1 << layer)));
            }
        }
    });
}

fn reverse_index_bits(index: usize, log_n: u32) -> usize {
    index.reverse_bits() >> (usize::BITS - log_n)
}

fn bit_reverse_in_place<F: PrimeField>(a: &mut [F], log_n: u32) {
    for index in 0..a.len() {
        let other = reverse_index_bits(index, log_n);
        if index < other {
            a.swap(index, other);
        }
    }
}

fn parallel_bit_reverse<F: PrimeField>(a: &mut [F], worker: &Worker, log_n: u32, log_threads: u32) {
    let source = a.to_vec();
    let chunk = a.len() >> log_threads;
    worker.scoped(|scope| {
        for (index, piece) in a.chunks_mut(chunk).enumerate() {
            let source = &source;
            scope.execute(move || {
                for (offset, value) in piece.iter_mut().enumerate() {
                    *value = source[reverse_index_bits(index * chunk + offset, log_n)];
                }
            });
        }
    });
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    use super::*;

    fn naive_dft<F: PrimeField>(a: &[F], omega: F) -> Vec<F> {
        let power = |exponent: usize| omega.pow_vartime([exponent as u64]);
        (0..a.len()).map(|j| a.iter().enumerate().map(|(i, x)| *x * power(i * j)).sum()).collect()
    }

    fn check_against_naive<F: PrimeField>() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        for log_n in 0..=F::S.min(7) {
            let omega = (log_n..F::S).fold(F::ROOT_OF_UNITY, |root, _| root.square());
            let input: Vec<F> = (0..1 << log_n).map(|_| F::random(&mut rng)).collect();
            let expected = naive_dft(&input, omega);
            let mut serial = input.clone();
            serial_fft(&mut serial, &omega, log_n);
            assert!(serial == expected, "serial, log_n {log_n}");
            for log_threads in 0..=log_n.min(4) {
                let mut parallel = input.clone();
                parallel_fft(&mut parallel, &Worker::new(), &omega, log_n, log_threads);
                assert!(parallel == expected, "parallel, log_n {log_n}, log_threads {log_threads}");
            }
        }
    }

    #[test]
    fn equals_the_definition_over_a_known_field() {
        check_against_naive::<blstrs::Scalar>();
    }

    #[test]
    fn equals_the_definition_over_another_field() {
        check_against_naive::<proofwarp::curve::bls12_377::Fr>();
    }
}
