//! BN254 by the types of halo2curves, whose layout is not fixed: points are written coordinate by coordinate.

use std::borrow::Cow;

use group::Group;
use group::cofactor::CofactorGroup;
use group::prime::PrimeCurveAffine;
use halo2curves::CurveAffine;
use halo2curves::bn256::{Fq, Fq2, G1, G1Affine, G2, G2Affine};
use halo2curves::serde::SerdeObject;
use rayon::prelude::*;

use super::{MsmCurve, msm_best};

/// Points of a parallel piece: enough work to outweigh handing it over.
const MIN_PIECE: usize = 1 << 10;

/// Coordinates in Montgomery form, little-endian, as raw bytes have them; infinity is all zero in both.
fn write_points<C: SerdeObject + Sync>(points: &[C], point_bytes: usize) -> Vec<u8> {
    let mut bytes = vec![0; points.len() * point_bytes];
    bytes.par_chunks_exact_mut(point_bytes).zip(points).with_min_len(MIN_PIECE).for_each(|(mut bytes, point)| {
        let written = point.write_raw(&mut bytes);
        debug_assert!(written.is_ok() && bytes.is_empty(), "a point fills its bytes exactly");
    });
    bytes
}

/// X, Y and Z from bytes as long as three coordinates.
fn read_coordinates<F: SerdeObject>(bytes: &[u8]) -> [F; 3] {
    let length = bytes.len() / 3;
    [0, 1, 2].map(|i| F::from_raw_bytes_unchecked(&bytes[i * length..(i + 1) * length]))
}

macro_rules! bn254_curve {
    ($affine:ty, $projective:ident, $base:ty, $affine_bytes:expr, $name:literal) => {
        impl MsmCurve for $affine {
            const NAME: &'static str = $name;
            const AFFINE_BYTES: usize = $affine_bytes;
            const SCALAR_BITS: u32 = 254;

            fn to_device(points: &[Self]) -> Cow<'_, [u8]> {
                Cow::Owned(write_points(points, Self::AFFINE_BYTES))
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
                msm_best(points, scalars)
            }

            fn lies_on_curve(&self) -> bool {
                self.is_on_curve().into()
            }

            fn lies_in_subgroup(&self) -> bool {
                self.to_curve().is_torsion_free().into()
            }
        }
    };
}

bn254_curve!(G1Affine, G1, Fq, 64, "bn254_g1");
bn254_curve!(G2Affine, G2, Fq2, 128, "bn254_g2");
