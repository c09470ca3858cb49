//! Refuses to make the contents of stock's files.

use anyhow::bail;

use crate::params::SetupParams;

/// Always fails: [`prove`](crate::prove) needs the zkey alone. The contents that stock makes are for its kernels.
///
/// # Errors
/// - Every call fails.
pub fn setup(_params: &mut SetupParams<'_>) -> anyhow::Result<(usize, usize)> {
    bail!(
        "setup: not supported: this drop-in proves from the zkey and needs no preprocessed files; stock's \
         risc0-groth16-sys makes them"
    )
}
