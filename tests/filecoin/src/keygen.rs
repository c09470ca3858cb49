//! Makes a circuit's Groth16 parameters. They have the form of bellperson's `generate_random_parameters`, which takes an hour of
//! a core for PoRep where this takes minutes: the generators' multiples come from tables.

use std::sync::Arc;

use anyhow::{Result, ensure};
use bellperson::groth16::{Parameters, VerifyingKey};
use bellperson::{Circuit, ConstraintSystem, Index, LinearCombination, SynthesisError, Variable};
use blstrs::{Bls12, G1Projective, G2Projective, Scalar};
use ff::{BatchInvert, Field, PrimeField};
use group::Curve;
use group::prime::{PrimeCurve, PrimeCurveAffine};
use rand::RngCore;
use rayon::prelude::*;

/// Bits of a window of scalars, 12: the tables of both groups, 26 MB, fit a processor's cache.
const WINDOW: usize = 12;
/// Windows of a scalar of 255 bits, 22.
const WINDOWS: usize = 255_usize.div_ceil(WINDOW);
/// Points of a window's table, 4095: all multiples but zero.
const MULTIPLES: usize = (1 << WINDOW) - 1;
/// Scalars of a task, 1024, whose points share an inversion.
const CHUNK: usize = 1024;

/// Makes the parameters of `circuit` from random numbers of `rng`.
pub fn generate(circuit: impl Circuit<Scalar>, rng: &mut impl RngCore) -> Result<Parameters<Bls12>> {
    let matrices = Matrices::synthesize(circuit)?;
    let [tau, alpha, beta, gamma, delta] = [(); 5].map(|()| Scalar::random(&mut *rng));
    let domain = matrices.rows.next_power_of_two();
    let [a, b, c] = matrices.at(&lagrange(tau, domain));
    // beta·a + alpha·b + c of each variable.
    let joined: Vec<Scalar> = a.iter().zip(&b).zip(&c).map(|((a, b), c)| beta * a + alpha * b + c).collect();
    let (inputs, aux) = joined.split_at(matrices.inputs);
    ensure!(!aux.contains(&Scalar::ZERO), "a variable is in no constraint");
    let [by_gamma, by_delta] = [gamma, delta].map(|it| it.invert().unwrap());
    let vanishing = (tau.pow_vartime([domain as u64]) - Scalar::ONE) * by_delta;
    let h: Vec<Scalar> = std::iter::successors(Some(vanishing), |last| Some(last * tau)).take(domain - 1).collect();
    let scaled = |scalars: &[Scalar], by: Scalar| scalars.iter().map(|it| it * by).collect::<Vec<_>>();
    let [a, b] = [a, b].map(|query| query.into_iter().filter(|it| *it != Scalar::ZERO).collect::<Vec<_>>());
    let (g1, g2) = (Table::<G1Projective>::new(), Table::<G2Projective>::new());
    let (in_g1, in_g2) = (g1.multiples(&[alpha, beta, delta]), g2.multiples(&[beta, gamma, delta]));
    let vk = VerifyingKey {
        alpha_g1: in_g1[0],
        beta_g1: in_g1[1],
        beta_g2: in_g2[0],
        gamma_g2: in_g2[1],
        delta_g1: in_g1[2],
        delta_g2: in_g2[2],
        ic: g1.multiples(&scaled(inputs, by_gamma)),
    };
    let (l, b_g2) = (Arc::new(g1.multiples(&scaled(aux, by_delta))), Arc::new(g2.multiples(&b)));
    let [h, a, b_g1] = [h, a, b].map(|query| Arc::new(g1.multiples(&query)));
    Ok(Parameters { vk, h, l, a, b_g1, b_g2 })
}

/// Returns the values at `tau` of the Lagrange polynomials of the `size` roots of unity: (τⁿ − 1)·ωⁱ / (n·(τ − ωⁱ)).
fn lagrange(tau: Scalar, size: usize) -> Vec<Scalar> {
    let order = size.trailing_zeros();
    let omega = (order..Scalar::S).fold(Scalar::ROOT_OF_UNITY, |root, _| root.square());
    let factor = (tau.pow_vartime([size as u64]) - Scalar::ONE) * Scalar::from(size as u64).invert().unwrap();
    let roots: Vec<Scalar> = std::iter::successors(Some(Scalar::ONE), |root| Some(root * omega)).take(size).collect();
    let mut values: Vec<Scalar> = roots.iter().map(|root| tau - root).collect();
    values.iter_mut().batch_invert();
    values.iter_mut().zip(roots).for_each(|(value, root)| *value *= factor * root);
    values
}

/// Records the non-zeros of A, B and C.
struct Matrices {
    inputs: usize,
    aux: usize,
    rows: usize,
    terms: [Vec<Term>; 3],
}

struct Term {
    variable: Index,
    row: usize,
    value: Scalar,
}

impl Matrices {
    /// Synthesizes `circuit`, with a constraint input·0 = 0 for each input at the end, as bellperson does.
    fn synthesize(circuit: impl Circuit<Scalar>) -> Result<Self> {
        let mut matrices = Self::new();
        matrices.alloc_input(|| "", || Ok(Scalar::ONE))?;
        circuit.synthesize(&mut matrices)?;
        for i in 0..matrices.inputs {
            matrices.enforce(|| "", |lc| lc + Variable::new_unchecked(Index::Input(i)), |lc| lc, |lc| lc);
        }
        Ok(matrices)
    }

