//! Writes zkeys and witnesses of a synthetic circuit of any size, from a trapdoor that is known. snarkjs proves and
//! verifies with them.
//!
//! Signal 0 is 1, signal 1 the output, which is public, and signals 2.. are x₀, x₁, …. Row i of the constraints says
//! (xᵢ + kᵢ·x₍ᵢ/₂₎ + 1)·x₍ᵢ₋ᵢ mod ₃₎ = xᵢ₊₁, and the last one x·1 = output.
#![allow(dead_code, reason = "each program uses a part")]

use ff::{Field, PrimeField};
use group::prime::PrimeCurveAffine;
use group::{Curve, Group};
use proofwarp_circom::{AffinePoint, Groth16Engine};
use rayon::prelude::*;

use super::Container;
use super::reference::Roots;

/// Secrets of a setup.
#[derive(Clone, Copy)]
struct Trapdoor<F> {
    tau: F,
    alpha: F,
    beta: F,
    gamma: F,
    delta: F,
}

/// Describes the rows of the circuit. The two last rows of A are those of the public signals, 0 and 1.
struct SyntheticCircuit {
    constraints: usize,
}

/// First signal of x.
const X: usize = 2;

impl SyntheticCircuit {
    fn signals(&self) -> usize {
        X + self.constraints
    }

    fn domain(&self) -> usize {
        (self.constraints + X).next_power_of_two()
    }

    /// Returns the coefficient k of row `row`: one of 16 values, 1 and −1 among them.
    fn k<F: PrimeField>(row: usize) -> F {
        match row % 16 {
            0..6 => F::ONE,
            6..12 => -F::ONE,
            index => F::from(index as u64).pow_vartime([index as u64]),
        }
    }

    /// Returns the entries (signal, coefficient) of row `row` of A.
    fn a<F: PrimeField>(&self, row: usize) -> Vec<(usize, F)> {
        match row.checked_sub(self.constraints - 1) {
            None => vec![(X + row, F::ONE), (X + row / 2, Self::k(row)), (0, F::ONE)],
            Some(0) => vec![(X + row, F::ONE)],
            Some(public) => vec![(public - 1, F::ONE)],
        }
    }

    /// Returns the signal of row `row` of B, whose coefficient is 1. SyntheticCircuit of public signals have none.
    fn b(&self, row: usize) -> Option<usize> {
        match row.checked_sub(self.constraints - 1) {
            None => Some(X + row - row % 3),
            Some(0) => Some(0),
            Some(_) => None,
        }
    }

    /// Returns the signal that row `row` defines.
    fn c(&self, row: usize) -> usize {
        if row == self.constraints - 1 { 1 } else { X + row + 1 }
    }

    fn all(&self) -> std::ops::Range<usize> {
        0..self.constraints + X
    }

    /// Returns the values of all signals for an `x₀`.
    fn witness<F: PrimeField>(&self, first: F) -> Vec<F> {
        let mut values = vec![F::ONE, F::ZERO, first];
        values.resize(self.signals(), F::ZERO);
        for row in 0..self.constraints {
            let a: F = self.a::<F>(row).into_iter().map(|(signal, k)| k * values[signal]).sum();
            values[self.c(row)] = a * self.b(row).map_or(F::ZERO, |signal| values[signal]);
        }
        values
    }
}

/// Returns the zkey of the circuit with `constraints` constraints, at least 2.
pub fn zkey<E: Groth16Engine>(constraints: usize) -> Container {
    let rows = SyntheticCircuit { constraints };
    let mut next = E::Fr::from(0x0123_4567_89ab_cdef);
    let mut draw = || {
        next = next.square() + E::Fr::from(7);
        next.square()
    };
    let trapdoor = Trapdoor { tau: draw(), alpha: draw(), beta: draw(), gamma: draw(), delta: draw() };
    let [a, b, c] = polynomials::<E::Fr>(&rows, trapdoor.tau);
    let inverse = |value: E::Fr| value.invert().expect("not zero");
    let sums = a.par_iter().zip(&b).zip(&c);
    let sums: Vec<E::Fr> = sums.map(|((a, b), c)| trapdoor.beta * a + trapdoor.alpha * b + c).collect();
    let scaled = |values: &[E::Fr], factor| values.par_iter().map(|value| *value * factor).collect::<Vec<_>>();
    let ic = scaled(&sums[..X], inverse(trapdoor.gamma));
    let l = scaled(&sums[X..], inverse(trapdoor.delta));
    let h = scaled(&odd_lagrange(rows.domain(), trapdoor.tau), inverse(trapdoor.delta));
    let [g1, g2] = [multiples::<E::G1Affine>, multiples::<E::G2Affine>];
    let sections = vec![
        (1, 1_u32.to_le_bytes().to_vec()),
        (2, header::<E>(&rows, &trapdoor)),
        (3, g1(&ic)),
        (4, coefficients::<E::Fr>(&rows)),
        (5, g1(&a)),
        (6, g1(&b)),
        (7, g2(&b)),
        (8, g1(&l)),
        (9, g1(&h)),
        (10, [0; 68].to_vec()),
    ];
    Container { magic: *b"zkey", version: 1, sections }
}

