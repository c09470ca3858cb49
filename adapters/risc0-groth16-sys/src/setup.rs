//! Refuses to make stock's files.

use anyhow::bail;

use crate::params::SetupParams;

/// Always fails: [`prove`](crate::prove) needs no file beside the zkey. The files that stock makes are for its kernels.
///
/// # Errors
/// - Every call fails. The error names the files.
pub fn setup(params: &SetupParams) -> anyhow::Result<()> {
    let [coefficients, sums] = [&params.pcoeffs_path, &params.fres_path].map(|path| path.as_path().display());
    bail!(
        "setup: not supported: this drop-in proves from the zkey and needs no preprocessed files; stock's \
         risc0-groth16-sys makes {coefficients} and {sums}"
    )
}
