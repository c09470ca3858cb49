//! Converts scalars to and from integers.

use ff::PrimeField;
use num_bigint::BigUint;

use super::curve_id::CurveId;

/// Returns the scalar with the 32 little-endian `bytes`, or `None` if they are at least r. Both libraries' encodings of
/// scalars are little-endian.
pub(crate) fn scalar_from_bytes<F: PrimeField>(bytes: &[u8]) -> Option<F> {
    let mut encoding = F::Repr::default();
    let target = encoding.as_mut();
    if target.len() != bytes.len() {
        return None;
    }
    target.copy_from_slice(bytes);
    F::from_repr(encoding).into()
}

/// Returns the scalar that equals `number`, or `None` if that is at least r.
pub(crate) fn scalar_from_integer<F: PrimeField>(number: &BigUint) -> Option<F> {
    let mut bytes = number.to_bytes_le();
    let length = F::Repr::default().as_ref().len();
    if bytes.len() > length {
        return None;
    }
    bytes.resize(length, 0);
    scalar_from_bytes(&bytes)
}

/// Returns the 32 little-endian bytes of `scalar`.
pub(crate) fn scalar_to_bytes(scalar: &impl PrimeField) -> [u8; CurveId::SCALAR_BYTES] {
    let mut bytes = [0; CurveId::SCALAR_BYTES];
    bytes.iter_mut().zip(scalar.to_repr().as_ref()).for_each(|(to, from)| *to = *from);
    bytes
}

/// Returns the integer that equals `scalar`, below r.
pub(crate) fn scalar_to_integer(scalar: &impl PrimeField) -> BigUint {
    BigUint::from_bytes_le(scalar.to_repr().as_ref())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check<F: PrimeField>() {
        let number = BigUint::from(0x0102_0304_0506_0708_u64);
        let scalar = scalar_from_integer::<F>(&number).expect("a scalar");
        assert_eq!(scalar, F::from(0x0102_0304_0506_0708_u64));
        assert_eq!(scalar_to_integer(&scalar), number);
        assert_eq!(scalar_from_bytes(&scalar_to_bytes(&scalar)), Some(scalar));
        let r = BigUint::parse_bytes(F::MODULUS.trim_start_matches("0x").as_bytes(), 16).expect("digits");
        assert_eq!(scalar_from_integer::<F>(&r), None);
        assert_eq!(scalar_from_integer::<F>(&(&r << 64)), None);
        assert_eq!(scalar_from_integer::<F>(&(r - 1_u8)), Some(-F::ONE));
    }

    #[test]
    fn scalars_are_little_endian_and_below_r() {
        check::<halo2curves::bn256::Fr>();
        check::<blstrs::Scalar>();
    }
}