/// Returns the witness of the circuit with `constraints` constraints that begins with `first`.
pub fn witness<E: Groth16Engine>(constraints: usize, first: E::Fr) -> Container {
    let values = SyntheticCircuit { constraints }.witness(first);
    let mut header = super::prime(E::CURVE.scalar_prime());
    header.extend((values.len() as u32).to_le_bytes());
    let mut bytes = Vec::with_capacity(32 * values.len());
    for value in values {
        bytes.extend_from_slice(value.to_repr().as_ref());
    }
    Container { magic: *b"wtns", version: 2, sections: vec![(1, header), (2, bytes)] }
}

fn header<E: Groth16Engine>(rows: &SyntheticCircuit, trapdoor: &Trapdoor<E::Fr>) -> Vec<u8> {
    let mut header = [super::prime(E::CURVE.base_prime()), super::prime(E::CURVE.scalar_prime())].concat();
    header.extend([rows.signals(), X - 1, rows.domain()].iter().flat_map(|size| (*size as u32).to_le_bytes()));
    let Trapdoor { alpha, beta, gamma, delta, .. } = *trapdoor;
    let [g1, g2] = [multiples::<E::G1Affine>, multiples::<E::G2Affine>];
    for point in [g1(&[alpha]), g1(&[beta]), g2(&[beta]), g2(&[gamma]), g1(&[delta]), g2(&[delta])] {
        header.extend(point);
    }
    header
}

/// Returns section 4: values are v·R², with R = 2^256.
fn coefficients<F: PrimeField>(rows: &SyntheticCircuit) -> Vec<u8> {
    let r_squared = F::from(2).pow_vartime([512]);
    let encode = |matrix: u32, row: usize, (signal, value): (usize, F)| {
        let mut entry = [0; 44];
        for (target, field) in entry.chunks_exact_mut(4).zip([matrix, row as u32, signal as u32]) {
            target.copy_from_slice(&field.to_le_bytes());
        }
        entry[12..].copy_from_slice((value * r_squared).to_repr().as_ref());
        entry
    };
    let entries = rows.all().into_par_iter().flat_map_iter(|row| {
        let b = rows.b(row).map(|signal| encode(1, row, (signal, F::ONE)));
        rows.a(row).into_iter().map(move |entry| encode(0, row, entry)).chain(b)
    });
    let entries: Vec<[u8; 44]> = entries.collect();
    let mut bytes = (entries.len() as u32).to_le_bytes().to_vec();
    bytes.extend(entries.as_flattened());
    bytes
}

/// Returns the values at τ of each signal's polynomials of A, B and C.
fn polynomials<F: PrimeField>(rows: &SyntheticCircuit, tau: F) -> [Vec<F>; 3] {
    let log_n = rows.domain().ilog2();
    let lagrange = lagrange(Roots::new().root(log_n), F::ONE, log_n, tau);
    let mut values = [(); 3].map(|()| vec![F::ZERO; rows.signals()]);
    let [a, b, c] = &mut values;
    for (row, value) in rows.all().zip(lagrange) {
        rows.a::<F>(row).into_iter().for_each(|(signal, k)| a[signal] += k * value);
        rows.b(row).into_iter().for_each(|signal| b[signal] += value);
        if row < rows.constraints {
            c[rows.c(row)] += value;
        }
    }
    values
}

/// Returns the values at τ of the Lagrange polynomials of the odd elements of the domain of twice the order.
fn odd_lagrange<F: PrimeField>(domain: usize, tau: F) -> Vec<F> {
    let (roots, log_n) = (Roots::<F>::new(), domain.ilog2());
    lagrange(roots.root(log_n), roots.shift(log_n), log_n + 1, tau).into_iter().take(domain).collect()
}

