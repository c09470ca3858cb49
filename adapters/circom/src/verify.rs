//! Verifies proofs.

use std::fmt;

use group::Curve;
use halo2curves::bn256::Bn256;
use pairing::MillerLoopResult;
use proofwarp::curve::MsmCurve;
use proofwarp::fork_check;

use crate::curves::affine_point::{AffinePoint, PointFault};
use crate::curves::curve_id::CurveId;
use crate::curves::scalars::scalar_to_bytes;
use crate::error::{FileSection, Result};
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
/// - [`Error::Malformed`](crate::Error::Malformed): a point of `key` or `proof` is not in the subgroup of order r, or
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
pub struct PreparedVerificationKey<E: Groth16Engine> {
    /// e(α₁, β₂).
    alpha_beta: E::Gt,
    gamma: E::G2Prepared,
    delta: E::G2Prepared,
    ic: Vec<E::G1Affine>,
}

/// Holds e(α₁, β₂)·e(IC₀ + Σ public·IC, γ₂) for public signals. The pairings of a valid proof multiply to it.
pub(crate) struct PreparedSignals<E: Groth16Engine>(E::Gt);

impl<E: Groth16Engine> fmt::Debug for PreparedVerificationKey<E> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "PreparedVerificationKey of {} points", self.ic.len())
    }
}

impl<E: Groth16Engine> PreparedVerificationKey<E> {
    /// Checks the points of `key`, and prepares them.
    ///
    /// # Errors
    /// - [`Error::Malformed`](crate::Error::Malformed): a point is not in the subgroup of order r.
    pub fn new(key: &VerificationKey<E>) -> Result<Self> {
        Self::with_name(NAMES.key, key)
    }

    /// Checks the points of `key`, and prepares them. Errors name `file`.
    ///
    /// # Errors
    /// - [`Error::Malformed`](crate::Error::Malformed): a point is not in the subgroup of order r.
    pub(crate) fn with_name(file: &str, key: &VerificationKey<E>) -> Result<Self> {
        fork_check::check()?;
        check_key(file, key)?;
        let [gamma, delta] = [key.gamma2, key.delta2].map(|point| E::G2Prepared::from(-point));
        Ok(Self { alpha_beta: E::pairing(&key.alpha1, &key.beta2), gamma, delta, ic: key.ic.clone() })
    }

    /// Returns whether `proof` is valid for the signals `public`, as [`verify`] does.
    ///
    /// # Errors
    /// - [`Error::Malformed`](crate::Error::Malformed): a point of `proof` is not in the subgroup of order r, or `public`
    ///   has another length than the key says.
    pub fn verify(&self, public: &[E::Fr], proof: &Proof<E>) -> Result<bool> {
        self.verify_files(NAMES, public, proof)
    }

    fn verify_files(&self, names: FileNames<'_>, public: &[E::Fr], proof: &Proof<E>) -> Result<bool> {
        fork_check::check()?;
        check_proof(names.proof, proof)?;
        let signals = self.public_point(names.public, public)?;
        // A valid proof satisfies e(π_a, π_b)·e(signals, −γ₂)·e(π_c, −δ₂) = e(α₁, β₂)
        let b = E::G2Prepared::from(proof.b);
        let terms = [(&proof.a, &b), (&signals, &self.gamma), (&proof.c, &self.delta)];
        Ok(E::multi_miller_loop(&terms).final_exponentiation() == self.alpha_beta)
    }

    /// Computes the pairing of the signals `public`. It needs no proof, so it can run while the proof is made.
    ///
    /// # Errors
    /// - [`Error::Malformed`](crate::Error::Malformed): `public` has another length than the key says.
    pub(crate) fn prepare_signals(&self, public: &[E::Fr]) -> Result<PreparedSignals<E>> {
        let signals = self.public_point(NAMES.public, public)?;
        let inverse = E::multi_miller_loop(&[(&signals, &self.gamma)]).final_exponentiation();
        Ok(PreparedSignals(self.alpha_beta - inverse))
    }

    /// Returns whether `proof` is valid for `signals`. The check of its points runs beside its pairings.
    ///
    /// # Errors
    /// - [`Error::Malformed`](crate::Error::Malformed): a point of `proof` is not in the subgroup of order r.
    pub(crate) fn verify_prepared(&self, signals: &PreparedSignals<E>, proof: &Proof<E>) -> Result<bool> {
        let pairings = || {
            let b = E::G2Prepared::from(proof.b);
            E::multi_miller_loop(&[(&proof.a, &b), (&proof.c, &self.delta)]).final_exponentiation()
        };
        let (checked, product) = rayon::join(|| check_proof(NAMES.proof, proof), pairings);
        checked.map(|()| product == signals.0)
    }

    /// Returns IC₀ + Σ public·IC.
    fn public_point(&self, file: &str, public: &[E::Fr]) -> Result<E::G1Affine> {
        let (first, points) = self.ic.split_first().unzip();
        let points = points.unwrap_or_default();
        let Some(first) = first.filter(|_| points.len() == public.len()) else {
            let place = FileSection { file, section: "public signals" };
            return Err(place.malformed("length", format!("{} signals, as the key says", points.len()), public.len()));
        };
        let scalars: Vec<_> = public.iter().map(scalar_to_bytes).collect();
        Ok((E::G1Affine::msm_cpu(points, &scalars) + first).to_affine())
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
    let expected = format!("a point of {:?} of {}", P::GROUP, P::CURVE);
    Err(FileSection { file, section }.malformed("point", expected, PointFault::NotInSubgroup))
}
