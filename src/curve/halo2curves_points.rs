//! Converts points of halo2curves, whose layout is not promised. Their memory is used directly if the compiler has laid
//! it out as the device needs it, which it does. Otherwise points are written coordinate by coordinate.

use std::borrow::Cow;

use group::prime::PrimeCurveAffine;
use halo2curves::serde::SerdeObject;
use rayon::prelude::*;

use super::scalar_bytes::MIN_PIECE;

/// Returns `points` in device form, `point_bytes` bytes each, without a copy if their memory has it.
pub(super) fn to_device_bytes<C: SerdeObject + PrimeCurveAffine>(points: &[C], point_bytes: usize) -> Cow<'_, [u8]> {
    try_as_device_bytes(points, point_bytes)
        .map_or_else(|| Cow::Owned(write_points(points, point_bytes)), Cow::Borrowed)
}

/// Encodes `points` in device form, `point_bytes` bytes each: coordinates in Montgomery form, little-endian. Infinity
/// is all zero.
fn write_points<C: SerdeObject + Sync>(points: &[C], point_bytes: usize) -> Vec<u8> {
    let mut bytes = vec![0; points.len() * point_bytes];
    bytes.par_chunks_exact_mut(point_bytes).zip(points).with_min_len(MIN_PIECE).for_each(|(mut bytes, point)| {
        let written = point.write_raw(&mut bytes);
        debug_assert!(written.is_ok() && bytes.is_empty(), "a point fills its bytes exactly");
    });
    bytes
}

/// Returns the memory of `points` without a copy. Returns `None` if its layout differs from the device form, which is
/// the output of [`write_points`].
fn try_as_device_bytes<C: SerdeObject + PrimeCurveAffine>(points: &[C], point_bytes: usize) -> Option<&[u8]> {
    // SAFETY: used only if a point is as large as its coordinates together, so that it has no padding; all of them are
    // integers.
    let memory = |points: &[C]| unsafe { std::slice::from_raw_parts(points.as_ptr().cast(), size_of_val(points)) };
    let generator = C::generator();
    // The generator's coordinates all differ, and so reveal their order.
    let same = size_of::<C>() == point_bytes && memory(&[generator])[..] == generator.to_raw_bytes();
    same.then(|| memory(points))
}

/// Decodes X, Y and Z, in this order, from `bytes`. Each takes a third of them, in Montgomery form, little-endian.
pub(super) fn read_coordinates<F: SerdeObject>(bytes: &[u8]) -> [F; 3] {
    let length = bytes.len() / 3;
    [0, 1, 2].map(|i| F::from_raw_bytes_unchecked(&bytes[i * length..(i + 1) * length]))
}

/// Implements [`MsmCurve`](super::MsmCurve) for an affine type of halo2curves. Arguments: the affine and the projective
/// type, the field of coordinates, bytes of a point, bits of a scalar, and the name.
macro_rules! halo2curves_curve {
    ($affine:ty, $projective:ident, $base:ty, $affine_bytes:expr, $scalar_bits:expr, $name:expr) => {
        impl $crate::curve::MsmCurve for $affine {
            const NAME: &'static str = $name;
            const AFFINE_BYTES: usize = $affine_bytes;
            const SCALAR_BITS: u32 = $scalar_bits;

            fn to_device(points: &[Self]) -> std::borrow::Cow<'_, [u8]> {
                $crate::curve::halo2curves_points::to_device_bytes(points, Self::AFFINE_BYTES)
            }

            fn from_device(jacobian: &[u8]) -> Self::Curve {
                assert_eq!(jacobian.len(), 3 * Self::AFFINE_BYTES / 2);
                let [x, y, z] = $crate::curve::halo2curves_points::read_coordinates::<$base>(jacobian);
                if z == <$base>::zero() {
                    return group::Group::identity();
                }
                // halo2curves has homogeneous coordinates: X·Z/Z³ = X/Z² and Y/Z³.
                $projective { x: x * z, y, z: z * z * z }
            }

            fn msm_cpu(points: &[Self], scalars: &[[u8; 32]]) -> Self::Curve {
                $crate::curve::halo2curves_msm::halo2curves_msm(points, scalars)
            }

            fn is_on_curve(&self) -> bool {
                halo2curves::CurveAffine::is_on_curve(self).into()
            }

            fn is_torsion_free(&self) -> bool {
                group::cofactor::CofactorGroup::is_torsion_free(&group::prime::PrimeCurveAffine::to_curve(self)).into()
            }
        }
    };
}

pub(super) use halo2curves_curve;

#[cfg(test)]
mod tests {
    use halo2curves::{bn256, grumpkin};

    use super::*;

    fn check_memory_is_used<C: SerdeObject + PrimeCurveAffine>(point_bytes: usize) {
        let points = [C::generator(), C::identity(), -C::generator()];
        assert_eq!(
            try_as_device_bytes(&points, point_bytes).map(<[u8]>::to_vec),
            Some(write_points(&points, point_bytes))
        );
    }

    #[test]
    fn memory_is_used_as_it_is() {
        check_memory_is_used::<bn256::G1Affine>(64);
        check_memory_is_used::<bn256::G2Affine>(128);
        check_memory_is_used::<grumpkin::G1Affine>(64);
    }
}
