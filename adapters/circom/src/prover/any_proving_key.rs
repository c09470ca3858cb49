//! Proves with a key whose curve is known only when the program runs.

use std::fmt::Debug;

use blstrs::Bls12;
use halo2curves::bn256::Bn256;
use proofwarp::{Abort, Accelerator};

use crate::curves::curve_id::CurveId;
use crate::error::{Error, Result};
use crate::groth16::Groth16Engine;
use crate::json::public_to_json;
use crate::prover::proving_key::{ProveOptions, ProvingKey};
use crate::witness::Witness;
use crate::zkey::Zkey;
use crate::zkey::header::ZkeyHeader;

/// Holds the [`ProvingKey`] of a zkey of either curve, and returns JSON texts instead of points.
///
/// ```no_run
/// use proofwarp::Accelerator;
/// use proofwarp_circom::{AnyProvingKey, Witness, Zkey};
///
/// let key = AnyProvingKey::new(&Accelerator::from_env()?, &Zkey::open("circuit.zkey")?)?;
/// let texts = key.prove_to_json(&Witness::open("witness.wtns")?)?; // verified
/// std::fs::write("proof.json", texts.proof)?;
/// std::fs::write("public.json", texts.public)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct AnyProvingKey(Box<dyn ErasedProvingKey>);

/// Holds a proof and its public signals as JSON, byte for byte as snarkjs writes them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProofTexts {
    /// `proof.json`.
    pub proof: String,
    /// `public.json`.
    pub public: String,
}

/// Implements the methods of [`AnyProvingKey`] for a curve.
trait ErasedProvingKey: Debug + Send + Sync {
    fn prove(&self, witnesses: &[&Witness], verify: bool, abort: Abort<'_>) -> Result<Vec<ProofTexts>>;
    fn verification_key_json(&self) -> String;
    fn header(&self) -> &ZkeyHeader;
    fn device_bytes(&self) -> u64;
}

impl<E: Groth16Engine> ErasedProvingKey for ProvingKey<E> {
    fn prove(&self, witnesses: &[&Witness], verify: bool, abort: Abort<'_>) -> Result<Vec<ProofTexts>> {
        let proofs = self.prove_with(witnesses, ProveOptions { verify, blinding: None, abort })?;
        let texts = proofs.iter().zip(witnesses).map(|(proof, witness)| {
            let public = public_to_json::<E>(&self.public_signals(witness)?);
            Ok(ProofTexts { proof: proof.to_json(), public })
        });
        texts.collect()
    }

    fn verification_key_json(&self) -> String {
        self.verification_key().to_json()
    }

    fn header(&self) -> &ZkeyHeader {
        self.header()
    }

    fn device_bytes(&self) -> u64 {
        self.device_bytes()
    }
}

impl AnyProvingKey {
    /// Converts `zkey` and uploads it, as [`ProvingKey::new`] does.
    ///
    /// # Errors
    /// [`ProvingKey::new`] lists them. [`Error::OtherCurve`] does not occur.
    pub fn new(accelerator: &Accelerator, zkey: &Zkey) -> Result<Self> {
        Ok(Self(match zkey.header().curve {
            CurveId::Bn254 => Box::new(ProvingKey::<Bn256>::new(accelerator, zkey)?),
            CurveId::Bls12_381 => Box::new(ProvingKey::<Bls12>::new(accelerator, zkey)?),
        }))
    }

    /// Proves `witness`, and verifies the proof.
    ///
    /// # Errors
    /// [`ProvingKey::prove_with`] lists them.
    pub fn prove_to_json(&self, witness: &Witness) -> Result<ProofTexts> {
        let mut texts = self.prove_batch_to_json(&[witness], true, None)?;
        texts.pop().ok_or_else(|| Error::InvalidProof { file: witness.file().to_owned() })
    }

    /// Proves each of `witnesses`, spread over all devices. Returns the texts in the same order. Verifies each proof if
    /// `verify` is set. [`ProveOptions`] describes `verify` and `abort`.
    ///
    /// # Errors
    /// [`ProvingKey::prove_with`] lists them.
    pub fn prove_batch_to_json(
        &self,
        witnesses: &[&Witness],
        verify: bool,
        abort: Abort<'_>,
    ) -> Result<Vec<ProofTexts>> {
        self.0.prove(witnesses, verify, abort)
    }

    /// Returns `verification_key.json`, as [`VerificationKey::to_json`](crate::VerificationKey::to_json) writes it.
    pub fn verification_key_json(&self) -> String {
        self.0.verification_key_json()
    }

    /// Returns curve and sizes.
    pub fn header(&self) -> &ZkeyHeader {
        self.0.header()
    }

    /// Returns the number of bytes that the key and its matrices take on all devices together.
    pub fn device_bytes(&self) -> u64 {
        self.0.device_bytes()
    }
}
