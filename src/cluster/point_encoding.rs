//! Encodes points in messages: affine, as devices have them.

use group::Curve;
use num_bigint::BigUint;

use crate::Result;
use crate::curve::MsmCurve;
use crate::kernels::Family;
use crate::module_launcher::KernelModule;

/// Encodes `sums` as affine points in the memory layout of devices, [`MsmCurve::AFFINE_BYTES`] bytes each.
pub(super) fn to_bytes<C: MsmCurve>(sums: &[C::Curve]) -> Vec<u8> {
    sums.iter().flat_map(|sum| C::to_device(&[sum.to_affine()]).into_owned()).collect()
}

/// Decodes the points that [`to_bytes`] encoded.
pub(super) fn from_bytes<C: MsmCurve>(bytes: &[u8]) -> Result<Vec<C::Curve>> {
    let one = montgomery_one::<C>()?;
    let jacobian = |affine: &[u8]| {
        // Infinity is all zeros, in either form.
        let is_infinity = affine.iter().all(|byte| *byte == 0);
        let z = if is_infinity { vec![0; one.len()] } else { one.clone() };
        C::from_device(&[affine, &z].concat())
    };
    Ok(bytes.chunks_exact(C::AFFINE_BYTES).map(jacobian).collect())
}

/// Returns the number 1 in Montgomery form, as the little-endian bytes of a coordinate of curve `C`.
fn montgomery_one<C: MsmCurve>() -> Result<Vec<u8>> {
    let modulus = BigUint::from_slice(KernelModule::for_family(Family::Msm, C::NAME)?.modulus());
    let bits = 32 * modulus.bits().div_ceil(32);
    let mut one = ((BigUint::from(1u8) << bits) % modulus).to_bytes_le();
    one.resize(C::AFFINE_BYTES / 2, 0);
    Ok(one)
}

#[cfg(test)]
mod tests {
    use group::Group;

    use super::*;

    fn check_round_trip<C: MsmCurve>() {
        let g = C::Curve::generator();
        let points = [C::Curve::identity(), g, g.double() + g];
        let bytes = to_bytes::<C>(&points);
        assert_eq!(bytes.len(), 3 * C::AFFINE_BYTES);
        assert_eq!(from_bytes::<C>(&bytes).expect("a known curve"), points);
    }

    #[test]
    fn points_come_back() {
        check_round_trip::<blstrs::G1Affine>();
        check_round_trip::<blstrs::G2Affine>();
        check_round_trip::<halo2curves::bn256::G1Affine>();
        check_round_trip::<halo2curves::bn256::G2Affine>();
        check_round_trip::<pasta_curves::EpAffine>();
        check_round_trip::<pasta_curves::EqAffine>();
    }
}
