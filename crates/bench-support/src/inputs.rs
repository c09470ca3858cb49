//! Makes bases, scalars and coefficients for timing, cheap to make at large sizes.

use ff::{Field, PrimeField};
use group::prime::PrimeCurveAffine;
use group::{Curve, Group};
use rand::{Rng, RngCore, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

/// Points that one work-item makes by adding the generator.
const RUN: usize = 1 << 10;

/// Multiples of the generator, all different; fewer are the first of more.
pub fn bases<C: PrimeCurveAffine>(count: usize) -> Vec<C>
where
    C::Curve: Curve<AffineRepr = C>,
{
    let run = |start: u64| {
        let first = C::Curve::generator() * C::Scalar::from(start);
        let next = |point: &C::Curve| Some(*point + C::generator());
        let points: Vec<C::Curve> = std::iter::successors(Some(first), next).take(RUN).collect();
        let mut affine = vec![C::identity(); RUN];
        C::Curve::batch_normalize(&points, &mut affine);
        affine
    };
    let runs = count.div_ceil(RUN) as u64;
    let mut points: Vec<C> = (0..runs).into_par_iter().flat_map_iter(|k| run((k + 1) << 20)).collect();
    points.truncate(count);
    points
}

/// Returns the discrete logarithm of base `i`.
pub fn logarithm<F: PrimeField>(i: usize) -> F {
    F::from(((i / RUN + 1) << 20) as u64 + (i % RUN) as u64)
}

/// Holds scalars as canonical bytes.
pub type Scalars = Vec<[u8; 32]>;

/// Names scalars of full size, every one as likely.
pub const RANDOM: &str = "random";

/// Names of the distributions: scalar vectors as circuits make them, beside random ones.
pub const DISTRIBUTIONS: [&str; 7] =
    [RANDOM, "50% zero, 25% one", "90% bits, 8% 16-bit", "10% one constant", "all < 2^64", "all equal", "0 or 1"];

/// Random scalars.
pub fn random_scalars<C: PrimeCurveAffine>(count: usize) -> Scalars {
    scalars::<C>(RANDOM, count)
}

/// Scalars of the distribution of that name; random ones for a name that is none of [`DISTRIBUTIONS`].
pub fn scalars<C: PrimeCurveAffine>(distribution: &str, count: usize) -> Scalars {
    let constant = C::Scalar::random(ChaCha8Rng::seed_from_u64(u64::MAX));
    let chunk = |(k, chunk): (usize, &mut [[u8; 32]])| {
        let mut rng = ChaCha8Rng::seed_from_u64(k as u64);
        chunk.fill_with(|| canonical(scalar(distribution, constant, &mut rng)));
    };
    let mut scalars = vec![[0; 32]; count];
    scalars.par_chunks_mut(RUN).enumerate().for_each(chunk);
    scalars
}

/// Scalar vectors of all distributions, by name.
pub fn distributions<C: PrimeCurveAffine>(count: usize) -> Vec<(&'static str, Scalars)> {
    DISTRIBUTIONS.map(|name| (name, scalars::<C>(name, count))).into()
}

/// Makes one scalar of a distribution.
fn scalar<F: PrimeField>(distribution: &str, constant: F, rng: &mut ChaCha8Rng) -> F {
    let percent = rng.gen_range(0..100);
    match (distribution, percent) {
        ("50% zero, 25% one", 0..50) => F::ZERO,
        ("50% zero, 25% one", 50..75) => F::ONE,
        ("90% bits, 8% 16-bit", 0..90) | ("0 or 1", _) => F::from(rng.gen_range(0..2)),
        ("90% bits, 8% 16-bit", 90..98) => F::from(rng.gen_range(0..1 << 16)),
        ("10% one constant", 0..10) | ("all equal", _) => constant,
        ("all < 2^64", _) => F::from(rng.r#gen()),
        _ => F::random(rng),
    }
}

fn canonical<F: PrimeField>(scalar: F) -> [u8; 32] {
    let mut bytes = [0; 32];
    bytes.copy_from_slice(scalar.to_repr().as_ref());
    bytes
}

/// Makes `count` coefficients of full size.
pub fn coefficients<F: PrimeField>(count: usize) -> Vec<F> {
    (0..count as u64).into_par_iter().map(|i| F::from(i + 1).square() + F::ROOT_OF_UNITY).collect()
}

/// Elements of [`random`] that one core makes from a seed.
const PART: usize = 1 << 12;

/// Returns `count` values, made by `value` from `seed` on all cores: equal ones in every run.
pub fn random<T: Clone + Default + Send>(
    count: usize,
    seed: u64,
    value: impl Fn(&mut ChaCha8Rng) -> T + Sync,
) -> Vec<T> {
    let mut values = vec![T::default(); count];
    values.par_chunks_mut(PART).enumerate().for_each(|(number, part)| {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        rng.set_stream(number as u64);
        part.fill_with(|| value(&mut rng));
    });
    values
}

/// Returns `count` random elements, made from `seed`.
pub fn elements<F: Field>(count: usize, seed: u64) -> Vec<F> {
    random(count, seed, |rng| F::random(rng))
}

/// Returns `count` random bytes, made from `seed`.
pub fn bytes(count: usize, seed: u64) -> Vec<i8> {
    random(count, seed, |rng| rng.next_u32() as i8)
}
