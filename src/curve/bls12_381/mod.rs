//! Implements BLS12-381 by the types of blstrs, whose memory is blst's.

mod single_thread;

use std::borrow::Cow;

use blst::{blst_p1, blst_p1_affine, blst_p2, blst_p2_affine};
use blstrs::{G1Affine, G1Projective, G2Affine, G2Projective};

use super::MsmCurve;
use super::scalar_bytes::reduce_scalars;
use crate::kernels::bls12_381;

/// Implements [`MsmCurve`] for an affine type of blstrs, a `repr(transparent)` wrapper of blst's type.
macro_rules! blst_curve {
    ($affine:ty, $projective:ty, $raw_affine:ty, $raw:ty, $name:expr, $alone:path) => {
        const _: () = assert!(size_of::<$affine>() == size_of::<$raw_affine>());
        const _: () = assert!(size_of::<$projective>() == size_of::<$raw>());
        impl MsmCurve for $affine {
            const NAME: &'static str = $name;
            const AFFINE_BYTES: usize = size_of::<$raw_affine>();
            const SCALAR_BITS: u32 = 255;
            const HAS_GPU_DECODE: bool = true;

            fn to_device(points: &[Self]) -> Cow<'_, [u8]> {
                // SAFETY: the type is a transparent wrapper of blst's C struct of u64 limbs, which has
                // no padding.
                Cow::Borrowed(unsafe { std::slice::from_raw_parts(points.as_ptr().cast(), size_of_val(points)) })
            }

            fn from_device(jacobian: &[u8]) -> Self::Curve {
                assert_eq!(jacobian.len(), size_of::<$raw>());
                // SAFETY: the length was checked, and the type is a transparent wrapper of blst's C
                // struct of u64 limbs, for which all bit patterns are values; reading is unaligned.
                unsafe { std::ptr::read_unaligned(jacobian.as_ptr().cast()) }
            }

            fn msm_cpu(points: &[Self], scalars: &[[u8; 32]]) -> Self::Curve {
                use blst::MultiPoint;
                if points.is_empty() {
                    return <$projective as group::Group>::identity();
                }
                // SAFETY: as in `to_device`.
                let raw = unsafe { std::slice::from_raw_parts(points.as_ptr().cast::<$raw_affine>(), points.len()) };
                let scalars = reduce_scalars::<Self::Scalar>(scalars);
                let bits = Self::SCALAR_BITS as usize;
                let threads = single_thread::has_threads();
                let sum = if threads { raw.mult(scalars.as_flattened(), bits) } else { $alone(raw, &scalars, bits) };
                // SAFETY: the type is a transparent wrapper of the same struct.
                unsafe { std::mem::transmute::<$raw, $projective>(sum) }
            }

            fn is_on_curve(&self) -> bool {
                self.is_on_curve().into()
            }

            fn is_torsion_free(&self) -> bool {
                self.is_torsion_free().into()
            }
        }
    };
}

blst_curve!(G1Affine, G1Projective, blst_p1_affine, blst_p1, bls12_381::G1.name, single_thread::p1_sum);
blst_curve!(G2Affine, G2Projective, blst_p2_affine, blst_p2, bls12_381::G2.name, single_thread::p2_sum);
