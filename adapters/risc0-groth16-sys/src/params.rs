//! Defines the parameters of proofs: paths, and the witness.

use std::ffi::{CString, NulError};
use std::path::{Path, PathBuf};

/// Holds the paths of a circuit's files.
#[derive(Debug, Clone)]
pub struct SetupParams {
    /// File of coefficients for stock's kernels. It is not read.
    pub pcoeffs_path: RawPath,
    /// File of sums for stock's kernels. It is not read.
    pub fres_path: RawPath,
    /// zkey of BN254.
    pub srs_path: RawPath,
}

/// Holds the path of the file from which a caller computes witnesses.
#[derive(Debug, Clone)]
pub struct WitnessParams {
    /// Graph of the circuit's witness. It is not read.
    pub graph_path: PathBuf,
}

/// Holds a witness, and the paths of the files that a proof is written to.
#[derive(Debug, Clone)]
pub struct ProverParams {
    /// Path of the public signals' JSON.
    pub public_path: RawPath,
    /// Path of the proof's JSON.
    pub proof_path: RawPath,
    /// Points to the witness: for each signal of the zkey 32 bytes, canonical and little-endian. The first value is 1.
    ///
    /// As in stock, its length is not known here. It must be readable to its end while [`prove`](crate::prove) runs,
    /// and no thread may write to it meanwhile.
    pub witness: *const u8,
}

/// Holds a path without NUL bytes.
#[derive(Debug, Clone)]
pub struct RawPath {
    path: PathBuf,
}

impl SetupParams {
    /// Returns the paths of RISC Zero's files in `root_dir`: `preprocessed_coeffs.bin`, `fuzzed_msm_results.bin` and
    /// `stark_verify_final.zkey`.
    ///
    /// # Errors
    /// - [`NulError`]: `root_dir` has a NUL byte.
    pub fn new(root_dir: &Path) -> anyhow::Result<Self> {
        Ok(Self {
            pcoeffs_path: root_dir.join("preprocessed_coeffs.bin").try_into()?,
            fres_path: root_dir.join("fuzzed_msm_results.bin").try_into()?,
            srs_path: root_dir.join("stark_verify_final.zkey").try_into()?,
        })
    }
}

impl WitnessParams {
    /// Returns the path of `stark_verify_graph.bin` in `root_dir`.
    pub fn new(root_dir: &Path) -> Self {
        Self { graph_path: root_dir.join("stark_verify_graph.bin") }
    }
}

impl ProverParams {
    /// Returns the parameters of a proof of `witness`, which is written to `proof.json` and `public.json` in
    /// `root_dir`.
    ///
    /// # Errors
    /// - [`NulError`]: `root_dir` has a NUL byte.
    pub fn new(root_dir: &Path, witness: *const u8) -> anyhow::Result<Self> {
        let [public_path, proof_path] = ["public.json", "proof.json"].map(|file| root_dir.join(file));
        Ok(Self { public_path: public_path.try_into()?, proof_path: proof_path.try_into()?, witness })
    }
}

impl RawPath {
    /// Returns the path.
    pub fn as_path(&self) -> &Path {
        &self.path
    }
}

impl TryFrom<&Path> for RawPath {
    type Error = NulError;

    /// Checks that `path` has no NUL byte.
    fn try_from(path: &Path) -> Result<Self, NulError> {
        path.to_owned().try_into()
    }
}

impl TryFrom<PathBuf> for RawPath {
    type Error = NulError;

    /// Checks that `path` has no NUL byte.
    fn try_from(path: PathBuf) -> Result<Self, NulError> {
        CString::new(path.as_os_str().as_encoded_bytes())?;
        Ok(Self { path })
    }
}