    /// Returns the values of each variable's three polynomials, from those of the rows' Lagrange polynomials.
    fn at(&self, lagrange: &[Scalar]) -> [Vec<Scalar>; 3] {
        self.terms.each_ref().map(|terms| {
            let mut values = vec![Scalar::ZERO; self.inputs + self.aux];
            for Term { variable, row, value } in terms {
                let column = match *variable {
                    Index::Input(number) => number,
                    Index::Aux(number) => self.inputs + number,
                };
                values[column] += lagrange[*row] * value;
            }
            values
        })
    }
}

impl ConstraintSystem<Scalar> for Matrices {
    type Root = Self;

    fn new() -> Self {
        Self { inputs: 0, aux: 0, rows: 0, terms: Default::default() }
    }

    fn alloc<F, A, AR>(&mut self, _: A, _: F) -> Result<Variable, SynthesisError>
    where
        F: FnOnce() -> Result<Scalar, SynthesisError>,
        A: FnOnce() -> AR,
        AR: Into<String>,
    {
        self.aux += 1;
        Ok(Variable::new_unchecked(Index::Aux(self.aux - 1)))
    }

    fn alloc_input<F, A, AR>(&mut self, _: A, _: F) -> Result<Variable, SynthesisError>
    where
        F: FnOnce() -> Result<Scalar, SynthesisError>,
        A: FnOnce() -> AR,
        AR: Into<String>,
    {
        self.inputs += 1;
        Ok(Variable::new_unchecked(Index::Input(self.inputs - 1)))
    }

    fn enforce<A, AR, LA, LB, LC>(&mut self, _: A, a: LA, b: LB, c: LC)
    where
        A: FnOnce() -> AR,
        AR: Into<String>,
        LA: FnOnce(LinearCombination<Scalar>) -> LinearCombination<Scalar>,
        LB: FnOnce(LinearCombination<Scalar>) -> LinearCombination<Scalar>,
        LC: FnOnce(LinearCombination<Scalar>) -> LinearCombination<Scalar>,
    {
        let (row, zero) = (self.rows, LinearCombination::zero);
        for (terms, combination) in self.terms.iter_mut().zip([a(zero()), b(zero()), c(zero())]) {
            let term = |(variable, value): (Variable, &Scalar)| Term {
                variable: variable.get_unchecked(),
                row,
                value: *value,
            };
            terms.extend(combination.iter().map(term));
        }
        self.rows += 1;
    }

    fn push_namespace<NR, N>(&mut self, _: N)
    where
        NR: Into<String>,
        N: FnOnce() -> NR,
    {
    }

    fn pop_namespace(&mut self) {}

    fn get_root(&mut self) -> &mut Self::Root {
        self
    }
}

/// Holds multiples of a group's generator: those by 1 to 2^[`WINDOW`] − 1 of each window of a scalar.
struct Table<G: PrimeCurve>(Vec<Vec<G::Affine>>);

impl<G: PrimeCurve<Scalar = Scalar> + Curve<AffineRepr = <G as PrimeCurve>::Affine>> Table<G> {
    fn new() -> Self {
        let window = |number: usize| {
            let first = G::generator() * Scalar::from(2).pow_vartime([(WINDOW * number) as u64]);
            affine(&std::iter::successors(Some(first), |last| Some(*last + first)).take(MULTIPLES).collect::<Vec<G>>())
        };
        Self((0..WINDOWS).into_par_iter().map(window).collect())
    }

    /// Returns the generator's multiples by `scalars`.
    fn multiples(&self, scalars: &[Scalar]) -> Vec<<G as PrimeCurve>::Affine> {
        let chunk =
            |scalars: &[Scalar]| affine(&scalars.iter().map(|scalar| self.multiple(scalar)).collect::<Vec<G>>());
        scalars.par_chunks(CHUNK).flat_map_iter(chunk).collect()
    }

    fn multiple(&self, scalar: &Scalar) -> G {
        let bytes = scalar.to_bytes_le();
        let mut sum = G::identity();
        for (number, window) in self.0.iter().enumerate() {
            match digit(&bytes, WINDOW * number) {
                0 => {}
                digit => sum += window[digit - 1],
            }
        }
        sum
    }
}

/// Returns the [`WINDOW`] bits of `bytes` from bit `start` on.
fn digit(bytes: &[u8; 32], start: usize) -> usize {
    let byte = |at: usize| bytes.get(start / 8 + at).map_or(0, |byte| usize::from(*byte) << (8 * at));
    (byte(0) | byte(1) | byte(2)) >> (start % 8) & MULTIPLES
}

fn affine<G: PrimeCurve + Curve<AffineRepr = <G as PrimeCurve>::Affine>>(
    points: &[G],
) -> Vec<<G as PrimeCurve>::Affine> {
    let mut affine = vec![<G as PrimeCurve>::Affine::identity(); points.len()];
    G::batch_normalize(points, &mut affine);
    affine
}
