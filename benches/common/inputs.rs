//! Bases, scalars and coefficients for timing, cheap to make at large sizes.

use ff::{Field, PrimeField};
use group::{Curve, Group};
use proofwarp::curve::MsmCurve;
use proofwarp::field::NttField;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

/// Points that one work-item makes by adding the generator.
const RUN: usize = 1 << 10;

/// Multiples of the generator, all different.
pub fn bases<C: MsmCurve>(count: usize) -> Vec<C>
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

/// Scalars as canonical bytes.
pub type Scalars = Vec<[u8; 32]>;

/// Random scalars.
pub fn random_scalars<C: MsmCurve>(count: usize) -> Scalars {
    let chunk = |(k, chunk): (usize, &mut [[u8; 32]])| {
        let mut rng = ChaCha8Rng::seed_from_u64(k as u64);
        chunk.fill_with(|| canonical::<C>(C::Scalar::random(&mut rng)));
    };
    let mut scalars = vec![[0; 32]; count];
    scalars.par_chunks_mut(RUN).enumerate().for_each(chunk);
    scalars
}

/// Scalar vectors as circuits make them, beside random ones, by name.
pub fn distributions<C: MsmCurve>(count: usize) -> Vec<(&'static str, Scalars)> {
    let random = random_scalars::<C>(count);
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let bits = (0..count).map(|_| canonical::<C>(C::Scalar::from(rng.gen_range(0..2u64)))).collect();
    let equal = random.first().map_or_else(Vec::new, |first| vec![*first; count]);
    vec![("random", random), ("0 or 1", bits), ("all equal", equal)]
}

fn canonical<C: MsmCurve>(scalar: C::Scalar) -> [u8; 32] {
    let mut bytes = [0; 32];
    bytes.copy_from_slice(scalar.to_repr().as_ref());
    bytes
}

/// Coefficients of full size.
pub fn coefficients<F: NttField>(count: usize) -> Vec<F> {
    (0..count as u64).into_par_iter().map(|i| F::from(i + 1).square() + F::ROOT_OF_UNITY).collect()
}
