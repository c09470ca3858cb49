//! Implements BN254 G1 by the types of halo2curves-axiom, which halo2-axiom proves with. They are halo2curves' types
//! under other names: the same limbs in the same form. Memory is used directly if the compiler has laid it out as the
//! device needs it, as with halo2curves.

use std::borrow::Cow;

use group::Group;
use group::cofactor::CofactorGroup;
use group::prime::PrimeCurveAffine;
use halo2curves_axiom::CurveAffine;
use halo2curves_axiom::bn256::{Fq, Fr, G1, G1Affine};
use halo2curves_axiom::msm::msm_best;
use halo2curves_axiom::serde::SerdeObject;
use rayon::prelude::*;

use crate::curve::MsmCurve;
use crate::curve::nonzero_terms::NonZeroTerms;
use crate::curve::scalar_bytes::MIN_PIECE;
use crate::field::{Element, try_cast_elements};
use crate::kernels::bn254;

/// Bytes of a coordinate, which is an element of the base field.
const COORDINATE: usize = 32;

/// Encodes `points` in device form: x, then y, each 32 bytes in Montgomery form, little-endian. Infinity is all zero.
fn to_device_bytes(points: &[G1Affine]) -> Vec<u8> {
    let mut bytes = vec![0; points.len() * G1Affine::AFFINE_BYTES];
    let places = bytes.par_chunks_exact_mut(G1Affine::AFFINE_BYTES).zip(points).with_min_len(MIN_PIECE);
    places.for_each(|(place, point)| {
        place[..COORDINATE].copy_from_slice(&point.x.to_raw_bytes());
        place[COORDINATE..].copy_from_slice(&point.y.to_raw_bytes());
    });
    bytes
}

/// Returns the memory of `points` without a copy. Returns `None` if its layout differs from the device form, which is
/// the output of [`to_device_bytes`].
fn try_as_device_bytes(points: &[G1Affine]) -> Option<&[u8]> {
    // SAFETY: used only if a point is as large as its coordinates together, so that it has no padding; both are
    // integers.
    let memory = |points: &[G1Affine]| unsafe {
        std::slice::from_raw_parts(points.as_ptr().cast::<u8>(), size_of_val(points)).to_vec()
    };
    // The generator's coordinates differ, and so reveal their order.
    let generator = [G1Affine::generator()];
    let same = size_of::<G1Affine>() == G1Affine::AFFINE_BYTES && memory(&generator) == to_device_bytes(&generator);
    // SAFETY: as above.
    same.then(|| unsafe { std::slice::from_raw_parts(points.as_ptr().cast(), size_of_val(points)) })
}

impl MsmCurve for G1Affine {
    const NAME: &'static str = bn254::G1.name;
    const AFFINE_BYTES: usize = 2 * COORDINATE;
    const SCALAR_BITS: u32 = 254;

    fn to_device(points: &[Self]) -> Cow<'_, [u8]> {
        try_as_device_bytes(points).map_or_else(|| Cow::Owned(to_device_bytes(points)), Cow::Borrowed)
    }

    fn from_device(jacobian: &[u8]) -> Self::Curve {
        assert_eq!(jacobian.len(), 3 * COORDINATE);
        let [x, y, z] =
            [0, 1, 2].map(|i| Fq::from_raw_bytes_unchecked(&jacobian[i * COORDINATE..(i + 1) * COORDINATE]));
        if z == Fq::zero() {
            return G1::identity();
        }
        // Converts to homogeneous coordinates, as in halo2curves: X·Z/Z³ = X/Z² and Y/Z³.
        G1 { x: x * z, y, z: z * z * z }
    }

    fn msm_cpu(points: &[Self], scalars: &[[u8; 32]]) -> Self::Curve {
        let adding = NonZeroTerms::new(points, scalars);
        msm_best(&adding.scalars, &adding.points)
    }

    /// Multiplies by `elements` without converting them, as halo2-axiom does on a host without a device. Returns `None`
    /// if `field` is another field or their memory is not aligned.
    fn msm_cpu_elements(points: &[Self], field: &str, elements: &[[u8; 32]]) -> Option<Self::Curve> {
        // SAFETY: the caller promises the memory of elements of the field, which is that of the scalars.
        let elements = (field == Fr::NAME).then(|| unsafe { try_cast_elements(elements) }).flatten()?;
        let adding = NonZeroTerms::from_elements(points, elements);
        Some(msm_best(&adding.scalars, &adding.points))
    }

    fn is_on_curve(&self) -> bool {
        CurveAffine::is_on_curve(self).into()
    }

    fn is_torsion_free(&self) -> bool {
        self.to_curve().is_torsion_free().into()
    }
}

