//! What a sum on the CPU is made of, copied only where it must be; copies of scalars are cleared.

use std::borrow::Cow;
use std::ops::Deref;

use ff::{Field, PrimeField};
use group::prime::PrimeCurveAffine;
use rayon::prelude::*;

use super::scalar::{MIN_PIECE, scalar_from_bytes, scalar_to_bytes};

/// The pairs of a sum that add something, for code that takes no infinity among its points.
pub(super) struct Adding<'a, C: PrimeCurveAffine> {
    pub points: Cow<'a, [C]>,
    pub scalars: Vec<C::Scalar>,
}

impl<'a, C: PrimeCurveAffine> Adding<'a, C>
where
    C::Scalar: PrimeField,
{
    /// As many scalars as points.
    pub fn new(points: &'a [C], scalars: &[[u8; 32]]) -> Self {
        let adds = |i: &usize| !bool::from(points[*i].is_identity()) && scalars[*i] != [0; 32];
        let all = (0..points.len()).into_par_iter().with_min_len(MIN_PIECE);
        if all.clone().all(|i| adds(&i)) {
            return Self {
                points: Cow::Borrowed(points),
                scalars: scalars.par_iter().map(scalar_from_bytes).collect(),
            };
        }
        let which: Vec<_> = all.filter(adds).collect();
        // The number of elements is known here, so that they are written where they stay.
        let which = which.par_iter();
        Self {
            points: which.clone().map(|i| points[*i]).collect(),
            scalars: which.map(|i| scalar_from_bytes(&scalars[*i])).collect(),
        }
    }
}

impl<C: PrimeCurveAffine> Drop for Adding<'_, C> {
    fn drop(&mut self) {
        self.scalars.fill(C::Scalar::ZERO);
        // Nobody reads them any more, but they are to be stored.
        std::hint::black_box(&self.scalars);
    }
}

/// Scalars in as many bits as the order has, for code that reads no others: longer ones modulo the order.
pub(super) struct InBitsOfOrder<'a>(Cow<'a, [[u8; 32]]>);

impl<'a> InBitsOfOrder<'a> {
    pub fn new<F: PrimeField>(scalars: &'a [[u8; 32]]) -> Self {
        let is_longer = |scalar: &[u8; 32]| scalar[31] >> (F::NUM_BITS - 248) != 0;
        if !scalars.par_iter().with_min_len(MIN_PIECE).any(is_longer) {
            return Self(Cow::Borrowed(scalars));
        }
        let shorter = |scalar: &[u8; 32]| match is_longer(scalar) {
            true => scalar_to_bytes(scalar_from_bytes::<F>(scalar)),
            false => *scalar,
        };
        Self(Cow::Owned(scalars.par_iter().map(shorter).collect()))
    }
}

impl Deref for InBitsOfOrder<'_> {
    type Target = [[u8; 32]];

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl Drop for InBitsOfOrder<'_> {
    fn drop(&mut self) {
        if let Cow::Owned(scalars) = &mut self.0 {
            scalars.fill([0; 32]);
            std::hint::black_box(scalars);
        }
    }
}

#[cfg(test)]
mod tests {
    use halo2curves::bn256::{Fr, G1Affine};

    use super::*;

    #[test]
    fn all_pairs_that_add_are_borrowed() {
        let points = [G1Affine::generator(); 3];
        let adding = Adding::new(&points, &[[1; 32]; 3]);
        assert!(matches!(adding.points, Cow::Borrowed(_)));
        assert_eq!(adding.scalars, [scalar_from_bytes::<Fr>(&[1; 32]); 3]);
    }

    #[test]
    fn pairs_that_add_nothing_are_left_out() {
        let points = [G1Affine::generator(), G1Affine::identity(), -G1Affine::generator()];
        let adding = Adding::new(&points, &[[0; 32], [1; 32], [2; 32]]);
        assert_eq!(adding.points[..], [-G1Affine::generator()]);
        assert_eq!(adding.scalars, [scalar_from_bytes::<Fr>(&[2; 32])]);
    }
}
