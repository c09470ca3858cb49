//! Prepares the pairs of a sum on the CPU, copied only if necessary; copies of scalars are cleared.

use std::borrow::Cow;

#[cfg(feature = "halo2")]
use ff::Field;
use ff::PrimeField;
use group::prime::PrimeCurveAffine;
use rayon::prelude::*;

use super::scalar_bytes::{MIN_PIECE, scalar_from_bytes};
use crate::secret_vec::{SecretCow, SecretVec};

/// Holds the nonzero terms (points with their scalars) of a sum, for CPU code that accepts no infinity among its
/// points. Copies of scalars are cleared when dropped.
pub(super) struct NonZeroTerms<'a, C: PrimeCurveAffine> {
    pub points: Cow<'a, [C]>,
    pub scalars: SecretCow<'a, C::Scalar>,
}

impl<'a, C: PrimeCurveAffine> NonZeroTerms<'a, C>
where
    C::Scalar: PrimeField,
{
    /// Selects the nonzero terms of `points` and as many `scalars`, little-endian numbers below 2^256. Borrows `points`
    /// if all terms are nonzero.
    pub(super) fn new(points: &'a [C], scalars: &[[u8; 32]]) -> Self {
        let scalar = |i: usize| scalar_from_bytes(&scalars[i]);
        match nonzero_term_indices(points, |i| scalars[i] != [0; 32]) {
            None => {
                let all = (0..scalars.len()).into_par_iter().with_min_len(MIN_PIECE);
                Self { points: Cow::Borrowed(points), scalars: SecretCow::Owned(SecretVec(all.map(scalar).collect())) }
            }
            Some(which) => Self::from_indices(points, &which, scalar),
        }
    }

    /// Selects the nonzero terms of `points` and as many `scalars`, given as field elements. Borrows both if all terms
    /// are nonzero.
    #[cfg(feature = "halo2")]
    pub(super) fn from_elements(points: &'a [C], scalars: &'a [C::Scalar]) -> Self {
        match nonzero_term_indices(points, |i| !scalars[i].is_zero_vartime()) {
            None => Self { points: Cow::Borrowed(points), scalars: SecretCow::Borrowed(scalars) },
            Some(which) => Self::from_indices(points, &which, |i| scalars[i]),
        }
    }

    /// Copies the points with the indices `which`, and the scalars that `scalar` returns for these indices.
    fn from_indices(points: &[C], which: &[usize], scalar: impl Fn(usize) -> C::Scalar + Sync) -> Self {
        Self {
            points: which.par_iter().map(|i| points[*i]).collect(),
            scalars: SecretCow::Owned(SecretVec(which.par_iter().map(|i| scalar(*i)).collect())),
        }
    }
}

/// Returns the indices of the nonzero terms in ascending order, or `None` if all terms are nonzero. `adds` returns
/// whether the scalar with an index is nonzero.
fn nonzero_term_indices<C: PrimeCurveAffine>(points: &[C], adds: impl Fn(usize) -> bool + Sync) -> Option<Vec<usize>> {
    let adds = |i: &usize| !bool::from(points[*i].is_identity()) && adds(*i);
    let all = (0..points.len()).into_par_iter().with_min_len(MIN_PIECE);
    (!all.clone().all(|i| adds(&i))).then(|| all.filter(adds).collect())
}

#[cfg(test)]
mod tests {
    use halo2curves::bn256::{Fr, G1Affine};

    use super::*;

    #[test]
    fn all_pairs_that_add_are_borrowed() {
        let points = [G1Affine::generator(); 3];
        let adding = NonZeroTerms::new(&points, &[[1; 32]; 3]);
        assert!(matches!(adding.points, Cow::Borrowed(_)));
        assert_eq!(adding.scalars[..], [scalar_from_bytes::<Fr>(&[1; 32]); 3]);
    }

    #[test]
    fn pairs_that_add_nothing_are_left_out() {
        let points = [G1Affine::generator(), G1Affine::identity(), -G1Affine::generator()];
        let adding = NonZeroTerms::new(&points, &[[0; 32], [1; 32], [2; 32]]);
        assert_eq!(adding.points[..], [-G1Affine::generator()]);
        assert_eq!(adding.scalars[..], [scalar_from_bytes::<Fr>(&[2; 32])]);
    }

    #[test]
    #[cfg(feature = "halo2")]
    fn elements_are_borrowed_where_all_add() {
        let (points, two) = ([G1Affine::generator(); 2], Fr::from(2));
        let scalars = [two, two];
        let adding = NonZeroTerms::from_elements(&points, &scalars);
        assert!(matches!((&adding.points, &adding.scalars), (Cow::Borrowed(_), SecretCow::Borrowed(_))));
        let scalars = [Fr::from(0), two];
        let adding = NonZeroTerms::from_elements(&points, &scalars);
        assert_eq!((&adding.points[..], &adding.scalars[..]), (&points[1..], &scalars[1..]));
    }
}
