//! Computes the expected sums of a proof from the logarithms of the bases, without NTTs and MSMs.

use blstrs::Scalar;
use ff::{BatchInverter, Field, PrimeField};
use proofwarp::groth16::Circuit;
use proofwarp::matrix::Csr;
use rayon::prelude::*;

use super::bases::Progression;
use super::key::{Logarithms, Sums};
use super::system::System;
use crate::Failure;

/// Elements of a task, which share an inversion.
const TASK: usize = 1 << 12;

/// Returns the logarithms of the sums that a proof of `system` must have under `key`.
///
/// # Errors
/// Returns an error if the assignment does not satisfy the system.
pub fn sums(system: &System, circuit: &Circuit<Scalar>, key: &Logarithms) -> Result<Sums, Failure> {
    let (values, a, b) = (&system.values, circuit.variables_of_a(), circuit.variables_of_b());
    let selected = |variables: &[u32], logarithms| sum(variables.len(), |i| values[variables[i] as usize], logarithms);
    Ok(Sums {
        h: quotient_at_two(system)?,
        l: sum(circuit.aux_count(), |i| values[system.inputs + i], key.l),
        a: selected(a, key.a),
        b_g1: selected(b, key.b_g1),
        b_g2: selected(b, key.b_g2),
    })
}

/// Returns Σ value·logarithm over the first `count` indices.
fn sum(count: usize, value: impl Fn(usize) -> Scalar + Sync, logarithms: Progression) -> Scalar {
    let product = |i| {
        let value = value(i);
        if value == Scalar::ZERO { value } else { value * logarithms.at(i) }
    };
    (0..count).into_par_iter().map(product).sum()
}

/// Returns h(2) = (a(2)·b(2) − c(2))/(2^m − 1). Polynomials are given by their values on the domain of m elements.
fn quotient_at_two(system: &System) -> Result<Scalar, Failure> {
    let [a, b, c] = &system.matrices;
    let log_m = a.rows().next_power_of_two().trailing_zeros();
    let tasks = (0..a.rows().div_ceil(TASK)).into_par_iter().map(|task| {
        let rows = task * TASK..a.rows().min((task + 1) * TASK);
        let weights = weights(log_m, rows.start, rows.len());
        rows.zip(weights).try_fold([Scalar::ZERO; 3], |sums, (row, weight)| {
            let at = [a, b, c].map(|matrix| product(matrix, row, &system.values));
            if at[0] * at[1] != at[2] {
                return Err(format!("constraint {row}: expected {}, got {}", at[0] * at[1], at[2]));
            }
            Ok(add(sums, at.map(|value| if value == Scalar::ZERO { value } else { value * weight })))
        })
    });
    let sums = tasks.try_reduce(|| [Scalar::ZERO; 3], |x, y| Ok(add(x, y)))?;
    let vanishing = Scalar::from(2).pow_vartime([1 << log_m]) - Scalar::ONE;
    let scale = vanishing * inverse(Scalar::from(1 << log_m))?;
    let [a, b, c] = sums.map(|sum| sum * scale);
    Ok((a * b - c) * inverse(vanishing)?)
}

/// Returns the weights ωⁱ/(2 − ωⁱ) of the barycentric formula f(2) = (2^m − 1)/m · Σ f(ωⁱ)·ωⁱ/(2 − ωⁱ). There are
/// `count` of them, from i = `first` on.
fn weights(log_m: u32, first: usize, count: usize) -> Vec<Scalar> {
    let omega = (log_m..Scalar::S).fold(Scalar::ROOT_OF_UNITY, |root, _| root.square());
    let powers = std::iter::successors(Some(omega.pow_vartime([first as u64])), |power| Some(power * omega));
    let powers: Vec<Scalar> = powers.take(count).collect();
    let mut inverses: Vec<Scalar> = powers.iter().map(|power| Scalar::from(2) - power).collect();
    let mut scratch = vec![Scalar::ZERO; count];
    BatchInverter::invert_with_external_scratch(&mut inverses, &mut scratch);
    powers.iter().zip(inverses).map(|(power, inverse)| power * inverse).collect()
}

fn product(matrix: &Csr<Scalar>, row: usize, values: &[Scalar]) -> Scalar {
    matrix.row(row).fold(Scalar::ZERO, |sum, (column, coefficient)| match values[column] {
        value if value == Scalar::ZERO => sum,
        value if value == Scalar::ONE => sum + coefficient,
        value => sum + value * coefficient,
    })
}

fn add<const N: usize>(x: [Scalar; N], y: [Scalar; N]) -> [Scalar; N] {
    std::array::from_fn(|i| x[i] + y[i])
}

fn inverse(value: Scalar) -> Result<Scalar, Failure> {
    Option::from(value.invert()).ok_or_else(|| "quotient: expected a divisor other than zero, got zero".into())
}
