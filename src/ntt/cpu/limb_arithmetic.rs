//! Implements the arithmetic of the CPU path on whole vectors. Elements are in Montgomery form as 4 limbs, below 2p
//! between the levels of a transform. A product then needs no last subtraction (Harvey, "Faster arithmetic for
//! number-theoretic transforms", 2014). Inlined, it runs beside its neighbours, which calls of a field's assembly do
//! not.

use bytemuck::Pod;

use crate::field::TransformField;
use crate::kernels;
use crate::module_launcher::KernelModule;
use crate::{Error, Result};

/// Represents the arithmetic of transforms modulo a prime p, on elements in Montgomery form.
pub(super) trait Arithmetic: Copy + Send + Sync {
    /// Limbs of an element, as they are in memory.
    type Limbs: Pod + Send + Sync;

    /// Returns the arithmetic of field `F`. Returns an error if elements have other limbs.
    fn for_field<F: TransformField>() -> Result<Self>;

    /// Returns the Montgomery product y·c/R modulo p, below 2p. `y` is below 2p, and `c` below p.
    fn multiply(&self, y: &Self::Limbs, c: &Self::Limbs) -> Self::Limbs;

    /// Returns the butterfly (x + y, x − y) modulo p. Arguments and results are below 2p.
    fn butterfly(&self, x: &Self::Limbs, y: &Self::Limbs) -> (Self::Limbs, Self::Limbs);

    /// Returns `x` modulo p, below p. `x` is below 2p.
    fn reduce(&self, x: &Self::Limbs) -> Self::Limbs;
}

/// Returns the module of transforms over field `F`, whose modulus has as many words as `L`.
pub(super) fn module_with_limbs<F: TransformField, L>() -> Result<KernelModule> {
    let module = KernelModule::find(&kernels::ntt::FAMILY, F::NAME)?;
    let words = module.modulus().len();
    match words * 4 == size_of::<L>() && has_limbs::<F, L>() {
        true => Ok(module),
        false => Err(Error::invalid("ntt", "words of an element", size_of::<L>() / 4, words)),
    }
}

/// Returns whether an element of `F` has the size and the alignment of `L`.
const fn has_limbs<F, L>() -> bool {
    size_of::<F>() == size_of::<L>() && align_of::<F>() == align_of::<L>()
}

/// Holds the four 64-bit limbs of an element, the least significant first.
type Limbs4 = [u64; 4];

/// Holds a prime p with 2p < 2^256, and the constants for arithmetic modulo p.
#[derive(Debug, Clone, Copy)]
pub(super) struct Modulus {
    p: Limbs4,
    /// The number 2p.
    twice: Limbs4,
    /// Montgomery constant −p⁻¹ modulo 2^64.
    inverse: u64,
}

/// Returns x + a·b + carry as two words, the low one first.
#[inline]
fn multiply_add(x: u64, a: u64, b: u64, carry: u64) -> (u64, u64) {
    let sum = u128::from(x) + u128::from(a) * u128::from(b) + u128::from(carry);
    (sum as u64, (sum >> 64) as u64)
}

#[inline]
fn add_with_carry(a: &Limbs4, b: &Limbs4) -> (Limbs4, bool) {
    let mut carry = false;
    let sum = std::array::from_fn(|i| {
        let (sum, over) = a[i].overflowing_add(b[i]);
        let (sum, again) = sum.overflowing_add(u64::from(carry));
        carry = over | again;
        sum
    });
    (sum, carry)
}

#[inline]
fn subtract_with_borrow(a: &Limbs4, b: &Limbs4) -> (Limbs4, bool) {
    let mut borrow = false;
    let difference = std::array::from_fn(|i| {
        let (difference, under) = a[i].overflowing_sub(b[i]);
        let (difference, again) = difference.overflowing_sub(u64::from(borrow));
        borrow = under | again;
        difference
    });
    (difference, borrow)
}

impl Arithmetic for Modulus {
    type Limbs = Limbs4;

    /// Also returns an error if 2p is not below 2^256.
    fn for_field<F: TransformField>() -> Result<Self> {
        let words = module_with_limbs::<F, Limbs4>()?.modulus();
        let p: Limbs4 = std::array::from_fn(|i| u64::from(words[2 * i]) | u64::from(words[2 * i + 1]) << 32);
        // Newton's iteration: each step doubles the number of correct bits.
        let inverse = (0..6).fold(1u64, |x, _| x.wrapping_mul(2u64.wrapping_sub(p[0].wrapping_mul(x))));
        let (twice, over) = add_with_carry(&p, &p);
        if over {
            return Err(Error::invalid("ntt", "bits of the modulus", "below 256", 256));
        }
        Ok(Self { p, twice, inverse: inverse.wrapping_neg() })
    }

