//! Implements Pippenger's bucket method for curves that proofwarp does not know, with windows in parallel.

use ff::{Field, PrimeField};
use group::Group;
use group::prime::PrimeCurveAffine;
use rayon::prelude::*;

use super::{QueryDensity, Source, SourceBuilder};
use crate::EcError;
use crate::type_dispatch::Repr;

/// Returns Σ exponentᵢ · baseᵢ over the `exponents` that `density` marks. Each marked exponent takes the next base of
/// the source `bases`.
///
/// # Errors
/// Returns the source's errors.
pub(super) fn multiexp<Q, D, G, S>(bases: &S, density: &D, exponents: &[Repr<G>]) -> Result<G::Curve, EcError>
where
    for<'a> &'a Q: QueryDensity,
    D: Sync + AsRef<Q>,
    G: PrimeCurveAffine,
    S: SourceBuilder<G>,
{
    let width = window_width(exponents.len());
    // Includes all bits of an exponent, which may not be reduced.
    let bits = exponents.first().map_or(0, |exponent| 8 * exponent.as_ref().len() as u32);
    let windows: Vec<G::Curve> = (0..bits)
        .into_par_iter()
        .step_by(width as usize)
        .map(|first_bit| window_sum::<_, G>(bases.clone().new(), density.as_ref().iter(), exponents, first_bit, width))
        .collect::<Result<_, _>>()?;
    let double = |sum: G::Curve, _| sum.double();
    Ok(windows.into_iter().rev().fold(G::Curve::identity(), |sum, window| (0..width).fold(sum, double) + window))
}

/// Returns the width in bits of a window for `count` exponents. A width of ln n balances n additions into buckets
/// against 2·2^width additions of buckets.
fn window_width(count: usize) -> u32 {
    if count < 32 { 3 } else { (count as f64).ln().ceil() as u32 }
}

/// Returns Σ digitᵢ · baseᵢ, where digitᵢ is bits `first_bit..first_bit + width` of exponent i. The base of an exponent
/// of one is added without a bucket.
fn window_sum<S: Source<G>, G: PrimeCurveAffine>(
    mut bases: S,
    density: impl Iterator<Item = bool>,
    exponents: &[Repr<G>],
    first_bit: u32,
    width: u32,
) -> Result<G::Curve, EcError> {
    let one = G::Scalar::ONE.to_repr();
    let mut ones = G::Curve::identity();
    let mut buckets = vec![G::Curve::identity(); (1 << width) - 1];
    for (exponent, _) in exponents.iter().zip(density).filter(|(_, marked)| *marked) {
        match digit(exponent.as_ref(), first_bit, width) {
            0 => bases.skip(1)?,
            1 if exponent.as_ref() == one.as_ref() => bases.add_assign_mixed(&mut ones)?,
            digit => bases.add_assign_mixed(&mut buckets[digit - 1])?,
        }
    }
    Ok(ones + weighted_sum(&buckets))
}

/// Returns bits `first_bit..first_bit + width` of `bytes`, a little-endian number. `width` is at most 32.
fn digit(bytes: &[u8], first_bit: u32, width: u32) -> usize {
    let first_byte = (first_bit / 8) as usize;
    let word = bytes.iter().skip(first_byte).take(8).rev().fold(0u64, |word, byte| (word << 8) | u64::from(*byte));
    (word >> (first_bit % 8)) as usize & ((1 << width) - 1)
}

/// Returns Σ (i + 1) · `buckets[i]`, computed as the sum of all suffix sums.
fn weighted_sum<C: Group>(buckets: &[C]) -> C {
    let (mut suffix, mut sum) = (C::identity(), C::identity());
    for bucket in buckets.iter().rev() {
        suffix += bucket;
        sum += suffix;
    }
    sum
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use group::Curve;
    use pasta_curves::{EpAffine, Fq};
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    use super::super::FullDensity;
    use super::*;

    #[test]
    fn equals_the_definition() {
        let mut rng = ChaCha8Rng::seed_from_u64(4);
        for count in [1, 2, 31, 32, 200] {
            let bases: Vec<EpAffine> = (0..count).map(|_| pasta_curves::Ep::random(&mut rng).to_affine()).collect();
            let mut scalars: Vec<Fq> = (0..count).map(|_| Fq::random(&mut rng)).collect();
            scalars[0] = -Fq::ONE;
            scalars[count / 2] = Fq::ONE;
            scalars[count - 1] = Fq::ZERO;
            let expected = bases.iter().zip(&scalars).map(|(base, scalar)| base * scalar).sum::<pasta_curves::Ep>();
            let exponents: Vec<_> = scalars.iter().map(PrimeField::to_repr).collect();
            let source = (Arc::new(bases), 0);
            let sum =
                multiexp::<FullDensity, _, EpAffine, _>(&source, &FullDensity, &exponents).expect("as many bases");
            assert_eq!(sum, expected, "{count} bases");
        }
    }

    /// Checks exponents of up to 256 bits that are not reduced.
    #[test]
    fn exponents_that_are_not_reduced() {
        let bases = vec![EpAffine::generator(); 3];
        let exponents = vec![[0xff; 32], power_of_two_bytes(255), power_of_two_bytes(254)];
        let scalar = |exponent: &[u8; 32]| {
            exponent.iter().rev().fold(Fq::ZERO, |sum, byte| sum * Fq::from(256) + Fq::from(u64::from(*byte)))
        };
        let expected = EpAffine::generator() * exponents.iter().map(scalar).sum::<Fq>();
        let source = (Arc::new(bases), 0);
        let sum = multiexp::<FullDensity, _, EpAffine, _>(&source, &FullDensity, &exponents).expect("as many bases");
        assert_eq!(sum, expected);
    }

    fn power_of_two_bytes(bit: usize) -> [u8; 32] {
        let mut bytes = [0; 32];
        bytes[bit / 8] = 1 << (bit % 8);
        bytes
    }
}
