//! Verifies proofs.

use group::prime::PrimeCurveAffine;
use group::{Curve, Group};
use halo2curves::bn256::Bn256;
use pairing::MillerLoopResult;

use crate::affine_point::{AffinePoint, PointFault};
use crate::curve_id::CurveId;
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

/// Returns whether `proof` shows that the circuit of `key` has a witness with the signals `public`:
/// e(π_a, π_b) = e(α₁, β₂)·e(IC₀ + Σ public·IC, γ₂)·e(π_c, δ₂).
///
/// # Errors
/// - [`Error::Malformed`](crate::Error::Malformed): a point of `key` or `proof` is not in the subgroup of order r, or
///   `public` has another length than the key says.
pub fn verify<E: Groth16Engine>(key: &VerificationKey<E>, public: &[E::Fr], proof: &Proof<E>) -> Result<bool> {
    verify_files(FileNames { key: "verification key", public: "public signals", proof: "proof" }, key, public, proof)
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
    check_key(names.key, key)?;
    check_proof(names.proof, proof)?;
    let signals = public_point(names.public, key, public)?;
    Ok(equation_holds(key, signals, proof))
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

/// Returns IC₀ + Σ public·IC.
fn public_point<E: Groth16Engine>(file: &str, key: &VerificationKey<E>, public: &[E::Fr]) -> Result<E::G1Affine> {
    let (first, points) = key.ic.split_first().unzip();
    let points = points.unwrap_or_default();
    let Some(first) = first.filter(|_| points.len() == public.len()) else {
        let place = FileSection { file, section: "public signals" };
        return Err(place.malformed("length", format!("{} signals, as the key says", points.len()), public.len()));
    };
    let terms = points.iter().zip(public).map(|(point, signal)| *point * signal);
    Ok(terms.fold(first.to_curve(), |sum, term| sum + term).to_affine())
}

/// Returns whether e(−π_a, π_b)·e(α₁, β₂)·e(signals, γ₂)·e(π_c, δ₂) = 1.
fn equation_holds<E: Groth16Engine>(key: &VerificationKey<E>, signals: E::G1Affine, proof: &Proof<E>) -> bool {
    let negated = -proof.a;
    let [b, beta, gamma, delta] = [proof.b, key.beta2, key.gamma2, key.delta2].map(E::G2Prepared::from);
    let terms = [(&negated, &b), (&key.alpha1, &beta), (&signals, &gamma), (&proof.c, &delta)];
    E::multi_miller_loop(&terms).final_exponentiation().is_identity().into()
}
