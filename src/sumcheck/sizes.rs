//! Products of lengths, which no memory may have.
#![deny(clippy::arithmetic_side_effects)]

use super::claim::PLACE;
use crate::{Result, sizes};

/// Returns `a` * `b`.
///
/// # Errors
/// The product is more than memory has addresses.
pub(super) fn product(a: usize, b: usize) -> Result<usize> {
    sizes::product(PLACE, "size", &[a, b])
}

/// Returns the bytes of `count` elements.
///
/// # Errors
/// They are more than memory has addresses.
pub(super) fn bytes<E>(count: usize) -> Result<usize> {
    sizes::byte_len::<E>(PLACE, count)
}
