//! Knows the roots of unity that snarkjs takes.

use ff::{Field, PrimeField};
use num_bigint::BigUint;
use proofwarp::groth16::QuotientForm;

use crate::groth16::Groth16Engine;

/// Least number that is no square modulo r, for r of BN254 and of BLS12-381. snarkjs's roots are powers of it; those of
/// `halo2curves` and `blstrs` are powers of 7, which would put rows of the matrices in another order.
const NONSQUARE: u64 = 5;

/// Returns the form of the quotient on a domain of order `2^log_n`. It has values on the coset of the elements with odd
/// exponents in the domain of twice the order. If the field has no such domain, snarkjs's shift is the square of the
/// nonsquare.
pub(crate) fn quotient_form<E: Groth16Engine>(log_n: u32) -> QuotientForm<E::Fr> {
    let shift = if log_n < E::Fr::S { root_of_unity::<E>(log_n + 1) } else { nonsquare::<E>().square() };
    QuotientForm::CosetValues { omega: root_of_unity::<E>(log_n), shift }
}

/// Returns the root of unity of order `2^log_n`.
fn root_of_unity<E: Groth16Engine>(log_n: u32) -> E::Fr {
    let order = BigUint::from_bytes_le(E::CURVE.scalar_prime()) - 1_u8;
    nonsquare::<E>().pow_vartime((order >> log_n).to_u64_digits())
}

fn nonsquare<E: Groth16Engine>() -> E::Fr {
    E::Fr::from(NONSQUARE)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check<E: Groth16Engine>() {
        let half = (BigUint::from_bytes_le(E::CURVE.scalar_prime()) >> 1_u8).to_u64_digits();
        let is_square = |number: u64| E::Fr::from(number).pow_vartime(&half) == E::Fr::ONE;
        assert!((1..NONSQUARE).all(is_square) && !is_square(NONSQUARE));
        for log_n in 1..E::Fr::S {
            assert_eq!(root_of_unity::<E>(log_n).pow_vartime([1 << (log_n - 1)]), -E::Fr::ONE);
            let QuotientForm::CosetValues { omega, shift } = quotient_form::<E>(log_n) else { panic!("coset values") };
            assert_eq!((omega, shift.square()), (root_of_unity::<E>(log_n), omega));
        }
        let largest = quotient_form::<E>(E::Fr::S);
        assert_eq!(largest, QuotientForm::CosetValues { omega: root_of_unity::<E>(E::Fr::S), shift: E::Fr::from(25) });
    }

    #[test]
    fn roots_are_powers_of_the_least_nonsquare() {
        check::<halo2curves::bn256::Bn256>();
        check::<blstrs::Bls12>();
    }
}