#[cfg(test)]
mod tests {
    use ff::PrimeField;
    use halo2curves::bn256 as other;
    use halo2curves::serde::SerdeObject as _;

    use super::*;
    use crate::curve::scalar_to_bytes;
    use crate::field::as_bytes;

    #[test]
    fn memory_is_used_as_it_is() {
        let points = [G1Affine::generator(), G1Affine::identity(), -G1Affine::generator()];
        assert_eq!(try_as_device_bytes(&points).map(<[u8]>::to_vec), Some(to_device_bytes(&points)));
    }

    /// Checks that values of both crates' types have equal bytes, so that kernels for one crate's types serve the
    /// other's.
    #[test]
    fn same_as_halo2curves() {
        assert_eq!(G1Affine::to_device(&[G1Affine::generator()])[..], other::G1Affine::generator().to_raw_bytes());
        let numbers = |i: u64| (Fr::from(i).square() - Fr::from(7), other::Fr::from(i).square() - other::Fr::from(7));
        for (ours, theirs) in (0..9).map(numbers) {
            assert_eq!(as_bytes(&[ours]), as_bytes(&[theirs]));
        }
        assert_eq!(Fr::ROOT_OF_UNITY.to_repr().as_slice(), other::Fr::ROOT_OF_UNITY.to_repr().as_ref());
        assert_eq!(Fr::DELTA.to_repr().as_slice(), other::Fr::DELTA.to_repr().as_ref());
        assert_eq!(
            Fr::MULTIPLICATIVE_GENERATOR.to_repr().as_slice(),
            other::Fr::MULTIPLICATIVE_GENERATOR.to_repr().as_ref()
        );
    }

    /// Checks that field elements give the same sum as canonical bytes. Elements of another field, or in unaligned
    /// memory, must give `None`.
    #[test]
    fn elements_are_scalars() {
        let points: Vec<_> = (1..9).map(|i| G1Affine::from(G1Affine::generator() * Fr::from(i))).collect();
        let elements: Vec<_> = (0..8).map(|i| Fr::from(i).square() - Fr::from(7)).collect();
        let numbers: Vec<_> = elements.iter().map(|element| scalar_to_bytes(*element)).collect();
        let sum = G1Affine::msm_cpu(&points, &numbers);
        let memory = as_bytes(&elements).as_chunks::<32>().0;
        assert_eq!(G1Affine::msm_cpu_elements(&points, Fr::NAME, memory), Some(sum));
        assert_eq!(G1Affine::msm_cpu_elements(&points, "another field", memory), None);
        let shifted = [&[0][..], as_bytes(&elements), &[0; 7]].concat();
        let odd = usize::from(shifted.as_ptr().addr().is_multiple_of(2));
        assert_eq!(G1Affine::msm_cpu_elements(&points, Fr::NAME, shifted[odd..].as_chunks().0), None);
    }

    #[test]
    fn points_come_back_from_devices() {
        let point = G1Affine::from(G1Affine::generator() * Fr::from(12345));
        let z = Fq::from(77);
        let jacobian = [point.x * z * z, point.y * z * z * z, z].map(|c| c.to_raw_bytes()).concat();
        assert_eq!(G1Affine::from_device(&jacobian), point.to_curve());
        assert_eq!(G1Affine::from_device(&[0; 96]), G1::identity());
    }
}
