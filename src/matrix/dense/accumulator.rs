//! Accumulates unreduced products of numbers of 256 bits on the host's cores.

use super::element::limbs;
use crate::field::Element;

/// Holds a sum of unreduced products of two elements below 2^255, in nine little-endian 64-bit limbs. Up to 2^66
/// products fit.
#[derive(Default, Clone, Copy)]
pub(super) struct WideAccumulator(pub [u64; 9]);

impl WideAccumulator {
    pub fn add_product(&mut self, a: [u64; 4], b: [u64; 4]) {
        let mut product = [0u64; 8];
        for i in 0..4 {
            let mut carry = 0;
            for j in 0..4 {
                let word = u128::from(a[i]) * u128::from(b[j]) + u128::from(product[i + j]) + carry;
                product[i + j] = word as u64;
                carry = word >> 64;
            }
            product[i + 4] = carry as u64;
        }
        self.0[8] += add_with_carry(&mut self.0[..8], &product);
    }

    /// Adds `number`·2^(64·`at`) to the sum. `number` is below 2^127, and the result must fit the nine limbs.
    #[cfg(target_arch = "x86_64")]
    pub fn add_shifted(&mut self, at: usize, number: u128) {
        let mut more = [0; 9];
        more[0] = number as u64;
        more[1] = (number >> 64) as u64;
        add_with_carry(&mut self.0[at..], &more);
    }
}

/// Holds a sum of products of an integer below 2^32 and an element, in five little-endian 64-bit limbs. At least 2^32
/// products fit.
#[derive(Default, Clone, Copy)]
pub(super) struct NarrowAccumulator(pub [u64; 5]);

impl NarrowAccumulator {
    pub fn add_product(&mut self, a: u64, b: [u64; 4]) {
        let mut carry = 0;
        for (sum, limb) in self.0.iter_mut().zip(b) {
            let word = u128::from(a) * u128::from(limb) + u128::from(*sum) + carry;
            *sum = word as u64;
            carry = word >> 64;
        }
        self.0[4] += carry as u64;
    }
}

/// Adds the little-endian number `from` to `to` over their common length and returns the carry, 0 or 1. It uses
/// overflow flags, which compilers turn into additions with carry, unlike sums of wider words.
pub(super) fn add_with_carry(to: &mut [u64], from: &[u64]) -> u64 {
    let carry = to.iter_mut().zip(from).fold(false, |carry, (to, from)| {
        let (word, first) = to.overflowing_add(*from);
        let (word, second) = word.overflowing_add(u64::from(carry));
        *to = word;
        first | second
    });
    u64::from(carry)
}

/// Adds the unreduced dot product Σ a\[i\]·b\[i\] of the stored limbs to `sum`.
pub(super) fn add_products<F: Element>(sum: &mut WideAccumulator, a: &[F], b: &[F]) {
    a.iter().zip(b).for_each(|(a, b)| sum.add_product(limbs(a), limbs(b)));
}
