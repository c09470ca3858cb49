//! Defines the parameters of proofs and of the setup.

/// Holds the contents of a circuit's files.
#[derive(Debug, Clone, Copy)]
pub struct ProveParams<'a> {
    /// Coefficients for stock's kernels. They are not read.
    pub pcoeffs: &'a [u8],
    /// Sums for stock's kernels. They are not read.
    pub fres: &'a [u8],
    /// zkey of BN254.
    pub srs: &'a [u8],
}

/// Holds a zkey, and memory for the contents of stock's files.
#[derive(Debug)]
pub struct SetupParams<'a> {
    /// zkey of BN254.
    pub srs: &'a [u8],
    /// Memory for the sums. Nothing is written to it.
    pub fuzzed_results_out: &'a mut [u8],
    /// Memory for the coefficients. Nothing is written to it.
    pub preprocessed_coeffs_out: &'a mut [u8],
}
