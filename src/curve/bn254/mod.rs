//! Implements BN254 by the types of halo2curves, whose layout is not promised. Their memory is used directly if the
//! compiler has laid it out as the device needs it, which it does. Otherwise points are written coordinate by
//! coordinate.

#[cfg(feature = "halo2")]
mod axiom;

use std::borrow::Cow;

use group::Group;
use group::cofactor::CofactorGroup;
use group::prime::PrimeCurveAffine;
use halo2curves::CurveAffine;
use halo2curves::bn256::{Fq, Fq2, G1, G1Affine, G2, G2Affine};
use halo2curves::serde::SerdeObject;
use rayon::prelude::*;

use super::scalar_bytes::MIN_PIECE;
use super::{MsmCurve, halo2curves_msm};
use crate::kernels::bn254;

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
fn read_coordinates<F: SerdeObject>(bytes: &[u8]) -> [F; 3] {
    let length = bytes.len() / 3;
    [0, 1, 2].map(|i| F::from_raw_bytes_unchecked(&bytes[i * length..(i + 1) * length]))
}

macro_rules! bn254_curve {
    ($affine:ty, $projective:ident, $base:ty, $affine_bytes:expr, $name:expr) => {
        impl MsmCurve for $affine {
            const NAME: &'static str = $name;
            const AFFINE_BYTES: usize = $affine_bytes;
            const SCALAR_BITS: u32 = 254;

            fn to_device(points: &[Self]) -> Cow<'_, [u8]> {
                try_as_device_bytes(points, Self::AFFINE_BYTES)
                    .map_or_else(|| Cow::Owned(write_points(points, Self::AFFINE_BYTES)), Cow::Borrowed)
            }

            fn from_device(jacobian: &[u8]) -> Self::Curve {
                assert_eq!(jacobian.len(), 3 * Self::AFFINE_BYTES / 2);
                let [x, y, z] = read_coordinates::<$base>(jacobian);
                if z == <$base>::zero() {
                    return $projective::identity();
                }
                // halo2curves has homogeneous coordinates: X·Z/Z³ = X/Z² and Y/Z³.
                $projective { x: x * z, y, z: z * z * z }
            }

            fn msm_cpu(points: &[Self], scalars: &[[u8; 32]]) -> Self::Curve {
                halo2curves_msm(points, scalars)
            }

            fn is_on_curve(&self) -> bool {
                CurveAffine::is_on_curve(self).into()
            }

            fn is_torsion_free(&self) -> bool {
                self.to_curve().is_torsion_free().into()
            }
        }
    };
}

bn254_curve!(G1Affine, G1, Fq, 64, bn254::G1.name);
bn254_curve!(G2Affine, G2, Fq2, 128, bn254::G2.name);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_used_as_it_is() {
        let points = [G1Affine::generator(), G1Affine::identity(), -G1Affine::generator()];
        assert_eq!(try_as_device_bytes(&points, 64).map(<[u8]>::to_vec), Some(write_points(&points, 64)));
        let points = [G2Affine::generator(), G2Affine::identity(), -G2Affine::generator()];
        assert_eq!(try_as_device_bytes(&points, 128).map(<[u8]>::to_vec), Some(write_points(&points, 128)));
    }
}