    /// Each round leaves at most c + p, so nothing overflows.
    #[inline]
    fn multiply(&self, y: &Limbs4, c: &Limbs4) -> Limbs4 {
        let mut t = [0u64; 4];
        for digit in y {
            let (low, mut carry) = multiply_add(t[0], *digit, c[0], 0);
            let m = low.wrapping_mul(self.inverse);
            let (_, mut reduction) = multiply_add(low, m, self.p[0], 0);
            for j in 1..4 {
                let (sum, next) = multiply_add(t[j], *digit, c[j], carry);
                carry = next;
                (t[j - 1], reduction) = multiply_add(sum, m, self.p[j], reduction);
            }
            t[3] = carry.wrapping_add(reduction);
        }
        t
    }

    #[inline]
    fn butterfly(&self, x: &Limbs4, y: &Limbs4) -> (Limbs4, Limbs4) {
        let (sum, carry) = add_with_carry(x, y);
        let (less, borrow) = subtract_with_borrow(&sum, &self.twice);
        let keep = u64::from(borrow && !carry).wrapping_neg();
        let sum = std::array::from_fn(|i| (sum[i] & keep) | (less[i] & !keep));
        let (difference, borrow) = subtract_with_borrow(x, y);
        let mask = u64::from(borrow).wrapping_neg();
        let (difference, _) = add_with_carry(&difference, &self.twice.map(|limb| limb & mask));
        (sum, difference)
    }

    #[inline]
    fn reduce(&self, x: &Limbs4) -> Limbs4 {
        let (less, borrow) = subtract_with_borrow(x, &self.p);
        let keep = u64::from(borrow).wrapping_neg();
        std::array::from_fn(|i| (x[i] & keep) | (less[i] & !keep))
    }
}

/// Returns the elements of `values` as limbs, in Montgomery form, without copying. Panics if elements have other limbs.
pub(super) fn limbs_of<F: TransformField, L: Pod>(values: &[F]) -> &[L] {
    assert!(has_limbs::<F, L>());
    // SAFETY: `TransformField` promises little-endian limbs, and sizes and alignments are equal.
    unsafe { std::slice::from_raw_parts(values.as_ptr().cast(), values.len()) }
}

/// Returns the elements of `values` as mutable limbs, in Montgomery form, without copying. Panics if elements have other
/// limbs.
///
/// # Safety
/// The caller writes only limbs below p.
pub(super) unsafe fn limbs_of_mut<F: TransformField, L: Pod>(values: &mut [F]) -> &mut [L] {
    assert!(has_limbs::<F, L>());
    // SAFETY: as in `limbs_of`; the caller promises valid contents.
    unsafe { std::slice::from_raw_parts_mut(values.as_mut_ptr().cast(), values.len()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn element_from_limbs<F: TransformField>(limbs: Limbs4) -> F {
        let mut value = [F::ZERO];
        // SAFETY: callers pass reduced limbs.
        let memory = unsafe { limbs_of_mut(&mut value) };
        memory[0] = limbs;
        value[0]
    }

    /// Checks products, sums and differences against those of field `F`, for arguments below p and from p to 2p.
    fn check_field_arithmetic<F: TransformField>() {
        let modulus = Modulus::for_field::<F>().expect("a field of 4 limbs");
        let mut values = vec![F::ZERO, F::ONE, -F::ONE, F::ROOT_OF_UNITY, F::MULTIPLICATIVE_GENERATOR, F::TWO_INV];
        values.extend((0..50).scan(F::ROOT_OF_UNITY, |x, _| {
            *x = x.square() + F::ONE;
            Some(*x)
        }));
        for x in &values {
            for y in &values {
                let [x_limbs, y_limbs] = [limbs_of(&[*x])[0], limbs_of(&[*y])[0]];
                for larger in [y_limbs, add_with_carry(&y_limbs, &modulus.p).0] {
                    let product = modulus.multiply(&larger, &x_limbs);
                    assert!(
                        subtract_with_borrow(&product, &modulus.twice).1
                            && element_from_limbs::<F>(modulus.reduce(&product)) == *x * y
                    );
                    for first in [x_limbs, add_with_carry(&x_limbs, &modulus.p).0] {
                        let (sum, difference) = modulus.butterfly(&first, &larger);
                        assert!(
                            subtract_with_borrow(&sum, &modulus.twice).1
                                && subtract_with_borrow(&difference, &modulus.twice).1
                        );
                        assert!(element_from_limbs::<F>(modulus.reduce(&sum)) == *x + y);
                        assert!(element_from_limbs::<F>(modulus.reduce(&difference)) == *x - y);
                    }
                }
            }
        }
    }

    #[test]
    fn arithmetic_is_the_fields_in_all() {
        check_field_arithmetic::<crate::curve::bls12_377::Fr>();
        check_field_arithmetic::<blstrs::Scalar>();
        check_field_arithmetic::<halo2curves::bn256::Fr>();
        check_field_arithmetic::<pasta_curves::Fp>();
        check_field_arithmetic::<pasta_curves::Fq>();
    }
}
