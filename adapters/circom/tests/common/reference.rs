//! Proves as plainly as possible, with given r and s: the reference for the prover.

use ff::{Field, PrimeField};
use group::prime::PrimeCurveAffine;
use group::{Curve, Group};
use num_bigint::BigUint;
use proofwarp_circom::{AffinePoint, Groth16Engine, Matrix, Proof, RawPoints, Witness, Zkey};

/// The random scalars of a proof.
#[derive(Clone, Copy)]
pub struct Blinding<F> {
    pub r: F,
    pub s: F,
}

/// Returns the scalar with the little-endian `bytes`.
pub fn scalar<F: PrimeField>(bytes: &[u8]) -> F {
    F::from_str_vartime(&BigUint::from_bytes_le(bytes).to_string()).expect("a scalar")
}

/// Returns the values of a witness.
pub fn scalars<F: PrimeField>(witness: &Witness) -> Vec<F> {
    witness.values().iter().map(|value| scalar(value)).collect()
}

/// Computes A·w and B·w by rows, as many as the domain has elements.
pub fn products<F: PrimeField>(zkey: &Zkey, witness: &[F]) -> [Vec<F>; 2] {
    let rows = zkey.header().domain_size as usize;
    let mut products = [vec![F::ZERO; rows], vec![F::ZERO; rows]];
    // Values are v·R², with R = 2^256.
    let factor = F::from(2).pow_vartime([512]).invert().expect("not zero");
    for coefficient in zkey.coefficients().iter() {
        let matrix = usize::from(coefficient.matrix == Matrix::B);
        let value = scalar::<F>(coefficient.value) * factor;
        products[matrix][coefficient.constraint as usize] += value * witness[coefficient.signal as usize];
    }
    products
}

/// The roots of unity that snarkjs takes: powers of the least number that is no square. Those of the curve libraries
/// are powers of 7, other roots of the same orders.
pub struct Roots<F> {
    nonsquare: F,
    order: BigUint,
}

impl<F: PrimeField> Roots<F> {
    pub fn new() -> Self {
        let modulus = BigUint::parse_bytes(F::MODULUS.trim_start_matches("0x").as_bytes(), 16).expect("digits");
        let order = modulus - 1_u8;
        let exponent = (&order >> 1_u8).to_u64_digits();
        let is_nonsquare = |number: &F| number.pow_vartime(&exponent) == -F::ONE;
        let nonsquare = (2..100).map(F::from).find(is_nonsquare).expect("half of all numbers");
        Self { nonsquare, order }
    }

    /// Returns the root of order `2^log_n`.
    pub fn root(&self, log_n: u32) -> F {
        self.nonsquare.pow_vartime((&self.order >> log_n).to_u64_digits())
    }

    /// Returns the coset's generator for a domain of order `2^log_n`: the root of twice that order, if there is one.
    pub fn shift(&self, log_n: u32) -> F {
        if log_n < F::S { self.root(log_n + 1) } else { self.nonsquare.square() }
    }
}

/// Returns the values at 1, `root`, `root`², … of the polynomial with `coefficients`. Their number, a power of two, is
/// the order of `root`.
fn evaluate<F: PrimeField>(coefficients: &[F], root: F) -> Vec<F> {
    if coefficients.len() == 1 {
        return coefficients.to_vec();
    }
    let half = |first| coefficients.iter().skip(first).step_by(2).copied().collect::<Vec<F>>();
    let even = evaluate(&half(0), root.square());
    let odd = evaluate(&half(1), root.square());
    let terms: Vec<F> = odd.iter().zip(powers(root)).map(|(value, power)| *value * power).collect();
    let sums = even.iter().zip(&terms).map(|(even, term)| *even + *term);
    let differences = even.iter().zip(&terms).map(|(even, term)| *even - *term);
    sums.chain(differences).collect()
}

/// Returns 1, `base`, `base`², ….
fn powers<F: PrimeField>(base: F) -> impl Iterator<Item = F> {
    geometric(F::ONE, base)
}

/// Returns `first`, `first`·`factor`, `first`·`factor`², ….
pub fn geometric<F: PrimeField>(first: F, factor: F) -> impl Iterator<Item = F> {
    std::iter::successors(Some(first), move |element| Some(*element * factor))
}

/// Returns the values on the coset of the polynomial that has `values` on the domain.
fn to_coset<F: PrimeField>(values: &[F], roots: &Roots<F>) -> Vec<F> {
    let log_n = values.len().ilog2();
    let root = roots.root(log_n);
    let factor = F::from(values.len() as u64).invert().expect("not zero");
    let coefficients = evaluate(values, root.invert().expect("not zero"));
    let shifted = coefficients.iter().zip(powers(roots.shift(log_n))).map(|(value, power)| *value * power * factor);
    evaluate(&shifted.collect::<Vec<_>>(), root)
}

/// Returns a·b − c on the coset, where `a` and `b` have the rows of A·w and B·w, and c has their products.
pub fn quotient_values<F: PrimeField>(a: &[F], b: &[F]) -> Vec<F> {
    let roots = Roots::new();
    let c: Vec<F> = a.iter().zip(b).map(|(a, b)| *a * *b).collect();
    let [a, b, c] = [a, b, &c].map(|values| to_coset(values, &roots));
    a.iter().zip(&b).zip(&c).map(|((a, b), c)| *a * *b - *c).collect()
}

/// Returns Σ valuesᵢ·pointsᵢ, for `points` and `values` of equal length.
fn sum<P: AffinePoint + PrimeCurveAffine>(points: &RawPoints<'_>, values: &[P::Scalar]) -> P::Curve {
    let points = points.to_points::<P>().expect("points of the curve");
    assert_eq!(points.len(), values.len());
    let terms = points.iter().zip(values).filter(|(point, value)| !bool::from(point.is_identity() | value.is_zero()));
    terms.fold(P::Curve::identity(), |sum, (point, value)| sum + *point * value)
}

fn header_point<P: AffinePoint + PrimeCurveAffine>(points: &RawPoints<'_>) -> P::Curve {
    points.point::<P>(0).expect("a point of the curve").to_curve()
}

/// Returns the proof for the values `witness` with `blinding`.
pub fn prove<E: Groth16Engine>(zkey: &Zkey, witness: &[E::Fr], blinding: Blinding<E::Fr>) -> Proof<E> {
    let Blinding { r, s } = blinding;
    let [alpha1, beta1, delta1] =
        [zkey.alpha1(), zkey.beta1(), zkey.delta1()].map(|it| header_point::<E::G1Affine>(&it));
    let [beta2, delta2] = [zkey.beta2(), zkey.delta2()].map(|it| header_point::<E::G2Affine>(&it));
    let [a_rows, b_rows] = products(zkey, witness);
    let private = &witness[zkey.header().public_signals as usize + 1..];
    let a = alpha1 + sum::<E::G1Affine>(&zkey.a(), witness) + delta1 * r;
    let b1 = beta1 + sum::<E::G1Affine>(&zkey.b1(), witness) + delta1 * s;
    let b2 = beta2 + sum::<E::G2Affine>(&zkey.b2(), witness) + delta2 * s;
    let h = sum::<E::G1Affine>(&zkey.h(), &quotient_values(&a_rows, &b_rows));
    let c = sum::<E::G1Affine>(&zkey.c(), private) + h + a * s + b1 * r - delta1 * (r * s);
    Proof { a: a.to_affine(), b: b2.to_affine(), c: c.to_affine() }
}
