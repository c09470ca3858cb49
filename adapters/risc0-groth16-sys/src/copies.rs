//! Copies a caller's bytes.

use anyhow::Context as _;

/// Returns a copy of `bytes`, which errors call `name`.
///
/// # Errors
/// - There is too little memory.
pub(crate) fn try_copy(name: &str, bytes: &[u8]) -> anyhow::Result<Vec<u8>> {
    let mut copy = Vec::new();
    let reserved = copy.try_reserve_exact(bytes.len());
    reserved.with_context(|| format!("{name}: expected memory for {} bytes", bytes.len()))?;
    copy.extend_from_slice(bytes);
    Ok(copy)
}
