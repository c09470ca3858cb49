//! Checked arithmetic on lengths: each product of lengths that a caller chooses is computed here.
#![warn(clippy::arithmetic_side_effects)]

use crate::{Error, Result};

/// Maximum bytes of one allocation, `isize::MAX`: Rust's limit for a slice.
pub(crate) const MAX_BYTES: usize = isize::MAX.unsigned_abs();

/// Returns the size in bytes of `len` values of type `T`. An error names the operation `place`.
///
/// # Errors
/// - [`Error::Invalid`]: the bytes exceed [`MAX_BYTES`].
pub(crate) fn byte_len<T>(place: &'static str, len: usize) -> Result<usize> {
    let bytes = len.checked_mul(size_of::<T>()).filter(|bytes| *bytes <= MAX_BYTES);
    bytes.ok_or_else(|| {
        let most = MAX_BYTES.checked_div(size_of::<T>()).unwrap_or(MAX_BYTES);
        Error::invalid(place, "length", format!("at most {most}"), len)
    })
}

/// Returns the product of `factors`, 1 for an empty list. An error names the operation `place`, and the product as
/// `what`.
///
/// # Errors
/// - [`Error::Invalid`]: the product exceeds [`MAX_BYTES`].
pub(crate) fn product(place: &'static str, what: &str, factors: &[usize]) -> Result<usize> {
    let product = factors.iter().try_fold(1_usize, |product, factor| product.checked_mul(*factor));
    product.filter(|product| *product <= MAX_BYTES).ok_or_else(|| {
        let actual = factors.iter().map(ToString::to_string).collect::<Vec<_>>().join(" * ");
        Error::invalid(place, what, format!("at most {MAX_BYTES}"), actual)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_that_wrap_are_refused() {
        assert_eq!(byte_len::<[u8; 32]>("test", 3).expect("96 bytes"), 96);
        for len in [(1 << 59) + 1, 1 << 58, usize::MAX] {
            assert!(byte_len::<[u8; 32]>("test", len).is_err(), "{len} elements of 32 bytes");
        }
        assert_eq!(product("test", "rows", &[3, 4, 5]).expect("60"), 60);
        assert_eq!(product("test", "rows", &[]).expect("no factor"), 1);
        let error = product("test", "rows", &[1 << 32, 1 << 32]).expect_err("2^64").to_string();
        assert!(error.contains("4294967296 * 4294967296"), "{error}");
    }
}
