//! Implements the arithmetic of transforms in prime fields of one 32-bit limb, with 2p below 2^32.

use super::limb_arithmetic::{Arithmetic, module_with_limbs};
use crate::field::TransformField;
use crate::module_launcher::KernelModule;
use crate::{Error, Result};

/// Holds a prime p with 2p < 2^32, and the constant of Montgomery's reduction.
#[derive(Debug, Clone, Copy)]
pub(super) struct OneLimbModulus {
    p: u32,
    /// Montgomery constant −p⁻¹ modulo 2^32.
    inverse: u32,
}

impl OneLimbModulus {
    /// Returns the modulus of the field of `module`. Returns an error if 2p is not below 2^32.
    fn of_module(module: KernelModule) -> Result<Self> {
        match module.modulus() {
            &[p] if p >> 31 == 0 => Ok(Self { p, inverse: module.inv32() }),
            _ => Err(Error::invalid("ntt", "bits of the modulus", "below 32", 32 * module.modulus().len())),
        }
    }
}

impl Arithmetic for OneLimbModulus {
    type Limbs = u32;

    /// Also returns an error if 2p is not below 2^32.
    fn for_field<F: TransformField>() -> Result<Self> {
        Self::of_module(module_with_limbs::<F, u32>()?)
    }

    /// y·c is below 2p·p, so that the sum with p times a word is below 2^64.
    #[inline]
    fn multiply(&self, y: &u32, c: &u32) -> u32 {
        let product = u64::from(*y) * u64::from(*c);
        let m = (product as u32).wrapping_mul(self.inverse);
        ((product + u64::from(m) * u64::from(self.p)) >> 32) as u32
    }

    #[inline]
    fn butterfly(&self, x: &u32, y: &u32) -> (u32, u32) {
        let (twice, sum) = (2 * self.p, u64::from(*x) + u64::from(*y));
        let sum = if sum >= u64::from(twice) { sum - u64::from(twice) } else { sum };
        let (difference, borrow) = x.overflowing_sub(*y);
        (sum as u32, if borrow { difference.wrapping_add(twice) } else { difference })
    }

    #[inline]
    fn reduce(&self, x: &u32) -> u32 {
        (*x).min(x.wrapping_sub(self.p))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks products, sums and differences against those of whole numbers, for arguments at both ends of the ranges.
    #[test]
    fn arithmetic_is_modulo_p() {
        for (name, p) in [("baby_bear", 15u64 * (1 << 27) + 1), ("koala_bear", 127 * (1 << 24) + 1)] {
            let module = KernelModule::find(&crate::kernels::ntt::FAMILY, name).expect("a module");
            let modulus = OneLimbModulus::of_module(module).expect("one limb");
            assert_eq!(u64::from(modulus.p), p);
            let values = [0, 1, 2, p / 2, p - 2, p - 1, p, p + 1, 2 * p - 2, 2 * p - 1];
            for (x, y) in values.iter().flat_map(|x| values.map(|y| (*x, y))) {
                let (sum, difference) = modulus.butterfly(&(x as u32), &(y as u32));
                assert_eq!(u64::from(modulus.reduce(&sum)), (x + y) % p);
                assert_eq!(u64::from(modulus.reduce(&difference)), (x + 2 * p - y) % p);
                let product = modulus.multiply(&(y as u32), &((x % p) as u32));
                let shifted = u128::from(modulus.reduce(&product)) << 32;
                assert_eq!(shifted % u128::from(p), u128::from(x) * u128::from(y) % u128::from(p));
            }
        }
    }
}
