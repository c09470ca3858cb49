//! Multiplies lengths, and refuses products that no memory can have.
#![deny(clippy::arithmetic_side_effects)]

use crate::sumcheck::claim::ERROR_CONTEXT;
use crate::{Result, checked_size};

/// Returns the product `a` * `b` of two lengths.
///
/// # Errors
/// - [`crate::Error::Invalid`]: the product exceeds `isize::MAX`.
pub(crate) fn product(a: usize, b: usize) -> Result<usize> {
    checked_size::product(ERROR_CONTEXT, "size", &[a, b])
}

/// Returns the number of bytes of `count` elements of type `E`.
///
/// # Errors
/// - [`crate::Error::Invalid`]: the bytes exceed `isize::MAX`.
pub(crate) fn bytes<E>(count: usize) -> Result<usize> {
    checked_size::byte_len::<E>(ERROR_CONTEXT, count)
}
