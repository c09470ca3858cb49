//! Implements Pallas and Vesta by the types of `pasta_curves`, whose feature `repr-c` fixes their layout.

use std::borrow::Cow;

use pasta_curves::arithmetic::CurveAffine;
use pasta_curves::{Ep, EpAffine, Eq, EqAffine};

use super::MsmCurve;
use super::halo2curves_msm::halo2curves_msm;
use crate::kernels::pasta;

/// Implements [`MsmCurve`] for an affine type of `pasta_curves`, over a field of four 64-bit limbs.
macro_rules! pasta_curve {
    ($affine:ty, $projective:ty, $name:expr) => {
        const _: () = assert!(size_of::<$affine>() == 64 && size_of::<$projective>() == 96);
        impl MsmCurve for $affine {
            const NAME: &'static str = $name;
            const AFFINE_BYTES: usize = size_of::<$affine>();
            const SCALAR_BITS: u32 = 255;

            fn to_device(points: &[Self]) -> Cow<'_, [u8]> {
                // SAFETY: the type is `repr(C)`: x, then y, both transparent wrappers of `[u64; 4]` in
                // Montgomery form, so it has no padding. Infinity is x = y = 0, as on the device.
                Cow::Borrowed(unsafe { std::slice::from_raw_parts(points.as_ptr().cast(), size_of_val(points)) })
            }

            fn from_device(jacobian: &[u8]) -> Self::Curve {
                assert_eq!(jacobian.len(), size_of::<$projective>());
                // SAFETY: the length was checked, and the type is `repr(C)` of Jacobian x, y and z, each a
                // transparent wrapper of `[u64; 4]`, for which all bit patterns are values; reading is
                // unaligned.
                unsafe { std::ptr::read_unaligned(jacobian.as_ptr().cast::<$projective>()) }
            }

            fn msm_cpu(points: &[Self], scalars: &[[u8; 32]]) -> Self::Curve {
                halo2curves_msm(points, scalars)
            }

            fn is_on_curve(&self) -> bool {
                CurveAffine::is_on_curve(self).into()
            }

            fn is_torsion_free(&self) -> bool {
                // The curve's order is prime.
                true
            }
        }
    };
}

pasta_curve!(EpAffine, Ep, pasta::PALLAS.name);
pasta_curve!(EqAffine, Eq, pasta::VESTA.name);
