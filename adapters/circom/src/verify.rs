//! Verifies proofs.

use halo2curves::bn256::Bn256;
use proofwarp::groth16::{self, PreparedInputs};
use proofwarp::rayon_waits::check_host_threads;

use crate::curves::affine_point::{AffinePoint, PointFault};
use crate::curves::curve_id::CurveId;
use crate::error::{Error, FileSection, Result};
use crate::groth16::{Groth16Engine, Proof, VerificationKey};
use crate::json::{JsonText, curve_from_json, public_from_json};

/// Names of the files, for errors.
#[derive(Clone, Copy)]
struct FileNames<'a> {
    key: &'a str,
    public: &'a str,
    proof: &'a str,
}

/// Names in errors about values that are from no file.
const NAMES: FileNames<'_> = FileNames { key: "verification key", public: "public signals", proof: "proof" };

/// Returns whether `proof` shows that the circuit of `key` has a witness with the signals `public`:
/// e(π_a, π_b) = e(α₁, β₂)·e(IC₀ + Σ public·IC, γ₂)·e(π_c, δ₂).
///
/// # Errors
/// - [`Error::Malformed`]: a point of `key` or `proof` is not in the subgroup of order r, or
///   `public` has another length than the key says.
pub fn verify<E: Groth16Engine>(key: &VerificationKey<E>, public: &[E::Fr], proof: &Proof<E>) -> Result<bool> {
    verify_files(NAMES, key, public, proof)
}

/// Returns whether the proof in `proof` is valid for the texts of a verification key and public signals. The key names the
/// curve.
///
/// # Errors
/// - Those of [`verify`].
/// - [`VerificationKey::from_json`], [`public_from_json`] and [`Proof::from_json`] list the errors of the texts.
pub fn verify_json(key: JsonText<'_>, public: JsonText<'_>, proof: JsonText<'_>) -> Result<bool> {
    match curve_from_json(key)? {
        Some(CurveId::Bn254) => verify_texts::<Bn256>(key, public, proof),
        Some(CurveId::Bls12_381) => verify_texts::<blstrs::Bls12>(key, public, proof),
        None => {
            let place = FileSection { file: key.file, section: "curve" };
            Err(place.malformed("curve", "bn128 or bls12381", "none"))
        }
    }
}

fn verify_texts<E: Groth16Engine>(key: JsonText<'_>, public: JsonText<'_>, proof: JsonText<'_>) -> Result<bool> {
    let names = FileNames { key: key.file, public: public.file, proof: proof.file };
    let key = VerificationKey::<E>::from_json(key)?;
    verify_files(names, &key, &public_from_json::<E>(public)?, &Proof::from_json(proof)?)
}

fn verify_files<E: Groth16Engine>(
    names: FileNames<'_>,
    key: &VerificationKey<E>,
    public: &[E::Fr],
    proof: &Proof<E>,
) -> Result<bool> {
    PreparedVerificationKey::with_name(names.key, key)?.verify_files(names, public, proof)
}

/// Holds a verification key whose points are checked and prepared for pairings, for many proofs.
#[derive(Debug)]
pub struct PreparedVerificationKey<E: Groth16Engine>(groth16::PreparedVerifyingKey<E>);

impl<E: Groth16Engine> PreparedVerificationKey<E> {
    /// Checks the points of `key`, and prepares them.
    ///
    /// # Errors
    /// - [`Error::Malformed`]: a point is not in the subgroup of order r.
    pub fn new(key: &VerificationKey<E>) -> Result<Self> {
        Self::with_name(NAMES.key, key)
    }

    /// Checks the points of `key`, and prepares them. Errors name `file`.
    ///
    /// # Errors
    /// - [`Error::Malformed`]: a point is not in the subgroup of order r.
    pub(crate) fn with_name(file: &str, key: &VerificationKey<E>) -> Result<Self> {
        check_host_threads()?;
        check_key(file, key)?;
        let &VerificationKey { alpha1, beta2, gamma2, delta2, .. } = key;
        let (alpha_g1, beta_g2, gamma_g2, delta_g2) = (alpha1, beta2, gamma2, delta2);
        let key = groth16::VerifyingKey { alpha_g1, beta_g2, gamma_g2, delta_g2, ic: key.ic.clone() };
        Ok(Self(groth16::PreparedVerifyingKey::new(key)))
    }

    /// Returns whether `proof` is valid for the signals `public`, as [`verify`] does.
    ///
    /// # Errors
    /// - [`Error::Malformed`]: a point of `proof` is not in the subgroup of order r, or `public`
    ///   has another length than the key says.
    pub fn verify(&self, public: &[E::Fr], proof: &Proof<E>) -> Result<bool> {
        self.verify_files(NAMES, public, proof)
    }

    fn verify_files(&self, names: FileNames<'_>, public: &[E::Fr], proof: &Proof<E>) -> Result<bool> {
        let &Proof { a, b, c } = proof;
        let verified = self.0.verify(public, &groth16::Proof { a, b, c });
        if matches!(verified, Ok(false) | Err(proofwarp::Error::Invalid { .. })) {
            // Names the point that is not in its group.
            check_proof(names.proof, proof)?;
        }
        verified.map_err(|error| self.name_signals(names.public, public.len(), error))
    }

    /// Computes the pairings of the signals `public`. They need no proof, so this can run while the proof is made.
    ///
    /// # Errors
    /// - [`Error::Malformed`]: `public` has another length than the key says.
    pub(crate) fn prepare_signals(&self, public: &[E::Fr]) -> Result<PreparedInputs<E>> {
        self.0.prepare_inputs(public).map_err(|error| self.name_signals(NAMES.public, public.len(), error))
    }

    /// Returns whether `proof` is valid for `signals`, and its points are in the subgroup of order r.
    pub(crate) fn verify_prepared(&self, signals: &PreparedInputs<E>, &Proof { a, b, c }: &Proof<E>) -> Result<bool> {
        Ok(self.0.verify_prepared(signals, &groth16::Proof { a, b, c })?)
    }

    /// Converts `error`, and names `file` in the error of another number of signals, `count`, than the key says.
    fn name_signals(&self, file: &str, count: usize, error: proofwarp::Error) -> Error {
        match error {
            proofwarp::Error::Invalid { .. } => {
                let expected = format!("{} signals, as the key says", self.0.public_input_count());
                FileSection { file, section: "public signals" }.malformed("length", expected, count)
            }
            other => other.into(),
        }
    }
}

fn check_key<E: Groth16Engine>(file: &str, key: &VerificationKey<E>) -> Result<()> {
    expect_in_subgroup(file, "vk_alpha_1", &key.alpha1)?;
    expect_in_subgroup(file, "vk_beta_2", &key.beta2)?;
    expect_in_subgroup(file, "vk_gamma_2", &key.gamma2)?;
    expect_in_subgroup(file, "vk_delta_2", &key.delta2)?;
    key.ic.iter().try_for_each(|point| expect_in_subgroup(file, "IC", point))
}

fn check_proof<E: Groth16Engine>(file: &str, proof: &Proof<E>) -> Result<()> {
    expect_in_subgroup(file, "pi_a", &proof.a)?;
    expect_in_subgroup(file, "pi_b", &proof.b)?;
    expect_in_subgroup(file, "pi_c", &proof.c)
}

fn expect_in_subgroup<P: AffinePoint>(file: &str, section: &str, point: &P) -> Result<()> {
    if point.is_in_subgroup() {
        return Ok(());
    }
    let expected = format!("a point of {} of {}", P::GROUP, P::CURVE);
    Err(FileSection { file, section }.malformed("point", expected, PointFault::NotInSubgroup))
}