/// Returns the values at τ of the Lagrange polynomials of a subgroup of order `2^log_n`, at its elements `shift`·`root`ⁱ
/// for i below the order of `root`: (τⁿ − 1)/n·x/(τ − x) at the element x.
fn lagrange<F: PrimeField>(root: F, shift: F, log_n: u32, tau: F) -> Vec<F> {
    /// Elements that a thread computes at a time, so that one inversion serves them.
    const PIECE: usize = 1 << 10;
    let order = F::from(1 << log_n);
    let factor = (tau.pow_vartime([1 << log_n]) - F::ONE) * order.invert().expect("not zero");
    let count = if shift == F::ONE { 1 << log_n } else { 1 << (log_n - 1) };
    let mut values = vec![F::ZERO; count];
    values.par_chunks_mut(PIECE).enumerate().for_each(|(piece, values)| {
        let first = shift * root.pow_vartime([(piece * PIECE) as u64]);
        let elements: Vec<F> = super::reference::geometric(first, root).take(values.len()).collect();
        let mut differences: Vec<F> = elements.iter().map(|x| tau - x).collect();
        ff::BatchInvert::batch_invert(&mut differences);
        for ((value, x), inverse) in values.iter_mut().zip(elements).zip(differences) {
            *value = factor * x * inverse;
        }
    });
    values
}

/// Bits of a window of [`multiples`], which has a table of 2^12 points for each.
const WINDOW_BITS: usize = 12;

/// Returns the encodings of `scalars` times the generator.
fn multiples<P: AffinePoint + PrimeCurveAffine>(scalars: &[P::Scalar]) -> Vec<u8>
where
    P::Curve: Curve<AffineRepr = P>,
{
    /// Points that one inversion makes affine.
    const PIECE: usize = 1 << 8;
    let tables = if scalars.len() < PIECE { Vec::new() } else { window_tables::<P>() };
    let encode = |scalars: &[P::Scalar]| {
        let sums: Vec<P::Curve> = scalars.iter().map(|scalar| multiple(&tables, scalar)).collect();
        let mut points = vec![P::default(); sums.len()];
        P::Curve::batch_normalize(&sums, &mut points);
        points.iter().flat_map(AffinePoint::to_montgomery).collect::<Vec<u8>>()
    };
    let pieces: Vec<Vec<u8>> = scalars.par_chunks(PIECE).map(encode).collect();
    pieces.concat()
}

/// Returns, for each window, the multiples of the generator by numbers with bits in that window alone.
fn window_tables<P: AffinePoint + PrimeCurveAffine>() -> Vec<Vec<P>>
where
    P::Curve: Curve<AffineRepr = P>,
{
    let count = 256_usize.div_ceil(WINDOW_BITS);
    let bases = std::iter::successors(Some(P::Curve::generator()), |base| {
        Some((0..WINDOW_BITS).fold(*base, |base, _| base.double()))
    });
    let bases: Vec<_> = bases.take(count).collect();
    let table = |base: &P::Curve| {
        let sums = std::iter::successors(Some(P::Curve::identity()), |sum| Some(*sum + base));
        let sums: Vec<_> = sums.take(1 << WINDOW_BITS).collect();
        let mut points = vec![P::default(); sums.len()];
        P::Curve::batch_normalize(&sums, &mut points);
        points
    };
    bases.par_iter().map(table).collect()
}

/// Returns `scalar` times the generator, by its windows if there are tables.
fn multiple<P: AffinePoint + PrimeCurveAffine>(tables: &[Vec<P>], scalar: &P::Scalar) -> P::Curve {
    if tables.is_empty() {
        return P::generator() * scalar;
    }
    let repr = scalar.to_repr();
    let mut bytes = repr.as_ref().to_vec();
    bytes.resize(40, 0);
    let digit = |window: usize| {
        let (byte, shift) = (window * WINDOW_BITS / 8, window * WINDOW_BITS % 8);
        let word = u32::from_le_bytes([bytes[byte], bytes[byte + 1], bytes[byte + 2], bytes[byte + 3]]);
        (word >> shift) as usize & ((1 << WINDOW_BITS) - 1)
    };
    let terms = tables.iter().enumerate().map(|(window, table)| table[digit(window)]);
    terms.fold(P::Curve::identity(), |sum, term| sum + term)
}
