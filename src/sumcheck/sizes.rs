//! Products of lengths, which no memory may have.
#![deny(clippy::arithmetic_side_effects)]

use super::claim::PLACE;
use crate::{Error, Result};

/// Returns `a`·`b`.
///
/// # Errors
/// The product is more than memory has addresses.
pub(super) fn product(a: usize, b: usize) -> Result<usize> {
    let refused = || Error::invalid(PLACE, "size", format!("at most {}", usize::MAX), format!("{a}·{b}"));
    a.checked_mul(b).ok_or_else(refused)
}

/// Returns the bytes of `count` elements.
///
/// # Errors
/// They are more than memory has addresses.
pub(super) fn bytes<E>(count: usize) -> Result<usize> {
    product(count, size_of::<E>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_that_no_memory_has() {
        assert_eq!(bytes::<u128>(3).expect("48 bytes"), 48);
        let error = bytes::<u128>(1 << 60).expect_err("2^64 bytes").to_string();
        assert_eq!(error, "sumcheck: size: expected at most 18446744073709551615, got 1152921504606846976·16");
    }
}
