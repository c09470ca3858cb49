//! Transforms of vectors, whole and round by round.

#![allow(missing_docs, clippy::unwrap_used)]

mod common;

use common::bn254::Fr;
use common::{Tables, first, horner, on, random, root, rounds};
use ec_gpu_gen::fft::{FftKernel, SingleFftKernel};
use ff::Field;

/// That values are those of a polynomial at some powers of ω.
fn are_values(values: &[Fr], coefficients: &[Fr], omega: Fr) {
    let n = values.len();
    let some = |i: usize| if n <= 16 { i } else { i.wrapping_mul(0x9e37_79b9) % n };
    for i in (0..n.min(16)).map(some).chain([0, n / 2, n - 1]) {
        assert!(values[i] == horner(coefficients, omega.pow_vartime([i as u64])), "value {i} of {n}");
    }
}

fn by_rounds(log_n: u32) {
    let (coefficients, omega) = (random(1 << log_n, log_n as u8), root(log_n));
    let mut values = vec![Fr::zero(); 1 << log_n];
    on(&first(), |program| {
        let tables = Tables::new(program, log_n, omega)?;
        let buffer = program.create_buffer_from_slice(&coefficients)?;
        let [result, _] = rounds(program, buffer, log_n, (&tables.pq, &tables.omegas))?;
        Ok(program.read_into_buffer(&result, &mut values)?)
    })
    .expect("rounds");
    are_values(&values, &coefficients, omega);
    let mut whole = coefficients;
    SingleFftKernel::create(first(), None)
        .expect("a kernel")
        .radix_fft(&mut whole, &omega, log_n)
        .expect("a transform");
    assert!(whole == values, "whole and by rounds differ at 2^{log_n}");
}

/// One round to 2^8, two to 2^16.
#[test]
fn rounds_are_a_transform() {
    (1..=16).for_each(by_rounds);
}

/// Three rounds.
#[test]
fn three_rounds() {
    by_rounds(17);
}

#[test]
#[ignore = "slow: a minute on two cores"]
fn three_rounds_of_large_ones() {
    (18..=20).for_each(by_rounds);
}

/// The root may have been made on the device, and the same buffers serve again.
#[test]
fn roots_made_on_the_device() {
    let log_n = 10;
    let (coefficients, omega) = (random(1 << log_n, 1), root(log_n));
    let mut values = [vec![Fr::zero(); 1 << log_n], vec![Fr::zero(); 1 << log_n]];
    on(&first(), |program| {
        let tables = Tables::new(program, log_n, Fr::one())?;
        let constant = program.create_buffer_from_slice(&[omega])?;
        program.create_kernel("Bn256_Fr_eval_constant", 1, 32)?.arg(&tables.omegas).arg(&constant).run()?;
        let mut buffer = program.create_buffer_from_slice(&coefficients)?;
        for values in &mut values {
            let [result, other] = rounds(program, buffer, log_n, (&tables.pq, &tables.omegas))?;
            program.read_into_buffer(&result, values)?;
            buffer = other;
            program.write_from_buffer(&mut buffer, &coefficients)?;
        }
        Ok(())
    })
    .expect("rounds");
    are_values(&values[0], &coefficients, omega);
    assert!(values[0] == values[1]);
}

/// The inverse is scaled, and gives coefficients back.
#[test]
fn inverses() {
    for log_n in [0, 1, 2, 9, 12] {
        let (coefficients, omega) = (random(1 << log_n, 3), root(log_n));
        let mut values = coefficients.clone();
        let mut kernel = FftKernel::<Fr>::create(vec![first()]).expect("a kernel");
        kernel.radix_fft(&mut values, &omega, log_n).expect("a transform");
        are_values(&values, &coefficients, omega);
        let divisor = Fr::from(1 << log_n).invert().expect("not zero");
        let omega = omega.invert().expect("not zero");
        kernel.kernels[0].radix_ifft(&mut values, &omega, &divisor, log_n).expect("an inverse");
        assert!(values == coefficients, "2^{log_n}");
    }
}

#[test]
fn what_is_no_transform_is_refused() {
    let mut values = random(8, 4);
    let before = values.clone();
    let mut kernel = SingleFftKernel::create(first(), None).expect("a kernel");
    for (omega, log_n) in [(root(4), 3), (root(3), 4), (Fr::one(), 3)] {
        kernel.radix_fft(&mut values, &omega, log_n).expect_err("refused");
        assert!(values == before);
    }
    let refused = on(&first(), |program| {
        let tables = Tables::new(program, 3, Fr::one())?;
        let buffer = program.create_buffer_from_slice(&values)?;
        rounds(program, buffer, 3, (&tables.pq, &tables.omegas)).map(drop)
    });
    let text = refused.expect_err("refused").to_string();
    assert!(text.contains("Bn256_Fr_radix_fft") && text.contains("root of unity"), "{text}");
}

/// A hook that says yes ends a transform, which leaves its input as it was.
#[test]
fn an_abort() {
    let mut values = random(1 << 10, 5);
    let before = values.clone();
    let hook = || true;
    let mut kernel = SingleFftKernel::create(first(), Some(&hook)).expect("a kernel");
    let error = kernel.radix_fft(&mut values, &root(10), 10).expect_err("aborted");
    assert!(matches!(error, ec_gpu_gen::EcError::Aborted) && values == before);
}
